//! Reading files: lines, parts, tails, images, and what is no text.

use std::io::Write as _;

use serde_json::{Value, json};

use super::ground::{Ground, reason, text};

fn value(outcome: &toolsmith_core::Outcome) -> &Value {
    outcome.value.as_ref().unwrap_or(&Value::Null)
}

#[tokio::test]
async fn lines_are_numbered_beneath_what_the_file_is_like() {
    let ground = Ground::new();
    ground.file("src/a.py", "def f():\n\treturn 1\n\nx = 2");
    let outcome = ground
        .call("read", json!({ "file_path": "src/a.py" }))
        .await;
    let hash = value(&outcome)["sha256"].as_str().unwrap()[..12].to_owned();
    let expected = format!(
        "[src/a.py: lines 1-4 of 4; utf8; line ends: lf; indent: tabs; 25 bytes; \
         no BOM; final newline: no; sha256 {hash}]\n     1\tdef f():\n     2\t\treturn 1\n     3\t\n     4\tx = 2\n"
    );
    assert_eq!(text(&outcome).trim_end(), expected.trim_end());
    assert_eq!(outcome.display.as_deref(), Some("Read src/a.py (4 lines)"));
    for field in [
        "file_path",
        "file_size",
        "file_type",
        "encoding",
        "is_binary",
        "lines_read",
        "total_lines",
        "start_line",
        "end_line",
        "last_modified",
    ] {
        assert!(outcome.metadata.contains_key(field), "{field}");
    }
    // Hosts that take the value have the text too, as it is in the file.
    assert_eq!(
        value(&outcome)["content"],
        "def f():\n\treturn 1\n\nx = 2\n"
    );
    assert!(!outcome.metadata.contains_key("content"));
}

#[tokio::test]
async fn a_folder_is_listed_in_the_value_too() {
    let ground = Ground::new();
    ground.file("src/a.py", "x = 1\n");
    ground.file("src/b.py", "");
    let outcome = ground.call("read", json!({ "file_path": "src" })).await;
    let facts = value(&outcome);
    let names: Vec<&Value> = facts["entries"].as_array().unwrap().iter().collect();
    assert_eq!(
        (&names[0]["name"], &names[1]["name"]),
        (&json!("a.py"), &json!("b.py"))
    );
    assert_eq!(
        (&facts["total"], &facts["file_type"]),
        (&json!(2), &json!("directory"))
    );
    assert!(facts["last_modified"].as_str().unwrap().starts_with("20"));
}

/// What was asked for as bytes is all of them, with what is told of the file.
#[tokio::test]
async fn an_answer_has_no_more_bytes_than_were_asked_for() {
    let ground = Ground::new();
    ground.file("a.txt", "twenty-odd characters\n".repeat(5000));
    for most in [1000, 5000, 51_200] {
        let arguments = json!({ "file_path": "a.txt", "max_bytes": most, "limit": 10_000 });
        let outcome = ground.call("read", arguments).await;
        let length = text(&outcome).len();
        assert!(length <= most && length > most - 500, "{most}: {length}");
    }
}

/// The value says where a line goes on that is longer than lines are shown.
#[tokio::test]
async fn an_overlong_line_is_read_on_by_its_column() {
    let ground = Ground::new();
    let long: String = (0..5000)
        .map(|n| char::from(b'a' + u8::try_from(n % 26).unwrap()))
        .collect();
    // With a line behind it, and without.
    for behind in ["", "second\n"] {
        ground.file("long.txt", format!("{long}\n{behind}"));
        let mut next = json!({ "file_path": "long.txt", "limit": 1 });
        let mut read = String::new();
        for _ in 0..3 {
            let outcome = ground.call("read", next.clone()).await;
            let facts = value(&outcome).clone();
            let line = facts["content"].as_str().unwrap().lines().last().unwrap();
            read.push_str(line.split(" … [").next().unwrap());
            next = facts["next"].clone();
        }
        assert_eq!(read, long);
        match behind {
            "" => assert_eq!(next, Value::Null),
            _ => assert_eq!(next, json!({ "file_path": "long.txt", "offset": 2 })),
        }
    }
}

