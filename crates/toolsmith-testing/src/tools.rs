//! Ready tools, all of kind `think` so that every mode lets them run.

use std::time::Duration;

use serde_json::{Value, json};
use toolsmith_core::{AnyTool, Kind, Outcome, Schema, ToolDef, ToolError};

/// A definition with open arguments, of kind `think`.
#[track_caller]
pub fn definition(name: &str) -> ToolDef {
    with_schema(name, json!(true))
}

/// A definition with these properties, all required, of kind `think`.
#[track_caller]
pub fn taking(name: &str, properties: Value) -> ToolDef {
    let Value::Object(properties) = properties else {
        panic!("properties are an object");
    };
    let required: Vec<&String> = properties.keys().collect();
    let schema = json!({"properties": properties, "required": required});
    let schema = Schema::input(schema).expect("a schema is an object");
    definition(name).with_input(schema)
}

/// A definition with exactly this input schema, of kind `think`.
#[track_caller]
pub fn with_schema(name: &str, schema: Value) -> ToolDef {
    let schema = Schema::as_received(schema).expect("a schema is an object or a boolean");
    ToolDef::new(name)
        .expect("tests name their tools well")
        .with_kind(Kind::Think)
        .with_description("A tool of a test.")
        .with_input(schema)
}

/// A tool that answers with what it got.
pub fn echoing(definition: ToolDef) -> AnyTool {
    AnyTool::from_fn(definition, async |arguments: Value, _| {
        Outcome::ok(arguments)
    })
}

/// A tool that answers with a fixed outcome.
pub fn answering(
    definition: ToolDef,
    outcome: impl Fn() -> Outcome + Send + Sync + 'static,
) -> AnyTool {
    AnyTool::from_fn(definition, move |_: Value, _| std::future::ready(outcome()))
}

/// `echo(text)`: answers with the text.
pub fn echo() -> AnyTool {
    let definition = taking("echo", json!({"text": {"type": "string"}}));
    AnyTool::from_fn(definition, async |arguments: Value, _| {
        Outcome::ok(arguments["text"].clone())
    })
}

/// `add(a, b)`: the sum of two numbers.
pub fn add() -> AnyTool {
    let number = json!({"type": "number"});
    let definition = taking("add", json!({"a": number, "b": number}));
    AnyTool::from_fn(definition, async |arguments: Value, _| {
        let number = |name: &str| arguments[name].as_f64().unwrap_or(f64::NAN);
        Outcome::ok(number("a") + number("b"))
    })
}

/// `sleep(ms)`: sleeps on tokio's clock, and does not listen.
pub fn sleep() -> AnyTool {
    let definition = taking("sleep", json!({"ms": {"type": "integer", "minimum": 0}}));
    AnyTool::from_fn(definition, async |arguments: Value, _| {
        let ms = arguments["ms"].as_u64().unwrap_or_default();
        tokio::time::sleep(Duration::from_millis(ms)).await;
        Outcome::ok(ms)
    })
}

/// `fail(message)`: fails with the message.
pub fn fail() -> AnyTool {
    let definition = taking("fail", json!({"message": {"type": "string"}}));
    AnyTool::from_fn(definition, async |arguments: Value, _| {
        let message = arguments["message"].as_str().unwrap_or_default();
        Outcome::failure(ToolError::failed(message))
    })
}

/// `explode()`: panics.
pub fn explode() -> AnyTool {
    AnyTool::from_fn(definition("explode"), |_: Value, _| async {
        panic!("it exploded")
    })
}

/// `blocking_echo(…)`: answers with its arguments, from a thread.
pub fn blocking_echo() -> AnyTool {
    AnyTool::from_blocking_fn(definition("blocking_echo"), |arguments: Value, _| {
        Outcome::ok(arguments)
    })
}

/// `blocking_explode()`: panics on its thread.
pub fn blocking_explode() -> AnyTool {
    AnyTool::from_blocking_fn(definition("blocking_explode"), |_: Value, _| {
        panic!("it exploded")
    })
}
