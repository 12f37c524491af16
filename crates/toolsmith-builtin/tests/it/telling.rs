//! What answers tell beside what was found: names nobody can forge with, what was not
//! searched, and calls that continue.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};
use toolsmith_builtin::WorkspaceOptions;

use crate::tree::{Tree, strings};

#[test]
fn a_small_page_has_room_for_something() {
    let tree = Tree::of(&["a.txt", "b.txt", "c.txt"]);
    for (tool, arguments, list) in [
        ("glob", json!({"pattern": "*"}), "matches"),
        ("find", json!({}), "matches"),
        ("grep", json!({"pattern": "txt"}), "files"),
        (
            "grep",
            json!({"pattern": "txt", "output_mode": "content"}),
            "matches",
        ),
        ("search_in_files", json!({"query": "txt"}), "matches"),
        ("list_directory", json!({}), "entries"),
        ("find_files_by_name", json!({"name_pattern": "*"}), "files"),
    ] {
        for bytes in [1000, 2000, 4096] {
            let mut arguments = arguments.clone();
            arguments["max_bytes"] = json!(bytes);
            let mut seen = 0;
            loop {
                let value = tree.value(tool, arguments);
                let count = value[list].as_array().unwrap().len();
                assert!(count > 0, "{tool} in {bytes} bytes: {value}");
                seen += count;
                match value.get("next") {
                    Some(next) => arguments = next.clone(),
                    None => break,
                }
            }
            assert_eq!(seen, 3, "{tool} in {bytes} bytes");
        }
    }
    let tree_of = tree.value("show_tree", json!({"max_bytes": 1000}));
    assert!(!tree_of["tree"]["children"].as_array().unwrap().is_empty());
}

#[test]
fn long_arguments_do_not_take_the_place_of_results() {
    let tree = Tree::of(&["a.txt", "b.txt"]);
    let patterns: Vec<String> = (0..100)
        .map(|number| format!("{number}{}", "x".repeat(170)))
        .collect();
    let value = tree.value(
        "find",
        json!({"exclude_patterns": patterns, "max_results": 1}),
    );
    assert_eq!(strings(&value["matches"], "path"), ["a.txt"]);
    assert_eq!(value["truncated"], true);
}

/// Names that would forge lines, steer a terminal, or cannot be written, and how they are
/// told.
const STRANGE: [(&[u8], &str); 6] = [
    (b"x\nsecret.txt:1:forged", "x␊secret.txt:1:forged"),
    (b"\x1b[31mred", "␛[31mred"),
    ("a\u{202e}txt.exe".as_bytes(), "a‹U+202E›txt.exe"),
    (b"latin\xe9", "latin‹E9›"),
    (b"tab\there", "tab␉here"),
    ("zero\u{200b}width".as_bytes(), "zero‹U+200B›width"),
];

#[test]
fn names_are_told_on_one_line_and_marked_where_they_are_not_exact() {
    let tree = Tree::empty();
    tree.write("plain ü.txt", "needle\n");
    for (name, _) in STRANGE {
        fs::write(tree.path().join(OsStr::from_bytes(name)), "needle\n").unwrap();
    }
    let mut expected: Vec<&str> = STRANGE.iter().map(|(_, told)| *told).collect();
    expected.push("plain ü.txt");
    expected.sort_unstable();
    for (tool, arguments, list, field) in [
        ("glob", json!({"pattern": "*"}), "matches", "path"),
        ("find", json!({}), "matches", "path"),
        (
            "grep",
            json!({"pattern": "needle", "output_mode": "content"}),
            "matches",
            "path",
        ),
        (
            "grep",
            json!({"pattern": "needle", "output_mode": "count"}),
            "counts",
            "path",
        ),
        (
            "search_in_files",
            json!({"query": "needle"}),
            "matches",
            "file_path",
        ),
        ("list_directory", json!({}), "entries", "path"),
    ] {
        let value = tree.value(tool, arguments.clone());
        let mut told = strings(&value[list], field);
        told.sort_unstable();
        assert_eq!(told, expected, "{tool}");
        for row in value[list].as_array().unwrap() {
            let is_plain = row[field] == "plain ü.txt";
            assert_eq!(row.get("is_exact").is_none(), is_plain, "{tool}: {row}");
        }
        let text = tree.text(tool, arguments);
        let lines = text.lines().filter(|line| !line.is_empty()).count();
        assert_eq!(lines, expected.len() + 1, "{tool}: {text}");
    }
    for (tool, arguments) in [
        ("grep", json!({"pattern": "needle"})),
        ("find_files_by_name", json!({"name_pattern": "*"})),
    ] {
        let value = tree.value(tool, arguments);
        assert_eq!(value["files"].as_array().unwrap().len(), 7);
        assert_eq!(value["not_exact"].as_array().unwrap().len(), 6);
    }
    let text = tree.text("show_tree", json!({}));
    assert!(text.contains("── x␊secret.txt:1:forged\n"), "{text}");
    let children = tree.value("show_tree", json!({}))["tree"]["children"].clone();
    let strange = children.as_array().unwrap().iter();
    assert_eq!(strange.filter(|node| node["is_exact"] == false).count(), 6);
}

