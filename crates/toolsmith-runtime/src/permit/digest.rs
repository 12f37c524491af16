//! The digest of a call: what an approval is bound to.

use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::Value;
use sha2::{Digest, Sha256};
use toolsmith_core::json;

use crate::validate::ValidCall;

/// A digest over a tool's definition and a call's arguments. Two calls have the
/// same one when they would do the same thing with the same tool, whatever the
/// order of their keys.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct CallDigest([u8; 32]);

impl CallDigest {
    pub(crate) fn of(call: &ValidCall) -> Self {
        let mut hasher = Sha256::new();
        // Every part is preceded by its kind and length, so no two different
        // calls can be written the same way.
        hasher.update(b"toolsmith call 1\0");
        match serde_json::to_value(&**call.tool()) {
            Ok(definition) => feed(&mut hasher, &definition),
            // A definition is plain data and always becomes JSON; if it ever did
            // not, two calls must not share a digest for it.
            Err(error) => text(&mut hasher, &format!("{error} {:p}", call.entry())),
        }
        feed(&mut hasher, call.arguments().as_value());
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
        let mut text = [0; 64];
        for (byte, digits) in self.0.iter().zip(text.chunks_exact_mut(2)) {
            digits[0] = b"0123456789abcdef"[usize::from(byte >> 4)];
            digits[1] = b"0123456789abcdef"[usize::from(byte & 15)];
        }
        f.write_str(std::str::from_utf8(&text).unwrap_or_default())
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
