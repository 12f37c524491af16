//! All that is known about a tool for the guide: from its definition, and from the
//! overlays that lie over it, field by field.

use std::fmt;

use serde::Serialize;
use toolsmith_core::Schema;

use super::example::GuideExample;

/// What stands where a description is missing. A text that says nothing but this counts
/// as missing too.
pub const PENDING: &str = "[Description pending]";

/// How many examples of a tool are shown.
pub const MOST_EXAMPLES: usize = 5;

/// All that the guide knows about a tool. The texts are free of control characters and
/// bounded, and otherwise what their authors wrote: whoever renders them escapes them.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ToolMetadata {
    /// Its name, without any prefix.
    pub name: String,
    /// What people see instead of the name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The category it is shown under.
    pub category: String,
    /// What it is for; none while the description is pending.
    pub description: Option<String>,
    /// Everything more there is to say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<String>,
    /// What must not be overlooked, the demand for consent among it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub important: Vec<String>,
    /// Hints for using it well.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The schema of its arguments, exactly as registered.
    pub input_schema: Schema,
    /// Calls that show how it is used, at most [`MOST_EXAMPLES`].
    pub examples: Vec<GuideExample>,
    /// What it returns.
    pub returns: Option<String>,
    /// How far its documentation is.
    pub state: LifeCycle,
}

impl ToolMetadata {
    /// What it is for, or the placeholder.
    pub fn purpose(&self) -> &str {
        self.description.as_deref().unwrap_or(PENDING)
    }
}

/// How far a tool's documentation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub enum LifeCycle {
    /// It is written about, but there is no such tool.
    Unregistered,
    /// It is registered, and nothing is written about it.
    SchemaOnly,
    /// It has a description and no examples.
    Documented,
    /// It has both.
    Complete,
}

impl fmt::Display for LifeCycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Unregistered => "Unregistered",
            Self::SchemaOnly => "SchemaOnly",
            Self::Documented => "Documented",
            Self::Complete => "Complete",
        })
    }
}
