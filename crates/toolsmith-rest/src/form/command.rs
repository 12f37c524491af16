//! How a tool's arguments become a program's, and what it writes the outcome.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::placed::Placed;

/// A word of a command, or several that stand or fall together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected a word, or a list of words that stand or fall together"
)]
pub enum CommandWord {
    /// One argument of the program; `{name}` stands for an argument of the tool.
    One(String),
    /// Arguments that are left out together where one of the tool's is missing.
    Together(Vec<String>),
}

/// What exit statuses mean: `ok`, or what is to be told of a failure.
pub type ExitCodes = BTreeMap<i32, String>;

/// What a program writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OutputForm {
    /// Text, as it is.
    #[default]
    Text,
    /// JSON, which becomes a value.
    Json,
}

/// The command, and where it stands.
pub(super) type Command = Placed<Vec<CommandWord>>;
