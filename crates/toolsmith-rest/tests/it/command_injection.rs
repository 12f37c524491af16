//! Whatever a model writes stays one argument, and never becomes an option.

use std::fs;
use std::sync::LazyLock;

use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use toolsmith_core::{AnyTool, ErrorKind, ToolError};
use toolsmith_runtime::Toolbox;

use crate::command::{made_in, toolbox, unchecked};

/// Keeps each of its arguments and a NUL.
const KEEP: &str = "for a; do printf '%s\\0' \"$a\"; done >out";

/// Texts that mean something to a shell, a template, a parser or a terminal.
const HOSTILE: &[&str] = &[
    "",
    " ",
    "a b",
    "\t",
    "a\nb",
    "\r\n",
    "'",
    "\"",
    "\\",
    "`id`",
    "$(id)",
    "${IFS}",
    "$HOME",
    "; id",
    "&& id",
    "| id",
    "> /tmp/x",
    "*",
    "~",
    "{a}",
    "{{a}}",
    "{b}",
    "%s%n",
    "${env:SECRET}",
    "!!",
    "#",
    "ünï\u{202e}code",
    "\u{1b}[31m",
    "../../etc/passwd",
    "/etc/passwd",
    "=x",
    "@file",
    "+x",
    "a=b",
];

/// Texts that some program would take for an option.
const OPTIONS: &[&str] = &[
    "-",
    "--",
    "---",
    "-x",
    "--help",
    "-rf",
    "--output=/etc/passwd",
    "-5",
    "-\u{1b}",
    "- x",
];

/// A tool whose program keeps what it was given in a file: what a reply says is cleaned.
struct Probe {
    folder: TempDir,
    tool: AnyTool,
    toolbox: Toolbox,
}

impl Probe {
    fn new(yaml: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let made = made_in(folder.path(), yaml);
        let tool = made.tools[0].clone();
        let toolbox = toolbox(made);
        Self {
            folder,
            tool,
            toolbox,
        }
    }

    /// What the program kept, or what the call was refused for.
    fn kept(&self, arguments: Value) -> Result<String, ToolError> {
        static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().unwrap());
        let file = self.folder.path().join("out");
        let _ = fs::remove_file(&file);
        let call = toolsmith_testing::call(&self.toolbox, "it", arguments);
        match RUNTIME.block_on(call).error {
            Some(error) => {
                assert!(!file.exists(), "it ran, and was refused");
                Err(error)
            }
            None => Ok(fs::read_to_string(file).unwrap()),
        }
    }
}

/// A tool that keeps its arguments: the words of a command after the helper.
fn tool(words: &str, parameters: &str) -> Probe {
    Probe::new(&format!(
        "name: it\nsandbox: none\ncommand: [/bin/sh, -c, {KEEP:?}, sh, {words}]\n\
         parameters: {{ properties: {{ {parameters} }} }}"
    ))
}

/// What a tool was given, or what it was refused for.
fn given(probe: &Probe, arguments: Value) -> Result<Vec<String>, ToolError> {
    let kept = probe.kept(arguments)?;
    let mut entries: Vec<String> = kept.split('\0').map(str::to_owned).collect();
    assert_eq!(entries.pop().as_deref(), Some(""));
    Ok(entries)
}

#[track_caller]
fn refused(probe: &Probe, arguments: Value, said: &str) {
    let error = given(probe, arguments.clone()).expect_err("it ran");
    assert_eq!(error.kind, ErrorKind::InvalidParameters, "{arguments}");
    assert!(error.message.contains(said), "{arguments}: {error}");
    // And it is refused before anybody is asked to allow it.
    assert!(probe.tool.plan(&unchecked(arguments)).is_err());
}

const ANY: &str = "a: {}, b: {}";

#[test]
fn one_word_is_one_argument() {
    let tool = tool("'{a}', 'x{a}y{b}', last", ANY);
    let others = HOSTILE.iter().chain(OPTIONS).cycle();
    for (a, b) in HOSTILE.iter().chain(HOSTILE).zip(others) {
        let entries = given(&tool, json!({ "a": a, "b": b })).unwrap();
        let expected = [(*a).to_owned(), format!("x{a}y{b}"), "last".to_owned()];
        assert_eq!(entries, expected);
    }
}

#[test]
fn a_value_is_never_an_option() {
    let free = tool("'{a}'", ANY);
    let behind_text = tool("'--name={a}'", ANY);
    let behind_dashes = tool("--, '{a}'", ANY);
    for option in OPTIONS {
        refused(&free, json!({ "a": option }), "`a` may not begin with `-`");
        let entries = given(&behind_text, json!({ "a": option })).unwrap();
        assert_eq!(entries, [format!("--name={option}")]);
        let entries = given(&behind_dashes, json!({ "a": option })).unwrap();
        assert_eq!(entries, ["--", option]);
    }
}

