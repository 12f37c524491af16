//! How much of an answer is told at once, and how the rest is come by.

use std::fmt::Write as _;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::budget::MOST;

/// How many bytes of an answer are for notes about it; of a small one half.
const NOTES: usize = 4 << 10;

/// How many bytes a result may have on an empty page, however small the page is.
const SMALL: usize = 4 << 10;

/// How many bytes the arguments that continue an answer may have.
const LONGEST_NEXT: usize = 8 << 10;

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
            // Long arguments must not take the place of what was asked for.
            value_room: room - (3 * size(arguments)).min(room / 2),
        }
    }

    /// Adds a result, by its lines and its value, if there is room for both, and tells
    /// what became of it.
    pub(crate) fn push(&mut self, lines: &str, value: &impl Serialize) -> Pushed {
        let (text, value) = (lines.len() + 1, size(value) + 1);
        let is_small = self.text.is_empty() && text.max(value) <= SMALL;
        if is_small || (text <= self.text_room && value <= self.value_room) {
            self.text_room = self.text_room.saturating_sub(text);
            self.value_room = self.value_room.saturating_sub(value);
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
    let bytes = bytes.min(MOST);
    bytes.saturating_sub(NOTES).max(bytes / 2)
}

/// How many bytes something has as JSON.
fn size(value: &impl Serialize) -> usize {
    serde_json::to_string(value).map_or(0, |json| json.len())
}

/// The arguments of a call that are not what they are unless given.
pub(crate) fn given<A: Serialize + DeserializeOwned>(arguments: &A) -> Map<String, Value> {
    let as_map = |arguments: &A| match serde_json::to_value(arguments) {
        Ok(Value::Object(map)) => map,
        _ => Map::new(),
    };
    let all = as_map(arguments);
    let mut given = all.clone();
    for name in all.keys() {
        let mut less = given.clone();
        less.shift_remove(name);
        let same = serde_json::from_value(Value::Object(less.clone()));
        if same.is_ok_and(|same| as_map(&same) == all) {
            given = less;
        }
    }
    given
}

/// The arguments that continue an answer: those it was asked with, from another offset.
/// None where that is too far, or where they are so long that whoever wrote them is
/// better off to change the offset.
pub(crate) fn continuing(arguments: &impl Serialize, offset: usize) -> Option<Value> {
    if offset > FURTHEST || size(arguments) > LONGEST_NEXT {
        return None;
    }
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
        return format!("{what}: {total} in all; none are shown.");
    }
    let mut note = format!("{what} {}–{end} of {total}.", offset + 1);
    if (end as u64) < total {
        let _ = match end <= FURTHEST {
            true => write!(note, " For more, call again with offset = {end}."),
            false => write!(
                note,
                " No more can be told: the furthest offset is {FURTHEST}. Narrow it down, by a \
                 folder or a narrower pattern."
            ),
        };
    }
    note
}

/// Says what ignore rules hid, if they hid anything.
pub(crate) fn hidden(ignored: u64, notes: &mut Vec<String>) {
    if ignored > 0 {
        notes.push(format!(
            "{} hidden by ignore rules; include_ignored = true shows them.",
            many(ignored, "file or folder is", "files and folders are")
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
