//! Structured values for clients that only take objects.
//!
//! Before 2026-07-28 a structured value and its schema must be objects. What is
//! none is wrapped as `{"result": …}`, value and schema alike.

use serde_json::{Map, Value, json};

/// The name the wrapped value goes by.
const RESULT: &str = "result";

/// Tells whether values of this schema are objects already.
pub(crate) fn is_object(schema: &Value) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("object")
}

/// The schema of the wrapped value; none where it cannot be moved into another.
pub(crate) fn wrap_schema(schema: &Value) -> Option<Map<String, Value>> {
    let Value::Object(mut inner) = schema.clone() else {
        return None;
    };
    let mut outer = Map::new();
    // References count from the root of the document, so definitions move there.
    for key in ["$schema", "$defs", "definitions"] {
        if let Some(value) = inner.shift_remove(key) {
            outer.insert(key.to_owned(), value);
        }
    }
    let inner = Value::Object(inner);
    if refers_elsewhere(&inner) || outer.values().any(refers_elsewhere) {
        return None;
    }
    outer.insert("type".to_owned(), "object".into());
    outer.insert("properties".to_owned(), json!({ RESULT: inner }));
    outer.insert("required".to_owned(), json!([RESULT]));
    Some(outer)
}

/// The wrapped value.
pub(crate) fn wrap(value: Value) -> Value {
    Value::Object(Map::from_iter([(RESULT.to_owned(), value)]))
}

/// Tells whether something refers to a place that moves.
fn refers_elsewhere(value: &Value) -> bool {
    match value {
        Value::Object(object) => object.iter().any(|(key, value)| {
            let moved = key == "$ref"
                && value.as_str().is_some_and(|target| {
                    target.starts_with('#')
                        && !target.starts_with("#/$defs/")
                        && !target.starts_with("#/definitions/")
                });
            moved || refers_elsewhere(value)
        }),
        Value::Array(items) => items.iter().any(refers_elsewhere),
        _ => false,
    }
}
