//! The digest of a call: what an approval is bound to.

use std::fmt;
use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::Value;
use sha2::{Digest, Sha256};
use toolsmith_core::{Arguments, json};

use crate::canonical::{feed, hex, text, unhex};
use crate::registry::Entry;
use crate::validate::ValidCall;

/// A digest over a tool's definition and a call's arguments. Two calls have the
/// same one when they would do the same thing with the same tool, whatever the
/// order of their keys.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct CallDigest([u8; 32]);

impl CallDigest {
    pub(crate) fn of(call: &ValidCall) -> Self {
        Self::of_parts(call.entry(), call.arguments())
    }

    pub(crate) fn of_parts(entry: &Arc<Entry>, arguments: &Arguments) -> Self {
        let mut hasher = Sha256::new();
        hasher.update(b"toolsmith call 2\0");
        hasher.update(entry.digest.get_or_init(|| of_definition(entry)));
        feed(&mut hasher, arguments.as_value());
        Self(hasher.finalize().into())
    }

    /// A digest over arguments alone, whatever tool they are for; none where they nest so
    /// deep that no tool gets them.
    pub(crate) fn of_arguments(arguments: &Value) -> Option<Self> {
        if json::depth_exceeds(arguments, json::MAX_DEPTH) {
            return None;
        }
        let mut hasher = Sha256::new();
        hasher.update(b"toolsmith arguments 1\0");
        feed(&mut hasher, arguments);
        Some(Self(hasher.finalize().into()))
    }

    /// The digest these 64 hexadecimal digits stand for, for stores that write it down.
    pub fn parse(text: &str) -> Option<Self> {
        unhex(text).map(Self)
    }

    pub(crate) fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// The digest of a tool's definition.
fn of_definition(entry: &Arc<Entry>) -> [u8; 32] {
    let mut hasher = Sha256::new();
    hasher.update(b"toolsmith definition 1\0");
    match serde_json::to_value(&*entry.definition) {
        Ok(definition) => feed(&mut hasher, &definition),
        // A definition is plain data and always becomes JSON; if it ever did
        // not, two calls must not share a digest for it.
        Err(error) => text(&mut hasher, &format!("{error} {:p}", *entry)),
    }
    // What it says of itself may stay while what it runs is another thing.
    text(&mut hasher, entry.tool.mark());
    hasher.finalize().into()
}

impl fmt::Display for CallDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for CallDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for CallDigest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