#[tokio::test]
async fn parts_are_read_by_line() {
    let ground = Ground::new();
    let content: String = (1..=100).map(|line| format!("line {line}\n")).collect();
    ground.file("a.txt", content);
    for (offset, limit, first, last) in [
        (1, 3, 1, 3),
        (0, 3, 1, 3),
        (98, 10, 98, 100),
        (-5, 10, 96, 100),
        (-5, 2, 96, 97),
        (-1000, 2, 1, 2),
    ] {
        let arguments = json!({ "file_path": "a.txt", "offset": offset, "limit": limit });
        let outcome = ground.call("read", arguments).await;
        let facts = value(&outcome);
        assert_eq!(
            (&facts["start_line"], &facts["end_line"]),
            (&json!(first), &json!(last))
        );
        assert_eq!(facts["total_lines"], 100);
        assert!(
            text(&outcome).contains(&format!("{first:6}\tline {first}\n")),
            "{offset}"
        );
        assert_eq!(facts["truncated"], last < 100, "{offset}");
    }
    let outcome = ground
        .call("read", json!({ "file_path": "a.txt", "offset": 1000 }))
        .await;
    assert!(outcome.is_success());
    assert!(text(&outcome).contains("there is no line 1000; the file has 100"));
}

#[tokio::test]
async fn empty_files_and_files_without_an_end_are_read() {
    let ground = Ground::new();
    ground.file("empty.txt", "");
    ground.file("one.txt", "one");
    ground.file("newline.txt", "\n");
    let outcome = ground
        .call("read", json!({ "file_path": "empty.txt" }))
        .await;
    assert!(
        text(&outcome).contains("the file is empty"),
        "{}",
        text(&outcome)
    );
    assert_eq!(value(&outcome)["total_lines"], 0);
    let outcome = ground.call("read", json!({ "file_path": "one.txt" })).await;
    assert_eq!(value(&outcome)["total_lines"], 1);
    let outcome = ground
        .call("read", json!({ "file_path": "newline.txt" }))
        .await;
    assert_eq!(value(&outcome)["total_lines"], 1);
}

#[tokio::test]
async fn long_answers_and_lines_say_how_to_go_on() {
    let ground = Ground::new();
    let long = "ä".repeat(5000);
    ground.file("long.txt", format!("{long}\nshort\n"));
    let outcome = ground
        .call("read", json!({ "file_path": "long.txt" }))
        .await;
    assert!(text(&outcome).contains("[line of 5000 characters; go on with column=2001]"));
    assert!(text(&outcome).contains("\tshort\n"));
    let outcome = ground
        .call("read", json!({ "file_path": "long.txt", "column": 4001 }))
        .await;
    assert!(
        text(&outcome).contains(&"ä".repeat(1000)),
        "{}",
        text(&outcome)
    );
    let content: String = (1..=2000)
        .map(|line| format!("{line} {}\n", "x".repeat(90)))
        .collect();
    ground.file("many.txt", content);
    let (mut next, mut seen) = (json!({ "file_path": "many.txt" }), 0);
    loop {
        let outcome = ground.call("read", next).await;
        assert!(text(&outcome).len() < 60 << 10);
        let facts = value(&outcome);
        assert_eq!(facts["start_line"], seen + 1);
        seen = facts["end_line"].as_u64().unwrap();
        if facts["next"].is_null() {
            break;
        }
        next = facts["next"].clone();
    }
    assert_eq!(seen, 2000);
}

#[tokio::test]
async fn images_are_shown_and_other_bytes_are_told_of() {
    let ground = Ground::new();
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89";
    ground.file("a.png", png);
    let outcome = ground.call("read", json!({ "file_path": "a.png" })).await;
    let told = serde_json::to_value(&outcome).unwrap();
    assert_eq!(told["content"][1]["type"], "image", "{told}");
    assert_eq!(value(&outcome)["file_type"], "image/png");
    ground.file("a.bin", [0_u8, 1, 2, 255].repeat(100));
    let outcome = ground.call("read", json!({ "file_path": "a.bin" })).await;
    assert!(outcome.is_success());
    assert_eq!(value(&outcome)["is_binary"], true);
    assert!(text(&outcome).contains("000102ff"), "{}", text(&outcome));
    let outcome = ground
        .call(
            "read",
            json!({ "file_path": "a.bin", "encoding": "base64" }),
        )
        .await;
    assert!(
        text(&outcome).starts_with("AAEC/wABAv8"),
        "{}",
        text(&outcome)
    );
    let outcome = ground
        .call("read_entire_file", json!({ "file_path": "a.bin" }))
        .await;
    assert_eq!(reason(&outcome), "BINARY");
}

