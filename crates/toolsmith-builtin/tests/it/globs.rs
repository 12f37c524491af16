//! `glob`.

use serde_json::json;

use crate::tree::Tree;

/// Checks which of some files fit a pattern.
#[track_caller]
fn check(pattern: &str, fitting: &[&str], others: &[&str]) {
    let names: Vec<&str> = fitting.iter().chain(others).copied().collect();
    let tree = Tree::of(&names);
    let mut expected: Vec<&str> = fitting.to_vec();
    expected.sort_unstable();
    let found = tree.sorted("glob", json!({"pattern": pattern, "case_sensitive": true}));
    assert_eq!(found, expected, "{pattern}");
}

#[test]
fn patterns_fit_as_they_are_written() {
    check(
        "*.rs",
        &["a.rs", "x/b.rs", "x/y/.rs"],
        &["a.rst", "rs", "x.rs/a"],
    );
    check(
        "src/*.rs",
        &["src/a.rs"],
        &["src/x/a.rs", "a.rs", "x/src/a.rs"],
    );
    check(
        "src/**/*.rs",
        &["src/a.rs", "src/x/y/a.rs"],
        &["a.rs", "x/src/a.rs"],
    );
    check(
        "**/test/*",
        &["test/a", "x/y/test/a"],
        &["test/x/a", "tests/a"],
    );
    check("**", &["a", "x/y", ".z"], &[]);
    check("a/**", &["a/b", "a/c/d"], &["b/a"]);
    check("*.{ts,tsx}", &["a.ts", "x/b.tsx"], &["a.js", "ts"]);
    check("{a,b{c,d}}", &["a", "bc", "x/bd"], &["b", "ab"]);
    check(
        "{src,lib}/**/*.c",
        &["src/a.c", "lib/x/a.c"],
        &["a.c", "bin/a.c"],
    );
    check("?.txt", &["a.txt"], &["ab.txt", ".txt"]);
    check("a?b", &["axb"], &["a/b"]);
    check("[a-c]1", &["a1", "c1"], &["d1"]);
    check("[!a-c]1", &["d1"], &["a1"]);
    check("[]]x", &["]x"], &["x"]);
    check("a\\*b", &["a*b"], &["axb"]);
    check(
        "some/**/**/needle",
        &["some/needle", "some/a/b/needle"],
        &["needle"],
    );
    check("./a", &["a", "x/a"], &["b"]);
    check("src/", &["src/a", "src/x/b"], &["lib/a"]);
    check("-rf", &["-rf"], &["rf"]);
    check("ünïcödé*", &["ünïcödé.txt"], &["unicode.txt"]);
    check(
        "a*a*a*a*a*a*a*a*a*a*b",
        &["aaaaaaaaaaab"],
        &["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"],
    );
}

#[test]
fn capital_letters_matter_only_when_asked_for() {
    let tree = Tree::of(&["README.md", "src/Main.RS"]);
    assert_eq!(
        tree.paths("glob", json!({"pattern": "readme*"})),
        ["README.md"]
    );
    assert_eq!(
        tree.paths("glob", json!({"pattern": "SRC/*.rs"})),
        ["src/Main.RS"]
    );
    assert!(
        tree.paths(
            "glob",
            json!({"pattern": "readme*", "case_sensitive": true})
        )
        .is_empty()
    );
}

#[test]
fn the_newest_comes_first_and_paths_break_ties() {
    let tree = Tree::of(&["old", "b", "a", "new"]);
    tree.age("a", 600);
    tree.age("b", 600);
    tree.age("new", 1);
    assert_eq!(
        tree.paths("glob", json!({"pattern": "*"})),
        ["new", "a", "b", "old"]
    );
    assert_eq!(
        tree.paths("glob", json!({"pattern": "*", "sort": "path"})),
        ["a", "b", "new", "old"]
    );
    let once = tree.text("glob", json!({"pattern": "*"}));
    for _ in 0..20 {
        assert_eq!(tree.text("glob", json!({"pattern": "*"})), once);
    }
}

