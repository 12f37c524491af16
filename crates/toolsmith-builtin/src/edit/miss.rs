//! Why nothing is replaced, and how it is told.

use std::fmt;

use serde_json::{Value, json};

use super::lines::Lines;
use super::report::Report;
use super::{Rung, visible};
use crate::refusal::{Reason, Refusal};

/// How many characters of a line are shown.
const SHOWN_WIDTH: usize = 120;

/// A place that fits.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hit {
    /// Its line, counted from 1.
    pub line: usize,
    /// What that line says, cut if it is long.
    pub context: String,
}

impl Hit {
    pub(super) fn new(lines: &Lines<'_>, line: usize) -> Self {
        Self {
            line: line + 1,
            context: visible::start_of(lines.content(line), SHOWN_WIDTH),
        }
    }
}

/// Why nothing is replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Miss {
    /// It is not there.
    NoMatch(Box<Report>),
    /// It is there more than once.
    Ambiguous {
        /// How strictly it was matched.
        rung: Rung,
        /// The first places.
        hits: Vec<Hit>,
        /// How many places there are.
        total: usize,
        /// Whether there are even more, which were not counted.
        more: bool,
    },
    /// It is there, but not as often as was said.
    WrongCount {
        /// How strictly it was matched.
        rung: Rung,
        /// How often it should be there.
        expected: usize,
        /// How often it is.
        found: usize,
        /// The first places.
        hits: Vec<Hit>,
    },
    /// The text would stay as it is.
    NoChange {
        /// Where it is already as it shall be; nothing if old and new are the same.
        line: Option<usize>,
    },
    /// There is nothing to look for.
    Empty,
    /// Nobody wants it any more.
    Cancelled,
    /// It is more than can be dealt with.
    TooLarge {
        /// What is, and how large it may be.
        what: String,
    },
}

impl Miss {
    /// Why, what to do next, and what a program may want to know. The path is shown as
    /// it is given.
    pub fn refusal(&self, path: &str) -> Refusal {
        match self {
            Self::NoMatch(report) => report.refusal(path),
            Self::Ambiguous {
                rung,
                hits,
                total,
                more,
            } => ambiguous(path, *rung, hits, *total, *more),
            Self::WrongCount {
                rung,
                expected,
                found,
                hits,
            } => {
                let message = format!(
                    "old_string is in {path} {}, matched {}, and not {}:\n{}",
                    times(*found),
                    rung.phrase(),
                    times(*expected),
                    rows(hits, *found),
                );
                Refusal::new(Reason::Ambiguous, message)
                    .next("Correct expected_count, or make old_string fit only the places you mean")
                    .detail("rung", rung.word())
                    .detail("expected_count", *expected)
                    .detail("matches_found", *found)
                    .detail("lines", lines(hits))
            }
            Self::NoChange { line: None } => {
                Refusal::new(Reason::NoChange, "old_string and new_string are the same")
                    .next("Give a new_string that differs, or leave the edit out")
            }
            Self::NoChange { line: Some(line) } => {
                let message = format!("{path} already is at line {line} as new_string wants it");
                Refusal::new(Reason::NoChange, message)
                    .next("Leave the edit out")
                    .detail("line", *line)
            }
            Self::Empty => Refusal::new(Reason::BadArgument, "old_string is empty").next(
                "Give the text to replace; to add text, give the line before it and repeat that \
                 line in new_string",
            ),
            Self::Cancelled => Refusal::new(Reason::Cancelled, "the edit was given up"),
            Self::TooLarge { what } => {
                Refusal::new(Reason::TooLarge, format!("cannot edit {path}: {what}"))
                    .next("Make the edit smaller")
            }
        }
    }
}

impl fmt::Display for Miss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.refusal("the text").fmt(f)
    }
}

impl std::error::Error for Miss {}

fn ambiguous(path: &str, rung: Rung, hits: &[Hit], total: usize, more: bool) -> Refusal {
    let at_least = if more { "more than " } else { "" };
    let message = format!(
        "old_string is in {path} {at_least}{}, matched {}:\n{}",
        times(total),
        rung.phrase(),
        rows(hits, total),
    );
    let next = match rung {
        Rung::Escapes => "Send old_string as it stands in the file, with lines around it",
        _ => {
            "Add lines around it to old_string, or give the line you mean as near_line, or set \
             replace_all"
        }
    };
    Refusal::new(Reason::Ambiguous, message)
        .next(next)
        .detail("rung", rung.word())
        .detail("matches_found", total)
        .detail("lines", lines(hits))
}

fn rows(hits: &[Hit], total: usize) -> String {
    let rows = hits
        .iter()
        .map(|hit| format!("{:>7}: {}\n", hit.line, hit.context));
    rows.collect::<String>() + &format!("({} of {total} shown)", hits.len())
}

fn lines(hits: &[Hit]) -> Value {
    json!(hits.iter().map(|hit| hit.line).collect::<Vec<_>>())
}

fn times(count: usize) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        _ => format!("{count} times"),
    }
}
