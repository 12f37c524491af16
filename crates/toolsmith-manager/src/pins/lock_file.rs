//! `toolsmith.lock` as it is written: JSON in lines, with sorted keys, so that version
//! control shows what changed and nothing else.
//!
//! ```json
//! {
//!   "sources": {
//!     "git": {
//!       "tools": {
//!         "mcp__git__log": { "definition": { … }, "digest": "sha256:…" }
//!       }
//!     }
//!   },
//!   "version": 1
//! }
//! ```
//!
//! A digest counts only beside the definition it is of: whoever reviews a change of the
//! file reads the definition.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use toolsmith_core::json as strict;
use toolsmith_runtime::registry::pin::{Pin, PinDigest, Pins};

use crate::files::Stamp;
use crate::loader::load_regular;
use crate::yaml::visible;

/// The version that is written, and the newest that is read.
const VERSION: u64 = 1;

/// How large the file may be.
const MOST_BYTES: usize = 16 << 20;

/// How many tools of one source are pinned; more of them stay withheld.
const MOST_TOOLS: usize = 10_000;

/// How many sources are kept.
const MOST_SOURCES: usize = 1000;

/// How long a definition may be to be kept beside its digest.
const LONGEST_DEFINITION: usize = 64 << 10;

/// How many characters of a name are told.
const SHOWN: usize = 200;

/// What to do about a file that cannot be used.
const ADVICE: &str = "put back a good one from version control, or remove the file to pin \
                      all tools as they are now";

/// What the file says.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Content {
    pub(super) sources: BTreeMap<String, Arc<Pins>>,
}

/// What stands in the file's place.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// None where there is no file.
    pub(super) content: Option<Content>,
    /// What it looked like before it was read.
    pub(super) stamp: Stamp,
}

/// Reads the file. The message tells the file, what is wrong and what to do.
pub(super) fn read(path: &Path, name: &str) -> Result<Found, String> {
    let advised = |message: &str| {
        format!("{message}; no imported tool is used until it can be read: {ADVICE}")
    };
    let stamp = Stamp::look(path);
    let loaded = load_regular(path, name, MOST_BYTES);
    let loaded = loaded.map_err(|error| advised(&error.to_string()))?;
    let Some((_, bytes)) = loaded else {
        let content = None;
        return Ok(Found { content, stamp });
    };
    let content = parse(&bytes).map_err(|why| match why {
        Wrong::Newer(version) => format!(
            "{name}: it is of version {version}, and this program reads up to version {VERSION}; \
             no imported tool is used until toolsmith is updated"
        ),
        Wrong::Broken(why) => advised(&format!("{name}: {why}")),
    })?;
    let content = Some(content);
    Ok(Found { content, stamp })
}

/// Why a file cannot be used.
enum Wrong {
    Newer(u64),
    Broken(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    #[expect(dead_code, reason = "it was looked at before the rest")]
    version: u64,
    sources: BTreeMap<String, SourceForm>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SourceForm {
    tools: BTreeMap<String, PinForm>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PinForm {
    digest: String,
    #[serde(default)]
    definition: Option<Value>,
}

fn parse(bytes: &[u8]) -> Result<Content, Wrong> {
    let broken = |why: &str| Wrong::Broken(visible(why, 4 * SHOWN));
    if bytes.trim_ascii().is_empty() {
        return Err(broken("it is empty"));
    }
    let value = strict::parse(bytes, MOST_BYTES);
    let value = value.map_err(|error| broken(&format!("it is not as it was written: {error}")))?;
    // The version comes first: what else a newer one says cannot be known.
    match value.get("version").map(Value::as_u64) {
        Some(Some(VERSION)) => {}
        Some(Some(version)) if version > VERSION => return Err(Wrong::Newer(version)),
        Some(_) => return Err(broken("its `version` is none there ever was")),
        None => return Err(broken("it has no `version`")),
    }
    let form = Form::deserialize(value);
    let form = form.map_err(|error| broken(&format!("it is not as it was written: {error}")))?;
    let mut content = Content::default();
    for (source, form) in form.sources {
        let mut pins = Pins::new();
        for (tool, form) in form.tools {
            let pin = pin(form).map_err(|why| broken(&format!("tool {tool:?}: {why}")))?;
            pins.insert(tool, Arc::new(pin));
        }
        content.sources.insert(source, Arc::new(pins));
    }
    Ok(content)
}

fn pin(form: PinForm) -> Result<Pin, String> {
    let digest = PinDigest::parse(&form.digest);
    let digest = digest.ok_or("its digest is not `sha256:` and 64 digits")?;
    if let Some(definition) = &form.definition
        && PinDigest::of(definition) != digest
    {
        return Err("its digest is not that of its definition".to_owned());
    }
    Ok(Pin::new(digest, form.definition))
}

impl Content {
    /// The text of the file; an error where it would be larger than it may be.
    pub(super) fn written(&self) -> Result<String, String> {
        if self.sources.len() > MOST_SOURCES {
            return Err(format!("more than {MOST_SOURCES} sources are not kept"));
        }
        let mut sources = Map::new();
        for (source, pins) in &self.sources {
            let mut tools = Map::new();
            for (tool, pin) in &**pins {
                tools.insert(tool.clone(), written(pin));
            }
            sources.insert(source.clone(), json!({ "tools": tools }));
        }
        let whole = json!({ "sources": sources, "version": VERSION });
        let text = serde_json::to_string_pretty(&whole).map_err(|error| error.to_string())?;
        if text.len() >= MOST_BYTES {
            return Err(format!("it would be larger than {MOST_BYTES} bytes"));
        }
        Ok(text + "\n")
    }
}

/// The pins that are kept of a source: so many of them, and none that is too long.
pub(super) fn bounded(pins: Pins) -> Pins {
    let kept = pins.into_iter().take(MOST_TOOLS);
    let short = kept.map(|(tool, pin)| {
        let is_long = |said: &Value| strict::size_exceeds(said, LONGEST_DEFINITION);
        match pin.definition.as_ref().is_some_and(is_long) {
            true => (tool, Arc::new(Pin::new(pin.digest, None))),
            false => (tool, pin),
        }
    });
    short.collect()
}

fn written(pin: &Pin) -> Value {
    match &pin.definition {
        Some(definition) => {
            json!({ "definition": sorted(definition), "digest": pin.digest.to_string() })
        }
        None => json!({ "digest": pin.digest.to_string() }),
    }
}

/// A value with the keys of every object in order.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut pairs: Vec<_> = fields.iter().collect();
            pairs.sort_by_key(|(key, _)| *key);
            let pairs = pairs.into_iter();
            Value::Object(
                pairs
                    .map(|(key, value)| (key.clone(), sorted(value)))
                    .collect(),
            )
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        plain => plain.clone(),
    }
}
