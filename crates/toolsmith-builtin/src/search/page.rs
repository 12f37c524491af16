//! How much of an answer is told at once, and how the rest is come by.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::{Map, Value};

use super::walk::Unseen;

/// How many bytes of text an answer has.
pub(crate) const BUDGET: usize = 48 << 10;

/// The furthest an answer may begin from the first result.
pub(crate) const FURTHEST: usize = 20_000;

/// The lines of an answer, as many as there is room for.
#[derive(Debug)]
pub(crate) struct Page {
    text: String,
    room: usize,
}

impl Page {
    pub(crate) fn new() -> Self {
        Self {
            text: String::new(),
            room: BUDGET,
        }
    }

    /// Adds lines if there is room for all of them, and tells whether there was.
    pub(crate) fn push(&mut self, lines: &str) -> bool {
        match self.room.checked_sub(lines.len() + 1) {
            Some(room) => {
                self.room = room;
                self.text.push_str(lines);
                self.text.push('\n');
                true
            }
            None => false,
        }
    }

    /// The text, with notes about it at its end. They always find room.
    pub(crate) fn finish(mut self, notes: &[String]) -> String {
        if !self.text.is_empty() && !notes.is_empty() {
            self.text.push('\n');
        }
        for note in notes {
            let _ = writeln!(self.text, "{note}");
        }
        self.text.truncate(self.text.trim_end().len());
        self.text
    }
}

/// The arguments that continue an answer: those it was asked with, from another offset.
pub(crate) fn continuing(arguments: &impl Serialize, offset: usize) -> Option<Value> {
    let Ok(Value::Object(given)) = serde_json::to_value(arguments) else {
        return None;
    };
    let mut next: Map<String, Value> = given
        .into_iter()
        .filter(|(_, value)| !value.is_null())
        .collect();
    next.insert("offset".to_owned(), offset.into());
    Some(next.into())
}

/// What part of all results is shown, and how to see more.
pub(crate) fn window(offset: usize, shown: usize, total: u64, what: &str) -> String {
    let end = offset + shown;
    if shown == 0 {
        return format!("{total} {what} in all; none are shown.");
    }
    let mut note = format!("{what} {}–{end} of {total}.", offset + 1);
    if (end as u64) < total {
        let _ = write!(note, " For more, call again with offset = {end}.");
    }
    note
}

/// Says what was not looked at, as far as there was any.
pub(crate) fn unseen(unseen: Unseen, notes: &mut Vec<String>) {
    if unseen.ignored > 0 {
        notes.push(format!(
            "{} hidden by ignore rules; include_ignored = true shows them.",
            many(unseen.ignored, "file or folder is", "files and folders are")
        ));
    }
    if unseen.unreadable > 0 {
        notes.push(format!(
            "{} could not be read.",
            many(unseen.unreadable, "folder", "folders")
        ));
    }
}

/// A number and what it counts.
pub(crate) fn many(count: u64, one: &str, more: &str) -> String {
    match count {
        1 => format!("1 {one}"),
        count => format!("{count} {more}"),
    }
}
