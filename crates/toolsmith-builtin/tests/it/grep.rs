//! `grep`: what matches, how it is told, and what hostile patterns and files do.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::tree::{Tree, strings};

/// A folder with one file.
fn one(content: impl AsRef<[u8]>) -> Tree {
    let tree = Tree::empty();
    tree.write("f.txt", content);
    tree
}

/// The numbers of the lines that match.
#[track_caller]
fn lines(tree: &Tree, mut arguments: Value) -> Vec<u64> {
    arguments["output_mode"] = json!("content");
    let value = tree.value("grep", arguments);
    let matches = value["matches"].as_array().cloned().unwrap_or_default();
    matches
        .iter()
        .filter(|line| line.get("is_context").is_none())
        .map(|line| line["line_number"].as_u64().unwrap())
        .collect()
}

#[test]
fn patterns_match_as_they_are_written() {
    let tree = one(
        "fn main() {}\nlet x = items[0].name;\n-rf --help\nFN MAIN\nkey: value\r\nkey: other\r\n\nend",
    );
    for (arguments, expected) in [
        (json!({"pattern": "fn main"}), vec![1]),
        (
            json!({"pattern": "fn main", "case_insensitive": true}),
            vec![1, 4],
        ),
        (json!({"pattern": "(?i)fn main"}), vec![1, 4]),
        (json!({"pattern": "items[0].name"}), vec![]),
        (
            json!({"pattern": "items[0].name", "fixed_strings": true}),
            vec![2],
        ),
        (json!({"pattern": "-rf"}), vec![3]),
        (json!({"pattern": "--help"}), vec![3]),
        (json!({"pattern": "--pre=touch x"}), vec![]),
        (json!({"pattern": "^key: \\w+$"}), vec![5, 6]),
        (json!({"pattern": "(?<=key: )value"}), vec![5]),
        (json!({"pattern": "key: (?!value)"}), vec![6]),
        (json!({"pattern": "(e)n(d)|(l)\\3"}), vec![8]),
        (json!({"pattern": "^$"}), vec![7]),
        (json!({"pattern": "end\\z"}), vec![8]),
        (json!({"pattern": "x", "path": "f.txt"}), vec![2]),
    ] {
        assert_eq!(lines(&tree, arguments.clone()), expected, "{arguments}");
    }
}

#[test]
fn matches_go_over_lines_when_asked_to() {
    let tree = one("a\nbegin\nmiddle\nend\nz\n");
    assert_eq!(
        tree.refusal("grep", json!({"pattern": "begin\\nmiddle"})).0,
        "BAD_PATTERN"
    );
    assert_eq!(
        lines(
            &tree,
            json!({"pattern": "begin\\nmiddle", "multiline": true})
        ),
        [2, 3]
    );
    assert_eq!(
        lines(&tree, json!({"pattern": "begin.*end", "multiline": true})),
        [2, 3, 4]
    );
    assert_eq!(
        lines(
            &tree,
            json!({"pattern": "begin(?=.*end)", "multiline": true})
        ),
        [2]
    );
    assert_eq!(
        lines(
            &tree,
            json!({"pattern": "begin\nmiddle", "multiline": true, "fixed_strings": true})
        ),
        [2, 3]
    );
}

#[test]
fn each_mode_tells_what_it_says() {
    let tree = Tree::empty();
    tree.write("b.rs", "one\ntwo one\n");
    tree.write("a.rs", "one\n");
    tree.write("c.md", "one\n");
    tree.age("a.rs", 300);
    tree.age("b.rs", 100);
    tree.age("c.md", 200);
    assert_eq!(
        tree.value("grep", json!({"pattern": "one"}))["files"],
        json!(["b.rs", "c.md", "a.rs"])
    );
    let counts = tree.value("grep", json!({"pattern": "one", "output_mode": "count"}));
    assert_eq!(
        counts["counts"],
        json!([{"path": "a.rs", "count": 1}, {"path": "b.rs", "count": 2}, {"path": "c.md", "count": 1}])
    );
    assert_eq!(counts["total_matches"], 4);
    let text = tree.text(
        "grep",
        json!({"pattern": "one", "output_mode": "content", "glob": "*.rs"}),
    );
    assert_eq!(
        text,
        "a.rs:1:one\nb.rs:1:one\nb.rs:2:two one\n\n3 matches in 2 files: Matches 1–3 of 3."
    );
    let text = tree.text(
        "grep",
        json!({"pattern": "one", "output_mode": "content", "line_numbers": false, "type": "md"}),
    );
    assert!(text.starts_with("c.md:one\n"), "{text}");
    let value = tree.value("grep", json!({"pattern": "one", "exclude": ["*.md", "a*"]}));
    assert_eq!(value["files"], json!(["b.rs"]));
    let value = tree.value(
        "grep",
        json!({"pattern": "one", "output_mode": "count", "max_per_file": 1}),
    );
    assert_eq!(value["total_matches"], 3);
}

