//! `find`, and the times it reads.

use serde_json::{Value, json};

use crate::tree::Tree;

#[track_caller]
fn check(tree: &Tree, arguments: &Value, expected: &[&str]) {
    assert_eq!(
        tree.sorted("find", arguments.clone()),
        expected,
        "{arguments}"
    );
}

#[test]
fn conditions_are_met_all_at_once() {
    let tree = Tree::of(&[
        "a.rs",
        "src/b.rs",
        "src/c.txt",
        "src/deep/er/d.RS",
        "empty/",
    ]);
    tree.write("big.bin", vec![b'x'; 5000]);
    check(
        &tree,
        &json!({"name": "*.rs"}),
        &["a.rs", "src/b.rs", "src/deep/er/d.RS"],
    );
    check(
        &tree,
        &json!({"name": "*.rs", "case_sensitive": true}),
        &["a.rs", "src/b.rs"],
    );
    check(
        &tree,
        &json!({"extension": ".rs", "path": "src"}),
        &["src/b.rs", "src/deep/er/d.RS"],
    );
    check(
        &tree,
        &json!({"type": "directory"}),
        &["empty", "src", "src/deep", "src/deep/er"],
    );
    check(
        &tree,
        &json!({"type": "directory", "max_depth": 0}),
        &["empty", "src"],
    );
    check(
        &tree,
        &json!({"type": "file", "max_depth": 0}),
        &["a.rs", "big.bin"],
    );
    check(
        &tree,
        &json!({"type": "file", "max_depth": 1}),
        &["a.rs", "big.bin", "src/b.rs", "src/c.txt"],
    );
    check(&tree, &json!({"size_min": 1000}), &["big.bin"]);
    check(&tree, &json!({"size_min": 1000, "size_max": 4999}), &[]);
    check(
        &tree,
        &json!({"type": "file", "exclude_patterns": ["src", "*.bin"]}),
        &["a.rs"],
    );
    check(&tree, &json!({"name": "src/*.rs"}), &["src/b.rs"]);
    check(&tree, &json!({"name": "b.rs"}), &["src/b.rs"]);
}

#[test]
fn results_say_what_they_are() {
    let tree = Tree::of(&["a.txt"]);
    tree.age("a.txt", 0);
    let value = tree.value("find", json!({"name": "a.txt"}));
    assert_eq!(
        value["matches"],
        json!([{"path": "a.txt", "relative_path": "a.txt", "type": "file", "is_directory": false, "size": 5, "mtime": "2026-03-01T12:00:00Z"}])
    );
}

#[test]
fn times_are_read_as_they_are_written() {
    let tree = Tree::of(&["f"]);
    tree.age("f", 3600);
    // It is noon of 2026-03-01; the file was changed an hour ago.
    for (time, is_before) in [
        ("2026-03-01", true),
        ("2026-03-02", false),
        ("2026-02-28", true),
        ("2026-03-01T11:00", true),
        ("2026-03-01T11:00:01Z", false),
        ("2026-03-01 10:59:59", true),
        ("2026-03-01T11:30:00.5+01:00", true),
        ("2026-03-01T10:30:00-01:00", false),
        ("2026-03-01T12:30:00+0130", true),
        ("2h", true),
        ("59m", false),
        ("1 hour ago", true),
        ("3d", true),
        ("1w", true),
        ("30s", false),
        ("today", true),
        ("yesterday", true),
        ("now", false),
        ("2024-02-29", true),
    ] {
        let after = tree.value("find", json!({"modified_after": time, "type": "file"}));
        assert_eq!(after["total_matches"] == 1, is_before, "{time}");
    }
    for time in [
        "",
        "soon",
        "2026-13-01",
        "2026-02-29",
        "2026-02-30",
        "2026-1-1",
        "2026-03-01T25:00",
        "12",
        "h",
        "99999999999999999999h",
        "2026-03-01T11:00+99",
        "é2026-03-01",
        "20260301",
    ] {
        let (reason, error) = tree.refusal("find", json!({"modified_after": time}));
        assert_eq!(reason, "BAD_ARGUMENT", "{time}");
        assert!(
            error.message.contains("modified_after"),
            "{}",
            error.message
        );
    }
    let (reason, _) = tree.refusal(
        "find",
        json!({"modified_after": "1h", "modified_before": "2h"}),
    );
    assert_eq!(reason, "BAD_ARGUMENT");
    assert_eq!(
        tree.refusal("find", json!({"size_min": 2, "size_max": 1}))
            .0,
        "BAD_ARGUMENT"
    );
}

#[test]
fn a_fuzzy_name_finds_what_resembles_it_best_first() {
    let tree = Tree::of(&[
        "src/user_controller.rs",
        "src/use_rc_total.txt",
        "docs/unrelated.md",
    ]);
    let found = tree.paths("find", json!({"name": "usercontr", "fuzzy": true}));
    assert_eq!(found[0], "src/user_controller.rs");
    assert!(!found.contains(&"docs/unrelated.md".to_owned()));
    // No character of it means anything else.
    let tree = Tree::of(&["main.rs", "other.rs", "!main.txt"]);
    for name in ["!main", "^main", "main$", "'main"] {
        let found = tree.paths("find", json!({"name": name, "fuzzy": true}));
        let expected: &[&str] = if name == "!main" { &["!main.txt"] } else { &[] };
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn files_are_regular_files_and_links_to_them() {
    let tree = Tree::of(&["a.txt", "folder/b.txt"]);
    tree.pipe("pipe");
    tree.link("to_file", "a.txt");
    tree.link("to_folder", "folder");
    tree.link("to_nothing", "gone");
    tree.link("to_outside", "/etc/passwd");
    tree.link("folder/up", "../a.txt");
    check(
        &tree,
        &json!({"type": "file"}),
        &["a.txt", "folder/b.txt", "folder/up", "to_file"],
    );
    let all = tree.value("find", json!({"type": "both"}));
    assert_eq!(all["total_matches"], 9);
}

#[test]
fn a_name_that_is_only_a_part_is_told() {
    let tree = Tree::of(&["my_config.toml", "config.yaml"]);
    let text = tree.text("find", json!({"name": "config"}));
    assert!(
        text.contains("2 names hold it: use name = \"*config*\""),
        "{text}"
    );
    assert_eq!(
        tree.value("find", json!({"name": "config"}))["total_matches"],
        0
    );
}

#[test]
fn what_is_out_of_bounds_is_refused_by_name() {
    let tree = Tree::empty();
    for (argument, value) in [
        ("max_depth", json!(21)),
        ("max_depth", json!(-1)),
        ("max_results", json!(1001)),
        ("type", json!("link")),
        ("sort", json!("bogus")),
        ("depth", json!(1)),
    ] {
        let (_, error) = tree.refusal("find", json!({argument: value}));
        assert!(error.message.contains(argument), "{}", error.message);
    }
    assert_eq!(tree.refusal("find", json!({"path": "gone"})).0, "NOT_FOUND");
    assert_eq!(
        tree.refusal("find", json!({"path": "a\u{0}b"})).0,
        "BAD_ARGUMENT"
    );
}
