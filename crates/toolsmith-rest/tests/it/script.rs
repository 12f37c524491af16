//! Scripts that say themselves what tool they are.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use serde_json::json;
use tempfile::TempDir;
use toolsmith_core::ErrorKind;
use toolsmith_rest::form::Entry;
use toolsmith_rest::{Made, script};
use toolsmith_testing::{failure, value};

use crate::command::{surroundings, toolbox, unchecked};

/// A script in a folder of its own.
struct Script {
    folder: TempDir,
    path: PathBuf,
}

fn write(text: &str, mode: u32) -> Script {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("it.script");
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    Script { folder, path }
}

impl Script {
    fn make(&self) -> Made {
        let bytes = fs::read(&self.path).unwrap();
        let header = script::header(&bytes).unwrap().expect("it has a header");
        let entry: Entry = serde_saphyr::from_str(&header.yaml).unwrap();
        script::make(&self.path, b"", &entry, &surroundings(self.folder.path()))
    }
}

/// A header with a parameter, and a body.
fn text(first: &str, mark: &str, body: &str) -> String {
    format!(
        "{first}{mark} ---\n{mark} name: it\n{mark} sandbox: none\n{mark}\n{mark} parameters:\n\
         {mark}   properties: {{ who: {{ type: string }}, how_often: {{ type: integer }}, \
         x-list: {{ type: array }} }}\n{mark} ---\n{body}"
    )
}

const SHOW: &str =
    "cat; printf '|%s|%s|%s' \"$ARG_WHO\" \"${ARG_HOW_OFTEN-unset}\" \"${ARG_X_LIST-unset}\"";

#[tokio::test]
async fn arguments_come_as_json_and_as_variables() {
    let hostile = "'\"`$(id)\n-x ünï";
    for mode in [0o755, 0o644] {
        let script = write(&text("#!/bin/sh\n", "#", SHOW), mode);
        let made = script.make();
        let arguments = json!({ "who": hostile, "x-list": [1] });
        let outcome = toolsmith_testing::call(&toolbox(made), "it", arguments.clone()).await;
        assert_eq!(
            value(&outcome),
            format!("{arguments}|{hostile}|unset|unset")
        );
    }
}

#[tokio::test]
async fn numbers_and_booleans_are_variables_too() {
    let header = "#!/bin/sh\n# ---\n# name: it\n# sandbox: none\n\
                  # parameters: { properties: { a: {}, b: {}, c: {}, d: {} } }\n# ---\n";
    let body = "printf '%s|%s|%s|%s' \"$ARG_A\" \"$ARG_B\" \"${ARG_C-unset}\" \"${ARG_D-unset}\"";
    let script = write(&format!("{header}{body}"), 0o755);
    let arguments = json!({"a": -2.5, "b": true, "c": null, "d": {"e": 1}});
    let outcome = toolsmith_testing::call(&toolbox(script.make()), "it", arguments).await;
    assert_eq!(value(&outcome), "-2.5|true|unset|unset");
}

#[test]
fn a_plan_tells_what_a_script_is_given() {
    let tool = write(&text("#!/bin/sh\n", "#", SHOW), 0o755)
        .make()
        .tools
        .remove(0);
    let plan = tool
        .plan(&unchecked(json!({"who": "a b"})))
        .unwrap()
        .summary;
    assert!(
        plan.starts_with("run without a sandbox: the script "),
        "{plan}"
    );
    assert!(plan.ends_with("it.script who=\"a b\""), "{plan}");
}

#[tokio::test]
async fn what_no_variable_can_hold_is_refused() {
    let script = write(&text("#!/bin/sh\n", "#", SHOW), 0o755);
    let toolbox = toolbox(script.make());
    for who in ["a\0b".to_owned(), "x".repeat(128 << 10)] {
        let outcome = toolsmith_testing::call(&toolbox, "it", json!({ "who": who })).await;
        assert_eq!(failure(&outcome).kind, ErrorKind::InvalidParameters);
    }
    // What stands in no variable may be as long as it likes.
    let long = json!({ "x-list": ["x".repeat(1 << 20)] });
    let outcome = toolsmith_testing::call(&toolbox, "it", long).await;
    assert!(outcome.is_success(), "{outcome:?}");
}

