//! Every rung of the ladder: what it finds, what it refuses, and what it says then.

use toolsmith_builtin::Reason;
use toolsmith_builtin::edit::{Miss, Rung, Wanted, diff, find};

/// A text, what is wanted, and the text as it shall be.
struct Case {
    text: &'static str,
    old: &'static str,
    new: &'static str,
    after: &'static str,
}

fn case(text: &'static str, old: &'static str, new: &'static str, after: &'static str) -> Case {
    Case {
        text,
        old,
        new,
        after,
    }
}

#[track_caller]
fn check(rung: Rung, cases: &[Case]) {
    for Case {
        text,
        old,
        new,
        after,
    } in cases
    {
        match find(text, &Wanted::new(old, new)) {
            Ok(found) => {
                assert_eq!(found.apply(text), *after, "{old:?} in {text:?}");
                assert_eq!(found.rung, rung, "{old:?} in {text:?}");
            }
            Err(miss) => panic!("{old:?} in {text:?}: {miss}"),
        }
    }
}

#[track_caller]
fn miss(text: &str, old: &str, new: &str) -> Miss {
    match find(text, &Wanted::new(old, new)) {
        Ok(found) => panic!("{old:?} in {text:?} found {found:?}"),
        Err(miss) => miss,
    }
}

#[track_caller]
fn ambiguous(text: &str, old: &str, wanted_rung: Rung, wanted_lines: &[usize]) {
    let Miss::Ambiguous {
        rung, hits, total, ..
    } = miss(text, old, "other words")
    else {
        panic!("{old:?} in {text:?} is not ambiguous");
    };
    assert_eq!(rung, wanted_rung, "{old:?} in {text:?}");
    assert_eq!(total, wanted_lines.len());
    let lines: Vec<usize> = hits.iter().map(|hit| hit.line).collect();
    assert_eq!(lines, wanted_lines, "{old:?} in {text:?}");
}

#[test]
fn exact_text_is_replaced_in_the_endings_that_are_there() {
    check(
        Rung::Exact,
        &[
            case("a b c", "b", "x", "a x c"),
            case("a\r\nb\r\nc\r\n", "a\nb", "a\nx\nb", "a\r\nx\r\nb\r\nc\r\n"),
            case("a\rb\rc\r", "b\n", "x\ny\n", "a\rx\ry\rc\r"),
            case(
                "a\nb\r\nc\rd\n",
                "a\nb\nc\nd",
                "A\nb\nc\nD",
                "A\nb\r\nc\rD\n",
            ),
            case(
                "a\nb\r\nc\rd\n",
                "b\nc\n",
                "b\nx\nc\n",
                "a\nb\r\nx\r\nc\rd\n",
            ),
            case("a\r\nb", "a\r\nb", "b\r\na\r\nc", "b\r\na\r\nc"),
            case("one\ntwo", "two", "two\nthree", "one\ntwo\nthree"),
            case("one\r\ntwo", "two", "two\nthree", "one\r\ntwo\r\nthree"),
            case("one\ntwo\n", "one\n", "", "two\n"),
            case("x = $1", "$1", "$0 \\1 ${a}", "x = $0 \\1 ${a}"),
            case("a\0b", "a\0", "c\0", "c\0b"),
            case(
                "lone \r here\n",
                "lone \r here",
                "lone \r there",
                "lone \r there\n",
            ),
            case("e\u{301}x", "x", "y", "e\u{301}y"),
            case("   \n", "   ", "\t", "\t\n"),
            case("\n\n", "\n\n", "\n", "\n"),
        ],
    );
}

#[test]
fn exact_text_is_ambiguous_where_it_overlaps_itself() {
    ambiguous("a b a b a", "a b a", Rung::Exact, &[1, 1]);
    ambiguous("x\nx\nx\n", "x\nx\n", Rung::Exact, &[1, 2]);
    ambiguous("a\na\n", "a", Rung::Exact, &[1, 2]);
    // A stronger rung that is ambiguous is not passed over for a weaker one.
    ambiguous("foo \nfoo \n  foo\n", "foo \n", Rung::Exact, &[1, 2]);
}

