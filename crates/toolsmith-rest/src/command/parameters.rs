//! What a tool's schema says about its parameters, as far as a program's arguments
//! depend on it.

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use toolsmith_core::ToolDef;

/// The parameters of a tool.
#[derive(Clone, Copy)]
pub(super) struct Parameters<'a> {
    properties: Option<&'a Map<String, Value>>,
}

impl<'a> Parameters<'a> {
    pub(super) fn of(definition: &'a ToolDef) -> Self {
        let properties = definition.input.as_value().get("properties");
        let properties = properties.and_then(Value::as_object);
        Self { properties }
    }

    /// Their names.
    pub(super) fn names(self) -> BTreeSet<&'a str> {
        let names = self.properties.into_iter().flat_map(Map::keys);
        names.map(String::as_str).collect()
    }

    /// Tells whether one may be a list.
    pub(super) fn is_list(self, name: &str) -> bool {
        self.schema(name)
            .is_some_and(|schema| types(schema).contains(&"array"))
    }

    /// Tells whether one can be nothing but a number, or a list of nothing but numbers.
    ///
    /// What the value happens to be is no answer: where the schema leaves the choice, the
    /// model has it.
    pub(super) fn is_numeric(self, name: &str) -> bool {
        let Some(schema) = self.schema(name) else {
            return false;
        };
        match types(schema).as_slice() {
            // The first items may be described apart, and `items` speaks of the rest alone.
            ["array"] if schema.get("prefixItems").is_some() => false,
            ["array"] => schema.get("items").is_some_and(is_number),
            _ => is_number(schema),
        }
    }

    fn schema(self, name: &str) -> Option<&'a Value> {
        self.properties?.get(name)
    }
}

fn is_number(schema: &Value) -> bool {
    let types = types(schema);
    let is_numeric = |word: &&str| matches!(*word, "integer" | "number" | "null");
    !types.is_empty() && types.iter().all(is_numeric)
}

/// The words under `type`.
fn types(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(word)) => vec![word],
        Some(Value::Array(words)) => words.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}
