//! Patches: what is read, what is refused, and what hunks do to a text.

use proptest::prelude::*;
use toolsmith_builtin::Reason;
use toolsmith_builtin::patch::{FileChange, Fit, HunkMiss, Missing, Patched, apply, parse};

/// The patch of one file's hunks.
fn hunks(hunks: &str) -> String {
    format!("*** Begin Patch\n*** Update File: f\n{hunks}*** End Patch\n")
}

fn patched(text: &str, patch: &str) -> Result<Patched, HunkMiss> {
    match parse(&hunks(patch)) {
        Ok(changes) => match &changes[..] {
            [FileChange::Update { hunks, .. }] => apply(text, hunks),
            _ => panic!("{changes:?}"),
        },
        Err(error) => panic!("{patch:?}: {error}"),
    }
}

#[track_caller]
fn check(text: &str, patch: &str, after: &str) {
    match patched(text, patch) {
        Ok(patched) => assert_eq!(patched.text, after, "{patch:?} on {text:?}"),
        Err(miss) => panic!("{patch:?} on {text:?}: {miss}"),
    }
}

#[test]
fn files_are_added_removed_moved_and_changed() {
    let patch = "*** Begin Patch\n*** Add File: a b.txt\n+one\n+\n+two\n*** Delete File: c\n\
                 *** Update File: d\n*** Move to: e/f\n@@ fn x\n-old\n+new\n*** Update File: g\n\
                 *** Move to: h\n*** Add File: empty\n*** End Patch";
    let changes = parse(patch).unwrap();
    let paths: Vec<&str> = changes.iter().map(FileChange::path).collect();
    assert_eq!(paths, ["a b.txt", "c", "d", "g", "empty"]);
    let content = |text: &str| FileChange::Add {
        path: "a b.txt".to_owned(),
        content: text.to_owned(),
    };
    assert!(format!("{:?}", changes[0]) == format!("{:?}", content("one\n\ntwo\n")));
    match &changes[2] {
        FileChange::Update { move_to, hunks, .. } => {
            assert_eq!(move_to.as_deref(), Some("e/f"));
            assert_eq!(hunks[0].context, ["fn x"]);
            assert_eq!(
                (hunks.len(), hunks[0].lines.len(), hunks[0].line),
                (1, 2, 9)
            );
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_around_the_envelope_is_passed_over() {
    let plain = "*** Begin Patch\n*** Update File: f\n@@\n-a\n+b\n*** End Patch";
    let expected = parse(plain).unwrap();
    for patch in [
        format!("\n\n  {plain}  \n\n"),
        format!("<<'EOF'\n{plain}\nEOF\n"),
        format!("<<EOF\n{plain}\nEOF"),
        format!("apply_patch <<\"PATCH\"\n{plain}\nPATCH\n"),
        format!("```diff\n{plain}\n```\n"),
        plain.replace('\n', "\r\n"),
        plain.replace("*** Update", "  *** Update"),
        plain.replace("*** End Patch", "\n *** End Patch "),
    ] {
        let changes = parse(&patch).unwrap();
        let (FileChange::Update { hunks, .. }, FileChange::Update { hunks: wanted, .. }) =
            (&changes[0], &expected[0])
        else {
            panic!("{changes:?}");
        };
        let after = |hunks| apply("a\n", hunks).unwrap().text;
        assert_eq!(after(hunks), after(wanted), "{patch:?}");
    }
}

#[test]
fn what_cannot_be_read_names_its_line() {
    for (patch, line, expected) in [
        ("", 1, "`*** Begin Patch`"),
        ("hello", 1, "`*** Begin Patch`"),
        (
            "*** Begin Patch\n*** Delete File: a\n",
            3,
            "`*** End Patch`",
        ),
        ("*** Begin Patch", 2, "`*** End Patch`"),
        ("*** Begin Patch\n*** End Patch", 2, "`*** Add File: path`"),
        (
            "*** Begin Patch\n*** Rename File: a\n*** End Patch",
            2,
            "`*** Add File: path`",
        ),
        (
            "*** Begin Patch\n*** Add File:  \n*** End Patch",
            2,
            "a marker with a path after it",
        ),
        (
            "*** Begin Patch\n*** Add File: a\nno plus\n*** End Patch",
            3,
            "`*** Add File: path`",
        ),
        (
            "*** Begin Patch\n*** Update File: a\n*** End Patch",
            3,
            "a hunk:",
        ),
        (
            "*** Begin Patch\n*** Update File: a\n@@\n*** End Patch",
            4,
            "a line of this hunk",
        ),
        (
            "*** Begin Patch\n*** Update File: a\n@@\n b\n*** End Patch",
            5,
            "a line of this hunk",
        ),
        (
            "*** Begin Patch\n*** Update File: a\n@@\n-b\nc\n*** End Patch",
            5,
            "a line that starts",
        ),
        (
            "*** Begin Patch\n*** Update File: a\n-b\n*** Bogus\n*** End Patch",
            4,
            "a line of this hunk",
        ),
    ] {
        let error = parse(patch).unwrap_err();
        assert_eq!(error.line, line, "{patch:?} {error}");
        assert!(error.expected.starts_with(expected), "{patch:?} {error}");
        assert_eq!(error.refusal().reason, Reason::BadArgument);
    }
}

#[test]
fn hunks_are_applied_in_order() {
    check("1\n2\n3\n4\n", "@@\n-2\n+b\n@@\n-4\n+d\n", "1\nb\n3\nd\n");
    check("1\n2\n", " 1\n-2\n+b\n", "1\nb\n");
    check("a\nx\nb\nx\n", "@@ b\n-x\n+y\n", "a\nx\nb\ny\n");
    check("a\nx\nb\nx\n", "@@ a\n@@ b\n-x\n+y\n", "a\nx\nb\ny\n");
    check("a\nb\n", "@@ a\n+x\n", "a\nx\nb\n");
    check("a\nb\n", "@@\n+x\n+y\n", "a\nb\nx\ny\n");
    check("a\nb\n", "@@\n+x\n@@\n-a\n+c\n", "c\nb\nx\n");
    check("x\na\nx\n", "@@\n-x\n+y\n*** End of File\n", "x\na\ny\n");
    check("a\nb\nc\n", "@@\n-a\n-b\n-c\n", "");
    check("", "@@\n+a\n", "a\n");
    check("a\nb\nc\n", "@@\n a\n+x\n b\n-c\n\n\n", "a\nx\nb\n");
    check("a\n\nb\n", "@@\n a\n\n-b\n+c\n", "a\n\nc\n");
    check("a\nb\n", "@@ -1,2 +1,2 @@ fn gone\n a\n-b\n+c\n", "a\nc\n");
}

#[test]
fn endings_and_kept_lines_stay_as_they_are() {
    check(
        "a\r\nb\r\nc\r\n",
        "@@\n a\n-b\n+x\n+y\n c\n",
        "a\r\nx\r\ny\r\nc\r\n",
    );
    check("a\rb\r\nc\n", "@@\n-b\n+x\n", "a\rx\r\nc\n");
    check("a\nb", "@@\n-a\n+c\n b\n", "c\nb");
    // A line that is written is a whole line.
    check("a\nb", "@@\n-b\n+c\n+d\n", "a\nc\nd\n");
    check("a\nb", "@@\n+c\n", "a\nb\nc\n");
    check("a  \n“b”\nc\n", "@@\n a\n \"b\"\n-c\n+d\n", "a  \n“b”\nd\n");
    // Lines matched with other indentation take what is added along.
    check(
        "\tif a {\n\t\tb\n\t}\n",
        "@@\n     if a {\n-        b\n+        c\n     }\n",
        "\tif a {\n\t\tc\n\t}\n",
    );
}

#[test]
fn lines_are_matched_as_strictly_as_they_can_be() {
    for (text, fit) in [
        ("x\nold \nold\n", Fit::Exact),
        ("x\n old\nold \n", Fit::TrailingWhitespace),
        ("x\n\told\n“old”\n", Fit::Trimmed),
    ] {
        let patched = patched(text, "@@\n-old\n+new\n").unwrap();
        assert_eq!(patched.fit, fit, "{text:?}");
        assert_eq!(patched.lines.len(), 1);
    }
    let unicode = patched("x\n  it’s\n", "@@\n-it's\n+its\n").unwrap();
    assert_eq!(
        (unicode.fit, unicode.text.as_str()),
        (Fit::Unicode, "x\n  its\n")
    );
    assert_eq!(unicode.lines, [2]);
    assert_eq!(unicode.changes.len(), 1);
}

#[test]
fn a_hunk_that_is_not_there_is_named() {
    let miss = patched("a\nb\nc\n", "@@\n-b\n+x\n@@\n-a\n+y\n").unwrap_err();
    assert_eq!((miss.hunk, miss.line), (1, 6));
    assert!(matches!(
        miss.missing,
        Missing::Lines {
            after: 2,
            elsewhere: Some(1),
            ..
        }
    ));
    assert_eq!(
        miss.refusal("f").message,
        "cannot apply hunk 2 of f (line 6 of the patch): its lines, from `a` on, are not there after \
         line 2, but at line 1"
    );
    let text = "fn main() {\n\tlet value = 1;\n}\n";
    let miss = patched(text, "@@\n fn main() {\n-    let valeu = 1;\n+    x\n }\n").unwrap_err();
    assert_eq!(
        miss.refusal("src/a.rs").to_string(),
        "cannot apply hunk 1 of src/a.rs (line 3 of the patch): its lines, from `fn main() {` on, are \
         not there\n\
         nearest is lines 1-3, 92 % alike:\n\
         \x20     1 fn·main()·{\n\
         -       ····let·valeu·=·1;\n\
         +     2 →let·value·=·1;\n\
         \x20     3 }\n\
         (- is the patch, + is the file; · is a space, → a tab). Correct the hunk by what is at lines \
         1-3."
    );
    let miss = patched("a\n", "@@ gone\n-a\n+b\n").unwrap_err();
    assert!(matches!(
        miss.missing,
        Missing::Lines {
            is_context: true,
            ..
        }
    ));
    // At the end means at the end.
    let miss = patched("x\ny\n", "@@\n-x\n+z\n*** End of File\n").unwrap_err();
    assert!(matches!(
        miss.missing,
        Missing::Lines {
            elsewhere: Some(1),
            ..
        }
    ));
    assert_eq!(
        patched("", "@@\n-x\n+y\n").unwrap_err().refusal("f").reason,
        Reason::NoMatch
    );
}

#[test]
fn a_patch_of_a_text_that_repeats_itself_ends() {
    let text = "x\n".repeat(300_000);
    let mut patch = String::from("@@\n");
    for _ in 0..20_000 {
        patch.push_str(" x\n");
    }
    patch.push_str("-y\n+z\n");
    let miss = patched(&text, &patch).unwrap_err();
    assert!(matches!(miss.missing, Missing::Lines { .. }));
    let many = "@@\n-x\n+y\n".repeat(2000);
    let patched = patched(&text, &many).unwrap();
    assert_eq!(patched.text.matches('y').count(), 2000);
    assert!(patched.text.starts_with("y\ny\n"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_patch_is_read_or_refused_and_keeps_what_it_does_not_name(
        lines in prop::collection::vec(prop::sample::select(vec![
            "@@", "@@ a", "@@ -1 +1 @@", "-a", "-b", "+a", "+c", " a", " b", "", "+é", "-“",
            "*** End of File", "*** Move to: x", "*** Update File: f", "*** Add File: g", "***",
        ]), 0..8),
        text in "[ab“\r\n]{0,12}",
    ) {
        let patch = hunks(&lines.iter().map(|line| format!("{line}\n")).collect::<String>());
        let Ok(changes) = parse(&patch) else {
            return Ok(());
        };
        for change in changes {
            let FileChange::Update { hunks, .. } = change else {
                continue;
            };
            let Ok(patched) = apply(&text, &hunks) else {
                continue;
            };
            let mut done = 0;
            let mut expected = String::new();
            for change in &patched.changes {
                expected.push_str(&text[done..change.range.start]);
                expected.push_str(&change.text);
                done = change.range.end;
            }
            prop_assert_eq!(expected + &text[done..], patched.text);
            prop_assert_eq!(patched.lines.len(), hunks.len());
        }
    }
}
