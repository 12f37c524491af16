//! Where things too large for a reply are put.

use std::future::Future;
use std::pin::Pin;

use serde::{Deserialize, Serialize};

use crate::name::{CallId, ToolName};

/// Keeps what was too large for a reply.
///
/// Implemented by hosts: in memory, in files, in an object store. What it is given
/// is already cleaned and redacted.
pub trait SpillStore: Send + Sync + 'static {
    /// Keeps a text, and tells where it is and how to read it.
    fn keep<'a>(
        &'a self,
        spill: Spill<'a>,
    ) -> Pin<Box<dyn Future<Output = Result<Spilled, SpillError>> + Send + 'a>>;
}

/// A text to be kept.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Spill<'a> {
    /// The call it belongs to.
    pub call: &'a CallId,
    /// The tool that produced it.
    pub tool: &'a ToolName,
    /// The whole text.
    pub text: &'a str,
    /// How many of its first bytes the reply still shows, so that the way to
    /// read on can say where to begin.
    pub shown: usize,
}

impl<'a> Spill<'a> {
    /// A text to be kept.
    pub fn new(call: &'a CallId, tool: &'a ToolName, text: &'a str, shown: usize) -> Self {
        Self {
            call,
            tool,
            text,
            shown,
        }
    }
}

/// Where a text was put.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Spilled {
    /// Its place: a path or an address.
    pub location: String,
    /// How many bytes it has.
    pub bytes: u64,
    /// The exact way to read on, for the model.
    pub read_on: String,
}

impl Spilled {
    /// A text of so many bytes at a place, and how to read on.
    pub fn new(location: impl Into<String>, bytes: u64, read_on: impl Into<String>) -> Self {
        Self {
            location: location.into(),
            bytes,
            read_on: read_on.into(),
        }
    }
}

/// Why a text could not be kept. The reply is then cut all the same, and says so.
#[derive(Debug, thiserror::Error)]
#[error("could not keep the whole output: {0}")]
pub struct SpillError(pub String);
