//! What the usage guide says of the built-in tools, as YAML: the same two files a user
//! may keep, which lie over these.

/// What `tool_descriptions.yaml` says of the built-in tools, of those that give tasks,
/// and of the guide.
pub const DESCRIPTIONS: &str = include_str!("../overlays/tool_descriptions.yaml");

/// What `tool_examples.yaml` says of them.
pub const EXAMPLES: &str = include_str!("../overlays/tool_examples.yaml");
