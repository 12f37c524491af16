//! One outcome in every shape, compared whole.

use std::time::Duration;

use serde_json::{Value, json};
use toolsmith::outcome::ResourceContent;
use toolsmith::{Block, ErrorKind, Outcome, ToolError, ToolName};

/// Every shape of one outcome.
struct Shapes {
    outcome: Value,
    result: Value,
    envelope: Value,
    message: Value,
    mcp: Value,
}

#[track_caller]
fn check(mut outcome: Outcome, expected: &Shapes) {
    outcome.facts.tool = Some(ToolName::new("t").unwrap());
    let mut whole = serde_json::to_value(&outcome).unwrap();
    assert_eq!(whole["facts"], json!({ "tool": "t" }));
    whole.as_object_mut().unwrap().shift_remove("facts");
    assert_eq!(whole, expected.outcome, "outcome");
    assert_eq!(outcome.to_result(), expected.result, "result");
    assert_eq!(outcome.to_envelope(), expected.envelope, "envelope");
    assert_eq!(outcome.to_message(), expected.message, "message");
    assert_eq!(outcome.to_mcp(), expected.mcp, "mcp");
}

fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

#[test]
fn a_plain_value() {
    check(
        Outcome::ok(5),
        &Shapes {
            outcome: json!({ "value": 5 }),
            result: json!({ "success": true, "llm_content": "5", "display_content": "5" }),
            envelope: json!({ "success": true, "value": 5 }),
            message: json!({ "tool_name": "t", "output": 5, "error": null }),
            mcp: json!({ "content": [text("5")], "structuredContent": 5, "isError": false }),
        },
    );
}

#[test]
fn a_text_as_value_is_read_without_quotes() {
    check(
        Outcome::ok("first\nsecond"),
        &Shapes {
            outcome: json!({ "value": "first\nsecond" }),
            result: json!({
                "success": true,
                "llm_content": "first\nsecond",
                "display_content": "first",
            }),
            envelope: json!({ "success": true, "value": "first\nsecond" }),
            message: json!({ "tool_name": "t", "output": "first\nsecond", "error": null }),
            mcp: json!({
                "content": [text("first\nsecond")],
                "structuredContent": "first\nsecond",
                "isError": false,
            }),
        },
    );
}

#[test]
fn an_object_stays_one() {
    let object = json!({ "b": [1], "a": null });
    check(
        Outcome::ok(object.clone()),
        &Shapes {
            outcome: json!({ "value": object }),
            result: json!({
                "success": true,
                "llm_content": object,
                "display_content": "{\"b\":[1],\"a\":null}",
            }),
            envelope: json!({ "success": true, "value": object }),
            message: json!({ "tool_name": "t", "output": object, "error": null }),
            mcp: json!({
                "content": [text("{\"b\":[1],\"a\":null}")],
                "structuredContent": object,
                "isError": false,
            }),
        },
    );
}

#[test]
fn null_is_a_value_too() {
    check(
        Outcome::ok(Value::Null),
        &Shapes {
            outcome: json!({ "value": null }),
            result: json!({ "success": true, "llm_content": "null", "display_content": "null" }),
            envelope: json!({ "success": true, "value": null }),
            message: json!({ "tool_name": "t", "output": null, "error": null }),
            mcp: json!({ "content": [text("null")], "structuredContent": null, "isError": false }),
        },
    );
}

#[test]
fn nothing_to_say() {
    check(
        Outcome::nothing(),
        &Shapes {
            outcome: json!({}),
            result: json!({ "success": true, "llm_content": "Done.", "display_content": "Done." }),
            envelope: json!({ "success": true }),
            message: json!({ "tool_name": "t", "output": null, "error": null }),
            mcp: json!({ "content": [text("Done.")], "isError": false }),
        },
    );
}