#[tokio::test]
async fn an_interpreter_gets_its_one_argument() {
    // `sh -e` ends at the first failure.
    for mode in [0o755, 0o644] {
        let script = write(&text("#! /bin/sh -e\n", "#", "false\necho reached\n"), mode);
        let outcome = toolsmith_testing::call(&toolbox(script.make()), "it", json!({})).await;
        assert_eq!(
            failure(&outcome).message,
            "the program exited with status 1"
        );
    }
    let script = write(&text("#!/usr/bin/env sh\n", "#", "echo found"), 0o644);
    let outcome = toolsmith_testing::call(&toolbox(script.make()), "it", json!({})).await;
    assert_eq!(value(&outcome), "found\n");
}

#[tokio::test]
async fn a_missing_interpreter_is_told_when_it_is_needed() {
    for (mode, said) in [
        (0o755, "the interpreter it names is missing"),
        (0o644, "no such program"),
    ] {
        let script = write(&text("#!/no/such/interpreter\n", "#", ""), mode);
        let outcome = toolsmith_testing::call(&toolbox(script.make()), "it", json!({})).await;
        let error = failure(&outcome);
        assert_eq!(error.kind, ErrorKind::Unavailable);
        assert!(error.message.contains(said), "{error}");
    }
}

#[tokio::test]
async fn without_a_word_about_a_sandbox_no_script_runs() {
    let script = write("#!/bin/sh\n# ---\n# name: it\n# ---\ntouch trace\n", 0o755);
    let outcome = toolsmith_testing::call(&toolbox(script.make()), "it", json!({})).await;
    assert_eq!(failure(&outcome).kind, ErrorKind::PermissionDenied);
    assert!(!script.folder.path().join("trace").exists());
}

#[test]
fn headers_are_found_in_any_style() {
    for (first, mark) in [
        ("#!/bin/sh\n", "#"),
        ("", "#"),
        ("#!/usr/bin/env node\n\n", "//"),
        ("\n", "--"),
        ("\u{feff}", "//"),
        ("#!/usr/bin/python3\n# -*- coding: utf-8 -*-\n", "#"),
        ("#!/bin/sh\n#\n# Copyright us\n\n#\n", "#"),
        ("#!/usr/bin/lua\n-- ours\n-----\n", "--"),
    ] {
        let text = text(first, mark, "");
        for text in [text.clone(), text.replace('\n', "\r\n")] {
            let header = script::header(text.as_bytes()).unwrap().unwrap();
            let entry: Entry = serde_saphyr::from_str(&header.yaml).unwrap();
            // Places are those of the file.
            let name = entry.name.unwrap();
            let line = text
                .lines()
                .position(|line| line.contains("name: it"))
                .unwrap()
                + 1;
            assert_eq!(
                (name.value.as_str(), name.place.line),
                ("it", line),
                "{text}"
            );
            assert_eq!(header.line, line);
            assert_eq!(name.place.column, mark.len() + " name: ".len() + 1);
        }
    }
}

#[test]
fn a_header_needs_no_blanks() {
    for mark in ["#", "//"] {
        for text in [
            format!("{mark}---\n{mark}name: it\n{mark}kind: read\n{mark}---\n"),
            format!("{mark}---\n{mark} name: it\n{mark} kind: read\n{mark} ---\n"),
        ] {
            let header = script::header(text.as_bytes()).unwrap().unwrap();
            let entry: Entry = serde_saphyr::from_str(&header.yaml).unwrap();
            assert_eq!(entry.name.unwrap().value, "it", "{text}");
            assert!(entry.kind.is_some(), "{text}");
        }
    }
}

#[test]
fn a_header_is_not_looked_for_without_end() {
    let after = |lines: usize| {
        let text = format!("{}# ---\n# name: it\n# ---\n", "# a\n".repeat(lines));
        script::header(text.as_bytes()).unwrap().is_some()
    };
    assert!(after(99));
    assert!(!after(100));
}