/// A large file is not read to its end for a few of its lines.
#[tokio::test]
async fn lines_of_a_large_file_cost_what_they_are() {
    let ground = Ground::new();
    let path = ground.root().join("large.log");
    let mut file = std::fs::File::create(&path).unwrap();
    for line in 1..=1000 {
        writeln!(file, "line {line}").unwrap();
    }
    // Three gigabytes of nothing, which take no room; then an end.
    file.set_len(3 << 30).unwrap();
    std::io::Seek::seek(&mut file, std::io::SeekFrom::End(0)).unwrap();
    file.write_all(b"\nalmost\nthe end\n").unwrap();
    drop(file);
    let outcome = ground
        .call(
            "read",
            json!({ "file_path": "large.log", "offset": 990, "limit": 3 }),
        )
        .await;
    assert!(
        text(&outcome).contains("   992\tline 992"),
        "{}",
        text(&outcome)
    );
    assert_eq!(value(&outcome)["total_lines"], Value::Null);
    let outcome = ground
        .call(
            "read_file_tail",
            json!({ "file_path": "large.log", "num_lines": 2 }),
        )
        .await;
    assert_eq!(
        value(&outcome)["content"],
        "almost\nthe end\n",
        "{}",
        text(&outcome)
    );
}

#[tokio::test]
async fn the_context_tools_have_their_fields() {
    let ground = Ground::new();
    ground.file("a.txt", "one\ntwo\nthree\nfour\n");
    let outcome = ground
        .call("read_entire_file", json!({ "file_path": "a.txt" }))
        .await;
    let facts = value(&outcome);
    assert_eq!(facts["content"], "one\ntwo\nthree\nfour\n");
    assert_eq!(
        (&facts["encoding"], &facts["line_count"]),
        (&json!("utf-8"), &json!(4))
    );
    let arguments = json!({ "file_path": "a.txt", "start_line": 2, "end_line": 3 });
    let outcome = ground.call("read_file_lines", arguments).await;
    let facts = value(&outcome);
    assert_eq!(facts["content"], "two\nthree\n");
    assert_eq!(
        (&facts["is_partial"], &facts["total_lines"]),
        (&json!(true), &json!(4))
    );
    for (lines, content) in [
        (2, "three\nfour\n"),
        (0, ""),
        (100, "one\ntwo\nthree\nfour\n"),
    ] {
        let arguments = json!({ "file_path": "a.txt", "num_lines": lines });
        let outcome = ground.call("read_file_tail", arguments).await;
        assert_eq!(value(&outcome)["content"], content, "{lines}");
    }
    let wrong = [
        json!({ "file_path": "a.txt", "start_line": 3, "end_line": 2 }),
        json!({ "file_path": "a.txt", "start_line": 9, "end_line": 12 }),
        json!({ "file_path": "a.txt", "start_line": 0, "end_line": 2 }),
        json!({ "file_path": "a.txt", "start_line": -1, "end_line": 2 }),
    ];
    for arguments in wrong {
        let outcome = ground.call("read_file_lines", arguments.clone()).await;
        assert_eq!(
            outcome.error.unwrap().code(),
            "invalid_parameters",
            "{arguments}"
        );
    }
    let arguments = json!({ "file_paths": ["a.txt", "no.txt", "a.txt"] });
    let outcome = ground.call("read_files", arguments).await;
    let facts = value(&outcome);
    assert_eq!(
        (&facts["success_count"], &facts["error_count"]),
        (&json!(2), &json!(1))
    );
    assert_eq!(facts["files"][1]["file_path"], "no.txt");
    assert_eq!(facts["files"][1]["error"]["code"], "NOT_FOUND");
}

