//! What of a definition is pinned: all that its source said, as it said it.
//!
//! It is taken before anything is cleaned: characters nobody sees are a change too. Only
//! known secrets are gone by then, since pins are written to a file that others read.

use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use toolsmith_core::{Source, ToolDef};

use crate::canonical::{feed, hex, unhex};

/// What digests begin with where they are written down.
const ALGORITHM: &str = "sha256:";

/// A definition as it was pinned.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Pin {
    /// What it is compared by.
    pub digest: PinDigest,
    /// What it says, so that a difference can be shown; none where that was too long
    /// to keep.
    pub definition: Option<Value>,
}

/// A digest over a definition. Key order and white space between the parts make no
/// difference; every character of a text does, and so does the order of a list.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct PinDigest([u8; 32]);

impl Pin {
    /// A pin of which a store knows the digest and, unless it was too long, the rest.
    pub fn new(digest: PinDigest, definition: Option<Value>) -> Self {
        Self { digest, definition }
    }

    /// The pin of a definition.
    pub fn of(definition: &ToolDef) -> Self {
        let said = said(definition);
        Self {
            digest: PinDigest::of(&said),
            definition: Some(said),
        }
    }

    /// The name its source gave it.
    pub(super) fn name(&self) -> Option<&str> {
        self.definition.as_ref()?.get("name")?.as_str()
    }

    /// The digest of all but the name, by which a tool is known under another one.
    pub(super) fn nameless(&self) -> Option<PinDigest> {
        let mut said = self.definition.clone()?;
        said.as_object_mut()?.shift_remove("name");
        Some(PinDigest::of(&said))
    }
}

impl PinDigest {
    /// The digest of what a definition says, as [`Pin::definition`] has it.
    pub fn of(said: &Value) -> Self {
        let mut hasher = Sha256::new();
        hasher.update(b"toolsmith pin 1\0");
        feed(&mut hasher, said);
        Self(hasher.finalize().into())
    }

    /// The first digits, by which people tell one definition from another.
    pub fn short(&self) -> String {
        hex(&self.0[..8])
    }

    /// Tells whether its digits begin with these, of which there must be enough to mean
    /// one definition and no other.
    pub fn begins_with(&self, digits: &str) -> bool {
        let digits = digits.strip_prefix(ALGORITHM).unwrap_or(digits);
        digits.len() >= 16 && hex(&self.0).starts_with(digits)
    }

    /// The digest as it is written down, `sha256:` and 64 digits.
    pub fn parse(text: &str) -> Option<Self> {
        unhex(text.strip_prefix(ALGORITHM)?).map(Self)
    }
}

impl fmt::Display for PinDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{ALGORITHM}{}", hex(&self.0))
    }
}

impl fmt::Debug for PinDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for PinDigest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// What a source said of a tool.
fn said(definition: &ToolDef) -> Value {
    // A definition is plain data and always becomes JSON.
    let mut whole = match serde_json::to_value(definition) {
        Ok(Value::Object(whole)) => whole,
        _ => Map::new(),
    };
    match &definition.source {
        Source::Mcp { .. } => of_server(definition, &mut whole),
        _ => {
            // Where it comes from and what it is called are known without it.
            whole.shift_remove("source");
            if let Some(Value::Object(meta)) = whole.get_mut("meta") {
                meta.shift_remove("id");
            }
            Value::Object(whole)
        }
    }
}

/// A tool of an MCP server in the server's own terms. What is added to it here, such as
/// whose tool it is, may be put in other words one day, and is not the server's doing.
fn of_server(definition: &ToolDef, whole: &mut Map<String, Value>) -> Value {
    let extra = whole.get_mut("meta").and_then(|meta| meta.get_mut("extra"));
    let received = extra.and_then(|extra| extra.get_mut("mcp"));
    let mut said = match received.map(Value::take) {
        Some(Value::Object(received)) => received,
        _ => Map::new(),
    };
    let name = said.get("name").and_then(Value::as_str);
    let name = name.unwrap_or(definition.name.as_str()).to_owned();
    let mut texts = Vec::new();
    if definition.description.short != format!("MCP tool: {name}") {
        texts.push(definition.description.short.as_str());
    }
    texts.push(&definition.description.long);
    texts.extend(
        definition
            .description
            .usage_notes
            .iter()
            .map(String::as_str),
    );
    texts.retain(|text| !text.is_empty());
    if !texts.is_empty() {
        said.insert("description".to_owned(), texts.join("\n\n").into());
    }
    said.insert("name".to_owned(), name.into());
    for (key, part) in [("inputSchema", "input"), ("outputSchema", "output")] {
        if let Some(schema) = whole.shift_remove(part) {
            said.insert(key.to_owned(), schema);
        }
    }
    Value::Object(said)
}