#[test]
fn line_numbers_that_were_copied_are_taken_off() {
    check(
        Rung::LineNumbers,
        &[
            case(
                "a\n\tb\nc\n",
                "     2\t\tb\n     3\tc",
                "     2\t\tx\n     3\tc",
                "a\n\tx\nc\n",
            ),
            case("a\nb\nc\n", "1: a\n2: b\n", "a\nx\n", "a\nx\nc\n"),
            case(
                "a\n\nc\n",
                "  1 | a\n  2 |\n  3 | c",
                "  1 | a\nnew\n  3 | x",
                "a\nnew\nx\n",
            ),
            case("a\r\nb\r\n", "1→a\n2→b", "1→a\n2→x", "a\r\nx\r\n"),
        ],
    );
    // Numbers that do not ascend, or are not everywhere, are not line numbers.
    assert!(matches!(
        miss("a\nb\n", "2: a\n1: b", "x"),
        Miss::NoMatch(_)
    ));
    assert!(matches!(miss("a\nb\n", "1: a\nb", "x"), Miss::NoMatch(_)));
    // A number stands before a whole line.
    assert!(matches!(
        miss("2: foo\n", "1: foo", "1: bar"),
        Miss::NoMatch(_)
    ));
    ambiguous("a\nb\na\nb\n", "1\ta\n2\tb", Rung::LineNumbers, &[1, 3]);
}

#[test]
fn whitespace_at_line_ends_is_overlooked_and_kept() {
    check(
        Rung::TrailingWhitespace,
        &[
            case("a  \nb\t\nc\n", "a\nb\nc", "a\nx\nc", "a  \nx\nc\n"),
            case("a\nb\n", "a \nb  \n", "a\ny\n", "a\ny\n"),
            case("a\nb   \nc", "a\nb \nc", "a\nb\nd", "a\nb\nd"),
            // The last line has no ending before, and none after.
            case("a\nb", "a\nb\n", "a\nc\n", "a\nc"),
            case("a\r\nb", "b\n", "b\nc\n", "a\r\nb\r\nc"),
        ],
    );
    // What lost its last space has to end where a line does.
    assert!(matches!(
        miss("return xyz\n", "return x ", "y"),
        Miss::NoMatch(_)
    ));
    ambiguous("a \nb\na \nb\n", "a\nb", Rung::TrailingWhitespace, &[1, 3]);
}

#[test]
fn indentation_is_carried_over_when_it_differs_in_one_way() {
    check(
        Rung::Indentation,
        &[
            // Spaces for tabs, and a deeper level that was not there before.
            case(
                "fn a() {\n\tif b {\n\t\tc();\n\t}\n}\n",
                "    if b {\n        c();\n    }",
                "    if b {\n        for d in e {\n            c();\n        }\n    }",
                "fn a() {\n\tif b {\n\t\tfor d in e {\n\t\t\tc();\n\t\t}\n\t}\n}\n",
            ),
            // Tabs for spaces.
            case(
                "a:\n  b:\n    c\n",
                "\tb:\n\t\tc",
                "\tb:\n\t\tc\n\t\t\td",
                "a:\n  b:\n    c\n      d\n",
            ),
            // Shifted to the margin.
            case(
                "class A:\n    def b(self):\n        return 1\n",
                "def b(self):\n    return 1\n",
                "def b(self):\n    x = 2\n    return x\n",
                "class A:\n    def b(self):\n        x = 2\n        return x\n",
            ),
            // Shifted away from it.
            case(
                "a\n  b\n",
                "    a\n      b\n",
                "    a\n      c\n",
                "a\n  c\n",
            ),
            // Shifted, and spaces for tabs.
            case(
                "\t\ta {\n\t\t\tb\n",
                "a {\n    b",
                "a {\n    c\n    d",
                "\t\ta {\n\t\t\tc\n\t\t\td\n",
            ),
            // Two spaces a level for four.
            case(
                "a:\n    b:\n        c\n",
                "a:\n  b:\n    c\n",
                "a:\n  b:\n    d\n      e\n",
                "a:\n    b:\n        d\n            e\n",
            ),
            // It starts within its first line.
            case(
                "x = {\n\t\ta,\n}",
                "{\n    a,\n}",
                "{\n    b,\n}",
                "x = {\n\t\tb,\n}",
            ),
            // Blank lines stay blank.
            case(
                "\ta\r\n\r\n\tb\r\n",
                "  a\n\n  b",
                "  a\n\n  c\n\n  b",
                "\ta\r\n\r\n\tc\r\n\r\n\tb\r\n",
            ),
        ],
    );
    ambiguous(
        "\ta\n\tb\n\n\ta\n\tb\n",
        "  a\n  b",
        Rung::Indentation,
        &[1, 4],
    );
}

