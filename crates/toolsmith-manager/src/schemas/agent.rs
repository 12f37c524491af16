//! A file in `agents`.

#![expect(
    dead_code,
    reason = "a schema is made from the types; nothing is of them"
)]

use schemars::JsonSchema;

use super::policy::Policy;
use super::words::{Asking, HostedTools, OutputStrategy, SetList, ToolList};

/// An agent: the tools it sees, and what it may do with them.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, title = "Toolsmith: a file in agents")]
pub(super) struct AgentFile {
    /// What it is called; as the file unless set.
    name: Option<String>,
    /// What it is for.
    description: Option<String>,
    /// Its tools: names, globs, and sets as `set:NAME`. They come after those of its sets.
    tools: ToolList,
    /// Its tool sets.
    tool_sets: SetList,
    /// How calls are put to its model.
    output_strategy: Option<OutputStrategy>,
    /// What it may do, beside what the project allows.
    policy: Option<Policy>,
    /// Its model.
    model: Option<String>,
    /// Tools that its model's provider runs itself, in that provider's words.
    hosted_tools: Option<HostedTools>,
    /// How it answers, where that is not as the project says.
    ask: Option<Asking>,
}