#[test]
fn no_way_around_leads_to_an_option() {
    // Something empty before it.
    refused(
        &tool("'{a}{b}'", ANY),
        json!({"a": "", "b": "-x"}),
        "may not begin with `-`",
    );
    // The two halves from two arguments.
    refused(
        &tool("'{a}{b}'", ANY),
        json!({"a": "-", "b": "x"}),
        "may not begin with `-`",
    );
    // A number where the model chose that it be one.
    refused(
        &tool("'{a}'", ANY),
        json!({"a": -1}),
        "may not begin with `-`",
    );
    let either = tool("'{a}'", "a: { type: [integer, string] }");
    refused(&either, json!({"a": -1}), "may not begin with `-`");
    // A number with something behind it.
    let mixed = tool(
        "'{a}'",
        "a: { type: array, prefixItems: [{ type: string }], items: { type: integer } }",
    );
    refused(&mixed, json!({ "a": ["--help", 1] }), "may not begin with");
    let both = tool("'{a}{b}'", "a: { type: integer }, b: { type: string }");
    refused(&both, json!({"a": -1, "b": "rf"}), "may not begin with `-`");
    // An item of a list.
    let list = tool("'{a}'", "a: { type: array, items: { type: string } }");
    refused(&list, json!({"a": ["x", "-x"]}), "may not begin with `-`");
    // A `--` that the model wrote is none of the file's.
    refused(&list, json!({"a": ["--", "-x"]}), "may not begin with `-`");
    // Nor is one the model made of half a word.
    let halves = tool("'-{a}', '{b}'", ANY);
    refused(
        &halves,
        json!({"a": "-", "b": "-x"}),
        "`b` may not begin with `-`",
    );
    // A `--` that is left out protects nothing.
    let together = tool("[--, '{b}'], '{a}'", ANY);
    refused(&together, json!({"a": "-x"}), "may not begin with `-`");
    assert_eq!(
        given(&together, json!({"a": "-x", "b": "-y"})).unwrap(),
        ["--", "-y", "-x"]
    );
}

#[test]
fn a_number_may_be_negative_where_it_can_be_nothing_else() {
    let numbers = tool(
        "'{a}', '{b}'",
        "a: { type: integer }, b: { type: array, items: { type: number } }",
    );
    let entries = given(&numbers, json!({"a": -5, "b": [-1.5, 2]})).unwrap();
    assert_eq!(entries, ["-5", "-1.5", "2"]);
}

#[test]
fn values_are_written_as_programs_read_them() {
    let tool = tool("'{a}'", ANY);
    for (value, written) in [
        (json!("text"), "text"),
        (json!(1.5), "1.5"),
        (json!(true), "true"),
        (json!({"k": [1, "x"]}), r#"{"k":[1,"x"]}"#),
        (json!(["x", 1]), r#"["x",1]"#),
    ] {
        assert_eq!(given(&tool, json!({ "a": value })).unwrap(), [written]);
    }
}

#[test]
fn a_list_is_one_argument_for_each_item() {
    let list = "a: { type: array }, b: { type: string }";
    let spread = tool("'{a}', last", list);
    let entries = given(&spread, json!({"a": ["x y", "", 3, null]})).unwrap();
    assert_eq!(entries, ["x y", "", "3", "null", "last"]);
    assert_eq!(given(&spread, json!({"a": []})).unwrap(), ["last"]);
    let among = tool("'-f{a}'", list);
    assert_eq!(given(&among, json!({"a": ["x"]})).unwrap(), [r#"-f["x"]"#]);
}

#[test]
fn what_is_absent_is_left_out_with_what_goes_with_it() {
    let tool = tool(
        "'{a}', [--of, '{b}'], [-l, '{c}'], last",
        "a: {}, b: {}, c: { type: array }",
    );
    for (arguments, entries) in [
        (json!({}), vec!["last"]),
        (json!({"a": null}), vec!["last"]),
        (json!({"a": "x"}), vec!["x", "last"]),
        (json!({"b": "y"}), vec!["--of", "y", "last"]),
        (json!({"b": ""}), vec!["--of", "", "last"]),
        (json!({"c": []}), vec!["last"]),
        (json!({"c": ["p", "q"]}), vec!["-l", "p", "q", "last"]),
    ] {
        assert_eq!(
            given(&tool, arguments.clone()).unwrap(),
            entries,
            "{arguments}"
        );
    }
}

#[test]
fn what_no_program_can_be_given_is_refused() {
    let tool = tool("'{a}'", "a: { type: [array, string] }");
    refused(&tool, json!({"a": "x\0y"}), "`a` holds a NUL character");
    refused(
        &tool,
        json!({"a": ["x", "\0"]}),
        "`a` holds a NUL character",
    );
    refused(
        &tool,
        json!({"a": "x".repeat(128 << 10)}),
        "more than a program can be given",
    );
    refused(
        &tool,
        json!({"a": vec!["x"; 4097]}),
        "more than a program can be given",
    );
    refused(
        &tool,
        json!({"a": vec!["x".repeat(100 << 10); 6]}),
        "more than a program can be given",
    );
    let longest = "x".repeat((128 << 10) - 1);
    assert_eq!(
        given(&tool, json!({"a": longest})).unwrap(),
        [longest.as_str()]
    );
    assert_eq!(
        given(&tool, json!({"a": vec!["x"; 4000]})).unwrap().len(),
        4000
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_one_argument_or_refused(a in any::<String>(), b in "[- \"'$`\\\\\n{}a]{0,8}") {
        let tool = tool("'{a}', '-o{a}', '{b}{a}', [--, '{b}'], last", ANY);
        let may_run = !a.contains('\0') && !a.starts_with('-') && !format!("{b}{a}").starts_with('-');
        match given(&tool, json!({ "a": a, "b": b })) {
            Ok(entries) => {
                prop_assert!(may_run);
                let expected = [a.clone(), format!("-o{a}"), format!("{b}{a}"), "--".to_owned(), b, "last".to_owned()];
                prop_assert_eq!(entries, expected);
            }
            Err(error) => {
                prop_assert!(!may_run);
                prop_assert_eq!(error.kind, ErrorKind::InvalidParameters);
            }
        }
    }

    #[test]
    fn any_text_is_read_as_it_is(text in any::<String>()) {
        let yaml = "name: it\nsandbox: none\ncommand: [sh, -c, cat >out]\nstdin: '{text}'\n\
                    parameters: { properties: { text: { type: string } } }";
        prop_assert_eq!(Probe::new(yaml).kept(json!({ "text": text })).unwrap(), text);
    }
}