#[test]
fn indentation_that_differs_unevenly_is_refused() {
    let Miss::NoMatch(report) = miss("a\n\t\tb\n   c\n", "  a\n  b\n  c\n", "  a\n  x\n  c\n")
    else {
        panic!("it is there");
    };
    assert_eq!(
        report.weaker[0].ignoring,
        "indentation, which differs unevenly"
    );
    assert_eq!((report.weaker[0].places, report.weaker[0].line), (1, 1));
    // A new line left of the margin has no place to go.
    assert!(matches!(
        miss("a\n  b\n", "    a\n      b\n", "x\n    a\n"),
        Miss::NoMatch(_)
    ));
}

#[test]
fn glyphs_that_look_alike_are_found_and_kept() {
    check(
        Rung::Unicode,
        &[
            case(
                "say “hi” to x\n",
                "say \"hi\" to x",
                "say \"hi\" to \"y\"",
                "say “hi” to \"y\"\n",
            ),
            case(
                "it’s — so\n",
                "it's - so",
                "it's - not so",
                "it’s — not so\n",
            ),
            case("a\u{A0}b\nc\n", "a b\nc", "a b\nd", "a\u{A0}b\nd\n"),
            case("wait…\n", "wait...", "wait... more", "wait… more\n"),
            case(
                "caf\u{E9} a\n",
                "cafe\u{301} a",
                "cafe\u{301} b",
                "caf\u{E9} b\n",
            ),
            case(
                "cafe\u{301} a\n",
                "caf\u{E9} a",
                "caf\u{E9} b",
                "cafe\u{301} b\n",
            ),
            case(
                "zero\u{200B}width\n",
                "zerowidth = 1".trim_end_matches(" = 1"),
                "wide",
                "wide\n",
            ),
            case(
                "“a”\n  “b”  \n",
                "\"a\"\n  \"b\"\n",
                "\"a\"\n  \"c\"\n",
                "“a”\n  “c”\n",
            ),
            // The other way round.
            case("say \"hi\"\n", "say “hi”", "say “ho”", "say \"ho\"\n"),
        ],
    );
    // A letter is not found in the same letter with an accent.
    for text in ["“cafe\u{301}”\n", "“caf\u{E9}”\n"] {
        assert!(matches!(miss(text, "\"cafe", "x"), Miss::NoMatch(_)));
    }
    ambiguous("“a”\n„\n“a”\n", "\"a\"", Rung::Unicode, &[1, 3]);
}

#[test]
fn escapes_written_once_too_often_are_taken_off() {
    check(
        Rung::Escapes,
        &[
            case("a\n\tb\n", "a\\n\\tb", "a\\n\\tc", "a\n\tc\n"),
            case(
                "say(\"a\\n\")",
                "say(\\\"a\\n\\\")",
                "say(\\\"b\\n\\\")",
                "say(\"b\\n\")",
            ),
            case("a\r\nb\r\n", "a\\nb\\n", "a\\nc\\n", "a\r\nc\r\n"),
            case("x = 'a'", "x = \\'a\\'", "x = \\'b\\n\\'", "x = 'b\\n'"),
        ],
    );
    // The literal text comes first.
    check(Rung::Exact, &[case("a\\nb a\nb", "a\\nb", "x", "x a\nb")]);
    // It has to be unique, even if all are wanted.
    ambiguous("\"a\"\n\"a\"\n", "\\\"a\\\"", Rung::Escapes, &[1, 2]);
    let all = Wanted::new("\\\"a\\\"", "x").with_replace_all(true);
    assert!(matches!(
        find("\"a\"\n\"a\"\n", &all),
        Err(Miss::Ambiguous { .. })
    ));
}

#[test]
fn whitespace_within_lines_is_overlooked_last() {
    check(
        Rung::Whitespace,
        &[
            case("a  =   1\n", "a = 1", "a = 2", "a  =   2\n"),
            case(
                "\tf(a,  b)\n\tg\n",
                "    f(a, b)\n    g",
                "    f(a, b)\n    h",
                "\tf(a,  b)\n\th\n",
            ),
            case("x\ty\n", "x y", "x y z", "x\ty z\n"),
        ],
    );
    ambiguous("a  b\na   b\n", "a b", Rung::Whitespace, &[1, 2]);
    // Within lines only, and none is not some.
    assert!(matches!(miss("a\nb\n", "a b", "x"), Miss::NoMatch(_)));
    assert!(matches!(miss("f(a)\n", "f( a )", "x"), Miss::NoMatch(_)));
}

