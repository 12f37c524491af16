//! The parts of a call that rules see by themselves: each command of a line for a shell.
//!
//! Of a call that runs no such line there is one part, the whole. A rule that forbids also
//! looks at the line as it was written and at the other ways to see a command; one that
//! allows looks at the command alone, or names the very line.

use serde_json::Value;
use toolsmith_core::{Commands, Plan, PlannedCommand};

use super::matcher::{Candidates, Matcher};

/// A part of a call.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part<'a> {
    /// All of it.
    Whole,
    /// A line of which nobody can tell what it runs.
    Unclear,
    /// One command of a line.
    Command(&'a PlannedCommand),
}

impl<'a> Part<'a> {
    /// The parts of a call, of which there is always one.
    pub(super) fn all(plan: &'a Plan) -> Vec<Self> {
        match plan.commands.as_ref().map(|line| &line.commands) {
            None => vec![Self::Whole],
            Some(Commands::Known(commands)) if commands.is_empty() => vec![Self::Whole],
            Some(Commands::Known(commands)) => commands.iter().map(Self::Command).collect(),
            // Whatever else a tool may say of a line, it is not a list of commands.
            Some(_) => vec![Self::Unclear],
        }
    }

    /// The argument that holds the line.
    pub(super) fn argument(plan: &Plan) -> Option<&str> {
        plan.commands.as_ref().map(|line| line.argument.as_str())
    }

    /// Tells whether a matcher fits the part, in the argument that holds the line; nothing
    /// for a call that is judged as a whole.
    pub(super) fn fits(self, matcher: &Matcher, line: &[&Value], lenient: bool) -> Option<bool> {
        let is_line = |value: &&Value| match matcher {
            Matcher::Equals(wanted) => value.as_str() == Some(wanted),
            _ => false,
        };
        let as_written = |value: &&Value| {
            let line = value.as_str().unwrap_or_default();
            matcher.fits_any(&Candidates::of_command(line))
        };
        let is_allowed = |text: &str| matcher.fits_every(&Candidates::of_command(text));
        let is_forbidden = |text: &String| matcher.fits_any(&Candidates::of_command(text));
        match (self, lenient) {
            (Self::Whole, _) => None,
            (Self::Unclear, true) => Some(line.iter().any(is_line)),
            (Self::Unclear, false) => Some(line.iter().any(as_written)),
            (Self::Command(command), true) => {
                Some(is_allowed(&command.text) || line.iter().any(is_line))
            }
            (Self::Command(command), false) => {
                let mut forms = std::iter::once(&command.text).chain(&command.also);
                Some(forms.any(is_forbidden) || line.iter().any(as_written))
            }
        }
    }
}

/// Tells whether a matcher may fit a command once its open words are known.
pub(super) fn may_fit(matcher: &Matcher, command: &PlannedCommand) -> bool {
    let mut forms = std::iter::once(&command.text).chain(&command.also);
    forms.any(|text| {
        let known = text.split_once(PlannedCommand::OPEN);
        known.is_some_and(|(known, _)| matcher.may_begin(known))
    })
}
