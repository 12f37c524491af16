//! The context tools: lists, trees, and searches by their older names.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::tree::{Tree, strings};

fn project() -> Tree {
    let tree = Tree::of(&[
        "src/main.rs",
        "src/lib/a.rs",
        "src/lib/deep/b.rs",
        "README.md",
        "out/x.o",
    ]);
    tree.write(".gitignore", "out/\n");
    tree.age(".gitignore", 1);
    tree
}

#[test]
fn a_folder_is_listed_in_the_order_asked_for() {
    let tree = Tree::empty();
    tree.write("b", "12");
    tree.write("a", "1");
    tree.write("c", "123");
    tree.write("d/", "");
    for (name, seconds) in [("a", 100), ("b", 300), ("c", 200), ("d", 400)] {
        tree.age(name, seconds);
    }
    for (arguments, expected) in [
        (json!({}), vec!["a", "b", "c", "d"]),
        (json!({"order": "desc"}), vec!["d", "c", "b", "a"]),
        (json!({"sort_by": "time"}), vec!["d", "b", "c", "a"]),
        (
            json!({"sort_by": "mtime", "order": "desc"}),
            vec!["a", "c", "b", "d"],
        ),
        (
            json!({"sort_by": "time", "order": "desc", "limit": 2}),
            vec!["a", "c"],
        ),
        (json!({"limit": 0}), vec![]),
        (json!({"limit": 99}), vec!["a", "b", "c", "d"]),
        (json!({"limit": -1}), vec!["a", "b", "c", "d"]),
    ] {
        let value = tree.value("list_directory", arguments.clone());
        assert_eq!(strings(&value["entries"], "name"), expected, "{arguments}");
        assert_eq!(value["total"], 4);
        assert_eq!(value["truncated"], expected.len() < 4, "{arguments}");
    }
    let sizes = tree.value("list_directory", json!({"sort_by": "size"}));
    let files: Vec<String> = strings(&sizes["entries"], "name")
        .into_iter()
        .filter(|name| name != "d")
        .collect();
    assert_eq!(files, ["a", "b", "c"]);
    let entry = &tree.value("list_directory", json!({"limit": 1}))["entries"][0];
    assert_eq!(
        entry,
        &json!({"name": "a", "type": "file", "size": 1, "mtime": "2026-03-01T11:58:20Z", "path": "a"})
    );
    for (argument, value) in [("sort_by", "bogus"), ("order", "up"), ("limit", "many")] {
        let (_, error) = tree.refusal("list_directory", json!({argument: value}));
        assert!(error.message.contains(argument), "{}", error.message);
    }
    assert!(
        tree.refusal("list_directory", json!({"limit": -2}))
            .1
            .message
            .contains("limit")
    );
}

#[test]
fn a_list_shows_hidden_files_and_survives_dangling_links() {
    let tree = project();
    tree.link("dangling", "gone");
    tree.link("outside", "/etc");
    let value = tree.value("list_directory", json!({}));
    assert_eq!(
        strings(&value["entries"], "name"),
        [
            ".gitignore",
            "README.md",
            "dangling",
            "out",
            "outside",
            "src"
        ]
    );
    assert_eq!(
        strings(&value["entries"], "type"),
        ["file", "file", "file", "dir", "file", "dir"]
    );
    assert_eq!(
        tree.refusal("list_directory", json!({"path": "README.md"}))
            .0,
        "NOT_DIRECTORY"
    );
    let (reason, error) = tree.refusal("list_directory", json!({"path": "gone"}));
    assert_eq!(reason, "NOT_FOUND");
    assert!(
        !error.message.contains(&*tree.path().to_string_lossy()),
        "{}",
        error.message
    );
}

#[test]
fn a_long_list_is_told_in_pages() {
    let tree = Tree::empty();
    for number in 0..3000 {
        tree.write(&format!("a rather long name of a file {number:05}"), "");
    }
    let mut arguments = json!({});
    let mut names = Vec::new();
    for _ in 0..20 {
        let value = tree.value("list_directory", arguments);
        assert_eq!(value["total"], 3000);
        names.extend(strings(&value["entries"], "name"));
        let Some(next) = value.get("next") else { break };
        arguments = next.clone();
    }
    assert_eq!(names.len(), 3000);
    assert!(names.is_sorted());
}

/// A tree as nested names.
fn names(node: &Value) -> Value {
    let children = node["children"].as_array().unwrap();
    match children.is_empty() {
        true => node["name"].clone(),
        false => {
            json!({node["name"].as_str().unwrap(): children.iter().map(names).collect::<Vec<_>>()})
        }
    }
}

