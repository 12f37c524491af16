//! Which keywords of JSON Schema hold schemas, and for what.
//!
//! One table for whoever walks schemas here: the measure at registration and the
//! choices before compilation. It speaks of 2020-12 and of draft-07.

/// Refer to a schema elsewhere.
pub(crate) const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// Apply further schemas to the same value.
pub(crate) const IN_PLACE: [&str; 9] = [
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "dependentSchemas",
    "dependencies",
];

/// Hold schemas for parts of the value.
pub(crate) const NESTED: [&str; 10] = [
    "properties",
    "patternProperties",
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
    "items",
    "prefixItems",
    "additionalItems",
    "unevaluatedItems",
    "contains",
];

/// Hold schemas only references lead to.
pub(crate) const DEFINITIONS: [&str; 2] = ["$defs", "definitions"];

/// Of all of these, the ones that hold their schemas by name.
const NAMED: [&str; 6] = [
    "properties",
    "patternProperties",
    "dependentSchemas",
    "dependencies",
    "$defs",
    "definitions",
];

/// Tells whether a keyword holds schemas by name.
pub(crate) fn is_named(keyword: &str) -> bool {
    NAMED.contains(&keyword)
}

/// Tells whether a keyword holds one schema or a list of them.
pub(crate) fn is_plain(keyword: &str) -> bool {
    !is_named(keyword) && (IN_PLACE.contains(&keyword) || NESTED.contains(&keyword))
}
