//! What the reader knows of the tools: their names, and of what type their parameters are.
//!
//! Formats whose parameters are plain text need the schema to tell `5` from `"5"`.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;
use toolsmith_core::ToolDeclaration;

/// The tools a model was told of, by the names it was told.
#[derive(Clone, Debug, Default)]
pub struct Tools {
    schemas: Arc<HashMap<String, Value>>,
}

impl Tools {
    /// Tells whether a tool goes by this name.
    pub fn knows(&self, name: &str) -> bool {
        self.schemas.contains_key(name)
    }

    /// What a parameter of a tool may be, where the schema says it plainly.
    pub(super) fn types(&self, tool: &str, parameter: &str) -> Types {
        let schema = self.schemas.get(tool);
        let schema = schema.and_then(|schema| schema.get("properties")?.get(parameter));
        schema.map_or(Types::UNKNOWN, types_of)
    }
}

impl From<&[ToolDeclaration]> for Tools {
    fn from(declarations: &[ToolDeclaration]) -> Self {
        let schema =
            |each: &ToolDeclaration| (each.name.clone(), each.parameters.as_value().clone());
        declarations.iter().map(schema).collect()
    }
}

impl<N: Into<String>> FromIterator<(N, Value)> for Tools {
    fn from_iter<I: IntoIterator<Item = (N, Value)>>(tools: I) -> Self {
        let schemas = tools
            .into_iter()
            .map(|(name, schema)| (name.into(), schema));
        Self {
            schemas: Arc::new(schemas.collect()),
        }
    }
}

/// The types a value may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Types {
    pub(super) text: bool,
    pub(super) other: bool,
}

impl Types {
    /// Nothing is known: both are possible.
    pub(super) const UNKNOWN: Self = Self {
        text: true,
        other: true,
    };
}

fn types_of(schema: &Value) -> Types {
    let known = |words: &[&str]| {
        let mut types = Types {
            text: false,
            other: false,
        };
        for word in words {
            match *word {
                "string" => types.text = true,
                "integer" | "number" | "boolean" | "null" | "array" | "object" => {
                    types.other = true
                }
                _ => return Types::UNKNOWN,
            }
        }
        types
    };
    if let Some(Value::Array(values)) = schema.get("enum") {
        let text = values.iter().any(Value::is_string);
        return Types {
            text,
            other: values.iter().any(|value| !value.is_string()),
        };
    }
    match schema.get("type") {
        Some(Value::String(word)) => known(&[word]),
        Some(Value::Array(words)) => {
            let words: Option<Vec<&str>> = words.iter().map(Value::as_str).collect();
            words.map_or(Types::UNKNOWN, |words| known(&words))
        }
        // Alternatives and references may be anything.
        _ => Types::UNKNOWN,
    }
}
