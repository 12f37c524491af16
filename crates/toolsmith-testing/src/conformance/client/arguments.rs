//! Values that fit the suite's schemas: the default, the first choice, or something
//! of the right type.

use serde_json::{Map, Value, json};

/// An object with a value for each property of a schema.
pub(super) fn sample(schema: &Value) -> Value {
    let properties = schema.get("properties").and_then(Value::as_object);
    let values = properties.into_iter().flatten();
    let values = values.map(|(name, property)| (name.clone(), value(property)));
    Value::Object(values.collect::<Map<String, Value>>())
}

fn value(schema: &Value) -> Value {
    if let Some(default) = schema.get("default") {
        return default.clone();
    }
    if let Some(first) = schema.get("enum").and_then(|choices| choices.get(0)) {
        return first.clone();
    }
    let kind = match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.first().and_then(Value::as_str),
        Some(kind) => kind.as_str(),
        None => None,
    };
    match kind {
        Some("integer" | "number") => json!(5),
        Some("boolean") => json!(true),
        Some("array") => json!([]),
        Some("object") => sample(schema),
        Some("null") => Value::Null,
        _ => json!("test"),
    }
}
