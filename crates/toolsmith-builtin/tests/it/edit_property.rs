//! What holds for every edit, and what hostile ones do not break.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use toolsmith_builtin::edit::{Found, Miss, Rung, Wanted, apply_all, diff, find};

/// Far more than any of these takes where it is linear, and far less than where it is
/// not, in a build without optimisation.
const LONG: Duration = Duration::from_secs(30);

#[track_caller]
fn timed<T>(what: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = what();
    let took = start.elapsed();
    assert!(took < LONG, "it took {took:?}");
    result
}

/// A text of lines with all kinds of indentation, endings and glyphs.
fn texts() -> impl Strategy<Value = String> {
    let indent = prop::sample::select(vec!["", "\t", "    ", "  ", "\t\t", " \t"]);
    let body = prop::sample::select(vec![
        "a",
        "b  c",
        "“q”",
        "\"q\"",
        "it’s",
        "x = 1;",
        "",
        "é",
        "e\u{301}",
        "\\n",
        "\\\"q\\\"",
        "1: a",
        "日本",
        "a\0b",
    ]);
    let trailing = prop::sample::select(vec!["", "", "", " ", "\t"]);
    let ending = prop::sample::select(vec!["\n", "\n", "\r\n", "\r"]);
    let line = (indent, body, trailing, ending);
    let last = prop::sample::select(vec!["", "", "end", "\t"]);
    (prop::collection::vec(line, 0..12), last).prop_map(|(lines, last)| {
        let lines = lines.into_iter();
        let lines =
            lines.map(|(indent, body, trailing, ending)| [indent, body, trailing, ending].concat());
        lines.collect::<String>() + last
    })
}

/// A piece of a text as a model might remember it.
fn remembered(text: &str, from: usize, length: usize, how: u8) -> String {
    let pieces: Vec<&str> = text.split_inclusive(['\n', '\r']).collect();
    if pieces.is_empty() {
        return "a".to_owned();
    }
    let from = from % pieces.len();
    let until = (from + 1 + length).min(pieces.len());
    let piece = pieces[from..until]
        .concat()
        .replace("\r\n", "\n")
        .replace('\r', "\n");
    match how {
        0 => piece,
        1 => piece.replace('\t', "    "),
        2 => piece.replace(['“', '”'], "\"").replace('’', "'"),
        3 => piece.replace("  ", " "),
        4 => piece
            .lines()
            .map(str::trim_end)
            .collect::<Vec<_>>()
            .join("\n"),
        5 => piece.replace('\n', "\\n"),
        6 => piece.lines().map(|line| format!("    {line}\n")).collect(),
        _ => piece.chars().skip(1).collect(),
    }
}