#[tokio::test]
async fn the_project_speaks_for_itself() {
    let ground = Ground::new();
    let outcome = ground.call("read_project_context", json!({})).await;
    let facts = value(&outcome);
    assert_eq!(facts["total_found"], 0);
    assert_eq!(facts["files"][0]["filename"], "AGENTS.md");
    assert_eq!(facts["files"][1]["exists"], false);
    ground.file("AGENTS.md", "Be kind.\n@docs/more.md\n@../secret.txt\n");
    ground.file("docs/more.md", "Be brief.\n@../AGENTS.md\n");
    let outcome = ground
        .call("read_project_context", json!({ "follow_imports": true }))
        .await;
    let facts = value(&outcome);
    assert_eq!(
        facts["files"][0]["content"],
        "Be kind.\n@docs/more.md\n@../secret.txt\n"
    );
    assert_eq!(facts["files"][0]["readable"], true);
    assert!(
        facts["files"]
            .as_array()
            .unwrap()
            .iter()
            .any(|file| file["content"] == "Be brief.\n@../AGENTS.md\n")
    );
    assert!(!text(&outcome).contains(super::ground::SECRET));
}

/// Empty lines are lines, and where a line ends is decided once.
#[tokio::test]
async fn odd_lines_are_counted_as_they_are_shown() {
    let ground = Ground::new();
    ground.file("blank.txt", "a\n\nb\n");
    let arguments = json!({ "file_path": "blank.txt", "offset": 2, "limit": 1 });
    let outcome = ground.call("read", arguments).await;
    assert!(text(&outcome).contains("     2\t\n"), "{}", text(&outcome));
    let arguments = json!({ "file_path": "blank.txt", "start_line": 2, "end_line": 2 });
    let outcome = ground.call("read_file_lines", arguments).await;
    assert_eq!(value(&outcome)["content"], "\n");
    assert_eq!(value(&outcome)["line_count"], 1);
    // A carriage return where the part that is looked at ends.
    let long = format!("{}\r\nb\r\nc\r\nd\r\n", "x".repeat(65_535));
    ground.file("border.txt", long);
    let arguments = json!({ "file_path": "border.txt", "offset": 3, "limit": 1 });
    let outcome = ground.call("read", arguments).await;
    assert_eq!(value(&outcome)["total_lines"], 4);
    assert!(text(&outcome).contains("     3\tc\n"), "{}", text(&outcome));
    ground.file("mixed.txt", "a\nx\ry");
    let outcome = ground
        .call("read", json!({ "file_path": "mixed.txt", "offset": 2 }))
        .await;
    assert_eq!(value(&outcome)["end_line"], 2);
    // A character where the longest part of a line ends.
    ground.file("wide.txt", format!("x{}", "\u{e9}".repeat(3 << 20)));
    let outcome = ground
        .call("read", json!({ "file_path": "wide.txt" }))
        .await;
    assert_eq!(value(&outcome)["encoding"], "utf8");
    assert!(
        text(&outcome).contains("x\u{e9}\u{e9}"),
        "{}",
        text(&outcome).len()
    );
}

/// Who was shown nothing has seen nothing; who saw bytes has seen the file.
#[tokio::test]
async fn what_was_shown_was_seen() {
    let ground = Ground::with(toolsmith_builtin::WorkspaceOptions::default());
    ground.file("a.txt", "one\n");
    ground.file("a.bin", [0_u8, 1, 2, 3].repeat(30));
    let write = |path: &str| json!({ "file_path": path, "content": "new\n" });
    let arguments = json!({ "file_path": "a.txt", "num_lines": 0 });
    ground.call("read_file_tail", arguments).await;
    assert_eq!(
        reason(&ground.call("write", write("a.txt")).await),
        "NOT_READ"
    );
    assert_eq!(
        reason(&ground.call("write", write("a.bin")).await),
        "NOT_READ"
    );
    ground.call("read", json!({ "file_path": "a.bin" })).await;
    assert!(ground.call("write", write("a.bin")).await.is_success());
}

