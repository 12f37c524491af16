//! JSON Schema, as raw JSON: the value registered is the value shown.
//!
//! Own schemas are made here: from Rust types, tidied (`tidy`), or from JSON a
//! person wrote, completed and closed (`close`). Schemas of imported tools stay
//! exactly as they were received. Checking values against them is the runtime's.

mod choices;
mod close;
mod definitions;
mod tidy;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// A JSON Schema: an object, or `true` for anything, or `false` for nothing.
/// 2020-12 unless its `$schema` says draft-07. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Value")]
pub struct Schema(#[serde(serialize_with = "plain")] Arc<Value>);

fn plain<S: serde::Serializer>(value: &Arc<Value>, serializer: S) -> Result<S::Ok, S::Error> {
    value.serialize(serializer)
}

impl Schema {
    /// Takes a schema exactly as it was received.
    pub fn as_received(value: Value) -> Result<Self, SchemaError> {
        match value {
            Value::Object(_) | Value::Bool(_) => Ok(Self(Arc::new(value))),
            other => Err(SchemaError {
                found: type_name(&other),
            }),
        }
    }

    /// Takes a hand-written schema for the arguments of an own tool: `type:
    /// object` is implied, and every object in it is closed unless it says
    /// otherwise.
    pub fn input(value: Value) -> Result<Self, SchemaError> {
        let mut value = match value {
            Value::Object(object) => complete(object),
            other => return Self::as_received(other),
        };
        close::close(&mut value);
        Ok(Self(Arc::new(value)))
    }

    /// The schema of a Rust type's fields as arguments: closed at every level,
    /// nothing to look up, every description kept.
    pub fn arguments_of<T: JsonSchema>() -> Self {
        let mut value = tidy::schema_of::<T>(tidy::Direction::Input);
        if let Value::Object(object) = value {
            value = complete(object);
        }
        close::close(&mut value);
        Self(Arc::new(value))
    }

    /// The schema of a Rust type as a value that is returned.
    pub fn value_of<T: JsonSchema>() -> Self {
        Self(Arc::new(tidy::schema_of::<T>(tidy::Direction::Output)))
    }

    /// The schema of no arguments at all.
    pub fn no_arguments() -> Self {
        let empty = json!({"type": "object", "properties": {}, "additionalProperties": false});
        Self(Arc::new(empty))
    }

    /// The schema as JSON.
    pub fn as_value(&self) -> &Value {
        &self.0
    }

    /// Tells whether it accepts everything, so that it says nothing.
    pub fn is_anything(&self) -> bool {
        match &*self.0 {
            Value::Bool(accepts) => *accepts,
            Value::Object(object) => object.is_empty(),
            _ => false,
        }
    }

    /// Demands a literal in an argument, adding the argument where it is missing.
    #[must_use]
    pub(crate) fn requiring_literal(mut self, argument: &str, literal: &str, why: &str) -> Self {
        let Value::Object(object) = Arc::make_mut(&mut self.0) else {
            return self;
        };
        let properties = object.entry("properties").or_insert_with(|| json!({}));
        if let Value::Object(properties) = properties {
            let property = properties
                .entry(argument)
                .or_insert_with(|| json!({"type": "string", "description": why}));
            if let Value::Object(property) = property {
                property.insert("const".to_owned(), literal.into());
            }
        }
        let required = object.entry("required").or_insert_with(|| json!([]));
        if let Value::Array(required) = required
            && !required.iter().any(|name| name == argument)
        {
            required.push(argument.into());
        }
        self
    }
}

/// Puts `type: object` and `properties` in front where they are missing.
fn complete(mut object: Map<String, Value>) -> Value {
    if object.get("type").is_some_and(|kind| kind != "object") {
        // A schema of something else is left as it is for the registry to refuse:
        // arguments are always an object.
        return Value::Object(object);
    }
    let mut complete = Map::new();
    object.insert("type".to_owned(), "object".into());
    for key in ["$schema", "type", "description"] {
        if let Some(value) = object.shift_remove(key) {
            complete.insert(key.to_owned(), value);
        }
    }
    complete.insert(
        "properties".to_owned(),
        object
            .shift_remove("properties")
            .unwrap_or_else(|| json!({})),
    );
    complete.extend(object);
    Value::Object(complete)
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// A value that is no schema.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a schema is an object, `true` or `false`; this is {found}")]
pub struct SchemaError {
    found: &'static str,
}

impl TryFrom<Value> for Schema {
    type Error = SchemaError;
    fn try_from(value: Value) -> Result<Self, SchemaError> {
        Self::as_received(value)
    }
}
