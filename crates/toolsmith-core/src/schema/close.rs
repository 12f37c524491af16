//! Closes schemas: an object says what it takes, and nothing else passes.

use std::collections::BTreeSet;

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
    let mut shared = BTreeSet::new();
    // A definition that is only a part of an object can refer to others in turn,
    // so this is repeated until no more are found.
    loop {
        let known = shared.len();
        collect_shared(schema, Place::Own, &mut shared);
        if shared.len() == known {
            break;
        }
    }
    visit(schema, Place::Own, &shared);
}

/// Whether a schema describes a value by itself or together with the schema
/// around it.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Own,
    Branch,
}

/// Finds the definitions that describe only a part of some object. They must stay
/// open, or they would refuse the other parts.
fn collect_shared(schema: &Value, place: Place, shared: &mut BTreeSet<String>) {
    let Value::Object(object) = schema else {
        return;
    };
    let inner = place_of_branches(object, place);
    if inner == Place::Branch
        && let Some(Value::String(target)) = object.get("$ref")
    {
        shared.insert(target.clone());
    }
    for (keyword, value) in object {
        match value {
            Value::Array(list) if LIST.contains(&keyword.as_str()) => {
                for schema in list {
                    collect_shared(schema, place_in(keyword, inner), shared);
                }
            }
            Value::Object(map) if MAP.contains(&keyword.as_str()) => {
                for (name, schema) in map {
                    let place = place_of_entry(keyword, name, inner, shared);
                    collect_shared(schema, place, shared);
                }
            }
            value if ONE.contains(&keyword.as_str()) => {
                collect_shared(value, place_in(keyword, inner), shared);
            }
            _ => {}
        }
    }
}

fn visit(schema: &mut Value, place: Place, shared: &BTreeSet<String>) {
    let Value::Object(object) = schema else {
        return;
    };
    let inner = place_of_branches(object, place);
    let refers_to_part = object
        .get("$ref")
        .and_then(Value::as_str)
        .is_some_and(|target| shared.contains(target));
    let is_object = inner == Place::Branch || refers_to_part;
    if place == Place::Own && is_object && is_open(object) {
        let applies_in_place = IN_PLACE.iter().any(|keyword| object.contains_key(*keyword));
        let keyword = if applies_in_place {
            "unevaluatedProperties"
        } else {
            "additionalProperties"
        };
        object.insert(keyword.to_owned(), Value::Bool(false));
    }
    for (keyword, value) in object.iter_mut() {
        match value {
            Value::Array(list) if LIST.contains(&keyword.as_str()) => {
                for schema in list {
                    visit(schema, place_in(keyword, inner), shared);
                }
            }
            Value::Object(map) if MAP.contains(&keyword.as_str()) => {
                for (name, schema) in map {
                    visit(schema, place_of_entry(keyword, name, inner, shared), shared);
                }
            }
            // A negated or conditional schema must not change its meaning.
            value
                if ONE.contains(&keyword.as_str())
                    && !["not", "if"].contains(&keyword.as_str()) =>
            {
                visit(value, place_in(keyword, inner), shared);
            }
            _ => {}
        }
    }
}

/// Where the schemas stand that apply to the same value as this one. Beside
/// properties they are parts of one object; so are the elements of an `allOf`.
fn place_of_branches(object: &Map<String, Value>, place: Place) -> Place {
    let joins = || match object.get("allOf") {
        Some(Value::Array(all)) => all.len() > 1 && all.iter().any(lists_properties),
        _ => false,
    };
    if place == Place::Branch || object.contains_key("properties") || joins() {
        Place::Branch
    } else {
        Place::Own
    }
}

fn lists_properties(schema: &Value) -> bool {
    ["properties", "$ref"]
        .iter()
        .any(|keyword| schema.get(keyword).is_some())
        || ["allOf", "anyOf", "oneOf"].iter().any(|keyword| {
            let list = schema.get(keyword).and_then(Value::as_array);
            list.is_some_and(|list| list.iter().any(lists_properties))
        })
}

/// Where the schemas under a keyword stand.
fn place_in(keyword: &str, inner: Place) -> Place {
    match keyword {
        "allOf" | "anyOf" | "oneOf" | "dependentSchemas" => inner,
        "then" | "else" => Place::Branch,
        _ => Place::Own,
    }
}

fn place_of_entry(keyword: &str, name: &str, inner: Place, shared: &BTreeSet<String>) -> Place {
    let is_definition = matches!(keyword, "$defs" | "definitions");
    if is_definition && shared.contains(&format!("#/{keyword}/{name}")) {
        Place::Branch
    } else {
        place_in(keyword, inner)
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
