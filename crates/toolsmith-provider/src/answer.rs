//! What a model said, in nobody's format: calls, text and what must be kept for the next
//! request.

use serde_json::Value;
use toolsmith_core::{CallId, RawCall};

use crate::usage::Usage;

/// One turn of a model.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Answer {
    /// The calls it makes, in order. Their numbers are all different.
    pub calls: Vec<ParsedCall>,
    /// What it says beside them.
    pub text: String,
    /// What it thought, where that is told apart.
    pub reasoning: String,
    /// Why it ended.
    pub stop: Stop,
    /// The turn as the provider wants to see it again in the next request: the messages,
    /// parts or items to add to the conversation, with everything it demands to get back.
    pub turn: Vec<Value>,
    /// Whether its calls stand in its text, so that what comes of them is told as text too.
    pub in_text: bool,
    /// How much it took, where the provider says so.
    pub usage: Usage,
    /// What was not as it should be and had to be overlooked to read it, in words.
    pub notes: Vec<String>,
}

impl Answer {
    /// The calls as the toolbox takes them.
    pub fn raw_calls(&self) -> Vec<RawCall> {
        self.calls.iter().map(|each| each.call.clone()).collect()
    }
}

/// One call of a turn.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ParsedCall {
    /// The call in the tool's own terms. It always has a number. One that could not be
    /// read, or that was cut off, has malformed arguments: it is answered, and never run.
    pub call: RawCall,
    /// Whether it was told to the end.
    pub complete: bool,
    /// The name the model used.
    pub declared_name: String,
}

impl ParsedCall {
    /// The number of the call.
    pub fn id(&self) -> &CallId {
        (self.call.id.as_ref()).expect("every call gets a number when it is read")
    }
}

/// Why a turn ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stop {
    /// The model was done, or waits for what its calls bring.
    #[default]
    Done,
    /// It reached the limit of its length: what was begun last may be cut off.
    Length,
    /// It, or a filter, would not go on.
    Refused,
    /// The stream broke off before its end.
    Broken,
    /// What the provider calls it.
    Other(String),
}
