//! Closes schemas: an object says what it takes, and nothing else passes.

use serde_json::{Map, Value};

/// Keywords whose value is one schema.
pub(super) const ONE: [&str; 9] = [
    "items",
    "additionalProperties",
    "unevaluatedProperties",
    "unevaluatedItems",
    "contains",
    "not",
    "if",
    "then",
    "else",
];

/// Keywords whose value is a list of schemas.
pub(super) const LIST: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];

/// Keywords whose value is a map of schemas.
pub(super) const MAP: [&str; 5] = [
    "properties",
    "patternProperties",
    "$defs",
    "definitions",
    "dependentSchemas",
];

/// Keywords that apply further schemas to the same object. Beside one of these,
/// `additionalProperties` would refuse the properties they define, so the object
/// is closed by `unevaluatedProperties` instead, and its branches stay open.
const IN_PLACE: [&str; 8] = [
    "$ref",
    "allOf",
    "anyOf",
    "oneOf",
    "if",
    "then",
    "else",
    "dependentSchemas",
];

/// Closes every object that lists its properties and does not say itself what
/// else it takes.
pub(super) fn close(schema: &mut Value) {
    visit(schema, Place::Own);
}

/// Whether a schema describes a value by itself or together with the schema
/// around it.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Own,
    Branch,
}

fn visit(schema: &mut Value, place: Place) {
    let Value::Object(object) = schema else {
        return;
    };
    let applies_in_place = IN_PLACE.iter().any(|keyword| object.contains_key(*keyword));
    let branches = if object.contains_key("properties") || place == Place::Branch {
        Place::Branch
    } else {
        Place::Own
    };
    if place == Place::Own && object.contains_key("properties") && is_open(object) {
        let keyword = if applies_in_place {
            "unevaluatedProperties"
        } else {
            "additionalProperties"
        };
        object.insert(keyword.to_owned(), Value::Bool(false));
    }
    for (keyword, value) in object.iter_mut() {
        let keyword = keyword.as_str();
        match value {
            Value::Array(list) if LIST.contains(&keyword) => {
                let place = if keyword == "prefixItems" {
                    Place::Own
                } else {
                    branches
                };
                list.iter_mut().for_each(|schema| visit(schema, place));
            }
            Value::Object(map) if MAP.contains(&keyword) => {
                let place = if keyword == "dependentSchemas" {
                    branches
                } else {
                    Place::Own
                };
                map.values_mut().for_each(|schema| visit(schema, place));
            }
            // A negated or conditional schema must not change its meaning.
            value if ONE.contains(&keyword) => match keyword {
                "not" | "if" => {}
                "then" | "else" => visit(value, Place::Branch),
                _ => visit(value, Place::Own),
            },
            _ => {}
        }
    }
}

fn is_open(object: &Map<String, Value>) -> bool {
    [
        "additionalProperties",
        "unevaluatedProperties",
        "patternProperties",
    ]
    .iter()
    .all(|keyword| !object.contains_key(*keyword))
}
