//! What a tool may return, and what becomes of it.

use std::collections::HashMap;
use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use toolsmith::{AnyTool, ErrorKind, Outcome, ToolContext, ToolError, tool};

use crate::support::call;

/// Calls a tool that takes nothing.
fn run(tool: &AnyTool) -> Outcome {
    call(tool, json!({}))
}

fn output(tool: &AnyTool) -> Option<Value> {
    tool.definition()
        .output
        .as_ref()
        .map(|schema| schema.as_value().clone())
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Point {
    x: i32,
    label: Option<String>,
}

/// An error that could be mistaken for a value.
#[derive(Debug, Serialize, thiserror::Error)]
#[error("it broke")]
struct Broken {
    #[source]
    #[serde(skip)]
    source: std::num::ParseIntError,
}

struct Coded;

impl From<Coded> for ToolError {
    fn from(_: Coded) -> Self {
        Self::new(ErrorKind::Network, "unreachable")
    }
}

struct Shown;

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if f.alternate() {
            "shown whole"
        } else {
            "shown"
        })
    }
}

struct Unwritable;

impl Serialize for Unwritable {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom("no"))
    }
}

#[tool]
fn point() -> Point {
    Point { x: 1, label: None }
}

#[tool]
async fn fine() -> Result<Point, ToolError> {
    Ok(Point { x: 2, label: None })
}

#[tool]
fn broken() -> Result<Point, Broken> {
    Err(Broken {
        source: "x".parse::<i32>().unwrap_err(),
    })
}

#[tool]
fn coded() -> Result<(), Coded> {
    Err(Coded)
}

#[tool]
fn shown() -> Result<(), Shown> {
    Err(Shown)
}

#[tool]
fn chained() -> anyhow::Result<String> {
    Err(anyhow::anyhow!("beneath").context("above"))
}

#[tool]
fn text_error() -> Result<u8, String> {
    Err("plain words".to_owned())
}

#[tool]
fn boxed() -> Result<u8, Box<dyn std::error::Error + Send + Sync>> {
    Err("in a box".into())
}

#[tool]
fn outcome() -> Outcome {
    Outcome::text("hello").with_message("m")
}

#[tool]
fn outcome_or() -> Result<Outcome, String> {
    Ok(Outcome::text("hello"))
}

#[tool]
fn unit_or() -> Result<(), String> {
    Ok(())
}

#[tool]
fn opaque() -> impl Serialize {
    vec![1, 2]
}

#[tool]
fn anything() -> Value {
    json!([1])
}

#[tool]
fn unwritable() -> Unwritable {
    Unwritable
}

#[tool]
fn no_number() -> f64 {
    f64::NAN
}

#[tool]
fn not_a_key() -> HashMap<Vec<u8>, u8> {
    HashMap::from([(vec![1], 1)])
}

#[tool]
fn borrowed(context: &ToolContext) -> &str {
    context.caller()
}

#[tool]
fn maybe() -> Option<u8> {
    None
}

#[test]
fn values_become_json_and_their_types_schemas() {
    assert_eq!(
        run(&point::tool()),
        Outcome::ok(json!({"x": 1, "label": null}))
    );
    assert_eq!(
        run(&fine::tool()),
        Outcome::ok(json!({"x": 2, "label": null}))
    );
    let schema = json!({
        "type": "object",
        "properties": {
            "x": {"type": "integer", "minimum": i32::MIN, "maximum": i32::MAX},
            "label": {"type": ["string", "null"]},
        },
        "required": ["x", "label"],
    });
    for tool in [point::tool(), fine::tool(), broken::tool()] {
        assert_eq!(output(&tool), Some(schema.clone()), "{tool:?}");
    }
    assert_eq!(run(&opaque::tool()), Outcome::ok(json!([1, 2])));
    assert_eq!(run(&anything::tool()), Outcome::ok(json!([1])));
    assert_eq!(run(&borrowed::tool()), Outcome::ok(""));
    assert_eq!(run(&maybe::tool()), Outcome::ok(Value::Null));
    assert_eq!(run(&no_number::tool()), Outcome::ok(Value::Null));
    assert_eq!(output(&borrowed::tool()), Some(json!({"type": "string"})));
}

#[test]
fn what_has_no_type_has_no_schema() {
    for tool in [
        coded::tool(),
        outcome::tool(),
        outcome_or::tool(),
        unit_or::tool(),
        opaque::tool(),
        anything::tool(),
        unwritable::tool(),
    ] {
        assert_eq!(output(&tool), None, "{tool:?}");
    }
}

#[test]
fn outcomes_pass_through() {
    let hello = Outcome::text("hello");
    assert_eq!(run(&outcome::tool()), hello.clone().with_message("m"));
    assert_eq!(run(&outcome_or::tool()), hello);
    assert_eq!(run(&unit_or::tool()), Outcome::nothing());
}

#[test]
fn errors_keep_what_they_know() {
    for (tool, kind, message) in [
        (
            broken::tool(),
            ErrorKind::Failed,
            "it broke: invalid digit found in string",
        ),
        (coded::tool(), ErrorKind::Network, "unreachable"),
        (shown::tool(), ErrorKind::Failed, "shown whole"),
        (chained::tool(), ErrorKind::Failed, "above: beneath"),
        (text_error::tool(), ErrorKind::Failed, "plain words"),
        (boxed::tool(), ErrorKind::Failed, "in a box"),
    ] {
        assert_eq!(run(&tool), Outcome::failure(ToolError::new(kind, message)));
    }
    let cause = run(&broken::tool()).error.unwrap().cause.unwrap();
    assert!(cause.is::<Broken>());
}

#[test]
fn a_value_that_cannot_be_written_is_our_fault() {
    for (tool, why) in [
        (unwritable::tool(), "no"),
        (not_a_key::tool(), "key must be a string"),
    ] {
        let error = run(&tool).error.unwrap();
        assert_eq!(error.kind, ErrorKind::Internal);
        assert_eq!(
            error.message,
            format!("the value could not be written as JSON: {why}")
        );
    }
}
