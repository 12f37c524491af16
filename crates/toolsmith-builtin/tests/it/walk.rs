//! Walking trees: what ignore rules hide, links, pipes, depth and width.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::tree::{Tree, deep, strings};

/// What `find` shows of such files.
#[track_caller]
fn shown(files: &[(&str, &str)], folder: &str, expected: &[&str]) {
    let tree = Tree::empty();
    for (name, content) in files {
        tree.write(name, content);
    }
    let found = tree.sorted("find", json!({"type": "file", "path": folder}));
    let found: Vec<&str> = found
        .iter()
        .map(String::as_str)
        .filter(|path| !path.ends_with("ignore"))
        .collect();
    assert_eq!(found, expected, "of {files:?}");
}

#[test]
fn ignore_files_decide_as_for_ripgrep() {
    shown(
        &[
            (".gitignore", "*.log\n"),
            ("a.log", ""),
            ("b/c.log", ""),
            ("b/d.rs", ""),
        ],
        ".",
        &["b/d.rs"],
    );
    // A folder that is hidden hides all in it, whatever a rule says of that.
    shown(
        &[
            (".gitignore", "out/\n!out/keep\n"),
            ("out/keep", ""),
            ("in", ""),
        ],
        ".",
        &["in"],
    );
    shown(
        &[
            (".gitignore", "out/*\n!out/keep\n"),
            ("out/keep", ""),
            ("out/drop", ""),
        ],
        ".",
        &["out/keep"],
    );
    // The deepest decides.
    shown(
        &[
            (".gitignore", "*.txt\n"),
            ("a/.gitignore", "!b.txt\n"),
            ("a/b.txt", ""),
            ("b.txt", ""),
        ],
        ".",
        &["a/b.txt"],
    );
    // A rule with a slash is about the folder its file is in.
    shown(
        &[
            ("a/.gitignore", "/x\n"),
            ("a/x", ""),
            ("a/b/x", ""),
            ("x", ""),
        ],
        ".",
        &["a/b/x", "x"],
    );
    // `.ignore` decides before `.gitignore`, even from further up.
    shown(
        &[(".ignore", "!a\n"), (".gitignore", "a\n"), ("a", "")],
        ".",
        &["a"],
    );
    shown(
        &[
            (".ignore", "!k.txt\n"),
            ("a/.gitignore", "*.txt\n"),
            ("a/k.txt", ""),
            ("a/l.txt", ""),
        ],
        ".",
        &["a/k.txt"],
    );
    // The repository's own exclude file decides last.
    shown(
        &[
            (".git/info/exclude", "a\nb\n"),
            (".gitignore", "!b\n"),
            ("a", ""),
            ("b", ""),
        ],
        ".",
        &["b"],
    );
    // A repository within is its own.
    shown(
        &[
            (".gitignore", "*.o\n"),
            ("sub/.git/HEAD", ""),
            ("sub/a.o", ""),
            ("b.o", ""),
        ],
        ".",
        &["sub/a.o"],
    );
    // Lines that end in a carriage return, a mark at the beginning, a line that is no pattern.
    shown(
        &[
            (".gitignore", "\u{feff}a\r\nb\r\nc{\r\n"),
            ("a", ""),
            ("b", ""),
            ("c", ""),
        ],
        ".",
        &["c"],
    );
}

#[test]
fn rules_hold_from_the_root_to_where_a_search_begins_and_on() {
    let files = [
        (".gitignore", "*.log\n"),
        ("a/.gitignore", "*.tmp\n"),
        ("a/b/c.log", ""),
        ("a/b/c.tmp", ""),
        ("a/b/c.rs", ""),
    ];
    shown(&files, "a/b", &["a/b/c.rs"]);
    shown(&files, "a/../a/b", &["a/b/c.rs"]);
}

#[test]
fn a_folder_asked_for_by_name_is_searched_though_it_is_hidden() {
    shown(
        &[
            (".gitignore", "dist/\n*.map\n"),
            ("dist/a.js", ""),
            ("dist/a.map", ""),
        ],
        "dist",
        &["dist/a.js", "dist/a.map"],
    );
    // Its own rules hold.
    shown(
        &[
            (".gitignore", "dist/\n"),
            ("dist/.gitignore", "*.map\n"),
            ("dist/a.js", ""),
            ("dist/a.map", ""),
        ],
        "dist",
        &["dist/a.js"],
    );
}

