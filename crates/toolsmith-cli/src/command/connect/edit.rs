//! What an edit is, whatever the file is written in.

use serde_json::Value;

use super::clients::Facts;
pub(super) use crate::command::user_file::place;

/// Where an entry goes.
pub(super) struct Spot<'a> {
    /// The keys that lead to the servers.
    pub(super) keys: &'static [&'static str],
    /// The name of the entry.
    pub(super) name: &'a str,
}

impl<'a> Spot<'a> {
    pub(super) fn new(facts: &Facts, name: &'a str) -> Self {
        let keys = facts.keys;
        Self { keys, name }
    }
}

/// What to do when the name is taken by another entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    Refuse,
    Replace,
}

/// What an edit came to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Edit {
    /// The file says so already.
    Same,
    /// The whole new text.
    Changed(String),
}

/// Why a file is left as it is.
#[derive(Debug)]
pub(super) enum EditError {
    /// It is not what its client can read.
    Syntax {
        line: usize,
        column: usize,
        message: String,
    },
    /// It can be read, but servers have no place in it.
    Shape(String),
    /// The name is taken by this entry.
    Taken(Value),
}

/// The error of an edit that does not say what it is meant to say.
pub(super) fn misread() -> EditError {
    EditError::Shape("the edit would not be read as it is meant".to_owned())
}

/// A text, cut off at every character, and with each left out or written twice.
#[cfg(test)]
pub(super) fn damaged(text: &str) -> Vec<String> {
    let mut all = vec![text.to_owned()];
    for (at, c) in text.char_indices() {
        let (before, after) = (&text[..at], &text[at + c.len_utf8()..]);
        all.push(before.to_owned());
        all.push(format!("{before}{after}"));
        all.push(format!("{before}{c}{c}{after}"));
    }
    all
}