#[test]
fn a_tree_is_shown_to_the_depth_asked_for() {
    let tree = project();
    let value = tree.value("show_tree", json!({}));
    assert_eq!(
        names(&value["tree"]),
        json!({".": [".gitignore", "README.md", {"src": [{"lib": ["a.rs", "deep"]}, "main.rs"]}]})
    );
    assert_eq!(
        (&value["max_depth_reached"], &value["hidden_by_ignore"]),
        (&json!(true), &json!(1))
    );
    let value = tree.value(
        "show_tree",
        json!({"max_depth": 10, "include_ignored": true}),
    );
    assert_eq!(
        names(&value["tree"]),
        json!({".": [".gitignore", "README.md", {"out": ["x.o"]}, {"src": [{"lib": ["a.rs", {"deep": ["b.rs"]}]}, "main.rs"]}]})
    );
    assert_eq!(value["max_depth_reached"], false);
    let text = tree.text("show_tree", json!({"path": "src", "max_depth": 1}));
    assert!(
        text.starts_with("src/\n├── lib/ …\n└── main.rs\n"),
        "{text}"
    );
    for depth in [0, 11] {
        assert!(
            tree.refusal("show_tree", json!({"max_depth": depth}))
                .1
                .message
                .contains("max_depth")
        );
    }
}

#[test]
fn a_large_folder_does_not_crowd_out_the_rest_of_a_tree() {
    let tree = Tree::empty();
    for number in 0..512 {
        tree.write(&format!("a/{number:04}"), "");
        tree.write(&format!("b{number:04}/c/d"), "");
    }
    tree.write("z/last", "");
    let text = tree.text("show_tree", json!({"max_depth": 2}));
    assert!(text.contains("… 412 more"), "{text}");
    let value = tree.value("show_tree", json!({"max_depth": 10}));
    assert_eq!(value["truncated"], true);
    assert!(text.len() < 50 << 10);
    fn count(node: &Value) -> usize {
        1 + node["children"]
            .as_array()
            .unwrap()
            .iter()
            .map(count)
            .sum::<usize>()
    }
    assert!(count(&value["tree"]) <= 1001);
}

#[test]
fn one_file_is_searched_for_text_or_a_regular_expression() {
    let tree = Tree::empty();
    tree.write("f", "a.b\naxb\n-e foo\n--pre=id\n");
    for (query, use_regex, expected) in [
        ("a.b", false, vec![1]),
        ("a.b", true, vec![1, 2]),
        ("-e", false, vec![3]),
        ("--pre=id", false, vec![4]),
        ("^-", true, vec![3, 4]),
        ("(", false, vec![]),
    ] {
        let value = tree.value(
            "search_in_file",
            json!({"query": query, "file_path": "f", "use_regex": use_regex}),
        );
        let found: Vec<u64> = value["matches"]
            .as_array()
            .unwrap()
            .iter()
            .map(|line| line["line_number"].as_u64().unwrap())
            .collect();
        assert_eq!(found, expected, "{query}");
        assert_eq!(value["total_matches"], expected.len());
    }
    let value = tree.value("search_in_file", json!({"query": "a.b", "file_path": "f"}));
    assert_eq!(
        value["matches"],
        json!([{"line_number": 1, "line_content": "a.b"}])
    );
    let (reason, error) = tree.refusal(
        "search_in_file",
        json!({"query": "(", "file_path": "f", "use_regex": true}),
    );
    assert_eq!(reason, "BAD_PATTERN");
    assert_eq!(
        error.details.unwrap()["next_arguments"],
        json!({"query": "(", "file_path": "f", "use_regex": false})
    );
    assert_eq!(
        tree.refusal("search_in_file", json!({"query": "a", "file_path": "."}))
            .0,
        "IS_DIRECTORY"
    );
    assert_eq!(
        tree.refusal("search_in_file", json!({"query": "a", "file_path": "gone"}))
            .0,
        "NOT_FOUND"
    );
}

