//! What is written about tools by hand, beside what they say of themselves.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Where overlays come from. Asked at every guide, so a source may look whether its
/// files changed; it answers from memory where they did not.
pub trait OverlaySource: Send + Sync {
    /// What holds now.
    fn current(&self) -> Arc<Overlays>;
}

/// The texts and examples that lie over those in the code.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Overlays {
    /// What the user keeps; it is checked against the tools there are.
    pub own: Layer,
    /// What came with the program, beneath the user's. It may speak of tools that are
    /// not offered.
    pub shipped: Arc<Layer>,
    /// What is wrong with the files themselves, one line each: told with every guide.
    pub warnings: Vec<String>,
}

/// One layer of overlays, by the tool's undecorated name.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Layer {
    /// What `tool_descriptions.yaml` says.
    pub descriptions: BTreeMap<String, Described>,
    /// What `tool_examples.yaml` says; a tool with an empty list is listed.
    pub examples: BTreeMap<String, Vec<Snippet>>,
}

/// An entry of `tool_descriptions.yaml`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Described {
    /// What the tool is for.
    pub text: Option<String>,
    /// What it returns.
    pub returns: Option<String>,
    /// The category it is shown under.
    pub category: Option<String>,
    /// Where the entry is.
    pub place: Place,
}

/// An example as it is written in `tool_examples.yaml`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Snippet {
    /// A call in Python's literal syntax, or JSON arguments; lines that begin with `#`
    /// are its comment.
    pub code: String,
    /// Where it is.
    pub place: Place,
}

impl Snippet {
    /// An example and where it is.
    pub fn new(code: impl Into<String>, place: Place) -> Self {
        Self {
            code: code.into(),
            place,
        }
    }
}

/// A line of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The file, as it was named.
    pub file: Arc<str>,
    /// The line, from 1; 0 where the file as a whole is meant.
    pub line: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.file),
            line => write!(f, "{}:{line}", self.file),
        }
    }
}

/// Overlays that never change.
impl OverlaySource for Arc<Overlays> {
    fn current(&self) -> Arc<Overlays> {
        Arc::clone(self)
    }
}
