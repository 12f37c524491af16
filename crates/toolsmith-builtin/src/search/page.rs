//! How much of an answer is told at once, and how the rest is come by.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::{Map, Value};

use super::walk::Unseen;
use crate::budget::MOST;

/// How many bytes of an answer are for notes about it.
const NOTES: usize = 4 << 10;

/// The furthest an answer may begin from the first result.
pub(crate) const FURTHEST: usize = 20_000;

/// The results of an answer, as many as there is room for.
#[derive(Debug)]
pub(crate) struct Page {
    text: String,
    text_room: usize,
    value_room: usize,
}

impl Page {
    /// An answer of so many bytes to a call with such arguments, which it repeats.
    pub(crate) fn answering(arguments: &impl Serialize, bytes: usize) -> Self {
        let room = room(bytes);
        Self {
            text: String::new(),
            text_room: room,
            value_room: room.saturating_sub(3 * size(arguments)),
        }
    }

    /// Adds a result, by its lines and its value, if there is room for both, and tells
    /// what became of it.
    pub(crate) fn push(&mut self, lines: &str, value: &impl Serialize) -> Pushed {
        let (text, value) = (lines.len() + 1, size(value) + 1);
        if text <= self.text_room && value <= self.value_room {
            self.text_room -= text;
            self.value_room -= value;
            self.text.push_str(lines);
            self.text.push('\n');
            return Pushed::In;
        }
        // What has no room on an empty page has none on any.
        match self.text.is_empty() {
            true => Pushed::Never,
            false => Pushed::Later,
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

/// What became of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pushed {
    /// It is part of the answer.
    In,
    /// It is part of a later answer.
    Later,
    /// It is too large for any answer.
    Never,
}

/// How many bytes of an answer are for results.
pub(crate) fn room(bytes: usize) -> usize {
    bytes.min(MOST).saturating_sub(NOTES)
}

/// How many bytes something has as JSON.
fn size(value: &impl Serialize) -> usize {
    serde_json::to_string(value).map_or(0, |json| json.len())
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
