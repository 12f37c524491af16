//! `tool_descriptions.yaml` and `tool_examples.yaml`.

#![expect(
    dead_code,
    reason = "a schema is made from the types; nothing is of them"
)]

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde_json::{Map, Value};

/// What is said of tools in the guide, by name.
#[derive(JsonSchema)]
#[schemars(title = "Toolsmith: tool_descriptions.yaml")]
pub(super) struct DescriptionsFile(BTreeMap<String, Described>);

/// Calls that show how tools are used, by name.
#[derive(JsonSchema)]
#[schemars(title = "Toolsmith: tool_examples.yaml")]
pub(super) struct ExamplesFile(BTreeMap<String, Examples>);

/// What is said of a tool.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum Described {
    /// What it is for.
    Text(String),
    /// With more to it.
    Parts(Parts),
    /// `[Manual description to be added]`, which is a list to YAML.
    Pending((String,)),
}

/// What is said of a tool, in parts.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Parts {
    /// What it is for.
    #[schemars(default)]
    text: String,
    /// What it returns.
    #[schemars(default)]
    returns: String,
    /// Its group.
    #[schemars(default)]
    category: String,
}

/// Calls of a tool.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum Examples {
    /// One, such as `name(key="value")`.
    One(String),
    /// Several.
    Several(Vec<Snippet>),
}

/// A call as code, or its arguments.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum Snippet {
    /// As code.
    Code(String),
    /// The arguments.
    Arguments(Map<String, Value>),
}
