//! Fills in defaults, and makes whole numbers whole.
//!
//! Follows the schema and the value side by side, only where the schema is plain:
//! a default inside `anyOf` belongs to a branch nobody has chosen yet.

use serde_json::{Map, Number, Value};

/// References are followed this often at most; a value cannot nest deeper anyway.
const MAX_STEPS: usize = 200;

pub(super) fn normalise(schema: &Value, value: &mut Value) {
    step(schema, schema, value, 0);
}

fn step(root: &Value, schema: &Value, value: &mut Value, depth: usize) {
    if depth > MAX_STEPS {
        return;
    }
    let schema = match schema.get("$ref").and_then(Value::as_str) {
        Some(reference) => {
            let target = reference.strip_prefix('#').and_then(|p| root.pointer(p));
            match target {
                Some(target) => target,
                None => return,
            }
        }
        None => schema,
    };
    let Value::Object(schema) = schema else {
        return;
    };
    match value {
        Value::Object(object) => fields(root, schema, object, depth),
        Value::Array(items) => {
            if let Some(item_schema) = schema.get("items") {
                for item in items {
                    step(root, item_schema, item, depth + 1);
                }
            }
        }
        Value::Number(number) => {
            // JSON Schema counts 5.0 as an integer, Rust's types do not.
            if schema.get("type").is_some_and(|kind| kind == "integer")
                && let Some(whole) = whole(number)
            {
                *number = whole;
            }
        }
        _ => {}
    }
}

fn fields(
    root: &Value,
    schema: &Map<String, Value>,
    object: &mut Map<String, Value>,
    depth: usize,
) {
    let Some(Value::Object(properties)) = schema.get("properties") else {
        return;
    };
    for (name, property) in properties {
        match object.get_mut(name) {
            Some(value) => step(root, property, value, depth + 1),
            None => {
                if let Some(default) = property.get("default") {
                    object.insert(name.clone(), default.clone());
                }
            }
        }
    }
}

/// The integer a float stands for, if it stands for one exactly.
fn whole(number: &Number) -> Option<Number> {
    /// Beyond this, neighbouring floats are no longer neighbouring integers.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if !number.is_f64() {
        return None;
    }
    let float = number.as_f64()?;
    if float.fract() != 0.0 || float.abs() > EXACT {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "whole and within 53 bits")]
    Some(Number::from(float as i64))
}
