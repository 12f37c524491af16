//! Input nobody sends by accident. Each is an error of its kind, and no more than
//! that.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use crate::support::{Ran, user};

/// Arguments that no call can be made of, and what is said of them.
fn hostile() -> Vec<(&'static str, Vec<u8>, &'static str)> {
    let mut huge = b"{\"text\": \"".to_vec();
    huge.resize(64 << 20, b'x');
    huge.extend_from_slice(b"\"}");
    let mut deep = vec![b'['; 100_000];
    deep.extend(std::iter::repeat_n(b']', 100_000));
    let deep_objects = b"{\"a\":".repeat(100_000);
    let mut many = b"{\"text\": [".to_vec();
    many.extend(b"0,".repeat(2_000_000));
    many.extend(b"0]}");
    let text = |text: &str| text.as_bytes().to_vec();
    vec![
        ("empty", text(""), "EOF while parsing a value"),
        ("white space", text(" \n\t"), "EOF while parsing a value"),
        ("no json", text("text=a"), "expected"),
        (
            "cut off",
            text("{\"text\": \"a"),
            "EOF while parsing a string",
        ),
        ("two values", text("{} {}"), "trailing characters"),
        (
            "trailing comma",
            text("{\"text\": \"a\",}"),
            "trailing comma",
        ),
        ("comment", text("{\"text\": \"a\" /* b */}"), "expected"),
        ("NaN", text("{\"text\": NaN}"), "expected value"),
        ("infinity", text("{\"text\": -Infinity}"), "invalid number"),
        (
            "too large a number",
            text("{\"text\": 1e999}"),
            "number out of range",
        ),
        (
            "duplicate key",
            text("{\"text\": \"a\", \"text\": \"b\"}"),
            "duplicate key \"text\"",
        ),
        (
            "duplicate key below",
            text("{\"text\": {\"a\": [{\"b\": 1, \"b\": 2}]}}"),
            "duplicate key \"b\"",
        ),
        (
            "duplicate key, spelled otherwise",
            text("{\"text\": \"a\", \"te\\u0078t\": \"b\"}"),
            "duplicate key \"text\"",
        ),
        (
            "lone surrogate",
            text("{\"text\": \"\\ud800\"}"),
            "unexpected end of hex escape",
        ),
        (
            "reversed surrogates",
            text("{\"text\": \"\\udc00\\ud800\"}"),
            "lone leading surrogate",
        ),
        (
            "control character",
            text("{\"text\": \"a\u{1}b\"}"),
            "control character",
        ),
        ("NUL", text("{\"text\": \"a\0b\"}"), "control character"),
        (
            "not UTF-8",
            b"{\"text\": \"\xff\"}".to_vec(),
            "not valid UTF-8 after byte 10",
        ),
        (
            "overlong UTF-8",
            b"{\"text\": \"\xc0\xaf\"}".to_vec(),
            "not valid UTF-8 after byte 10",
        ),
        (
            "UTF-16",
            b"\xff\xfe{\0}\0".to_vec(),
            "not valid UTF-8 after byte 0",
        ),
        ("byte order mark", text("\u{feff}{}"), "expected value"),
        ("deep lists", deep, "nested deeper than 100 levels"),
        (
            "deep objects",
            deep_objects,
            "nested deeper than 100 levels",
        ),
        (
            "64 MB",
            huge,
            "the JSON is larger than the 16777216 bytes that are accepted",
        ),
        ("many values", many, "more than 1048576 values"),
    ]
}

#[track_caller]
fn is_refused(name: &str, ran: Ran, said: &str) {
    let start = "error: invalid_parameters: the arguments of `example_echo` cannot be read: ";
    let ran = ran.ends_with(1).prints("");
    assert!(ran.stderr.starts_with(start), "{name}: {ran:#?}");
    assert!(ran.stderr.contains(said), "{name}: {ran:#?}");
    assert!(ran.stderr.len() < 500, "{name}: {ran:#?}");
}

#[test]
fn hostile_json_on_stdin_is_invalid_parameters() {
    for (name, input, said) in hostile() {
        let ran = user()
            .typing(input)
            .runs(["call", "example_echo", "--args", "-"]);
        is_refused(name, ran, said);
    }
}

#[test]
fn hostile_json_in_a_file_is_invalid_parameters() {
    for (name, input, said) in hostile() {
        let user = user().having("call.json", input);
        is_refused(
            name,
            user.runs(["call", "example_echo", "--args", "@call.json"]),
            said,
        );
    }
}

