//! A file in `configs/tool_sets`.

#![expect(
    dead_code,
    reason = "a schema is made from the types; nothing is of them"
)]

use schemars::JsonSchema;

use super::words::{SetList, ToolList};

/// A set of tools.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, title = "Toolsmith: a file in configs/tool_sets")]
pub(super) struct ToolSetFile {
    /// What it is called; as the file unless set.
    name: Option<String>,
    /// What it is for.
    description: Option<String>,
    /// Its tools: names, globs, and other sets as `set:NAME`.
    tools: ToolList,
    /// Sets whose tools are its own too.
    sets: SetList,
}