#[test]
fn similar_text_is_replaced_only_when_asked_and_alone() {
    let text = "fn alpha() {\n    compute_everything(1, 2, 3);\n    finish_all_of_it();\n}\n";
    let old = "fn alpha() {\n    compute_everithing(1, 2, 3);\n    finish_all_of_it();\n}\n";
    let new = "fn alpha() {\n    compute_everithing(1, 2, 3);\n    leave();\n}\n";
    assert!(matches!(miss(text, old, new), Miss::NoMatch(_)));
    let wanted = Wanted::new(old, new).with_fuzzy(true);
    let found = find(text, &wanted).unwrap();
    assert_eq!(found.rung, Rung::Similar);
    // The line that was not to change keeps its own spelling.
    let after = "fn alpha() {\n    compute_everything(1, 2, 3);\n    leave();\n}\n";
    assert_eq!(found.apply(text), after);
    // Another place as similar.
    let twice = format!("{text}\n{}", text.replace("alpha", "alphb"));
    assert!(matches!(find(&twice, &wanted), Err(Miss::NoMatch(_))));
    // Too different.
    let far = Wanted::new("fn alpha() {\n    something_else();\n", "x").with_fuzzy(true);
    assert!(matches!(find(text, &far), Err(Miss::NoMatch(_))));
}

#[test]
fn all_places_or_the_nearest_or_so_many() {
    let text = "a\nb\na\nb\na\n";
    let wanted = Wanted::new("a", "x");
    let found = find(text, &wanted.with_replace_all(true)).unwrap();
    assert_eq!(
        (found.apply(text).as_str(), found.lines),
        ("x\nb\nx\nb\nx\n", vec![1, 3, 5])
    );
    let near = |line| find(text, &wanted.with_near_line(Some(line)));
    assert_eq!(near(5).unwrap().apply(text), "a\nb\na\nb\nx\n");
    assert_eq!(near(0).unwrap().lines, [1]);
    assert_eq!(near(usize::MAX).unwrap().lines, [5]);
    assert!(matches!(near(2), Err(Miss::Ambiguous { total: 3, .. })));
    let count = |count| find(text, &wanted.with_expected_count(Some(count)));
    assert_eq!(count(3).unwrap().apply(text), "x\nb\nx\nb\nx\n");
    assert!(matches!(
        count(2),
        Err(Miss::WrongCount {
            expected: 2,
            found: 3,
            ..
        })
    ));
    assert!(matches!(count(0), Err(Miss::WrongCount { .. })));
    // All of those that overlap are the first, and those after its end.
    let overlapping = Wanted::new("aa", "b").with_replace_all(true);
    assert_eq!(find("aaaaa", &overlapping).unwrap().apply("aaaaa"), "bba");
    // Where they overlap, a line still names one.
    let one = Wanted::new("x\nx\n", "y\n").with_near_line(Some(2));
    assert_eq!(
        find("x\nx\nx\n", &one).unwrap().apply("x\nx\nx\n"),
        "x\ny\n"
    );
    // All places of a weaker rung, each indented its own way.
    let each = Wanted::new("if a {\n    b\n}", "if a {\n    c\n}").with_replace_all(true);
    let text = "\tif a {\n\t\tb\n\t}\n  if a {\n      b\n  }\n";
    assert_eq!(
        find(text, &each).unwrap().apply(text),
        "\tif a {\n\t\tc\n\t}\n  if a {\n      c\n  }\n"
    );
}

#[test]
fn what_changes_nothing_is_refused() {
    assert_eq!(miss("a", "a", "a"), Miss::NoChange { line: None });
    assert_eq!(
        miss("a\r\nb", "a\nb", "a\r\nb"),
        Miss::NoChange { line: None }
    );
    assert_eq!(
        miss("a\n\tb\n", "  b\n", "\tb\n"),
        Miss::NoChange { line: Some(2) }
    );
    assert_eq!(miss("a", "", "b"), Miss::Empty);
    for (miss, reason) in [
        (miss("a", "a", "a"), Reason::NoChange),
        (miss("a", "", "b"), Reason::BadArgument),
        (miss("a", "b", "c"), Reason::NoMatch),
        (miss("a a", "a", "c"), Reason::Ambiguous),
    ] {
        let refusal = miss.refusal("f.txt");
        assert_eq!(refusal.reason, reason);
        assert!(refusal.next.is_some());
    }
}