#[test]
fn what_is_hidden_is_counted_and_can_be_shown() {
    let tree = Tree::of(&["a.rs", "b.log", "target/x/y.rs", "target/z.rs"]);
    tree.write(".gitignore", "*.log\ntarget/\n");
    let value = tree.value("glob", json!({"pattern": "**"}));
    assert_eq!(value["hidden_by_ignore"], 2);
    let text = tree.text("glob", json!({"pattern": "**"}));
    assert!(
        text.contains("2 files and folders are hidden by ignore rules"),
        "{text}"
    );
    let all = tree.sorted(
        "glob",
        json!({"pattern": "*.{rs,log}", "include_ignored": true}),
    );
    assert_eq!(all, ["a.rs", "b.log", "target/x/y.rs", "target/z.rs"]);
}

#[test]
fn the_inner_files_of_git_are_never_shown() {
    let tree = Tree::of(&[
        ".git/config",
        ".git/objects/ab",
        "sub/.git/HEAD",
        ".github/ci.yml",
        "a",
    ]);
    for ignored in [false, true] {
        let found = tree.sorted("find", json!({"include_ignored": ignored, "type": "file"}));
        assert_eq!(found, [".github/ci.yml", "a"]);
        let value = tree.value(
            "grep",
            json!({"pattern": "git", "include_ignored": ignored}),
        );
        assert_eq!(value["files"], json!([".github/ci.yml"]));
    }
    assert!(tree.paths("glob", json!({"pattern": ".git/**"})).is_empty());
    for path in [".git", ".git/objects", "sub/.git"] {
        assert_eq!(
            tree.refusal("glob", json!({"pattern": "*", "path": path}))
                .0,
            "BAD_ARGUMENT"
        );
        assert_eq!(
            tree.refusal("show_tree", json!({"path": path})).0,
            "BAD_ARGUMENT"
        );
    }
}

#[test]
fn links_are_met_and_not_followed() {
    let outside = Tree::of(&["secret.txt", "folder/secret.txt"]);
    let tree = Tree::of(&["real/a.txt"]);
    tree.link("out", outside.path());
    tree.link("file.txt", outside.join("secret.txt"));
    tree.link("nowhere.txt", "gone");
    tree.link("circle", ".");
    tree.link("real/up", "..");
    assert_eq!(
        tree.sorted("glob", json!({"pattern": "*.txt"})),
        ["file.txt", "nowhere.txt", "real/a.txt"]
    );
    let value = tree.value("grep", json!({"pattern": "."}));
    assert_eq!(value["files"], json!(["real/a.txt"]));
    let entries = tree.value("list_directory", json!({}))["entries"].clone();
    assert_eq!(
        strings(&entries, "name"),
        ["circle", "file.txt", "nowhere.txt", "out", "real"]
    );
    assert_eq!(
        strings(&entries, "type"),
        ["dir", "file", "file", "file", "dir"]
    );
    for arguments in [
        json!({"pattern": "a", "path": "out"}),
        json!({"pattern": "a", "path": outside.path()}),
    ] {
        assert_eq!(tree.refusal("glob", arguments.clone()).0, "OUTSIDE_ROOT");
        assert_eq!(tree.refusal("grep", arguments).0, "OUTSIDE_ROOT");
    }
    // A link that stays within is where a search may begin.
    tree.link("within", "real");
    assert_eq!(
        tree.paths("glob", json!({"pattern": "*.txt", "path": "within"})),
        ["within/a.txt"]
    );
}

#[test]
fn pipes_sockets_and_what_cannot_be_read_stop_nobody() {
    let tree = Tree::of(&["a.txt"]);
    tree.pipe("pipe.txt");
    tree.pipe(".gitignore");
    let _socket = std::os::unix::net::UnixListener::bind(tree.join("socket.txt")).unwrap();
    let began = Instant::now();
    let value = tree.value("grep", json!({"pattern": "a"}));
    assert_eq!(value["files"], json!(["a.txt"]));
    assert_eq!(value["files_searched"], 1);
    assert_eq!(
        tree.refusal("grep", json!({"pattern": "a", "path": "pipe.txt"}))
            .0,
        "NOT_REGULAR"
    );
    assert_eq!(
        tree.refusal(
            "search_in_file",
            json!({"query": "a", "file_path": "pipe.txt"})
        )
        .0,
        "NOT_REGULAR"
    );
    assert!(began.elapsed() < Duration::from_secs(5));
}