#[test]
fn a_pattern_that_names_what_is_hidden_finds_it() {
    let tree = Tree::of(&[
        "node_modules/x/a.js",
        "node_modules/y/a.js",
        "dist/b.js",
        ".env",
        "sub/.env",
        "src/dist/c.js",
    ]);
    tree.write(".gitignore", "node_modules\ndist\n.env\n");
    for (pattern, expected) in [
        ("node_modules/x/**", vec!["node_modules/x/a.js"]),
        (
            "node_modules/*/a.js",
            vec!["node_modules/x/a.js", "node_modules/y/a.js"],
        ),
        ("dist/**", vec!["dist/b.js"]),
        ("dist/b.js", vec!["dist/b.js"]),
        (".env", vec![".env", "sub/.env"]),
        ("sub/.env", vec!["sub/.env"]),
        ("*.js", vec![]),
        ("**/a.js", vec![]),
        ("src/**", vec![]),
    ] {
        assert_eq!(
            tree.sorted("glob", json!({"pattern": pattern})),
            expected,
            "{pattern}"
        );
    }
    // The same holds for the files grep searches.
    let value = tree.value("grep", json!({"pattern": "a", "glob": "node_modules/x/*"}));
    assert_eq!(value["files"], json!(["node_modules/x/a.js"]));
}

#[test]
fn a_folder_that_is_hidden_and_named_is_shown_and_not_entered() {
    let tree = Tree::of(&["node_modules/x/node_modules/a.js", "sub/node_modules/b.js"]);
    tree.write(".gitignore", "node_modules\n");
    let folders = ["node_modules", "sub/node_modules"];
    let arguments = json!({"pattern": "node_modules", "include_directories": true});
    assert_eq!(tree.sorted("glob", arguments), folders);
    let arguments = json!({"name": "node_modules", "type": "directory"});
    assert_eq!(tree.sorted("find", arguments), folders);
    let value = tree.value("glob", json!({"pattern": "node_modules"}));
    assert_eq!(
        (&value["total_matches"], &value["hidden_by_ignore"]),
        (&json!(0), &json!(2))
    );
}

#[test]
fn patterns_for_files_are_read_as_ripgrep_reads_them() {
    let tree = Tree::of(&["a.txt", "b.rs", "src/c.txt", "src/d.md"]);
    for glob in ["!*.txt", "!./*.txt"] {
        let value = tree.value(
            "grep",
            json!({"pattern": ".", "glob": glob, "output_mode": "count"}),
        );
        assert_eq!(
            crate::tree::strings(&value["counts"], "path"),
            ["b.rs", "src/d.md"]
        );
        let value = tree.value(
            "search_in_files",
            json!({"query": ".", "file_pattern": glob}),
        );
        assert_eq!(value["files_searched"], 2);
        let arguments = json!({"hours_ago": 100_000, "file_pattern": glob});
        assert_eq!(
            tree.value("find_recently_modified_files", arguments)["total_found"],
            2
        );
    }
    for pattern in [
        "src//*.txt",
        "src/./*.txt",
        "./src/*.txt",
        ".//src/.//*.txt",
    ] {
        assert_eq!(
            tree.paths("glob", json!({"pattern": pattern})),
            ["src/c.txt"],
            "{pattern}"
        );
    }
    let text = tree.text("grep", json!({"pattern": ".", "glob": "*.rs,*.md"}));
    assert!(
        text.contains("No file in . fits glob = \"*.rs,*.md\", so nothing was searched."),
        "{text}"
    );
    assert!(text.contains("`{*.rs,*.md}`"), "{text}");
    let text = tree.text(
        "search_in_files",
        json!({"query": ".", "file_pattern": "*.py"}),
    );
    assert!(
        text.contains("No file in . fits file_pattern = \"*.py\""),
        "{text}"
    );
    let text = tree.text("glob", json!({"pattern": "*.rs,*.md"}));
    assert!(text.contains("`{*.rs,*.md}`"), "{text}");
}