#[test]
fn value_message_instruction_display_and_metadata() {
    let outcome = Outcome::ok(json!({ "n": 1 }))
        .with_message("One was found.")
        .with_instruction("Do not look again.")
        .with_display("found 1")
        .with_metadata("pages", 3);
    let read = "{\"n\":1}\n\nInstruction: Do not look again.";
    check(
        outcome,
        &Shapes {
            outcome: json!({
                "value": { "n": 1 },
                "display": "found 1",
                "message": "One was found.",
                "instruction": "Do not look again.",
                "metadata": { "pages": 3 },
            }),
            result: json!({
                "success": true,
                "llm_content": read,
                "display_content": "found 1",
                "metadata": { "pages": 3 },
            }),
            envelope: json!({
                "success": true,
                "value": { "n": 1 },
                "message": "One was found.",
                "instruction": "Do not look again.",
            }),
            message: json!({ "tool_name": "t", "output": { "n": 1 }, "error": null }),
            mcp: json!({
                "content": [text("{\"n\":1}"), text("Instruction: Do not look again.")],
                "structuredContent": { "n": 1 },
                "isError": false,
            }),
        },
    );
}

#[test]
fn a_message_alone_is_what_is_read() {
    check(
        Outcome::nothing().with_message("All is well."),
        &Shapes {
            outcome: json!({ "message": "All is well." }),
            result: json!({
                "success": true,
                "llm_content": "All is well.",
                "display_content": "All is well.",
            }),
            envelope: json!({ "success": true, "message": "All is well." }),
            message: json!({ "tool_name": "t", "output": null, "error": null }),
            mcp: json!({ "content": [text("All is well.")], "isError": false }),
        },
    );
}

#[test]
fn blocks_of_every_sort() {
    let outcome = Outcome::text("hello")
        .with_block(Block::Image {
            data: "AAAA".into(),
            mime_type: "image/png".into(),
        })
        .with_block(Block::Audio {
            data: "AAAAAAAA".into(),
            mime_type: "audio/wav".into(),
        })
        .with_block(Block::Resource {
            uri: "file:///a".into(),
            mime_type: Some("text/plain".into()),
            content: ResourceContent::Text("inside".into()),
        })
        .with_block(Block::Resource {
            uri: "file:///b".into(),
            mime_type: None,
            content: ResourceContent::Blob("BBBB".into()),
        })
        .with_block(Block::Link {
            uri: "https://example.com".into(),
            name: "home".into(),
            description: Some("A page.".into()),
            mime_type: None,
        });
    let read = "hello\n[image: image/png, 4 bytes in base64]\n[audio: audio/wav, 8 bytes in base64]\n\
        [resource: file:///a]\ninside\n[resource: file:///b, 4 bytes in base64]\n\
        [home: https://example.com]";
    check(
        outcome,
        &Shapes {
            outcome: json!({ "content": [
                { "type": "text", "text": "hello" },
                { "type": "image", "data": "AAAA", "mime_type": "image/png" },
                { "type": "audio", "data": "AAAAAAAA", "mime_type": "audio/wav" },
                {
                    "type": "resource",
                    "uri": "file:///a",
                    "mime_type": "text/plain",
                    "text": "inside",
                },
                { "type": "resource", "uri": "file:///b", "blob": "BBBB" },
                {
                    "type": "link",
                    "uri": "https://example.com",
                    "name": "home",
                    "description": "A page.",
                },
            ]}),
            result: json!({ "success": true, "llm_content": read, "display_content": "hello" }),
            envelope: json!({ "success": true, "value": read }),
            message: json!({ "tool_name": "t", "output": read, "error": null }),
            mcp: json!({
                "content": [
                    text("hello"),
                    { "type": "image", "data": "AAAA", "mimeType": "image/png" },
                    { "type": "audio", "data": "AAAAAAAA", "mimeType": "audio/wav" },
                    { "type": "resource", "resource": {
                        "uri": "file:///a", "mimeType": "text/plain", "text": "inside",
                    }},
                    { "type": "resource", "resource": { "uri": "file:///b", "blob": "BBBB" } },
                    {
                        "type": "resource_link",
                        "uri": "https://example.com",
                        "name": "home",
                        "description": "A page.",
                    },
                ],
                "isError": false,
            }),
        },
    );
}

