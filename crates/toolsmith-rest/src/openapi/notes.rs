//! What a person should know about an import, once each and not without end.

use std::collections::HashSet;

use super::text;

/// How many notes are kept.
const MAX: usize = 200;
/// How long a note is at most.
const LENGTH: usize = 400;

/// Notes in the order they came up.
#[derive(Debug, Default)]
pub(super) struct Notes {
    kept: Vec<String>,
    known: HashSet<String>,
    more: usize,
}

impl Notes {
    /// Adds a note, unless it is there.
    pub(super) fn add(&mut self, note: impl AsRef<str>) {
        let note = note.as_ref();
        if self.known.contains(note) {
            return;
        }
        if self.kept.len() >= MAX {
            self.more += 1;
            return;
        }
        self.known.insert(note.to_owned());
        self.kept.push(text::line(note, LENGTH));
    }

    /// Takes back what was noted of an operation that is no tool after all.
    pub(super) fn forget(&mut self, whole: &str) {
        let is_of = |note: &String| {
            note.strip_prefix(whole)
                .is_some_and(|rest| rest.starts_with(": "))
        };
        // They came last, if they came at all.
        while self.kept.last().is_some_and(is_of) {
            self.kept.pop();
        }
    }

    /// All of them.
    pub(super) fn finish(mut self) -> Vec<String> {
        if self.more > 0 {
            self.kept.push(format!("and {} notes more", self.more));
        }
        self.kept
    }
}
