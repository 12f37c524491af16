//! `batch`: many calls, answered in order, none disturbed by another.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::support::{Ran, user};

fn batch(input: impl Into<Vec<u8>>, options: &[&str]) -> Ran {
    user().typing(input).runs([&["batch"], options].concat())
}

fn broken(id: &Value, reason: &str) -> Value {
    let error = format!("the call cannot be read: {reason}");
    json!({ "id": id, "success": false, "error": error, "error_type": "invalid_parameters" })
}

#[test]
fn a_list_is_answered_with_a_list() {
    let calls = json!([
        { "id": "one", "name": "example_add", "arguments": { "a": 1, "b": 2 } },
        { "name": "example_echo", "arguments": { "text": "hi" } },
    ]);
    let ran = batch(calls.to_string(), &[])
        .ends_with(0)
        .says("2 calls, 0 failed, at most ");
    assert_eq!(
        ran.json(),
        json!([
            { "id": "one", "value": 3, "facts": { "tool": "example_add", "call_id": "one" } },
            { "id": null, "value": "hi", "facts": { "tool": "example_echo", "call_id": "call-2" } },
        ])
    );
    assert_eq!(ran.stdout.lines().count(), 1);
}

#[test]
fn lines_are_answered_with_lines() {
    let lines = "\n {\"id\":\"x\",\"name\":\"example_add\",\"arguments\":{\"a\":1,\"b\":2}}\r\n\n\
                 {\"name\":\"example_panic\"}";
    let ran = batch(lines, &["--as", "message"]).ends_with(1);
    assert_eq!(
        ran.lines(),
        [
            json!({ "id": "x", "tool_name": "example_add", "output": 3, "error": null }),
            json!({
                "id": null,
                "tool_name": "example_panic",
                "output": null,
                "error": {
                    "code": "internal",
                    "message": "the tool panicked: this example always panics",
                    "retryable": false,
                },
            }),
        ]
    );
    ran.says("2 calls, 1 failed, ");
}

#[test]
fn the_calls_come_from_a_file_too() {
    let user = user().having("calls.json", "[{\"name\": \"example_panic\"}]");
    user.runs(["batch", "calls.json"])
        .ends_with(1)
        .says("1 call, 1 failed, at most 1 at once");
    user.runs(["batch", "none.json"])
        .ends_with(2)
        .prints("")
        .says("none.json cannot be read: ");
    user.runs(["batch", "."])
        .ends_with(2)
        .prints("")
        .says(". cannot be read: ");
}

#[test]
fn an_empty_batch_is_fine() {
    let told = "0 calls, 0 failed, at most 0 at once\n";
    batch("", &[]).ends_with(0).prints("").tells(told);
    batch("\n \n", &[]).ends_with(0).prints("").tells(told);
    batch("[]", &[]).ends_with(0).prints("[]\n").tells(told);
}

#[test]
fn a_broken_list_is_broken_as_a_whole() {
    for (list, said) in [
        ("[", "the batch cannot be read: EOF while parsing a list"),
        (
            "[{\"name\": \"example_add\"}",
            "the batch cannot be read: EOF while parsing a list",
        ),
        (
            "[{\"name\": \"a\", \"name\": \"b\"}]",
            "the batch cannot be read: duplicate key \"name\"",
        ),
        ("[] []", "the batch cannot be read: trailing characters"),
        (
            &"[".repeat(100_000),
            "the batch cannot be read: nested deeper than 100 levels",
        ),
    ] {
        batch(list, &[]).ends_with(2).prints("").says(said);
    }
}

#[test]
fn an_entry_that_is_no_call_fails_alone() {
    let entries = json!([
        1,
        null,
        [],
        {},
        { "id": "n", "name": 1 },
        { "id": [], "name": "example_add" },
        { "id": "u", "name": "example_add", "args": {}, "arguments": {} },
        { "id": 7, "name": "example_add", "arguments": { "a": 1, "b": 2 } },
        { "id": 7, "name": "example_add", "arguments": { "a": 2, "b": 2 } },
        { "id": 1.5, "name": "example_add", "arguments": [] },
        { "id": null, "name": "" },
        { "name": "example_panic", "arguments": null },
    ]);
    let no_object = "it is no object with `name` and `arguments`";
    let fine = |id: &str, value: u64| json!({ "id": id, "success": true, "value": value });
    let failed = |id: Value, code: &str, error: &str| json!({ "id": id, "success": false, "error": error, "error_type": code });
    let expected = vec![
        broken(&Value::Null, no_object),
        broken(&Value::Null, no_object),
        broken(&Value::Null, no_object),
        broken(&Value::Null, "`name` is missing, or no string"),
        broken(&"n".into(), "`name` is missing, or no string"),
        broken(&Value::Null, "`id` is no string and no number"),
        broken(&"u".into(), "it has no field \"args\""),
        fine("7", 3),
        fine("7", 4),
        failed(
            "1.5".into(),
            "invalid_parameters",
            "the arguments of `example_add` must be an object, not an array of 0 items",
        ),
        failed(Value::Null, "unknown_tool", "there is no tool \"\""),
        failed(
            Value::Null,
            "internal",
            "the tool panicked: this example always panics",
        ),
    ];
    let ran = batch(entries.to_string(), &["--as", "envelope"])
        .ends_with(1)
        .says("12 calls, 10 failed, ");
    assert_eq!(ran.json(), Value::Array(expected.clone()));
    let lines: Vec<String> = entries
        .as_array()
        .unwrap()
        .iter()
        .map(Value::to_string)
        .collect();
    let ran = batch(lines.join("\n"), &["--as", "envelope"]).ends_with(1);
    // A line that begins with `[` begins a list only where it is the first.
    assert_eq!(ran.lines(), expected);
}