#[test]
fn lines_around_a_match_are_shown_once_and_gaps_are_marked() {
    let tree = one((1..=20)
        .map(|number| format!("line {number}\n"))
        .collect::<String>());
    let text = tree.text(
        "grep",
        json!({"pattern": "line (3|5|15)$", "output_mode": "content", "context": 1}),
    );
    let expected = "f.txt-2-line 2\nf.txt:3:line 3\nf.txt-4-line 4\nf.txt:5:line 5\nf.txt-6-line 6\n--\n\
                    f.txt-14-line 14\nf.txt:15:line 15\nf.txt-16-line 16\n\n";
    assert!(text.starts_with(expected), "{text}");
    let before = tree.text("grep", json!({"pattern": "line 3$", "output_mode": "content", "context_before": 2, "context_after": 0}));
    assert!(
        before.starts_with("f.txt-1-line 1\nf.txt-2-line 2\nf.txt:3:line 3\n\n"),
        "{before}"
    );
}

#[test]
fn an_offset_continues_where_an_answer_ended() {
    let tree = Tree::empty();
    for file in 0..5 {
        let content: String = (0..10)
            .map(|line| format!("hit {file}.{line}\nmiss\n"))
            .collect();
        tree.write(&format!("f{file}"), content);
    }
    for mode in ["content", "count", "files_with_matches"] {
        let mut arguments = json!({"pattern": "hit", "output_mode": mode, "head_limit": 3});
        let mut seen = Vec::new();
        for _ in 0..100 {
            let value = tree.value("grep", arguments);
            seen.extend(strings(&value["matches"], "line"));
            seen.extend(strings(&value["counts"], "path"));
            seen.extend(
                value["files"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .map(|file| file.as_str().unwrap().to_owned()),
            );
            let Some(next) = value.get("next") else { break };
            arguments = next.clone();
            assert_eq!(value["truncated"], true);
        }
        let unique: std::collections::BTreeSet<&String> = seen.iter().collect();
        let expected = if mode == "content" { 50 } else { 5 };
        assert_eq!(
            (seen.len(), unique.len()),
            (expected, expected),
            "{mode}: {seen:?}"
        );
    }
    let none = tree.value(
        "grep",
        json!({"pattern": "hit", "output_mode": "content", "head_limit": 0}),
    );
    assert_eq!(
        (
            &none["total_matches"],
            &none["truncated"],
            none.get("matches")
        ),
        (&json!(50), &json!(true), None)
    );
    let all = tree.value(
        "grep",
        json!({"pattern": "hit", "output_mode": "content", "head_limit": -1}),
    );
    assert_eq!(all["matches"].as_array().unwrap().len(), 50);
}

#[test]
fn identical_calls_give_identical_answers() {
    let names: Vec<String> = (0..200)
        .map(|number| format!("d{}/f{number}", number % 13))
        .collect();
    let tree = Tree::empty();
    for name in &names {
        tree.write(name, "needle\n");
        tree.age(name, 100);
    }
    for mode in ["content", "count", "files_with_matches"] {
        let arguments = json!({"pattern": "needle", "output_mode": mode, "head_limit": 50});
        let once = tree.text("grep", arguments.clone());
        for _ in 0..10 {
            assert_eq!(tree.text("grep", arguments.clone()), once);
        }
    }
}

#[test]
fn nothing_found_says_what_was_looked_at() {
    let tree = Tree::of(&["a.txt", "b.txt", "hidden.log"]);
    tree.write(".gitignore", "*.log\n");
    let text = tree.text("grep", json!({"pattern": "A.TXT"}));
    assert!(text.contains("3 files were searched"), "{text}");
    assert!(
        text.contains("With case_insensitive = true 1 file matches"),
        "{text}"
    );
    assert!(
        text.contains("1 file or folder is hidden by ignore rules"),
        "{text}"
    );
    assert_eq!(
        tree.value("grep", json!({"pattern": "nothing like it"}))
            .get("case_insensitive_files"),
        None
    );
    // A file may be named although it is hidden.
    assert_eq!(
        tree.value("grep", json!({"pattern": "hidden", "path": "hidden.log"}))["total_matches"],
        1
    );
}

#[test]
fn a_pattern_that_cannot_be_read_is_refused_and_the_text_itself_is_offered() {
    let tree = Tree::empty();
    for (pattern, mark) in [
        ("foo(bar", "    foo(bar\n       ^ "),
        ("a**{", ""),
        ("[z-a]", "    [z-a]\n     ^ "),
        ("x{2,1}", "    x{2,1}\n     ^ "),
        ("\\p{Nope}", "    \\p{Nope}\n    ^ "),
        ("(?<=a", "    (?<=a"),
        ("*", "    *\n    ^ "),
    ] {
        let (reason, error) = tree.refusal("grep", json!({"pattern": pattern}));
        assert_eq!(reason, "BAD_PATTERN", "{pattern}");
        assert!(error.message.contains(mark), "{}", error.message);
        assert_eq!(
            error.details.unwrap()["next_arguments"],
            json!({"pattern": pattern, "fixed_strings": true})
        );
    }
    for pattern in [
        "",
        &"(".repeat(5000),
        &"a".repeat(20_000),
        "\\w{1000}{1000}",
        "(((((a{100}){100}){100}){100}){100})",
    ] {
        assert_eq!(
            tree.refusal("grep", json!({"pattern": pattern})).0,
            "BAD_PATTERN"
        );
    }
    let (reason, error) = tree.refusal("grep", json!({"pattern": "a", "type": "rustt"}));
    assert_eq!(reason, "BAD_ARGUMENT");
    assert!(error.message.contains("rust"), "{}", error.message);
    assert_eq!(
        tree.refusal("grep", json!({"pattern": "a", "glob": "[a"}))
            .0,
        "BAD_PATTERN"
    );
}

#[test]
fn long_lines_are_cut_around_the_match() {
    let tree = one(format!(
        "{}needle{}\n",
        "é".repeat(100_000),
        "x".repeat(100_000)
    ));
    let value = tree.value(
        "grep",
        json!({"pattern": "needle", "output_mode": "content"}),
    );
    let line = value["matches"][0]["line"].as_str().unwrap();
    assert!(line.contains("needle"), "{line}");
    assert!(line.chars().count() < 600, "{}", line.chars().count());
    assert!(
        line.starts_with('[') && line.ends_with("more bytes]"),
        "{line}"
    );
    // What lies at either end is shown with what is next to it.
    for content in [
        "needle".to_owned() + &"y".repeat(5000),
        "y".repeat(5000) + "needle",
    ] {
        let value = one(content).value(
            "grep",
            json!({"pattern": "needle", "output_mode": "content"}),
        );
        let line = value["matches"][0]["line"].as_str().unwrap();
        assert!(
            line.contains("needle") && line.chars().count() > 450,
            "{line}"
        );
    }
}

#[test]
fn files_in_other_encodings_and_binary_files_are_told_apart() {
    let tree = Tree::empty();
    let utf16: Vec<u8> = "\u{feff}first\nneedle näher\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    tree.write("utf16.txt", utf16);
    tree.write("latin.txt", b"caf\xe9 needle\n");
    tree.write("binary.bin", b"needle\n\0\x01\x02");
    tree.write("other.bin", b"\0\nnothing\n");
    let text = tree.text(
        "grep",
        json!({"pattern": "needle", "output_mode": "content"}),
    );
    assert_eq!(
        text,
        "binary.bin: binary file matches\nlatin.txt:1:caf\u{fffd} needle\nutf16.txt:2:needle näher\n\n3 matches in 3 files: Matches 1–3 of 3."
    );
    // A file that is named is searched to its end, another that is not text only so far.
    let late = [&b"\0\n".repeat(1 << 20), &b"needle\n"[..]].concat();
    tree.write("late.bin", late);
    assert_eq!(
        tree.value("grep", json!({"pattern": "needle"}))["total_matches"],
        3
    );
    let text = tree.text(
        "grep",
        json!({"pattern": "needle", "path": "late.bin", "output_mode": "content"}),
    );
    assert!(text.starts_with("late.bin: binary file matches"), "{text}");
}

#[test]
fn answers_are_bounded_however_much_is_found() {
    let tree = one("the same line that matches every time\n".repeat(200_000));
    for arguments in [
        json!({"pattern": "same", "output_mode": "content", "head_limit": -1}),
        json!({"pattern": "same", "output_mode": "content", "head_limit": 5000, "context": 100}),
    ] {
        let outcome = tree.outcome("grep", arguments);
        let text = format!("{:?}", outcome.content);
        assert!(text.len() < 60 << 10, "{}", text.len());
        let value = outcome.value.unwrap();
        assert_eq!(value["total_matches"], 200_000);
        assert_eq!(value["truncated"], true);
        assert!(value["next"]["offset"].as_u64().unwrap() > 100);
        assert!(value.to_string().len() < 400 << 10);
    }
    let huge = one(vec![b'a'; 20 << 20]);
    let text = huge.text("grep", json!({"pattern": "b"}));
    assert!(text.contains("too long: 1"), "{text}");
}

#[test]
fn a_pattern_that_takes_too_many_steps_ends() {
    let tree = one(format!("{}\nplain\n", "a".repeat(5000)));
    let began = Instant::now();
    let text = tree.text("grep", json!({"pattern": "(?=a)(a+)+(a+)+$(?<!a)b"}));
    assert!(text.contains("too many steps"), "{text}");
    // The linear engine needs no limit.
    let text = tree.text("grep", json!({"pattern": "(a+)+(a+)+b"}));
    assert!(text.contains("No match"), "{text}");
    assert!(began.elapsed() < Duration::from_secs(20));
}

#[test]
fn no_line_is_lost_where_an_answer_has_no_more_room() {
    let block = format!(
        "begin\n{}end\nrest 1\nrest 2\nrest 3\n",
        "within\n".repeat(7)
    );
    let tree = one(block.repeat(300));
    for (asked, lines_of_block) in [
        (json!({"pattern": "begin.*?end", "multiline": true}), 9),
        (json!({"pattern": "end", "context_after": 3}), 4),
    ] {
        let mut arguments = asked.clone();
        arguments["output_mode"] = json!("content");
        arguments["head_limit"] = json!(-1);
        let mut seen = std::collections::BTreeSet::new();
        let mut pages = 0;
        loop {
            let value = tree.value("grep", arguments);
            for line in value["matches"].as_array().unwrap() {
                seen.insert(line["line_number"].as_u64().unwrap());
            }
            pages += 1;
            let Some(next) = value.get("next") else { break };
            arguments = next.clone();
        }
        assert!(pages > 1, "{asked} has one page");
        assert_eq!(seen.len(), 300 * lines_of_block, "{asked}");
    }
}

/// The largest number there is may be repeated so often, and is refused like any too large.
#[test]
fn a_pattern_repeated_without_end_is_too_large() {
    let tree = Tree::of(&["a.txt"]);
    let pattern = format!("(?=a)b{{{},}}", usize::MAX);
    let (reason, error) = tree.refusal("grep", json!({ "pattern": pattern }));
    assert_eq!(reason, "BAD_PATTERN", "{error}");
    assert!(error.to_string().contains("too large"), "{error}");
}
