//! Which keywords hold schemas, and what a schema that says nothing looks like.

use serde_json::{Map, Value, json};

/// Hold one schema.
pub(super) const ONE: [&str; 10] = [
    "items",
    "additionalProperties",
    "unevaluatedProperties",
    "unevaluatedItems",
    "propertyNames",
    "contains",
    "not",
    "if",
    "then",
    "else",
];

/// Hold a list of schemas.
pub(super) const LIST: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];

/// Hold schemas by name.
pub(super) const MAP: [&str; 3] = ["properties", "patternProperties", "dependentSchemas"];

/// Apply further schemas to the same value.
pub(super) const IN_PLACE: [&str; 8] = [
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "dependentSchemas",
];

/// What schemas under a keyword are applied to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Reach {
    /// The value the schema at the root describes.
    Whole,
    /// A part of it.
    Part,
}

impl Reach {
    pub(super) fn under(self, keyword: &str) -> Self {
        match self {
            Self::Whole if IN_PLACE.contains(&keyword) => Self::Whole,
            _ => Self::Part,
        }
    }
}

/// A schema that was opened. Beside others that describe the same object it must let
/// through whatever it would have described, or the object could not be closed.
pub(super) fn opened(is_in_place: bool) -> Value {
    match is_in_place {
        true => json!({ "additionalProperties": true }),
        false => json!({}),
    }
}

/// The schemas directly beneath one, with the keyword they stand under.
pub(super) fn beneath(object: &Map<String, Value>) -> impl Iterator<Item = (&str, &Value)> {
    object.iter().flat_map(|(keyword, value)| {
        let keyword = keyword.as_str();
        let found: Box<dyn Iterator<Item = &Value>> = match value {
            Value::Array(list) if LIST.contains(&keyword) => Box::new(list.iter()),
            Value::Object(map) if MAP.contains(&keyword) => Box::new(map.values()),
            value if ONE.contains(&keyword) => Box::new(std::iter::once(value)),
            _ => Box::new(std::iter::empty()),
        };
        found.map(move |schema| (keyword, schema))
    })
}

/// The same, to be changed.
pub(super) fn beneath_mut(
    object: &mut Map<String, Value>,
) -> impl Iterator<Item = (&str, &mut Value)> {
    object.iter_mut().flat_map(|(keyword, value)| {
        let keyword = keyword.as_str();
        let is_one = ONE.contains(&keyword);
        let found: Box<dyn Iterator<Item = &mut Value>> = if is_one {
            Box::new(std::iter::once(value))
        } else {
            match value {
                Value::Array(list) if LIST.contains(&keyword) => Box::new(list.iter_mut()),
                Value::Object(map) if MAP.contains(&keyword) => Box::new(map.values_mut()),
                _ => Box::new(std::iter::empty()),
            }
        };
        found.map(move |schema| (keyword, schema))
    })
}
