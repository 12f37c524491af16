//! Names and identities: what a tool is called, how others refer to it, and
//! which call is which.
//!
//! Owns the rules for names. Uniqueness belongs to the registry, prefixes to the
//! offer.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The longest name any known model provider accepts.
pub const MAX_NAME_LENGTH: usize = 64;

/// The name of a tool: 1 to 64 characters of `A-Z a-z 0-9 _ . -`.
///
/// That is what every provider and both MCP revisions accept. Tools of this
/// program keep to the narrower form of [`ToolName::is_own_form`], which the
/// registry enforces; imported tools may use all of it.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ToolName(Arc<str>);

impl ToolName {
    /// Checks `text` and makes it a name.
    pub fn new(text: impl AsRef<str>) -> Result<Self, NameError> {
        let text = text.as_ref();
        if text.is_empty() {
            return Err(NameError::Empty);
        }
        if let Some(found) = text.chars().find(|&c| !is_name_character(c)) {
            return Err(NameError::Character {
                name: bounded(text),
                found,
            });
        }
        if text.len() > MAX_NAME_LENGTH {
            return Err(NameError::TooLong {
                name: bounded(text),
                length: text.len(),
            });
        }
        Ok(Self(text.into()))
    }

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Tells whether the name is lower case with underscores, starting with a
    /// letter: the only form this program's own tools may have.
    pub fn is_own_form(&self) -> bool {
        self.0.starts_with(|c: char| c.is_ascii_lowercase())
            && self
                .0
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
    }
}

fn is_name_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-')
}

fn bounded(text: &str) -> String {
    text.chars().take(80).collect()
}

/// Why a text is no tool name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// The text was empty.
    #[error("a tool name cannot be empty")]
    Empty,
    /// A character that some provider would refuse.
    #[error("tool name {name:?} holds {found:?}; use letters, digits, `_`, `.` and `-`")]
    Character {
        /// The text, at most its first 80 characters.
        name: String,
        /// The first character that is not allowed.
        found: char,
    },
    /// More than 64 characters.
    #[error("tool name {name:?} has {length} characters; at most {MAX_NAME_LENGTH} are allowed")]
    TooLong {
        /// The text, at most its first 80 characters.
        name: String,
        /// Its whole length.
        length: usize,
    },
}

impl TryFrom<String> for ToolName {
    type Error = NameError;
    fn try_from(text: String) -> Result<Self, NameError> {
        Self::new(text)
    }
}

impl From<ToolName> for String {
    fn from(name: ToolName) -> Self {
        name.0.as_ref().to_owned()
    }
}

impl std::str::FromStr for ToolName {
    type Err = NameError;
    fn from_str(text: &str) -> Result<Self, NameError> {
        Self::new(text)
    }
}

impl Borrow<str> for ToolName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for ToolName {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl PartialEq<str> for ToolName {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for ToolName {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

/// All that others hold of a tool: its name, or its id.
///
/// Written as a plain string it is a name; `{"id": …}` is an id. The registry
/// resolves it; model requests, executions and configurations carry it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ToolRef {
    /// By the name it is registered under.
    Name(String),
    /// By the id of its metadata, which survives a change of name.
    Id {
        /// The id.
        id: String,
    },
}

impl ToolRef {
    /// Refers to a tool by name.
    pub fn name(name: impl Into<String>) -> Self {
        Self::Name(name.into())
    }

    /// Refers to a tool by id.
    pub fn id(id: impl Into<String>) -> Self {
        Self::Id { id: id.into() }
    }
}

impl From<&ToolName> for ToolRef {
    fn from(name: &ToolName) -> Self {
        Self::Name(name.as_str().to_owned())
    }
}

impl From<&str> for ToolRef {
    fn from(name: &str) -> Self {
        Self::Name(name.to_owned())
    }
}

impl fmt::Display for ToolRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Id { id } => write!(f, "id:{id}"),
        }
    }
}

/// Which call this is, in the words of whoever made it.
///
/// Providers, MCP clients and batches number their own calls, so any text is
/// accepted; the toolbox numbers those that come without one.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallId(Arc<str>);

impl CallId {
    /// Takes any text as an id.
    pub fn new(text: impl AsRef<str>) -> Self {
        Self(text.as_ref().into())
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl From<&str> for CallId {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}