#[test]
fn a_failure_with_details_cause_and_instruction() {
    let io = std::io::Error::new(std::io::ErrorKind::NotFound, "no such file");
    let error = ToolError::caused(ErrorKind::Failed, io).with_details(json!({ "path": "a" }));
    let said = "execution_failed: no such file\n\
        Read the message; without a change the same call fails again.";
    let outcome = Outcome::failure(error)
        .with_message("It went wrong.")
        .with_instruction("Ask the user for the path.");
    check(
        outcome,
        &Shapes {
            outcome: json!({
                "message": "It went wrong.",
                "instruction": "Ask the user for the path.",
                "error": {
                    "code": "execution_failed",
                    "message": "no such file",
                    "retryable": false,
                    "details": { "path": "a" },
                },
            }),
            result: json!({
                "success": false,
                "llm_content": format!("{said}\n\nInstruction: Ask the user for the path."),
                "display_content": "execution_failed: no such file",
                "error": {
                    "message": "no such file",
                    "type": "execution_error",
                    "code": "execution_failed",
                    "details": { "path": "a" },
                },
            }),
            envelope: json!({
                "success": false,
                "error": "no such file",
                "error_type": "execution_failed",
                "exception_type": "Custom",
                "exception_message": "no such file",
                "message": "It went wrong.",
                "instruction": "Ask the user for the path.",
            }),
            message: json!({
                "tool_name": "t",
                "output": null,
                "error": {
                    "code": "execution_failed",
                    "message": "no such file",
                    "retryable": false,
                    "details": { "path": "a" },
                },
            }),
            mcp: json!({
                "content": [text(said), text("Instruction: Ask the user for the path.")],
                "isError": true,
            }),
        },
    );
}

/// A failure may still have something to show; it is a failure all the same.
#[test]
fn a_failure_with_content_and_value() {
    let outcome = Outcome::failure(ToolError::new(ErrorKind::Timeout, "too slow"))
        .with_value(json!([1]))
        .with_block(Block::text("so far"));
    let said = "timeout: too slow\nAsk for less, or for a longer time limit.";
    check(
        outcome,
        &Shapes {
            outcome: json!({
                "value": [1],
                "content": [text("so far")],
                "error": { "code": "timeout", "message": "too slow", "retryable": false },
            }),
            result: json!({
                "success": false,
                "llm_content": format!("{said}\nso far"),
                "display_content": "timeout: too slow",
                "error": { "message": "too slow", "type": "timeout_error", "code": "timeout" },
            }),
            envelope: json!({
                "success": false,
                "value": [1],
                "error": "too slow",
                "error_type": "timeout",
            }),
            message: json!({
                "tool_name": "t",
                "output": [1],
                "error": { "code": "timeout", "message": "too slow", "retryable": false },
            }),
            mcp: json!({ "content": [text(said), text("so far")], "isError": true }),
        },
    );
}

#[test]
fn a_message_names_what_was_called_where_no_tool_was_found() {
    let mut outcome = Outcome::failure(ToolError::new(ErrorKind::UnknownTool, "x"));
    assert_eq!(outcome.to_message()["tool_name"], "");
    outcome.facts.called_as = Some("nope".to_owned());
    assert_eq!(outcome.to_message()["tool_name"], "nope");
}

#[test]
fn a_line_for_the_person_is_short() {
    let outcome = Outcome::ok("é".repeat(1_000));
    assert_eq!(outcome.display_text(), "é".repeat(200) + "…");
    assert_eq!(Outcome::ok("").display_text(), "");
}

#[test]
fn durations_are_milliseconds_with_three_decimals() {
    let mut outcome = Outcome::nothing();
    for (duration, expected) in [
        (Duration::from_nanos(1_234_567), json!(1.234)),
        (Duration::from_secs(90), json!(90_000.0)),
        (Duration::from_secs(100_000), json!(100_000_000.0)),
    ] {
        outcome.facts.duration = Some(duration);
        let whole = serde_json::to_value(&outcome).unwrap();
        assert_eq!(whole["facts"]["duration_ms"], expected);
    }
}