#[test]
fn a_miss_shows_the_nearest_lines_with_their_whitespace() {
    let text = "fn main() {\n\tlet first = 1;\n\tlet second = 2;\n}\n";
    let old = "fn main() {\n    let first = 1;\n    let secnd = 2;\n}";
    let refusal = miss(text, old, "let second = 2;").refusal("src/a.rs");
    assert_eq!(
        refusal.to_string(),
        "old_string is not in src/a.rs\n\
         new_string is already present at line 3\n\
         nearest is lines 1-4, 97 % alike:\n\
         \x20     1 fn·main()·{\n\
         -       ····let·first·=·1;\n\
         +     2 →let·first·=·1;\n\
         -       ····let·secnd·=·2;\n\
         +     3 →let·second·=·2;\n\
         \x20     4 }\n\
         (- is old_string, + is the file; · is a space, → a tab). Leave the edit out if it is made \
         already, else correct old_string by what is at lines 1-4."
    );
    let details = toolsmith_core::ToolError::from(refusal).details.unwrap();
    assert_eq!(details["nearest"]["first_line"], 1);
    assert_eq!(details["present_at_line"], 3);
}

#[test]
fn a_miss_tells_what_would_have_to_be_overlooked() {
    let refusal = miss("one\nLet Me = In\n", "let me = in", "x").refusal("f");
    assert_eq!(
        refusal.to_string(),
        "old_string is not in f\n\
         1 place, line 2, matches ignoring case. Read the file again, and copy old_string from it."
    );
    let refusal = miss("f(a,\n  b)\n\nf(a, b\n)\n", "f(a, b)", "x").refusal("f");
    assert!(
        refusal
            .message
            .contains("\n2 places, from line 1, match ignoring all whitespace and line breaks\n"),
        "{}",
        refusal.message
    );
    let refusal = miss("a\n", " \n ", "x").refusal("f");
    assert_eq!(
        refusal.message,
        "old_string is not in f; it is only whitespace, which has to be there exactly"
    );
}

#[test]
fn an_ambiguous_text_shows_its_places() {
    let text = "if a:\n    go()\nif b:\n    go()\n";
    assert_eq!(
        miss(text, "go()", "stop()").refusal("a.py").to_string(),
        "old_string is in a.py twice, matched exactly:\n\
         \x20     2:     go()\n\
         \x20     4:     go()\n\
         (2 of 2 shown). Add lines around it to old_string, or give the line you mean as near_line, \
         or set replace_all."
    );
    let many = "go()\n".repeat(30);
    let Miss::Ambiguous { hits, total, .. } = miss(&many, "go()", "stop()") else {
        panic!("not ambiguous");
    };
    assert_eq!((hits.len(), total), (10, 30));
}

#[test]
fn a_report_is_short_however_long_the_lines_are() {
    let line = |word: &str| format!("{}{word}{}\n", "\t x".repeat(500), " y".repeat(500));
    let text: String = (0..100)
        .map(|index| line(&format!("word{index}")))
        .collect();
    let old: String = (0..100)
        .map(|index| line(&format!("w0rd{index}")))
        .collect();
    let refusal = miss(&text, &old, "z").refusal("f");
    assert!(
        refusal.to_string().len() < 4096,
        "{}",
        refusal.to_string().len()
    );
    assert!(refusal.message.contains("w0rd0"), "{}", refusal.message);
    let many = format!("{}\n", "go\u{7}".repeat(9000)).repeat(20);
    let refusal = miss(&many, &"go\u{7}".repeat(9000), "stop").refusal("f");
    assert!(
        refusal.to_string().len() < 4096,
        "{}",
        refusal.to_string().len()
    );
    assert!(refusal.message.contains("go␇"), "{}", refusal.message);
}

#[test]
fn a_diff_shows_what_changed() {
    let old = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\n";
    let new = "a\nB\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm";
    let shown = diff(old, new, "x.txt", 100);
    assert_eq!(
        shown.text,
        "--- x.txt\n+++ x.txt\n\
         @@ -1,5 +1,5 @@\n a\n-b\n+B\n c\n d\n e\n\
         @@ -10,3 +10,4 @@\n j\n k\n l\n+m\n\\ No newline at end of file\n"
    );
    assert_eq!((shown.added, shown.removed, shown.truncated), (2, 1, false));
    let cut = diff(old, new, "x.txt", 4);
    assert_eq!(cut.text, "--- x.txt\n+++ x.txt\n@@ -1,5 +1,5 @@\n a\n");
    assert!(cut.truncated);
    assert_eq!(diff(old, old, "x.txt", 100).text, "");
    let endings = diff("a\r\nb\r\n", "a\nb\r\n", "x", 100).text;
    assert_eq!(endings, "--- x\n+++ x\n@@ -1,2 +1,2 @@\n-a␍\n+a\n b␍\n");
    let created = diff("", "a\n", "x", 100).text;
    assert_eq!(created, "--- x\n+++ x\n@@ -0,0 +1 @@\n+a\n");
}