/// An answer has the bytes its caller asks for: the runtime leaves room for them.
#[tokio::test]
async fn a_caller_may_ask_for_more() {
    let ground = Ground::new();
    let lines: String = (0..20_000)
        .map(|n| format!("a line, the {n}th\n"))
        .collect();
    ground.file("long.txt", &lines);
    let usual = ground
        .call("read_entire_file", json!({ "file_path": "long.txt" }))
        .await;
    let usual = usual.value.unwrap();
    assert_eq!(usual["truncated"], true);
    assert!(usual["content"].as_str().unwrap().len() <= 50 << 10);
    let all = json!({ "file_path": "long.txt", "max_bytes": 1_000_000 });
    let whole = ground.call("read_entire_file", all).await;
    assert_eq!(whole.value.unwrap()["content"], lines);
    let all = json!({ "file_path": "long.txt", "limit": 10_000, "max_bytes": 1_000_000 });
    let numbered = ground.call("read", all).await;
    assert_eq!(numbered.metadata["lines_read"], 10_000);
    assert!(text(&numbered).contains("\n 10000\ta line, the 9999th\n"));
    let all = json!({
        "query": "line", "file_path": "long.txt", "max_results": 1000, "max_bytes": 1_000_000,
    });
    let found = ground.call("search_in_file", all).await.value.unwrap();
    assert_eq!(found["matches"].as_array().unwrap().len(), 1000);
}

/// What is not there is looked for elsewhere.
#[tokio::test]
async fn a_missing_file_is_pointed_to() {
    let ground = Ground::new();
    ground.file("src/deep/config[1].yaml", "");
    ground.file("config[2].yaml", "");
    for (tool, argument) in [
        ("read", "file_path"),
        ("read_entire_file", "file_path"),
        ("list_directory", "path"),
    ] {
        let outcome = ground
            .call(tool, json!({ argument: "config[1].yaml" }))
            .await;
        assert_eq!(reason(&outcome), "NOT_FOUND");
        let details = outcome.error.unwrap().details.unwrap();
        assert_eq!(details["nearest"], json!(["config[2].yaml"]), "{tool}");
        assert_eq!(
            details["elsewhere"],
            json!(["src/deep/config[1].yaml"]),
            "{tool}"
        );
    }
}

/// The end is what was asked for, so the beginning gives way.
#[tokio::test]
async fn a_tail_that_does_not_fit_loses_its_beginning() {
    let ground = Ground::new();
    let lines: String = (1..=3000).map(|n| format!("a line, the {n}th\n")).collect();
    ground.file("log.txt", &lines);
    let arguments = json!({ "file_path": "log.txt", "num_lines": 2000, "max_bytes": 2000 });
    let outcome = ground.call("read_file_tail", arguments).await;
    let tail = value(&outcome);
    let content = tail["content"].as_str().unwrap();
    assert!(
        lines.ends_with(content) && content.starts_with("a line, the "),
        "{content}"
    );
    assert!(content.len() <= 2000 && content.len() > 1900);
    assert_eq!(
        (&tail["truncated"], &tail["is_partial"]),
        (&json!(true), &json!(true))
    );
    let before = tail["next"].clone();
    assert_eq!(
        (&tail["next_tool"], &before["offset"]),
        (&json!("read"), &json!(1001))
    );
    let before = ground.call("read", before).await;
    let before = value(&before)["content"].as_str().unwrap().to_owned();
    assert!(lines.ends_with(&(before + content)));
    ground.file("one.txt", "x".repeat(5000) + "END");
    let arguments = json!({ "file_path": "one.txt", "max_bytes": 1000 });
    let outcome = ground.call("read_file_tail", arguments).await;
    assert!(
        value(&outcome)["content"]
            .as_str()
            .unwrap()
            .ends_with("xEND")
    );
}