fn check(text: &str, wanted: &Wanted<'_>, found: &Found) {
    let after = found.apply(text);
    // Changes are in order, apart, and at borders of characters.
    let mut done = 0;
    let mut expected = String::new();
    for change in &found.changes {
        assert!(change.range.start >= done && change.range.end >= change.range.start);
        expected.push_str(&text[done..change.range.start]);
        expected.push_str(&change.text);
        done = change.range.end;
        assert_ne!(
            &text[change.range.clone()],
            change.text,
            "a change that is none"
        );
    }
    expected.push_str(&text[done..]);
    assert_eq!(after, expected);
    // No byte outside the lines of what was found.
    let first = found.changes.first().unwrap().range.start;
    let last = found.changes.last().unwrap().range.end;
    assert_eq!(text[..first], after[..first]);
    assert_eq!(text[last..], after[after.len() - (text.len() - last)..]);
    assert!(!found.lines.is_empty());
    if wanted.new == wanted.old.replacen('x', "y", 1) && found.lines.len() == 1 {
        // One letter of one line changes one line, and no ending anywhere.
        let pieces = |text: &str| {
            text.split_inclusive('\n')
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        let (before, after) = (pieces(text), pieces(&after));
        assert_eq!(before.len(), after.len());
        let changed = before
            .iter()
            .zip(&after)
            .filter(|(before, after)| before != after);
        assert!(changed.count() <= 1, "{before:?} {after:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_changes_but_what_was_meant(
        text in texts(),
        from in 0_usize..12,
        length in 0_usize..4,
        how in 0_u8..8,
        new in prop::sample::select(vec!["n", "", "one\ntwo\n", "\tdeep\n\t\ter", "“n”\r\nm", "a\rb"]),
        replaced in any::<bool>(),
        all in any::<bool>(),
        fuzzy in any::<bool>(),
    ) {
        let old = remembered(&text, from, length, how);
        let changed = if replaced { old.replacen('x', "y", 1) } else { old.clone() + new };
        let wanted = Wanted::new(&old, &changed).with_replace_all(all).with_fuzzy(fuzzy);
        match find(&text, &wanted) {
            Ok(found) => check(&text, &wanted, &found),
            Err(miss) => prop_assert!(miss.refusal("f").to_string().len() < 4096),
        }
    }

    #[test]
    fn an_exact_edit_is_what_replacing_would_be(
        text in "[ab \n\t\u{e9}]{0,40}",
        old in "[ab \n\t\u{e9}]{1,4}",
        new in "[ab \n$\\\\]{0,4}",
    ) {
        let all = Wanted::new(&old, &new).with_replace_all(true);
        match find(&text, &all) {
            Ok(found) if found.rung == Rung::Exact => {
                prop_assert_eq!(found.apply(&text), text.replace(&old, &new));
                prop_assert_eq!(found.lines.len(), text.matches(&old).count());
            }
            Err(Miss::NoChange { .. }) => prop_assert!(old == new || !text.contains(&old)),
            _ => prop_assert!(!text.contains(&old)),
        }
    }

    #[test]
    fn endings_make_no_difference(
        text in "[ab “\n\t]{0,20}\n[ab “\n\t]{0,20}",
        old in "[ab \"\n\t]{1,6}",
        new in "[ab \n\t]{0,6}",
        ending in prop::sample::select(vec!["\r\n", "\r"]),
        all in any::<bool>(),
        near in prop::option::of(0_usize..10),
    ) {
        let wanted = Wanted::new(&old, &new).with_replace_all(all).with_near_line(near);
        let other = text.replace('\n', ending);
        match (find(&text, &wanted), find(&other, &wanted)) {
            (Ok(found), Ok(same)) => {
                prop_assert_eq!(found.apply(&text).replace('\n', ending), same.apply(&other));
                prop_assert_eq!((found.rung, found.lines), (same.rung, same.lines));
            }
            (Err(miss), Err(same)) => prop_assert_eq!(miss, same),
            (one, other) => prop_assert!(false, "{:?} {:?}", one, other),
        }
    }

    #[test]
    fn any_bytes_are_edited_without_panic(text in "\\PC{0,60}", old in "\\PC{1,8}", new in "\\PC{0,8}", fuzzy in any::<bool>()) {
        if let Ok(found) = find(&text, &Wanted::new(&old, &new).with_fuzzy(fuzzy)) {
            let _ = found.apply(&text);
        }
    }

    #[test]
    fn a_diff_counts_what_changed(old in texts(), new in texts()) {
        let shown = diff(&old, &new, "f", 1000);
        let signs = |sign: &str| shown.text.lines().skip(2).filter(|line| line.starts_with(sign)).count();
        prop_assert_eq!((signs("+"), signs("-")), (shown.added, shown.removed));
        prop_assert_eq!(old == new, shown.text.is_empty());
        prop_assert!(diff(&old, &new, "f", 5).text.lines().count() <= 5);
    }
}

#[test]
fn edits_are_made_one_after_the_other() {
    let edits = [
        Wanted::new("a", "b c"),
        Wanted::new("c", "d"),
        Wanted::new("x\ny", "x\nz"),
    ];
    let applied = apply_all("a\r\nx\r\ny\r\n", &edits).unwrap();
    assert_eq!(applied.text, "b d\r\nx\r\nz\r\n");
    assert_eq!(applied.found.len(), 3);
    assert_eq!(applied.within_earlier, [(1, 0)]);
    assert_eq!(apply_all("a", &[]).unwrap().text, "a");
}

#[test]
fn one_edit_that_fails_fails_all() {
    let edits = [
        Wanted::new("a", "q w"),
        Wanted::new("w q", "e"),
        Wanted::new("b", "c"),
        Wanted::new("nowhere", "e"),
        Wanted::new("q", "r"),
    ];
    let miss = apply_all("a\nb\n", &edits).unwrap_err();
    assert_eq!(miss.index, 1);
    assert_eq!(
        (&miss.would_apply[..], &miss.would_fail[..]),
        (&[0, 2, 4][..], &[3][..])
    );
    assert_eq!(miss.within_earlier, [(4, 0)]);
    let told = miss.refusal("f.txt").to_string();
    assert!(
        told.starts_with("edit 2 failed, so none was made: old_string is not in f.txt"),
        "{told}"
    );
    assert!(
        told.contains("\nwithout it, edits 1, 3, 5 would apply\nwithout it, edit 4 would fail too"),
        "{told}"
    );
    let flagged = [Wanted::new("a", "k l"), Wanted::new("l", "l")];
    let told = apply_all("a", &flagged)
        .unwrap_err()
        .refusal("f")
        .to_string();
    assert!(
        told.contains("its old_string is part of the new_string of edit 1"),
        "{told}"
    );
}

#[test]
fn a_hundred_thousand_places_are_replaced() {
    let text = "\tgo();  \r\n".repeat(100_000);
    let wanted = |old| Wanted::new(old, "    stop();\n").with_replace_all(true);
    let exact = timed(|| find(&text, &wanted("go();")).unwrap());
    assert_eq!(exact.lines.len(), 100_000);
    let indented = timed(|| find(&text, &wanted("    go();\n")).unwrap());
    assert_eq!(indented.rung, Rung::Indentation);
    assert_eq!(
        timed(|| indented.apply(&text)),
        "\tstop();\r\n".repeat(100_000)
    );
}

#[test]
fn what_would_grow_without_bound_is_refused() {
    let text = "a".repeat(2 << 20);
    let new = "b".repeat(1000);
    let all = Wanted::new("a", &new).with_replace_all(true);
    assert!(matches!(
        timed(|| find(&text, &all)),
        Err(Miss::TooLarge { .. })
    ));
    let text = "a\n".repeat(1000);
    let new = "b".repeat(1 << 20);
    let all = Wanted::new("a", &new).with_replace_all(true);
    assert!(matches!(
        timed(|| find(&text, &all)),
        Err(Miss::TooLarge { .. })
    ));
    let long = "b".repeat(9 << 20);
    assert!(matches!(
        find("a", &Wanted::new(&long, "")),
        Err(Miss::TooLarge { .. })
    ));
}

#[test]
fn texts_that_repeat_themselves_do_not_take_for_ever() {
    let text = "x\n".repeat(200_000);
    let old = " x\n".repeat(20_000);
    // Every line starts a place, and each place has to be compared.
    let miss = timed(|| find(&text, &Wanted::new(&old, " y")));
    assert!(matches!(miss, Err(Miss::Ambiguous { .. })), "{miss:?}");
    // No place can be indented so, which takes too long to find out of all of them.
    let miss = timed(|| find(&text, &Wanted::new(&old, "y")));
    assert!(matches!(miss, Err(Miss::TooLarge { .. })), "{miss:?}");
    let old = "x\n".repeat(20_000) + "y\n";
    let miss = timed(|| find(&text, &Wanted::new(&old, "z").with_fuzzy(true)));
    assert!(matches!(miss, Err(Miss::NoMatch(_))));
    let newlines = "\n".repeat(1 << 20);
    let old = "\n".repeat(50_000);
    assert!(matches!(
        timed(|| find(&newlines, &Wanted::new(&old, "z"))),
        Err(Miss::Ambiguous { .. })
    ));
    let wanted = Wanted::new(&old, "z").with_replace_all(true);
    assert_eq!(timed(|| find(&newlines, &wanted)).unwrap().lines.len(), 20);
    let spaces = " ".repeat(1 << 20);
    assert!(matches!(
        timed(|| find(&spaces, &Wanted::new(" \n ", "z"))),
        Err(Miss::NoMatch(_))
    ));
}

#[test]
fn long_texts_are_explained_in_time() {
    let line = |index: usize| {
        format!(
            "    let value_{index} = compute(\"{}\", {index});\n",
            index % 97
        )
    };
    let text: String = (0..12_000).map(line).collect();
    let old: String = (8_000..8_500)
        .map(|index| line(index).replace("compute", "compose"))
        .collect();
    let Err(Miss::NoMatch(report)) =
        timed(|| find(&text, &Wanted::new(&old, "x").with_fuzzy(false)))
    else {
        panic!("found");
    };
    let nearest = report.nearest.unwrap();
    assert_eq!((nearest.first_line, nearest.last_line), (8_001, 8_500));
    // One line of a megabyte, of words and of none.
    for unit in ["word ", "日本", "“", "\u{301}", "\0", "\\n", "1: "] {
        let text = unit.repeat((1 << 16) / unit.len());
        let old = unit.repeat(1000) + "?";
        assert!(
            matches!(
                timed(|| find(&text, &Wanted::new(&old, "x"))),
                Err(Miss::NoMatch(_))
            ),
            "{unit:?}"
        );
        let longer = text.clone() + "?";
        assert!(
            matches!(
                timed(|| find(&text, &Wanted::new(&longer, "x"))),
                Err(Miss::NoMatch(_))
            ),
            "{unit:?}"
        );
    }
}

/// Whether a place begins its line is not looked up from the beginning for each.
#[test]
fn many_places_behind_a_wide_indentation_are_found_in_time() {
    let text = " ".repeat(1 << 20) + &"a b ".repeat(1 << 17);
    let found = timed(|| find(&text, &Wanted::new("a  b", "c").with_replace_all(true)));
    assert_eq!(found.unwrap().lines.len(), 1 << 17);
}

#[test]
fn a_diff_of_shuffled_lines_is_made_in_time() {
    let line = |index: usize| format!("line {}\n", index * 7919 % 50_021);
    let old: String = (0..50_000).map(line).collect();
    let new: String = (0..50_000).rev().map(line).collect();
    let shown = timed(|| diff(&old, &new, "f", 200));
    assert!(shown.truncated);
    assert_eq!(shown.text.lines().count(), 200);
    let few = timed(|| diff(&"a\n".repeat(100_000), &"b\n".repeat(100_000), "f", 10));
    assert_eq!((few.added, few.removed), (100_000, 100_000));
    assert!(
        timed(|| diff(&"a".repeat(1 << 20), "b", "f", 10))
            .text
            .len()
            < 3000
    );
}

/// More lines than anybody would read are counted, not compared.
#[test]
fn millions_of_lines_are_only_counted() {
    let told = diff(&"\n".repeat(4 << 20), "one\n", "a.txt", 200);
    assert_eq!((told.removed, told.added), (4 << 20, 1));
    assert!(told.truncated && told.text.len() < 100);
}
