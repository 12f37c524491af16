//! One tool through one provider, and the schema that comes out.

use std::sync::Arc;

use serde_json::{Value, json};
use toolsmith_core::{Detail, Exposure, Offer, Schema, ToolDef};
use toolsmith_provider::{Declared, Options, Provider, declare};

/// An offer of one tool with this schema.
pub(crate) fn offer_of(schema: Value) -> Offer {
    let tool = ToolDef::new("tool").unwrap();
    let tool = tool
        .with_description("Does it.")
        .with_input(Schema::as_received(schema).unwrap());
    let mut offer = Offer::new(Detail::Brief);
    offer.add("tool", Arc::new(tool), Exposure::Direct);
    offer
}

pub(crate) fn options(strict: bool) -> Options {
    let mut options = Options::default();
    options.strict = strict;
    options
}

pub(crate) fn declare_one(provider: Provider, schema: Value, strict: bool) -> Declared {
    declare(provider, &offer_of(schema), &options(strict)).unwrap()
}

/// Every provider that lowers schemas.
pub(crate) fn lowering() -> impl Iterator<Item = Provider> {
    let all = Provider::ALL.into_iter();
    all.filter(|provider| !matches!(provider, Provider::Mcp | Provider::Text))
}

/// The lowered schema of the only tool; nothing where a function takes nothing.
pub(crate) fn lowered(declared: &Declared) -> Option<Value> {
    let tool = &declared.tools()[0];
    let places = [
        &tool["function"]["parameters"],
        &tool["parameters"],
        &tool["input_schema"],
        &tool["toolSpec"]["inputSchema"]["json"],
        &tool["functionDeclarations"][0]["parameters"],
    ];
    let found = places.into_iter().find(|place| !place.is_null());
    found.cloned()
}

/// A lowered schema as plain JSON Schema: `nullable` is OpenAPI's.
pub(crate) fn as_json_schema(schema: &Value) -> Value {
    match schema {
        Value::Object(object) => {
            let mut plain = serde_json::Map::new();
            for (key, value) in object {
                if key != "nullable" || !value.is_boolean() {
                    plain.insert(key.clone(), as_json_schema(value));
                }
            }
            if object.get("nullable") == Some(&Value::Bool(true)) {
                return json!({ "anyOf": [plain, { "type": "null" }] });
            }
            Value::Object(plain)
        }
        Value::Array(list) => Value::Array(list.iter().map(as_json_schema).collect()),
        other => other.clone(),
    }
}