#[test]
fn a_pattern_that_is_a_whole_path_begins_in_its_folder() {
    let tree = Tree::of(&["src/x/a.rs", "src/b.rs", "c.rs"]);
    let root = tree.path().to_str().unwrap();
    for (pattern, expected) in [
        (
            format!("{root}/src/**/*.rs"),
            vec!["src/b.rs", "src/x/a.rs"],
        ),
        (format!("{root}/*.rs"), vec!["c.rs"]),
        (format!("{root}/src/b.rs"), vec!["src/b.rs"]),
    ] {
        assert_eq!(tree.sorted("glob", json!({"pattern": pattern})), expected);
    }
    assert_eq!(
        tree.refusal("glob", json!({"pattern": "/etc/pass*"})).0,
        "OUTSIDE_ROOT"
    );
}

#[test]
fn folders_and_dotted_names_are_shown_as_asked() {
    let tree = Tree::of(&["tests/a", ".cache/tests/b"]);
    assert!(tree.paths("glob", json!({"pattern": "tests"})).is_empty());
    let value = tree.value(
        "glob",
        json!({"pattern": "tests", "include_directories": true, "hidden": false}),
    );
    assert_eq!(value["matches"].as_array().unwrap().len(), 1);
    assert_eq!(value["matches"][0]["path"], "tests");
    assert_eq!(value["matches"][0]["is_directory"], true);
}

#[test]
fn results_are_told_in_pages() {
    let names: Vec<String> = (0..250).map(|number| format!("f{number:03}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let tree = Tree::of(&names);
    let mut arguments = json!({"pattern": "*", "sort": "path"});
    let mut found = Vec::new();
    let mut pages = 0;
    loop {
        let value = tree.value("glob", arguments);
        assert_eq!(value["total_matches"], 250);
        found.extend(crate::tree::strings(&value["matches"], "path"));
        pages += 1;
        match value.get("next") {
            Some(next) => arguments = next.clone(),
            None => break,
        }
    }
    assert_eq!(pages, 3);
    assert_eq!(found, names);
    let nothing = tree.value("glob", json!({"pattern": "*", "max_results": 0}));
    assert_eq!(
        (
            &nothing["total_matches"],
            &nothing["returned_matches"],
            &nothing["truncated"]
        ),
        (&json!(250), &json!(0), &json!(true))
    );
}

#[test]
fn the_text_stays_within_its_budget() {
    let tree = Tree::empty();
    let folder = "f".repeat(200);
    for number in 0..900 {
        tree.write(&format!("{folder}/{number:03}{}", "x".repeat(100)), "");
    }
    let value = tree.value(
        "glob",
        json!({"pattern": "**", "max_results": 1000, "sort": "path"}),
    );
    assert_eq!(value["truncated"], true);
    let returned = value["returned_matches"].as_u64().unwrap();
    assert_eq!(value["next"]["offset"], returned);
    let text = tree.text(
        "glob",
        json!({"pattern": "**", "max_results": 1000, "sort": "path"}),
    );
    assert!(text.len() <= 50 << 10, "{}", text.len());
    assert!(text.lines().count() as u64 >= returned);
}

#[test]
fn a_pattern_that_cannot_be_read_is_refused_with_a_mark_under_the_fault() {
    let tree = Tree::empty();
    for (pattern, line) in [
        ("src/[a-", "    src/[a-\n        ^ "),
        ("a{b,c", "    a{b,c\n     ^ "),
        ("ab}", "    ab}\n      ^ "),
        ("[z-a]", "    [z-a]\n     ^ "),
        ("a\\", "    a\\\n     ^ "),
    ] {
        let (reason, error) = tree.refusal("glob", json!({"pattern": pattern}));
        assert_eq!(reason, "BAD_PATTERN");
        assert!(error.message.contains(line), "{}", error.message);
    }
    for pattern in [
        "",
        "/*",
        "../*",
        "a/../b",
        &"{".repeat(900),
        &"a".repeat(5000),
    ] {
        assert_eq!(
            tree.refusal("glob", json!({"pattern": pattern})).0,
            "BAD_PATTERN",
            "{pattern}"
        );
    }
}
