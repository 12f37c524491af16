//! Examples: what people write, read into arguments, and written again in the form a
//! reader wants.
//!
//! A snippet is a call in Python's literal syntax or a JSON object of arguments. What is
//! neither is never dropped: it is shown as it stands, with the reason why it could not
//! be read.

use serde::Serialize;
use serde_json::{Map, Value};

/// An example of a tool's use.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "form", rename_all = "snake_case")]
pub enum GuideExample {
    /// A call with literal arguments.
    Parsed {
        /// What it shows.
        #[serde(skip_serializing_if = "Option::is_none")]
        comment: Option<String>,
        /// The arguments of the call.
        arguments: Map<String, Value>,
    },
    /// Code that is no literal call of the tool, shown as it stands.
    Shown {
        /// What it shows.
        #[serde(skip_serializing_if = "Option::is_none")]
        comment: Option<String>,
        /// The code, without its comment.
        code: String,
        /// Why it could not be read.
        why: String,
    },
}

impl GuideExample {
    /// What it shows.
    pub fn comment(&self) -> Option<&str> {
        match self {
            Self::Parsed { comment, .. } | Self::Shown { comment, .. } => comment.as_deref(),
        }
    }
}