#[test]
fn files_are_searched_by_pattern_and_lines_can_be_left_out() {
    let tree = project();
    tree.write("src/main.rs", "use x;\n// use y;\nuse z; // z\n");
    tree.write("notes.txt", "use it\n");
    tree.write("out/x.o", "use me not\n");
    let found = |arguments: Value| {
        let value = tree.value("search_in_files", arguments);
        let matches = value["matches"].as_array().unwrap();
        matches
            .iter()
            .map(|line| {
                format!(
                    "{}:{}",
                    line["file_path"].as_str().unwrap(),
                    line["line_number"]
                )
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(
        found(json!({"query": "use"})),
        [
            "notes.txt:1",
            "src/main.rs:1",
            "src/main.rs:2",
            "src/main.rs:3"
        ]
    );
    assert_eq!(
        found(json!({"query": "use", "file_pattern": "*.rs", "exclude_query": "//"})),
        ["src/main.rs:1"]
    );
    assert_eq!(
        found(json!({"query": "^use", "use_regex": true, "exclude_query": "z$", "path": "src"})),
        ["src/main.rs:1"]
    );
    assert_eq!(found(json!({"query": "-rf"})), Vec::<String>::new());
    assert_eq!(
        found(json!({"query": "use", "include_ignored": true, "path": "out"})),
        ["out/x.o:1"]
    );
    let value = tree.value("search_in_files", json!({"query": "nothing"}));
    assert_eq!(
        (&value["total_matches"], &value["timed_out"]),
        (&json!(0), &json!(false))
    );
}

#[test]
fn an_invalid_regular_expression_is_an_error_and_not_an_empty_success() {
    let tree = project();
    for arguments in [
        json!({"query": "a(", "use_regex": true}),
        json!({"query": "a", "use_regex": true, "exclude_query": "["}),
        json!({"query": "a", "file_pattern": "{"}),
        json!({"query": ""}),
    ] {
        assert_eq!(tree.refusal("search_in_files", arguments).0, "BAD_PATTERN");
    }
}

#[test]
fn answers_of_the_context_tools_are_bounded() {
    let tree = Tree::empty();
    for number in 0..50 {
        tree.write(&format!("f{number:02}"), "needle in a line\n".repeat(2000));
    }
    let outcome = tree.outcome(
        "search_in_files",
        json!({"query": "needle", "max_results": 5000}),
    );
    assert!(format!("{:?}", outcome.content).len() < 60 << 10);
    let value = outcome.value.unwrap();
    assert_eq!(value["total_matches"], 100_000);
    assert_eq!(value["truncated"], true);
    assert!(value.to_string().len() < 1 << 20);
    let next = tree.value("search_in_files", value["next"].clone());
    assert_ne!(next["matches"][0], value["matches"][0]);
}

#[test]
fn a_search_that_runs_out_of_time_tells_what_it_found() {
    let tree = Tree::empty();
    tree.write("a.txt", "found here\n");
    for number in 0..8 {
        tree.write(
            &format!("b{number}.txt"),
            format!("{}\n", "a".repeat(60)).repeat(20_000),
        );
    }
    let began = Instant::now();
    let value = tree.value(
        "search_in_files",
        json!({"query": "found here|(?=a)(a|a)*(a|a)*c", "use_regex": true, "timeout": 1}),
    );
    assert!(
        began.elapsed() < Duration::from_secs(10),
        "{:?}",
        began.elapsed()
    );
    assert_eq!(value["timed_out"], true);
}

#[test]
fn files_are_found_by_name_and_by_age() {
    let tree = project();
    let value = tree.value("find_files_by_name", json!({"name_pattern": "*.rs"}));
    assert_eq!(
        value["files"],
        json!(["src/lib/a.rs", "src/lib/deep/b.rs", "src/main.rs"])
    );
    assert_eq!(value["total_found"], 3);
    let value = tree.value("find_files_by_name", json!({"name_pattern": "A.rs"}));
    assert_eq!(value["files"], json!([]));
    let ages = [
        ("src/main.rs", 300),
        ("src/lib/a.rs", 200),
        ("src/lib/deep/b.rs", 100),
    ];
    for (name, seconds) in ages {
        tree.age(name, seconds);
    }
    tree.age("README.md", 3600 * 5);
    let value = tree.value("find_recently_modified_files", json!({"hours_ago": 2}));
    assert_eq!(
        strings(&value["files"], "path"),
        [
            ".gitignore",
            "src/lib/deep/b.rs",
            "src/lib/a.rs",
            "src/main.rs"
        ]
    );
    assert_eq!(value["files"][0]["mtime"], "2026-03-01T11:59:59Z");
    let value = tree.value(
        "find_recently_modified_files",
        json!({"hours_ago": 5, "file_pattern": "*.md"}),
    );
    assert_eq!(value["total_found"], 1);
    for hours in [0, -1] {
        assert!(
            tree.refusal("find_recently_modified_files", json!({"hours_ago": hours}))
                .1
                .message
                .contains("hours_ago")
        );
    }
    assert_eq!(
        tree.refusal("find_files_by_name", json!({"name_pattern": "["}))
            .0,
        "BAD_PATTERN"
    );
}

#[test]
fn no_answer_or_error_tells_where_the_workspace_lies() {
    let tree = project();
    let root = tree.path().to_string_lossy().into_owned();
    for (tool, arguments) in [
        ("glob", json!({"pattern": "*"})),
        ("glob", json!({"pattern": "*", "path": "gone"})),
        ("grep", json!({"pattern": "a", "path": "src/gone.rs"})),
        ("grep", json!({"pattern": "a", "output_mode": "content"})),
        ("find", json!({})),
        ("list_directory", json!({"path": "src/main.rs"})),
        ("list_directory", json!({"path": "../up"})),
        ("show_tree", json!({})),
        ("search_in_file", json!({"query": "a", "file_path": "gone"})),
        ("search_in_files", json!({"query": "a"})),
        (
            "find_files_by_name",
            json!({"name_pattern": "*", "path": "gone/er"}),
        ),
        ("find_recently_modified_files", json!({"hours_ago": 5})),
    ] {
        let outcome = tree.outcome(tool, arguments);
        assert!(
            !format!("{outcome:?}").contains(&root),
            "{tool}: {outcome:?}"
        );
    }
}
