//! The answer to a call.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::outcome::Outcome;
use crate::schema::Schema;

/// The answer to a call: done, or something is needed first.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Reply {
    /// The call has ended, well or badly.
    Done(Box<Outcome>),
    /// Somebody must answer something before the call can run. Only callers that
    /// said they can take this get it.
    NeedsInput(InputRequired),
}

impl From<Outcome> for Reply {
    fn from(outcome: Outcome) -> Self {
        Self::Done(Box::new(outcome))
    }
}

impl Reply {
    /// The outcome, where the call has ended.
    pub fn outcome(&self) -> Option<&Outcome> {
        match self {
            Self::Done(outcome) => Some(outcome),
            Self::NeedsInput(_) => None,
        }
    }

    /// The outcome; what still needs input counts as `approval_required`, for
    /// callers that cannot go and ask.
    pub fn into_outcome(self) -> Outcome {
        match self {
            Self::Done(outcome) => *outcome,
            Self::NeedsInput(required) => required.into_outcome(),
        }
    }
}

/// What must be answered before a call can run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct InputRequired {
    /// The questions.
    pub requests: Vec<InputRequest>,
    /// Goes back unchanged with the answers. It is signed over the call, so the
    /// answers count for this very call and no other.
    pub state: String,
}

impl InputRequired {
    /// What must be answered, and the state that goes back with it.
    pub fn new(requests: Vec<InputRequest>, state: String) -> Self {
        Self { requests, state }
    }

    fn into_outcome(self) -> Outcome {
        let questions: Vec<&str> = self.requests.iter().map(|r| r.message.as_str()).collect();
        Outcome::failure(crate::ToolError::new(
            crate::ErrorKind::ApprovalRequired,
            questions.join("; "),
        ))
    }
}

/// One question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct InputRequest {
    /// What the answer is filed under.
    pub key: String,
    /// The question, for a person.
    pub message: String,
    /// The schema of the answer.
    pub schema: Schema,
}

impl InputRequest {
    /// A question whose answer has this schema.
    pub fn new(key: impl Into<String>, message: impl Into<String>, schema: Schema) -> Self {
        Self {
            key: key.into(),
            message: message.into(),
            schema,
        }
    }
}

/// What a running tool asks of its caller.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Question {
    /// A form for the person the tool works for.
    Form {
        /// The question.
        message: String,
        /// The schema of the answer.
        schema: Schema,
    },
    /// An address the person should visit.
    Visit {
        /// Why.
        message: String,
        /// The address.
        url: String,
    },
    /// Something for the caller's model to write, as MCP's `sampling/createMessage`
    /// words it.
    Sample {
        /// The request.
        request: Value,
    },
    /// The folders the caller works in.
    Roots,
}

impl Question {
    /// A question to the person, whose answer has this schema.
    pub fn new(message: impl Into<String>, schema: Schema) -> Self {
        Self::Form {
            message: message.into(),
            schema,
        }
    }

    /// The question in words.
    pub fn message(&self) -> &str {
        match self {
            Self::Form { message, .. } | Self::Visit { message, .. } => message,
            Self::Sample { .. } => "let your model write something",
            Self::Roots => "tell which folders you work in",
        }
    }
}

/// A question, and what its answer is filed under.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Inquiry {
    /// The name of the answer.
    pub key: String,
    /// The question.
    pub question: Question,
}

impl Inquiry {
    /// A question whose answer goes by `key`.
    pub fn new(key: impl Into<String>, question: Question) -> Self {
        Self {
            key: key.into(),
            question,
        }
    }
}

/// What became of a question.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Response {
    /// It was answered.
    Given(Value),
    /// The person would not.
    Declined,
    /// The person put the question aside without an answer.
    Dismissed,
    /// Nobody could be asked.
    Unavailable,
}
