//! A file in `tools/builtin`, which says something about shipped tools.

#![expect(
    dead_code,
    reason = "a schema is made from the types; nothing is of them"
)]

use std::collections::BTreeMap;

use schemars::JsonSchema;
use toolsmith_core::Exposure;

use super::words::Duration;

/// What is said about one shipped tool, or under `tools` about several.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, title = "Toolsmith: a file in tools/builtin")]
pub(super) struct BuiltinFile {
    /// The tool it speaks of.
    name: Option<String>,
    /// Several tools, by name.
    tools: Option<BTreeMap<String, Option<Said>>>,
    #[schemars(flatten)]
    said: Said,
}

/// What is said about a tool.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Said {
    /// Whether it is left out.
    disabled: Option<bool>,
    /// What it is for, instead of what it says itself.
    description: Option<String>,
    /// The time limit of a call.
    timeout: Option<Duration>,
    /// Whether and how it is offered to models.
    exposure: Option<Exposure>,
    /// Its group in lists and guides.
    category: Option<String>,
    /// Words to find it by.
    tags: Option<Vec<String>>,
}
