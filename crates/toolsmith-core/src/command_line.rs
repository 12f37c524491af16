//! The commands that a call would run, told so that rules see each by itself.
//!
//! A line for a shell may hold many commands, and a rule such as `bash(git *)` speaks of
//! one. How a line is split is the tool's business; what it means for permission is the
//! policy's. Neither is what confines a command.

use serde::{Deserialize, Serialize};

/// A line for a shell, split or not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CommandLine {
    /// The argument that holds it, which rules name.
    pub argument: String,
    /// What it would run.
    pub commands: Commands,
}

/// What a line would run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Commands {
    /// These, and no others.
    Known(Vec<PlannedCommand>),
    /// Nobody can tell before it runs, so a person is asked.
    Unclear {
        /// Why, for the person.
        reason: String,
    },
}

/// One command of a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PlannedCommand {
    /// Its words, quotes taken off, with a space between; [`PlannedCommand::OPEN`] stands
    /// for a word that is known only when it runs.
    pub text: String,
    /// Other ways to see it, which count for rules that forbid: without the folder of its
    /// program, or without the program that only starts another.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
}

impl CommandLine {
    /// A line in this argument that would run these commands.
    pub fn new(argument: impl Into<String>, commands: Commands) -> Self {
        Self {
            argument: argument.into(),
            commands,
        }
    }
}

impl PlannedCommand {
    /// Stands for a word that is known only when it runs. No ordinary word holds it, and
    /// of patterns only wildcards match it.
    pub const OPEN: char = '\u{fffc}';

    /// A command with these words.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            also: Vec::new(),
        }
    }

    /// Adds another way to see it.
    #[must_use]
    pub fn or(mut self, text: impl Into<String>) -> Self {
        self.also.push(text.into());
        self
    }
}
