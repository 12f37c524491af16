//! From an entry to tools.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use toolsmith_core::AnyTool;
use toolsmith_core::reference::{Lookup, Place};

use crate::command;
use crate::form::Entry;

/// What tools made from files have around them. Cheap to clone.
#[derive(Clone)]
#[non_exhaustive]
pub struct Surroundings {
    /// Answers what references stand for.
    pub lookup: Arc<dyn Lookup + Send + Sync>,
    /// The folder commands run in.
    pub root: PathBuf,
    /// The environment of the host, of which commands get a little.
    pub environment: Arc<[(OsString, OsString)]>,
}

impl Surroundings {
    /// A folder, an environment, and what answers for references.
    pub fn new(
        lookup: Arc<dyn Lookup + Send + Sync>,
        root: impl Into<PathBuf>,
        environment: Arc<[(OsString, OsString)]>,
    ) -> Self {
        Self {
            lookup,
            root: root.into(),
            environment,
        }
    }
}

impl fmt::Debug for Surroundings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Surroundings")
            .field("root", &self.root)
            .finish_non_exhaustive()
    }
}

/// What a file came to.
#[derive(Default)]
#[non_exhaustive]
pub struct Made {
    /// Its tools, in the order of the file.
    pub tools: Vec<AnyTool>,
    /// What is wrong with the others, or with the whole.
    pub problems: Vec<Problem>,
    /// What references are not there; the tools are, and say so when they are called.
    pub missing: Vec<Problem>,
    /// Values that may be shown to nobody.
    pub secrets: Vec<String>,
}

impl fmt::Debug for Made {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Made")
            .field("tools", &self.tools)
            .field("problems", &self.problems)
            .field("missing", &self.missing)
            .field("secrets", &self.secrets.len())
            .finish()
    }
}

/// What is wrong with an entry, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct Problem {
    /// Where; zeros for the entry as a whole.
    pub place: Place,
    /// What.
    pub message: String,
}

impl Problem {
    /// A problem of the entry as a whole.
    pub fn new(message: impl Into<String>) -> Self {
        Self::at(Place::default(), message)
    }

    /// A problem at a place.
    pub fn at(place: Place, message: impl Into<String>) -> Self {
        Self {
            place,
            message: message.into(),
        }
    }
}

/// Makes the tools of a file.
pub fn make(file: &Entry, surroundings: &Surroundings) -> Made {
    let mut made = Made::default();
    if file.tools.is_empty() {
        add(file, surroundings, &mut made);
    }
    for tool in &file.tools {
        add(&tool.value.over(file), surroundings, &mut made);
    }
    made
}

fn add(entry: &Entry, surroundings: &Surroundings, made: &mut Made) {
    if entry.disabled {
        return;
    }
    if entry.command.is_some()
        && let Err(problem) = command::tool(entry, surroundings, made)
    {
        made.problems.push(problem);
    }
}
