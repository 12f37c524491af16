//! Patterns and files made to keep a search busy: it ends when it is told to, and says
//! what it did not get to.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::tree::Tree;

/// So many letters, a and b, in no order an automaton could learn.
fn letters(count: usize) -> Vec<u8> {
    let mut state = 1u32;
    let mut letter = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        b"ab"[usize::from(state >> 31 == 1)]
    };
    (0..count).map(|_| letter()).collect()
}

/// Gives a search up after a moment. It has to end by itself, and soon.
#[track_caller]
fn ends_when_given_up(tree: &Tree, tool: &str, arguments: &Value) {
    let after = Duration::from_millis(200);
    let (outcome, took) = tree.given_up(tool, arguments.clone(), after);
    if let Some(error) = outcome.error {
        let details = error.details.unwrap();
        assert_ne!(details["still_running"], true, "{arguments}");
    }
    // A test is compiled without optimisation and shares its machine.
    assert!(took < Duration::from_secs(3), "{arguments} took {took:?}");
}

#[test]
fn no_pattern_on_a_long_line_keeps_a_search_from_ending() {
    let tree = Tree::empty();
    tree.write("line.txt", vec![b'a'; 4 << 20]);
    tree.write("long.txt", letters(15 << 20));
    tree.write("words.txt", "aé".repeat(1 << 20));
    tree.write(
        "lines.txt",
        letters(6 << 20)
            .chunks(20_000)
            .collect::<Vec<_>>()
            .join(&b'\n'),
    );
    let nested = "(?:(?=(?:(?=(?:(?=.*b)a){500})a){500})a){500}";
    for (path, pattern) in [
        ("line.txt", "(?=.*b)a"),
        ("line.txt", "(?:(?=.*a)a)*b"),
        ("line.txt", "(a*)*\\1b"),
        ("line.txt", "(?<=a*b)a"),
        ("line.txt", nested),
        ("long.txt", "[ab]*a[ab]{10000}c"),
        ("long.txt", "(?=[ab]*a[ab]{300}c)a"),
        ("lines.txt", "a[ab]{10000}c"),
        ("lines.txt", "(?:a[ab]{5000}){2}c"),
        ("words.txt", "\\b(\\w+\\b){40}x"),
    ] {
        for multiline in [false, true] {
            let arguments = json!({
                "pattern": pattern, "path": path, "multiline": multiline, "output_mode": "count",
            });
            ends_when_given_up(&tree, "grep", &arguments);
        }
    }
    let excluded = json!({
        "query": "a", "use_regex": true, "exclude_query": "[ab]*a[ab]{10000}c", "path": "long.txt",
    });
    ends_when_given_up(&tree, "search_in_files", &excluded);
}

#[test]
fn a_search_over_lines_of_a_large_file_ends() {
    let tree = Tree::empty();
    tree.write("large.txt", b"aaaaaaa\n".repeat(12 << 17));
    for pattern in [
        "(?=[\\s\\S]*b)a",
        "a[\\s\\S]*b|a",
        "[ab\\n]*a[ab\\n]{10000}c",
        "(?:(?=[\\s\\S]*b)|a)*c",
    ] {
        let arguments = json!({"pattern": pattern, "multiline": true, "output_mode": "count"});
        ends_when_given_up(&tree, "grep", &arguments);
    }
}

#[test]
fn time_that_ran_out_is_told_with_what_was_found() {
    let tree = Tree::empty();
    tree.write("a.txt", "abc\n");
    tree.write("beneath/z.txt", letters(14 << 20));
    let began = Instant::now();
    let arguments = json!({"query": "[ab]*a[ab]{10000}c|abc$", "use_regex": true, "timeout": 1});
    let value = tree.value("search_in_files", arguments);
    assert!(began.elapsed() < Duration::from_secs(4), "{value}");
    assert_eq!(value["timed_out"], true);
    assert_eq!(value["matches"][0]["file_path"], "a.txt");
}

#[test]
fn what_is_searched_step_by_step_is_found_all_the_same() {
    let tree = Tree::empty();
    // So large an expression that each of these lines is searched step by step.
    let long = format!("{}x{}", "a".repeat(40_000), "b".repeat(400));
    let other = format!("{}y{}", "a".repeat(40_000), "b".repeat(400));
    tree.write("f.txt", format!("short\n{long}\n{other}\nx\n{long}\r\n"));
    for (pattern, expected) in [
        ("[ab]x[ab]{400}$", json!([2, 5])),
        ("[ab]{0,300}[ab]{300}y", json!([3])),
        ("^short$|[ab]{500}x", json!([1, 2, 5])),
        ("[ab]{500}z|^$", json!([])),
        ("\\Aa{400}|x$", json!([2, 3, 4, 5])),
    ] {
        let value = tree.value(
            "grep",
            json!({"pattern": pattern, "output_mode": "content"}),
        );
        let matches = value["matches"].as_array().cloned().unwrap_or_default();
        let numbers: Vec<&Value> = matches.iter().map(|line| &line["line_number"]).collect();
        assert_eq!(json!(numbers), expected, "{pattern}");
    }
    // The part around the match is shown, wherever it lies.
    let value = tree.value(
        "grep",
        json!({"pattern": "a{3}x[ab]{400}$", "output_mode": "content", "head_limit": 1}),
    );
    let line = value["matches"][0]["line"].as_str().unwrap();
    assert!(line.contains("aaaxbbb"), "{line}");
    // Over lines, too.
    let value = tree.value(
        "grep",
        json!({"pattern": "x[ab]{400}\\n[ab]{500}", "multiline": true, "output_mode": "content"}),
    );
    assert_eq!(value["total_matches"], 1);
    assert_eq!(value["matches"][0]["line_number"], 2);
    assert_eq!(value["matches"][1]["line_number"], 3);
}

#[test]
fn look_around_in_long_lines_is_found_where_it_takes_few_steps() {
    let tree = Tree::empty();
    let line = format!("{}needle(1){}", "é ".repeat(200_000), " y".repeat(200_000));
    tree.write("f.txt", format!("{line}\n{}\n", "needle ".repeat(50_000)));
    for (pattern, total) in [
        ("needle(?=\\()", 1),
        ("(?<=é )needle", 1),
        ("(?<!é )needle(?!\\()", 1),
        ("(n)(e)\\2dle\\(", 1),
    ] {
        let arguments = json!({"pattern": pattern, "output_mode": "count"});
        let value = tree.value("grep", arguments);
        assert_eq!(value["total_matches"], total, "{pattern}: {value}");
    }
}