/// Of lines, the one that is meant.
#[test]
fn a_line_that_cannot_be_read_is_told_by_its_place() {
    let good = "{\"name\": \"example_add\", \"arguments\": {\"a\": 1, \"b\": 2}}";
    let lines = format!("{good}\n\n  {{nonsense\n{good}\n{{\"a\": 1, \"a\": 2}}\n");
    let ran = batch(lines, &["--as", "envelope"]).ends_with(1);
    let errors: Vec<Value> = ran.lines().iter().map(|it| it["error"].clone()).collect();
    assert_eq!(
        errors[1],
        "the call cannot be read: key must be a string at line 3 column 4"
    );
    assert_eq!(
        errors[3],
        "the call cannot be read: duplicate key \"a\" at line 5 column 12"
    );
    assert_eq!(errors.len(), 4);
}

fn sleeps(count: usize) -> String {
    let mut lines = String::new();
    for id in 0..count {
        // The first sleep longest, so that order is not an accident.
        let ms = if id % 64 == 0 { 20 } else { 1 };
        let arguments = format!("{{\"ms\":{ms}}}");
        let name = "example_sleep";
        writeln!(
            lines,
            "{{\"id\":{id},\"name\":\"{name}\",\"arguments\":{arguments}}}"
        )
        .unwrap();
    }
    lines
}

#[test]
fn a_thousand_calls_run_64_at_a_time_and_are_answered_in_order() {
    let ran = batch(sleeps(1000), &["--as", "message"])
        .ends_with(0)
        .tells("1000 calls, 0 failed, at most 64 at once\n");
    let ids: Vec<String> = ran
        .lines()
        .iter()
        .map(|reply| reply["id"].as_str().unwrap().to_owned())
        .collect();
    let expected: Vec<String> = (0..1000).map(|id| id.to_string()).collect();
    assert_eq!(ids, expected);
}

#[test]
fn the_number_at_once_is_a_setting() {
    user()
        .having("toolsmith.yaml", "limits: { parallel: 3 }\n")
        .typing(sleeps(20))
        .runs(["batch"])
        .ends_with(0)
        .tells("20 calls, 0 failed, at most 3 at once\n");
    user()
        .having("toolsmith.yaml", "limits: { parallel: false }\n")
        .typing(sleeps(20))
        .runs(["batch"])
        .ends_with(0)
        .tells("20 calls, 0 failed, at most 1 at once\n");
}

#[test]
fn sequential_is_one_after_the_other() {
    batch(sleeps(20), &["--sequential"])
        .ends_with(0)
        .tells("20 calls, 0 failed, at most 1 at once\n");
}

#[test]
fn permission_is_decided_for_each_call() {
    let calls = json!([
        { "name": "example_delete", "arguments": { "name": "x", "consent": "DELETE_EXAMPLE" } },
        { "name": "example_add", "arguments": { "a": 1, "b": 2 } },
        { "name": "example_delete", "arguments": { "name": "y", "consent": "DELETE_EXAMPLE" } },
    ]);
    let codes = |options: &[&str]| -> Vec<Value> {
        let ran = batch(
            calls.to_string(),
            &[&["--as", "envelope"], options].concat(),
        );
        let replies = ran.json();
        let codes = replies.as_array().unwrap().iter();
        codes.map(|reply| reply["error_type"].clone()).collect()
    };
    assert_eq!(
        codes(&[]),
        [
            json!("approval_required"),
            Value::Null,
            json!("approval_required")
        ]
    );
    assert_eq!(codes(&["--yes"]), [Value::Null, Value::Null, Value::Null]);
    assert_eq!(
        codes(&["--yes", "--deny", "example_delete(name: y)"]),
        [Value::Null, Value::Null, json!("permission_denied")]
    );
}

#[test]
fn too_many_calls_are_refused_before_any_runs() {
    let one = "{\"name\":\"example_panic\"}\n";
    batch(one.repeat(50_001), &[])
        .ends_with(2)
        .prints("")
        .tells("error: the batch holds more than 50000 calls\n");
}

#[test]
fn too_large_a_batch_is_refused() {
    let mut large = vec![b' '; (80 << 20) + 1];
    large[0] = b'[';
    batch(large, &[])
        .ends_with(2)
        .prints("")
        .tells("error: the batch is larger than 83886080 bytes\n");
}
