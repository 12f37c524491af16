//! What a tool is about to do, told before it does it.
//!
//! A plan is made from validated arguments and changes nothing. Permission is
//! decided on it, people are shown it, and writes to one path are put in line
//! by it.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::command_line::{CommandLine, Commands};
use crate::duration;

/// What one call would do.
///
/// ```
/// use toolsmith_core::{Confirm, Plan, Touch};
///
/// let plan = Plan::new("Replace notes.txt")
///     .touching(Touch::write("/srv/notes.txt").from_argument("file_path"))
///     .confirmed_because("it is not in version control");
/// assert!(matches!(plan.confirm, Confirm::Required { .. }));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Plan {
    /// One line for a person: action, object, amount. Empty means the name and
    /// the arguments say it.
    pub summary: String,
    /// The paths the call reads or changes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub touches: Vec<Touch>,
    /// The commands it runs, where it takes a line for a shell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commands: Option<CommandLine>,
    /// Whether a person must be asked, in the tool's own opinion. It can make
    /// permission stricter, never wider.
    pub confirm: Confirm,
    /// The time limit, where the arguments set one.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        with = "duration::optional"
    )]
    pub timeout: Option<Duration>,
}

impl Plan {
    /// Starts a plan with the line a person reads.
    pub fn new(summary: impl Into<String>) -> Self {
        Self {
            summary: summary.into(),
            ..Self::default()
        }
    }

    /// Adds a path the call reads or changes.
    #[must_use]
    pub fn touching(mut self, touch: Touch) -> Self {
        self.touches.push(touch);
        self
    }

    /// Says which commands the call runs, for rules that speak of them. Where nobody can
    /// tell, a person must be asked.
    #[must_use]
    pub fn running(mut self, line: CommandLine) -> Self {
        if let Commands::Unclear { reason } = &line.commands {
            let reason = format!("nobody can tell what it runs: {reason}");
            self.confirm = Confirm::Required { reason };
        }
        self.commands = Some(line);
        self
    }

    /// Says that a person must be asked, and why.
    #[must_use]
    pub fn confirmed_because(mut self, reason: impl Into<String>) -> Self {
        self.confirm = Confirm::Required {
            reason: reason.into(),
        };
        self
    }

    /// Sets the time limit.
    #[must_use]
    pub fn within(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }
}

/// Whether a tool wants a person to confirm a call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "needed", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Confirm {
    /// The tool has no opinion: policy alone decides.
    #[default]
    Unspecified,
    /// Nothing about this call is worth a question, the tool says. Policy may
    /// still ask.
    Never,
    /// A person must be asked even where the mode would let it run, or a rule that
    /// names the tool, its effect or its source. A rule that allows such arguments
    /// answers the question beforehand, and the mode `auto` asks nobody anything.
    Required {
        /// Why, for the person.
        reason: String,
    },
}

/// A path a call would read or change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Touch {
    /// The path as the tool would use it.
    pub path: PathBuf,
    /// The same path as it is seen from the folder the tool works in, where it lies in
    /// that. Rules hold in either form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relative: Option<PathBuf>,
    /// The same path by the name its root was given, where links lead to that. Rules hold in
    /// this form as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub named: Option<PathBuf>,
    /// What would happen to it.
    pub access: Access,
    /// Whether the call goes through everything beneath it, so that a rule which forbids
    /// something in there forbids the call.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub recursive: bool,
    /// The argument it came from, so that rules about the argument see the path
    /// it really means and not only how it was spelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub argument: Option<String>,
    /// The argument that names such a path in the plain form of a call, where this call has
    /// another: rules that forbid something by that argument hold for it too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stands_for: Option<String>,
}

impl Touch {
    /// A path that is only read.
    pub fn read(path: impl Into<PathBuf>) -> Self {
        Self::new(path, Access::Read)
    }

    /// A path that is created or changed.
    pub fn write(path: impl Into<PathBuf>) -> Self {
        Self::new(path, Access::Write)
    }

    /// A path that is removed.
    pub fn delete(path: impl Into<PathBuf>) -> Self {
        Self::new(path, Access::Delete)
    }

    fn new(path: impl Into<PathBuf>, access: Access) -> Self {
        Self {
            path: path.into(),
            relative: None,
            named: None,
            access,
            recursive: false,
            argument: None,
            stands_for: None,
        }
    }

    /// Says that the call goes through everything beneath the path.
    #[must_use]
    pub fn recursively(mut self) -> Self {
        self.recursive = true;
        self
    }

    /// Names the argument the path came from.
    #[must_use]
    pub fn from_argument(mut self, argument: impl Into<String>) -> Self {
        self.argument = Some(argument.into());
        self
    }

    /// Names the argument that has such a path in the plain form of a call.
    #[must_use]
    pub fn standing_for(mut self, argument: impl Into<String>) -> Self {
        self.stands_for = Some(argument.into());
        self
    }

    /// Tells whether a rule about an argument, or about a field of it, is about this path.
    pub fn is_of(&self, argument: &str) -> bool {
        let is_in = |whole: &str| {
            let field = argument.strip_prefix(whole);
            field.is_some_and(|field| field.is_empty() || field.starts_with('.'))
        };
        self.argument.as_deref().is_some_and(is_in) || self.stands_for.as_deref() == Some(argument)
    }
}

/// What happens to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// It is only looked at.
    Read,
    /// It is created or changed.
    Write,
    /// It is removed.
    Delete,
}
