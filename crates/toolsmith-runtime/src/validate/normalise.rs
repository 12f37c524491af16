//! Fills in defaults, and makes whole numbers whole.
//!
//! Follows the schema and the value side by side, only where the schema is plain:
//! a default inside `anyOf` belongs to a branch nobody has chosen yet, unless the
//! value itself says which one it is.

use std::cell::Cell;

use serde_json::{Map, Number, Value};
use toolsmith_core::json;

use super::choice;

/// References are followed this often at most; a value cannot nest deeper anyway.
const MAX_STEPS: usize = 200;

/// Works on a value in place. Defaults that are `null` are filled in only where
/// they are wanted. `false` where all of them together take more than `most` bytes: each
/// item of a list may lack the same long one.
pub(super) fn normalise(
    schema: &Value,
    value: &mut Value,
    null_defaults: bool,
    most: usize,
) -> bool {
    let walk = Walk {
        root: schema,
        null_defaults,
        room: Cell::new(Some(most)),
    };
    walk.step(schema, value, 0);
    walk.room.get().is_some()
}

struct Walk<'s> {
    root: &'s Value,
    null_defaults: bool,
    /// How many bytes of defaults may still be filled in; none where there was one too many.
    room: Cell<Option<usize>>,
}

impl Walk<'_> {
    fn step(&self, schema: &Value, value: &mut Value, depth: usize) {
        if depth > MAX_STEPS {
            return;
        }
        let Some(Value::Object(schema)) = choice::resolved(self.root, schema) else {
            return;
        };
        if let Some(branch) = choice::meant(self.root, schema, value) {
            self.step(branch, value, depth + 1);
        }
        match value {
            Value::Object(object) => self.fields(schema, object, depth),
            Value::Array(items) => self.items(schema, items, depth),
            Value::Number(number) => {
                // JSON Schema counts 5.0 as an integer, Rust's types do not.
                if schema.get("type").is_some_and(wants_integer)
                    && let Some(whole) = whole(number)
                {
                    *number = whole;
                }
            }
            _ => {}
        }
    }

    fn fields(&self, schema: &Map<String, Value>, object: &mut Map<String, Value>, depth: usize) {
        let properties = schema.get("properties").and_then(Value::as_object);
        for (name, property) in properties.into_iter().flatten() {
            match object.get_mut(name) {
                Some(value) => self.step(property, value, depth + 1),
                None => {
                    if let Some(default) = property.get("default")
                        && (self.null_defaults || !default.is_null())
                    {
                        let bytes = name.len() + json::size(default);
                        let room = self.room.get().and_then(|room| room.checked_sub(bytes));
                        self.room.set(room);
                        if room.is_none() {
                            return;
                        }
                        object.insert(name.clone(), default.clone());
                    }
                }
            }
        }
        // What a pattern also speaks of is not "additional"; such maps stay as they are.
        if let Some(others) = schema.get("additionalProperties")
            && !schema.contains_key("patternProperties")
        {
            for (name, value) in object {
                if properties.is_none_or(|known| !known.contains_key(name)) {
                    self.step(others, value, depth + 1);
                }
            }
        }
    }

    fn items(&self, schema: &Map<String, Value>, items: &mut [Value], depth: usize) {
        // Draft-07 writes `items` and `additionalItems` for `prefixItems` and `items`.
        let (first, rest) = match schema.get("items") {
            Some(Value::Array(first)) => (Some(first), schema.get("additionalItems")),
            rest => (schema.get("prefixItems").and_then(Value::as_array), rest),
        };
        let first = first.map_or(&[][..], Vec::as_slice);
        for (index, item) in items.iter_mut().enumerate() {
            if let Some(schema) = first.get(index).or(rest) {
                self.step(schema, item, depth + 1);
            }
        }
    }
}

fn wants_integer(kind: &Value) -> bool {
    match kind {
        // Beside "number", a fraction is as good as a whole.
        Value::Array(kinds) => {
            kinds.iter().any(|kind| kind == "integer") && kinds.iter().all(|kind| kind != "number")
        }
        kind => kind == "integer",
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