/// In a batch each stands between two calls that must not notice.
#[test]
fn hostile_lines_of_a_batch_disturb_no_other() {
    for (name, input, said) in hostile() {
        // An empty line is no line.
        if input.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let good = b"\n{\"name\": \"example_add\", \"arguments\": {\"a\": 1, \"b\": 2}}\n";
        let line = [
            b"{\"id\": 1, \"name\": \"example_echo\", \"arguments\": ",
            &input[..],
            b"}",
        ];
        let lines = [good, line.concat().as_slice(), good].concat();
        let ran = user()
            .typing(lines)
            .runs(["batch", "--as", "envelope"])
            .ends_with(1);
        let replies = ran.lines();
        assert_eq!(replies.len(), 3, "{name}");
        let fine = serde_json::json!({ "id": null, "success": true, "value": 3 });
        assert_eq!((&replies[0], &replies[2]), (&fine, &fine), "{name}");
        assert_eq!(replies[1]["error_type"], "invalid_parameters", "{name}");
        // Around the arguments there are a few bytes more, which some messages count.
        let said = said.split(" after byte ").next().unwrap();
        let said = said.split(" bytes of JSON").last().unwrap();
        let error = replies[1]["error"].as_str().unwrap();
        let reads_otherwise =
            ["two values", "no json", "byte order mark", "cut off"].contains(&name);
        assert!(error.contains(said) || reads_otherwise, "{name}: {error}");
        assert!(
            error.starts_with("the call cannot be read: "),
            "{name}: {error}"
        );
    }
}

#[test]
fn invalid_utf8_on_the_command_line() {
    let pair = OsStr::from_bytes(b"text=\xff");
    let args = OsStr::from_bytes(b"{\"text\": \"\xff\"}");
    let word = OsStr::new;
    let ran = user().runs([word("call"), word("example_echo"), pair]);
    is_refused("pair", ran, "text=\u{fffd} is not valid UTF-8");
    let ran = user().runs([word("call"), word("example_echo"), word("--args"), args]);
    is_refused("args", ran, "the JSON is not valid UTF-8 after byte 10");
    user()
        .runs([word("call"), OsStr::from_bytes(b"example_\xff")])
        .ends_with(2)
        .prints("")
        .says("invalid UTF-8");
    user()
        .runs([
            word("call"),
            word("example_echo"),
            word("--args"),
            OsStr::from_bytes(b"@\xff"),
        ])
        .ends_with(2)
        .prints("")
        .says("--args: the file name is not valid UTF-8");
}

#[test]
fn numbers_no_schema_can_hold() {
    for (words, said) in [
        (
            ["a=NaN", "b=1"],
            "`a`: expected number, got \"NaN\" (string)",
        ),
        (
            ["a=inf", "b=1"],
            "`a`: expected number, got \"inf\" (string)",
        ),
        (
            ["a=1e999", "b=1"],
            "`a`: expected number, got \"1e999\" (string)",
        ),
        (
            ["a=0x10", "b=1"],
            "`a`: expected number, got \"0x10\" (string)",
        ),
    ] {
        user()
            .runs([&["call", "example_add"], &words[..]].concat())
            .ends_with(1)
            .prints("")
            .says(said);
    }
    user()
        .runs(["call", "example_sleep", "ms=-1"])
        .ends_with(1)
        .says("`ms`: expected at least 0, got -1");
    user()
        .runs(["call", "example_sleep", "ms=99999999999999999999"])
        .ends_with(1)
        .says("invalid_parameters");
    user()
        .runs(["call", "example_sleep", "ms=1.5"])
        .ends_with(1)
        .says("expected integer, got 1.5");
}

/// `a.a.a…=1` is JSON too.
#[test]
fn a_key_of_many_dots_is_only_deep() {
    let pair = format!("{}=1", vec!["a"; 5_000].join("."));
    user()
        .runs(["call", "example_echo", &pair])
        .ends_with(1)
        .prints("")
        .says("invalid_parameters: ");
}

/// The configured ceiling is the one in force, and the largest one harms nothing.
#[test]
fn the_ceiling_of_arguments_is_a_setting() {
    let call = [
        "call",
        "example_echo",
        "--args",
        "{\"text\": \"0123456789\"}",
    ];
    user()
        .having("toolsmith.yaml", "limits: { argument_bytes: 10 }\n")
        .runs(call)
        .ends_with(1)
        .says("the JSON is larger than the 10 bytes that are accepted");
    user()
        .having("toolsmith.yaml", "limits: { argument_bytes: 1073741824 }\n")
        .runs(call)
        .ends_with(0)
        .prints("0123456789\n");
}