#[test]
fn a_path_that_is_told_can_be_given_back() {
    let tree = Tree::of(&["~", "~root/a.txt"]);
    let found = tree.sorted("find", json!({"type": "file"}));
    assert_eq!(found, ["./~", "./~root/a.txt"]);
    for path in found {
        assert_eq!(
            tree.value("grep", json!({"pattern": ".", "path": path}))["total_matches"],
            1,
            "{path}"
        );
    }
}

#[test]
fn a_tree_does_not_show_what_the_host_keeps_to_itself() {
    let tree = Tree::with(|folder| {
        let private = folder.join("state/toolsmith");
        fs::create_dir_all(&private).unwrap();
        fs::write(private.join("token"), "secret").unwrap();
        WorkspaceOptions::default().with_private(Some(private))
    });
    tree.write("state/mine", "");
    for arguments in [json!({}), json!({"include_ignored": true})] {
        let text = tree.text("show_tree", arguments);
        assert!(text.contains("mine"), "{text}");
        assert!(!text.contains("toolsmith"), "{text}");
    }
}

/// Whether the system keeps this process from reading what it may not.
fn is_bound_by_modes(tree: &Tree) -> bool {
    tree.write("probe", "");
    fs::set_permissions(tree.join("probe"), fs::Permissions::from_mode(0o000)).unwrap();
    let is_bound = fs::read(tree.join("probe")).is_err();
    fs::remove_file(tree.join("probe")).unwrap();
    is_bound
}