/// What continues an answer leaves nothing out.
#[tokio::test]
async fn an_answer_goes_on_where_it_ends() {
    let ground = Ground::new();
    ground.file("long.txt", format!("{}\nsecond\n", "é".repeat(4000)));
    let arguments = json!({ "file_path": "long.txt", "max_bytes": 1001 });
    let outcome = ground.call("read_entire_file", arguments).await;
    let first = value(&outcome);
    assert_eq!(first["content"], "é".repeat(500));
    assert_eq!(first["next_tool"], "read");
    let arguments = json!({ "file_path": "long.txt", "offset": 1, "limit": 1, "column": 501 });
    assert_eq!(first["next"], arguments);
    let rest = ground.call("read", arguments).await;
    assert!(text(&rest).contains(&"é".repeat(1000)), "{}", text(&rest));

    ground.file("many.txt", "one\ntwo\nthree\nfour\n");
    let arguments = json!({ "file_path": "many.txt", "limit": 2, "line_numbers": false });
    let outcome = ground.call("read", arguments).await;
    let next = json!({ "file_path": "many.txt", "offset": 3, "limit": 2, "line_numbers": false });
    assert_eq!(value(&outcome)["next"], next);
}

#[tokio::test]
async fn a_link_that_leads_nowhere_is_called_one() {
    let ground = Ground::new();
    ground.link("gone.txt", "here.txt");
    let outcome = ground
        .call("read_entire_file", json!({ "file_path": "here.txt" }))
        .await;
    assert_eq!(reason(&outcome), "NOT_FOUND");
    let message = outcome.error.unwrap().message;
    assert!(message.contains("it is a link"), "{message}");
    assert!(!message.contains("`here.txt` is meant"), "{message}");
}

/// Names models know from other tools, and one item where a list is asked.
#[tokio::test]
async fn arguments_by_other_names_are_understood() {
    let ground = Ground::new();
    ground.file("src/a.txt", "needle\n");
    for (tool, arguments) in [
        ("read", json!({ "path": "src/a.txt" })),
        ("read_entire_file", json!({ "filename": "src/a.txt" })),
        ("read_files", json!({ "file_paths": "src/a.txt" })),
        ("read_files", json!({ "paths": ["src/a.txt"] })),
        (
            "search_in_file",
            json!({ "query": "needle", "path": "src/a.txt" }),
        ),
        ("grep", json!({ "pattern": "needle", "file_path": "src" })),
        ("list_directory", json!({ "directory": "src" })),
        ("show_tree", json!({ "filePath": "src" })),
    ] {
        let outcome = ground.call(tool, arguments.clone()).await;
        assert!(
            outcome.is_success(),
            "{tool} {arguments}: {:?}",
            outcome.error
        );
        let told = outcome.value.unwrap().to_string();
        assert!(told.contains("a.txt") || told.contains("needle"), "{told}");
        assert_eq!(outcome.facts.repairs.len(), 1);
    }
}

/// What a project tells agents: only what it really has.
#[tokio::test]
async fn notes_elsewhere_are_not_told_of() {
    let ground = Ground::new();
    ground.file(
        "AGENTS.md",
        "Be kind.\n@../outside/secret.txt\n@docs/more.md\n",
    );
    ground.file("docs/more.md", "More.\n");
    ground.file("sub/AGENTS.md", "Nested.\n");
    let outcome = ground
        .call(
            "read_project_context",
            json!({ "follow_imports": true, "nested": true }),
        )
        .await;
    let context = value(&outcome);
    assert_eq!(context["total_found"], 3, "{context}");
    let of = |name: &str| {
        let files = context["files"].as_array().unwrap();
        files.iter().find(|file| file["filename"] == name).unwrap()
    };
    assert_eq!(of("sub/AGENTS.md")["content"], "Nested.\n");
    assert_eq!(of("docs/more.md")["content"], "More.\n");
    assert_eq!(of("../outside/secret.txt")["exists"], false);
}

/// The end of a text is cut between characters, and within its last line if it must be.
#[tokio::test]
async fn the_tail_of_a_long_line_is_cut_between_characters() {
    let ground = Ground::new();
    for (end, lines) in [("", 1), ("\n", 1), ("\né", 1)] {
        ground.file("a.txt", format!("one\n{}{end}", "é".repeat(2000)));
        let arguments = json!({ "file_path": "a.txt", "max_bytes": 1001 });
        let outcome = ground.call("read_file_tail", arguments).await;
        let value = outcome.value.clone().unwrap_or_default();
        assert_eq!(value["line_count"], lines, "{end:?}: {}", text(&outcome));
        assert_eq!(value["truncated"], true);
        assert!(value["content"].as_str().unwrap().len() <= 1001);
    }
}
