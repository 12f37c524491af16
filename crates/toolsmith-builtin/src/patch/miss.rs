//! Why a hunk is not applied, and how it is told.

use std::fmt;

use serde_json::json;

use super::Hunk;
use super::seek::TooMuch;
use crate::edit::Nearest;
use crate::edit::visible;
use crate::refusal::{Reason, Refusal};

/// How many characters of a line are shown.
const SHOWN_WIDTH: usize = 100;

/// A hunk that is not applied.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HunkMiss {
    /// Which hunk of the file, counted from 0.
    pub hunk: usize,
    /// The line of the patch it starts at, counted from 1.
    pub line: usize,
    /// Why.
    pub missing: Missing,
}

/// Why a hunk is not applied.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Missing {
    /// Its lines are not there.
    #[non_exhaustive]
    Lines {
        /// Whether it is a line named after `@@`.
        is_context: bool,
        /// The first of the lines that says something.
        first: Option<String>,
        /// After how many lines they were looked for.
        after: usize,
        /// The line, counted from 1, at which they are although it is too early, or not
        /// at the end.
        elsewhere: Option<usize>,
        /// What comes nearest.
        nearest: Option<Nearest>,
    },
    /// The text, or the search, is too large.
    TooLarge,
}

impl HunkMiss {
    pub(super) fn new(index: usize, hunk: Option<&Hunk>, missing: Missing) -> Self {
        Self {
            hunk: index,
            line: hunk.map_or(1, |hunk| hunk.line),
            missing,
        }
    }

    /// Why, what to do next, and what a program may want to know. The path is shown as
    /// it is given.
    pub fn refusal(&self, path: &str) -> Refusal {
        let hunk = format!(
            "hunk {} of {path} (line {} of the patch)",
            self.hunk + 1,
            self.line
        );
        let refusal = match &self.missing {
            Missing::TooLarge => {
                let message = format!("cannot apply {hunk}: the file is too large to patch");
                Refusal::new(Reason::TooLarge, message).next("Use edits with an exact old_string")
            }
            Missing::Lines {
                is_context,
                first,
                after,
                elsewhere,
                nearest,
            } => {
                let what = if *is_context {
                    "its `@@` line"
                } else {
                    "its lines"
                };
                let mut message = format!("cannot apply {hunk}: {what}");
                if let Some(first) = first {
                    let first = visible::start_of(first.trim(), SHOWN_WIDTH);
                    message.push_str(&format!(", from `{first}` on,"));
                }
                message.push_str(" are not there");
                if *after > 0 {
                    message.push_str(&format!(" after line {after}"));
                }
                let mut refusal = Refusal::new(Reason::NoMatch, String::new());
                if let Some(line) = elsewhere {
                    message.push_str(&format!(", but at line {line}"));
                    refusal = refusal.detail("elsewhere_line", *line).next(
                        "Put the hunks in the order of the file; `*** End of File` is for its last lines only",
                    );
                } else {
                    refusal = refusal.next("Read the file again, and copy the lines from it");
                }
                if let Some(nearest) = nearest.as_ref().filter(|_| elsewhere.is_none()) {
                    let (first, last) = (nearest.first_line, nearest.last_line);
                    message.push_str(&format!(
                        "\nnearest is lines {first}-{last}, {} % alike:\n{}(- is the patch, + is the \
                         file; · is a space, → a tab)",
                        nearest.percent, nearest.diff,
                    ));
                    let nearest = json!({ "first_line": first, "last_line": last, "percent": nearest.percent });
                    refusal = refusal.detail("nearest", nearest).next(format!(
                        "Correct the hunk by what is at lines {first}-{last}"
                    ));
                }
                refusal.message = message;
                refusal
            }
        };
        refusal
            .detail("hunk_index", self.hunk)
            .detail("patch_line", self.line)
    }
}

impl From<TooMuch> for Missing {
    fn from(_: TooMuch) -> Self {
        Self::TooLarge
    }
}

impl fmt::Display for HunkMiss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.refusal("the text").fmt(f)
    }
}

impl std::error::Error for HunkMiss {}