#[test]
fn a_tree_of_two_thousand_levels_is_walked_to_its_end() {
    let tree = Tree::empty();
    deep(tree.path(), 2000, "level", None);
    let found = tree.value("glob", json!({"pattern": "bottom.txt", "max_results": 1}));
    assert_eq!(found["total_matches"], 1);
    let value = tree.value("grep", json!({"pattern": "needle", "output_mode": "count"}));
    assert_eq!(value["total_matches"], 1);
    // Removing it by path would be too deep for some.
    remove(&tree);
}

#[test]
fn a_deep_tree_with_a_folder_beside_each_level_opens_few_at_once() {
    let tree = Tree::empty();
    deep(tree.path(), 600, "l", Some("beside"));
    let found = std::thread::scope(|scope| {
        let watch = scope.spawn(|| {
            let mut most = 0;
            for _ in 0..200 {
                most = most.max(open_files(&tree));
                std::thread::sleep(Duration::from_millis(1));
            }
            most
        });
        let found = tree.value(
            "find",
            json!({"name": "*", "path": "l/l/l", "include_ignored": true}),
        );
        let all = tree.value(
            "glob",
            json!({"pattern": "**", "include_directories": true}),
        );
        let most = watch.join().unwrap();
        assert!((1..80).contains(&most), "{most} folders were open");
        assert!(found["total_matches"].as_u64().unwrap() > 20);
        all
    });
    assert_eq!(found["total_matches"], 600 + 600 + 1);
    remove(&tree);
}

#[test]
fn a_wide_folder_is_walked_in_bounded_pieces() {
    let tree = Tree::empty();
    for number in 0..3000 {
        tree.write(&format!("wide/{number:04}.txt"), format!("line {number}\n"));
    }
    let value = tree.value(
        "grep",
        json!({"pattern": "line", "output_mode": "count", "head_limit": 0}),
    );
    assert_eq!(value["total_matches"], 3000);
    assert_eq!(value["files_searched"], 3000);
}

#[test]
fn a_call_that_is_given_up_ends_at_once() {
    let tree = Tree::empty();
    // Lines on which the backtracking engine works hard, and not too hard.
    tree.write("a.txt", format!("{}b\n", "a".repeat(14)).repeat(200_000));
    let pattern = "(?=a)(a|a)*c";
    let arguments = json!({"pattern": pattern, "output_mode": "count"});
    let (outcome, took) = tree.given_up("grep", arguments, Duration::from_millis(30));
    let error = outcome.error.unwrap();
    // It stopped by itself: nobody had to leave it behind.
    assert_eq!(error.details.unwrap()["still_running"], false);
    assert!(took < Duration::from_secs(2), "it took {took:?}");
}

#[test]
fn a_folder_exchanged_for_a_link_meanwhile_leads_nowhere() {
    let outside = Tree::empty();
    outside.write("in/secret.txt", "secret\n");
    let tree = Tree::empty();
    for number in 0..20 {
        tree.write(&format!("real/in/{number}.txt"), "harmless\n");
    }
    tree.link("link", outside.path());
    let is_over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let swap = scope.spawn(|| {
            let rename = |from, to| std::fs::rename(tree.join(from), tree.join(to)).unwrap();
            let mut swaps = 0;
            while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                for (from, to) in [
                    ("real", "away"),
                    ("link", "real"),
                    ("real", "link"),
                    ("away", "real"),
                ] {
                    rename(from, to);
                }
                swaps += 1;
            }
            swaps
        });
        for _ in 0..200 {
            for arguments in [
                json!({"pattern": "."}),
                json!({"pattern": ".", "output_mode": "content"}),
            ] {
                let outcome = tree.outcome("grep", arguments);
                assert!(!format!("{outcome:?}").contains("secret"), "{outcome:?}");
            }
            let outcome = tree.outcome("find", json!({"name": "*"}));
            assert!(!format!("{outcome:?}").contains("secret"), "{outcome:?}");
        }
        is_over.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(swap.join().unwrap() > 10);
    });
}

/// How many files and folders of a tree are open now.
fn open_files(tree: &Tree) -> usize {
    let open = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
    let paths = open.filter_map(|file| std::fs::read_link(file.path()).ok());
    paths.filter(|path| path.starts_with(tree.path())).count()
}

/// Removes a tree that is too deep for one path.
fn remove(tree: &Tree) {
    let status = std::process::Command::new("rm")
        .arg("-rf")
        .arg(tree.path())
        .status();
    assert!(status.unwrap().success());
    std::fs::create_dir(tree.path()).unwrap();
}
