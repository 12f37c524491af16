//! A call as it arrives, before anything about it was checked.
//!
//! Open data: providers, servers and command lines build it. What becomes of it
//! stage by stage are types of the runtime.

use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::name::CallId;

/// A call nobody has looked at yet.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RawCall {
    /// The caller's number for it; the toolbox makes one where there is none.
    pub id: Option<CallId>,
    /// The name it was called by, prefixed or bare.
    pub name: String,
    /// What it was called with.
    pub arguments: RawArguments,
    /// What was repaired to read the call at all, in words.
    pub repairs: Vec<String>,
    /// The answers to what an earlier reply to this call asked for.
    pub answers: Option<Answers>,
}

impl RawCall {
    /// A call of `name` with JSON arguments; `null` counts as none.
    pub fn new(name: impl Into<String>, arguments: impl Into<Value>) -> Self {
        Self::with_arguments(name, RawArguments::Json(arguments.into()))
    }

    /// A call whose arguments could not be read, and why. It is answered like
    /// any other, with `invalid_parameters`.
    pub fn malformed(name: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::with_arguments(name, RawArguments::Malformed(reason.into()))
    }

    /// A call with arguments in either form.
    pub fn with_arguments(name: impl Into<String>, arguments: RawArguments) -> Self {
        Self {
            id: None,
            name: name.into(),
            arguments,
            repairs: Vec::new(),
            answers: None,
        }
    }

    /// Sets the caller's number for the call.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<CallId>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Brings the answers to what an earlier reply asked for.
    #[must_use]
    pub fn with_answers(mut self, answers: Answers) -> Self {
        self.answers = Some(answers);
        self
    }
}

/// What a call was made with.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum RawArguments {
    /// JSON of any type; only an object (or `null`) will pass.
    Json(Value),
    /// Something that was no JSON we accept, and why.
    Malformed(String),
}

/// Arguments that were checked. They cannot be changed, only replaced, and what
/// replaces them is checked again.
#[derive(Clone, Debug, PartialEq)]
pub struct Arguments(Arc<Value>);

impl Arguments {
    /// Wraps an object. Whether it fits any schema is the runtime's to say.
    pub fn new(object: Map<String, Value>) -> Self {
        Self(Arc::new(Value::Object(object)))
    }

    /// The arguments as one JSON value, always an object.
    pub fn as_value(&self) -> &Value {
        &self.0
    }
}

impl Default for Arguments {
    fn default() -> Self {
        Self::new(Map::new())
    }
}

impl Deref for Arguments {
    type Target = Map<String, Value>;
    fn deref(&self) -> &Self::Target {
        self.0
            .as_object()
            .expect("arguments are made from objects only")
    }
}

impl Serialize for Arguments {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

/// Answers to what an earlier reply to the same call asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Answers {
    /// The state that reply came with, unchanged.
    pub state: String,
    /// One answer for each request, by its key.
    pub responses: Map<String, Value>,
}

impl Answers {
    /// Answers to the reply that came with `state`.
    pub fn new(state: impl Into<String>, responses: Map<String, Value>) -> Self {
        Self {
            state: state.into(),
            responses,
        }
    }
}
