//! The digest of a call: what an approval is bound to.

use std::fmt;
use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::Value;
use sha2::{Digest, Sha256};
use toolsmith_core::{Arguments, json};

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
        // Every part is preceded by its kind and length, so no two different
        // calls can be written the same way.
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
    hasher.finalize().into()
}

fn feed(hasher: &mut Sha256, value: &Value) {
    match value {
        Value::Null => hasher.update(b"n"),
        Value::Bool(value) => hasher.update(if *value { b"t" } else { b"f" }),
        Value::Number(number) => {
            hasher.update(b"#");
            text(hasher, &number.to_string());
        }
        Value::String(string) => {
            hasher.update(b"s");
            text(hasher, string);
        }
        Value::Array(items) => {
            hasher.update(b"[");
            hasher.update((items.len() as u64).to_le_bytes());
            items.iter().for_each(|item| feed(hasher, item));
        }
        Value::Object(fields) => {
            hasher.update(b"{");
            hasher.update((fields.len() as u64).to_le_bytes());
            let mut sorted: Vec<_> = fields.iter().collect();
            sorted.sort_by_key(|(key, _)| *key);
            for (key, value) in sorted {
                text(hasher, key);
                feed(hasher, value);
            }
        }
    }
}

fn text(hasher: &mut Sha256, text: &str) {
    hasher.update((text.len() as u64).to_le_bytes());
    hasher.update(text);
}

impl fmt::Display for CallDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
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
