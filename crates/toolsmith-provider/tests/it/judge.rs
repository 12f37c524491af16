//! The judge finds what providers refuse, in declarations nobody here wrote.

use serde_json::{Value, json};
use toolsmith_provider::{Provider, judge};

/// The rules that are broken, by provider and tools.
#[track_caller]
fn check(provider: Provider, declared: &Value, broken: &[&str]) {
    let faults = judge::judge(provider, declared);
    let rules: Vec<&str> = faults.iter().map(|fault| fault.rule.as_str()).collect();
    assert_eq!(rules, broken, "{faults:#?}");
    assert!(faults.iter().all(|fault| !fault.source.is_empty()));
}

fn anthropic(schema: &Value, strict: bool) -> Value {
    json!([{ "name": "tool", "input_schema": schema, "strict": strict }])
}

fn gemini(schema: &Value) -> Value {
    json!([{ "functionDeclarations": [
        { "name": "tool", "description": "Does it.", "parameters": schema }
    ] }])
}

fn openai(schema: &Value) -> Value {
    json!([{ "type": "function", "function": {
        "name": "tool", "parameters": schema, "strict": true
    } }])
}

#[test]
fn what_is_right_passes() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}},
        "required": ["a"], "additionalProperties": false});
    check(Provider::OpenAi, &openai(&schema), &[]);
    check(Provider::Anthropic, &anthropic(&schema, true), &[]);
    let plain = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    check(Provider::Gemini, &gemini(&plain), &[]);
}

#[test]
fn roots_are_objects_without_combinators() {
    let schema = json!({"type": "object", "properties": {}, "anyOf": [{"required": ["a"]}]});
    check(
        Provider::Anthropic,
        &anthropic(&schema, false),
        &["anyOf at the root"],
    );
    let schema = json!({"type": "array", "items": {}});
    check(
        Provider::Anthropic,
        &anthropic(&schema, false),
        &["the root is not an object"],
    );
}

#[test]
fn strict_objects_are_closed_and_demand_all() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string", "minLength": 1}}});
    check(
        Provider::OpenAi,
        &openai(&schema),
        &[
            "an object that is not closed",
            "a property that is not required",
            "the keyword minLength",
        ],
    );
    let schema = json!({"type": "object", "properties": {"a": {}}, "required": ["a"],
        "additionalProperties": false});
    check(
        Provider::OpenAi,
        &openai(&schema),
        &["a place without a type"],
    );
}

#[test]
fn gemini_takes_a_subset() {
    let schema = json!({"type": "object", "properties": {
        "a": {"$ref": "#/$defs/x"},
        "b": {"type": "integer", "enum": [1]},
        "c": {"type": ["string", "null"]},
        "d": {"type": "array"},
        "e.f": {"type": "string", "format": "uri"},
        "g": {"anyOf": [{"type": "string"}], "description": "x"},
    }});
    let mut rules: Vec<String> = judge::judge(Provider::Gemini, &gemini(&schema))
        .into_iter()
        .map(|fault| format!("{} {}", fault.path, fault.rule))
        .collect();
    rules.sort();
    let expected = [
        " the name \"e.f\" of a property",
        "/properties/a the keyword $ref",
        "/properties/b listed values that are no texts",
        "/properties/c the type [\"string\",\"null\"]",
        "/properties/d a list that does not say what its items are",
        "/properties/e.f the format \"uri\"",
        "/properties/g something beside anyOf",
    ];
    assert_eq!(rules, expected);
}

#[test]
fn requests_have_limits() {
    let named =
        |name: &str| json!({"name": name, "input_schema": {"type": "object", "properties": {}}});
    check(
        Provider::Anthropic,
        &json!([named("a"), named("a"), named("a.b")]),
        &[
            "a name that another tool has",
            "a name that is not accepted",
        ],
    );
    let strict: Vec<Value> = (0..21)
        .map(|index| {
            let mut tool = named(&format!("t{index}"));
            tool["input_schema"]["additionalProperties"] = json!(false);
            tool["strict"] = json!(true);
            tool
        })
        .collect();
    check(
        Provider::Anthropic,
        &Value::Array(strict),
        &["more strict tools than are taken"],
    );
    let empty = json!({"toolConfig": {"tools": [{"toolSpec": {"name": "a", "description": "",
        "inputSchema": {"json": {"type": "object", "properties": {}}}}}]}});
    check(Provider::Bedrock, &empty, &["no description"]);
    let functions: Vec<Value> = (0..129)
        .map(|index| json!({"name": format!("t{index}"), "parameters": {"type": "object", "properties": {}}}))
        .collect();
    check(
        Provider::OpenAiFunctions,
        &json!({ "functions": functions }),
        &["more tools than are taken"],
    );
}

#[test]
fn responses_are_strict_unless_told_otherwise() {
    let tool = json!([{"type": "function", "name": "tool",
        "parameters": {"type": "object", "properties": {}}}]);
    check(
        Provider::OpenAiResponses,
        &tool,
        &["an object that is not closed"],
    );
}

#[test]
fn what_is_no_declaration_is_no_trouble() {
    for provider in Provider::ALL {
        for declared in [
            json!(null),
            json!(5),
            json!([1, null, {}]),
            json!({"tools": 5}),
        ] {
            judge::judge(provider, &declared);
        }
    }
}

#[test]
fn no_function_has_the_name_of_what_the_provider_runs() {
    let schema = json!({"type": "object", "properties": {}});
    let declared = json!([
        {"name": "web_search", "input_schema": schema},
        {"type": "web_search_20250305", "name": "web_search"},
    ]);
    check(
        Provider::Anthropic,
        &declared,
        &["a name that another tool has"],
    );
}