#[test]
fn what_could_not_be_searched_is_in_the_value() {
    let tree = Tree::empty();
    tree.write("long.txt", vec![b'a'; 17 << 20]);
    tree.write("steps.txt", format!("{}\nneedle\n", "a".repeat(5000)));
    let value = tree.value("grep", json!({"pattern": "needle"}));
    assert_eq!(value["not_searched"], json!({"too_long_files": 1}));
    assert_eq!(
        (&value["truncated"], value.get("next")),
        (&json!(true), None)
    );
    let arguments =
        json!({"query": "(?=a)(a+)+(a+)+$(?<!a)b", "use_regex": true, "file_path": "steps.txt"});
    let value = tree.value("search_in_file", arguments);
    assert_eq!(value["not_searched"], json!({"too_many_steps_files": 1}));
    assert_eq!(value["truncated"], true);
    let value = tree.value("grep", json!({"pattern": "needle", "glob": "s*"}));
    assert_eq!(value.get("not_searched"), None);
    assert_eq!(value["truncated"], false);
    if !is_bound_by_modes(&tree) {
        return;
    }
    tree.write("closed/f", "needle");
    tree.write("shut", "needle");
    for name in ["closed", "shut"] {
        fs::set_permissions(tree.join(name), fs::Permissions::from_mode(0o000)).unwrap();
    }
    for tool in ["glob", "find", "show_tree"] {
        let value = tree.value(
            tool,
            match tool {
                "glob" => json!({"pattern": "*"}),
                _ => json!({}),
            },
        );
        assert_eq!(
            value["not_searched"],
            json!({"unreadable_folders": 1}),
            "{tool}"
        );
        assert_eq!(value["truncated"], true, "{tool}");
    }
    let value = tree.value(
        "search_in_files",
        json!({"query": "needle", "file_pattern": "s*"}),
    );
    assert_eq!(
        value["not_searched"],
        json!({"unreadable_folders": 1, "unreadable_files": 1})
    );
    fs::set_permissions(tree.join("closed"), fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn large_files_that_are_not_text_are_said_to_be_searched_only_in_part() {
    let tree = Tree::empty();
    tree.write(
        "late.bin",
        [&b"\0\n".repeat(1 << 20), &b"needle\n"[..]].concat(),
    );
    tree.write("small.bin", b"\0\nnothing\n");
    let value = tree.value("grep", json!({"pattern": "needle"}));
    assert_eq!(value["not_searched"], json!({"binary_files": 1}));
    let text = tree.text("grep", json!({"pattern": "needle"}));
    assert!(
        text.contains("searched only at their beginning: 1"),
        "{text}"
    );
}

#[test]
fn folders_deeper_than_was_asked_for_are_counted() {
    let tree = Tree::of(&["a/b/c/d.txt", "a/e/f.txt", "g/"]);
    let value = tree.value("find", json!({"type": "file", "max_depth": 1}));
    assert_eq!(value["not_searched"], json!({"deeper_folders": 2}));
    assert_eq!(value["truncated"], false);
    let text = tree.text("find", json!({"type": "file", "max_depth": 1}));
    assert!(
        text.contains("2 folders deeper than max_depth were not searched."),
        "{text}"
    );
    let deep = format!("{}f.txt", "d/".repeat(12));
    tree.write(&deep, "");
    let text = tree.text("find", json!({"name": "f.txt"}));
    assert!(
        text.contains("1 folder deeper than max_depth was not searched."),
        "{text}"
    );
    for (tool, arguments) in [
        ("glob", json!({"pattern": "*"})),
        ("list_directory", json!({})),
        ("find", json!({"max_depth": 20})),
    ] {
        assert_eq!(tree.value(tool, arguments).get("not_searched"), None);
    }
}

#[test]
fn no_call_is_offered_that_would_be_refused() {
    let tree = Tree::empty();
    tree.write("f.txt", "needle\n".repeat(30_000));
    let arguments = json!({
        "pattern": "needle", "output_mode": "content", "offset": 19_990, "head_limit": 100,
    });
    let value = tree.value("grep", arguments.clone());
    assert_eq!(value["matches"].as_array().unwrap().len(), 100);
    assert_eq!(
        (&value["truncated"], value.get("next")),
        (&json!(true), None)
    );
    let text = tree.text("grep", arguments);
    assert!(text.contains("the furthest offset is 20000"), "{text}");
}

#[test]
fn a_search_for_the_text_itself_is_offered_with_all_that_was_given() {
    let tree = Tree::of(&["src/a.txt"]);
    let given = json!({"pattern": "a(", "path": "src", "glob": "*.txt", "head_limit": 7});
    let (reason, error) = tree.refusal("grep", given.clone());
    assert_eq!(reason, "BAD_PATTERN");
    let next = error.details.unwrap()["next_arguments"].clone();
    let mut expected = given;
    expected["fixed_strings"] = json!(true);
    assert_eq!(next, expected);
    tree.value("grep", next);
}

#[test]
fn a_backreference_to_nothing_is_refused_with_a_mark() {
    let tree = Tree::empty();
    for (pattern, mark) in [
        ("ab\\1", "    ab\\1\n      ^ "),
        ("(a)\\2", "    (a)\\2\n       ^ "),
        ("(?=a)(b)\\g<1>", "    (?=a)(b)\\g<1>\n            ^ "),
    ] {
        let (reason, error) = tree.refusal("grep", json!({"pattern": pattern}));
        assert_eq!(reason, "BAD_PATTERN");
        assert!(error.message.contains(mark), "{}", error.message);
    }
}

#[test]
fn the_folder_of_git_is_listed_and_not_walked() {
    let tree = Tree::of(&[".git/HEAD", ".git/refs/heads/main"]);
    let value = tree.value("list_directory", json!({"path": ".git"}));
    assert_eq!(
        strings(&value["entries"], "path"),
        [".git/HEAD", ".git/refs"]
    );
    for (tool, arguments) in [
        ("show_tree", json!({"path": ".git"})),
        ("find", json!({"path": ".git"})),
        ("grep", json!({"pattern": "a", "path": ".git/refs"})),
    ] {
        assert_eq!(tree.refusal(tool, arguments).0, "BAD_ARGUMENT");
    }
}

/// Lines and text of what `search_in_file` finds.
fn found(tree: &Tree, query: &str) -> Value {
    let value = tree.value(
        "search_in_file",
        json!({"query": query, "file_path": "f.txt"}),
    );
    json!([
        value["matches"][0]["line_number"],
        value["matches"][0]["line_content"],
        value["encoding"]
    ])
}

#[test]
fn one_file_is_searched_in_the_encoding_it_is_read_in() {
    let tree = Tree::empty();
    let utf16 = |text: &str| -> Vec<u8> {
        let units = text.encode_utf16();
        units.flat_map(u16::to_le_bytes).collect()
    };
    tree.write("f.txt", utf16("first line\nthe needle näher\n"));
    assert_eq!(
        found(&tree, "näher"),
        json!([2, "the needle näher", "utf-16le"])
    );
    let latin = b"Der K\xf6nig und die K\xf6nigin\nsch\xf6ne Gr\xfc\xdfe aus M\xfcnchen\n";
    tree.write("f.txt", latin);
    assert_eq!(
        found(&tree, "Grüße"),
        json!([2, "schöne Grüße aus München", "windows-1252"])
    );
    let text = tree.text(
        "search_in_file",
        json!({"query": "Grüße", "file_path": "f.txt"}),
    );
    assert!(text.contains("read as windows-1252"), "{text}");
    tree.write("f.txt", "one\rtwo needle\rthree\r");
    assert_eq!(found(&tree, "needle"), json!([2, "two needle", null]));
    let all = json!({"query": "e$", "use_regex": true, "file_path": "f.txt"});
    let value = tree.value("search_in_file", all);
    assert_eq!(value["total_matches"], 3);
    tree.write("f.txt", "one\ntwo nädle\n");
    assert_eq!(found(&tree, "nädle"), json!([2, "two nädle", null]));
}

#[test]
fn matches_over_lines_that_touch_are_counted_and_paged_one_by_one() {
    let block = |number: u32| format!("begin {{\n  {number}\n}}\n");
    let tree = Tree::holding((0..5000).map(block).collect::<String>());
    let asked = json!({"pattern": "begin \\{[^}]*\\}", "multiline": true});
    let mut arguments = asked.clone();
    arguments["output_mode"] = json!("count");
    let counted = tree.value("grep", arguments);
    assert_eq!(counted["total_matches"], 5000);
    let mut arguments = asked;
    arguments["output_mode"] = json!("content");
    let first = tree.value("grep", arguments);
    assert_eq!(first["matches"].as_array().unwrap().len(), 300);
    assert_eq!(first["truncated"], true);
    let second = tree.value("grep", first["next"].clone());
    assert_eq!(second["matches"][0]["line_number"], 301);
    // Two that share a line show it once, and both count.
    let tree = Tree::holding("x\n1 a\nb a\nb a\nb\ny\nz\n");
    let arguments = json!({
        "pattern": "a\nb", "multiline": true, "output_mode": "content", "context": 1,
    });
    let text = tree.text("grep", arguments);
    assert!(
        text.starts_with(
            "f.txt-1-x\nf.txt:2:1 a\nf.txt:3:b a\nf.txt:4:b a\nf.txt:5:b\nf.txt-6-y\n\n3 matches in 1 file: Matches 1–3 of 3."
        ),
        "{text}"
    );
    let arguments = json!({"pattern": "a\nb", "multiline": true, "output_mode": "content", "head_limit": 1, "offset": 1});
    let value = tree.value("grep", arguments);
    let numbers: Vec<&Value> = value["matches"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| &line["line_number"])
        .collect();
    assert_eq!(numbers, [3, 4]);
}

#[test]
fn a_match_of_more_lines_than_are_shown_says_so() {
    let tree = Tree::holding(format!("begin\n{}end\n", "within\n".repeat(20_000)));
    let asked = json!({"pattern": "begin.*end", "multiline": true, "output_mode": "content"});
    let value = tree.value("grep", asked);
    assert_eq!(
        (&value["total_matches"], &value["truncated"]),
        (&json!(1), &json!(true))
    );
    assert!(value["matches"].as_array().unwrap().len() > 100);
    assert_eq!(value.get("next"), None);
}

#[test]
fn a_file_that_is_not_text_is_one_result() {
    let tree = Tree::holding(
        [
            &b"needle\n".repeat(20_000)[..],
            b"\0",
            &b"needle\n".repeat(100),
        ]
        .concat(),
    );
    let arguments = json!({"pattern": "needle", "output_mode": "content"});
    let value = tree.value("grep", arguments);
    assert_eq!(value["total_matches"], 1);
    assert_eq!(
        (&value["truncated"], value.get("next")),
        (&json!(false), None)
    );
    assert_eq!(
        value["matches"],
        json!([{"path": "f.txt", "line_number": 0, "line": "binary file matches"}])
    );
    for arguments in [
        json!({"pattern": "needle", "output_mode": "count"}),
        json!({"pattern": "needle", "output_mode": "count", "path": "f.txt"}),
        json!({"pattern": "needle\n", "output_mode": "count", "multiline": true}),
    ] {
        assert_eq!(tree.value("grep", arguments)["total_matches"], 1);
    }
    let one = tree.value(
        "search_in_file",
        json!({"query": "needle", "file_path": "f.txt"}),
    );
    assert_eq!(
        (&one["total_matches"], &one["truncated"]),
        (&json!(1), &json!(false))
    );
    assert_eq!(
        one["matches"],
        json!([{"line_number": 0, "line_content": "binary file matches"}])
    );
    let many = tree.value("search_in_files", json!({"query": "needle"}));
    assert_eq!(many["total_matches"], 1);
    assert_eq!(many["matches"][0]["line_content"], "binary file matches");
}