#[test]
fn other_files_have_no_header() {
    for text in [
        "",
        "\n\n",
        "#!/bin/sh\necho hello\n",
        "// a comment\n# ---\n# name: it\n# ---\n",
        "---\nname: it\n---\n",
        "-----\n-- name: it\n-----\n",
        "# a title\n\nA text.\n\n# ---\n# name: it\n# ---\n",
        "# ----\n",
        "\u{7f}ELF\0\0\0",
    ] {
        assert_eq!(script::header(text.as_bytes()), Ok(None), "{text:?}");
    }
}

#[test]
fn a_header_that_is_none_says_what_to_write() {
    let long = format!("# ---\n{}", "# x\n".repeat(20_000));
    for (text, line, said) in [
        ("# ---\n# name: it\n", 3, "the header ends without `# ---`"),
        (
            "# ---\n# name: it",
            1,
            "the header does not end; write `# ---`",
        ),
        (
            "#!/bin/sh\n# ---\n# name: it\necho hello\n",
            4,
            "the header ends without `# ---`",
        ),
        (
            "// ---\n# name: it\n// ---\n",
            2,
            "begin each of its lines with `//`",
        ),
        (long.as_str(), 1, "longer than 64 KiB"),
    ] {
        let error = script::header(text.as_bytes()).unwrap_err();
        assert!(error.message.contains(said), "{text:.40}: {error}");
        assert_eq!(error.line, line, "{text:.40}");
    }
    let error = script::header(b"# ---\n# name: \xff\n# ---\n").unwrap_err();
    assert_eq!(
        error.to_string(),
        "line 2: the header is not UTF-8; save the file as UTF-8"
    );
}

#[test]
fn what_is_wrong_with_a_script_is_told() {
    let header = "# ---\n# name: it\n# ---\n";
    let with = |more: &str| format!("#!/bin/sh\n# ---\n# name: it\n# {more}\n# ---\n");
    for (text, mode, said) in [
        (header.to_owned(), 0o755, "does not say what runs it"),
        (header.to_owned(), 0o644, "begin its first line with `#!`"),
        (format!("#!sh\n{header}"), 0o644, "no full path"),
        (format!("#!/bin/sh\r\n{header}"), 0o755, "carriage return"),
        (
            with("command: [ls]"),
            0o755,
            "`command` has no place in the header of a script",
        ),
        (
            with("api_url: http://localhost"),
            0o755,
            "`api_url` has no place",
        ),
        (with("stdin: x"), 0o755, "`stdin` has no place"),
        (
            with("tools: [{ name: other }]"),
            0o755,
            "`tools` has no place",
        ),
        (
            with("parameters: { properties: { a-b: {}, a_B: {} } }"),
            0o755,
            "both be the variable ARG_A_B",
        ),
        (with("cwd: /"), 0o755, "outside of the root"),
    ] {
        let made = write(&text, mode).make();
        assert!(made.tools.is_empty(), "{text}");
        let [problem] = made.problems.as_slice() else {
            panic!("{text}: {made:?}");
        };
        assert!(problem.message.contains(said), "{text}: {problem}");
    }
    let entry = Entry::default();
    let made = script::make(
        Path::new("gone"),
        b"",
        &entry,
        &surroundings(Path::new("/")),
    );
    assert!(made.problems[0].message.contains("no `name`"));
}

#[test]
fn a_script_that_is_left_out_is_no_tool() {
    let script = write("# ---\n# name: it\n# disabled: true\n# ---\n", 0o644);
    let made = script.make();
    assert!(made.tools.is_empty() && made.problems.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_file_is_too_odd(bytes in any::<Vec<u8>>(), text in "[#/! \\-\n\ra:]{0,60}") {
        let _ = script::header(&bytes);
        if let Ok(Some(header)) = script::header(text.as_bytes()) {
            prop_assert!(header.yaml.lines().count() < text.split('\n').count());
        }
    }
}
