//! Calls that arrive in pieces, where neither the index nor the number of a piece can be
//! trusted alone.
//!
//! Seen in the wild: every call with index 0, no index at all, an index that jumps, the
//! number only in the first piece or in each, or late, another number in each piece, the
//! name late or in pieces or empty afterwards, arguments as an object, and arguments that
//! are sent whole once more at the end.

use std::collections::HashMap;

use serde_json::{Map, Value, json};
use toolsmith_core::json;

use super::scan::Scan;
use super::{Delta, MOST_ITEMS};
use crate::parse::text;

/// From which length on a name does not grow any more: no tool has one as long, and each
/// time it grows it is told whole.
const LONGEST_NAME: usize = 1024;

/// The calls of one message.
#[derive(Debug, Default)]
pub(super) struct Calls {
    calls: Vec<Growing>,
    /// The latest call by what its pieces say.
    by_index: HashMap<i64, usize>,
    by_id: HashMap<String, usize>,
    latest: usize,
    /// Whether there were more than are kept.
    pub(super) full: bool,
}

#[derive(Debug, Default)]
struct Growing {
    index: Option<i64>,
    id: String,
    name: String,
    arguments: String,
    scan: Scan,
    free: bool,
    ended: bool,
    /// What else the pieces say.
    beside: Map<String, Value>,
}

/// One piece of a call.
#[derive(Debug)]
pub(super) struct Piece<'a> {
    index: Option<i64>,
    id: &'a str,
    name: &'a str,
    /// The arguments as text, or whole as anything else.
    arguments: Option<&'a Value>,
    free: bool,
    beside: Option<&'a Map<String, Value>>,
}

impl<'a> Piece<'a> {
    /// A piece as OpenAI shapes it; `index` where it stands beside.
    pub(super) fn of(call: &'a Value, index: Option<i64>) -> Self {
        let custom = call.get("custom");
        let function = custom.or_else(|| call.get("function")).unwrap_or(call);
        Self {
            index: call.get("index").and_then(Value::as_i64).or(index),
            id: match text(call, "id") {
                "null" => "",
                id => id,
            },
            name: text(function, "name"),
            arguments: (function.get("arguments"))
                .or_else(|| function.get("input"))
                .filter(|arguments| !arguments.is_null()),
            free: custom.is_some(),
            beside: call.as_object(),
        }
    }

    /// A piece of the only call there can be: from before there were several.
    pub(super) fn legacy(call: &'a Value) -> Self {
        Self {
            beside: None,
            ..Self::of(call, None)
        }
    }
}

impl Calls {
    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    pub(super) fn push(&mut self, piece: &Piece<'_>, deltas: &mut Vec<Delta>) {
        let Some(position) = self.place(piece) else {
            return;
        };
        self.latest = position;
        let call = &mut self.calls[position];
        if let Some(index) = piece.index {
            call.index.get_or_insert(index);
            self.by_index.insert(index, position);
        }
        if !piece.id.is_empty() && call.id.is_empty() {
            piece.id.clone_into(&mut call.id);
            self.by_id.insert(call.id.clone(), position);
        }
        call.free |= piece.free;
        call.take_name(piece.name, position, deltas);
        if let Some(arguments) = piece.arguments {
            call.take_arguments(arguments, position, deltas);
        }
        for (key, value) in piece.beside.into_iter().flatten() {
            let read = [
                "index",
                "id",
                "function",
                "custom",
                "name",
                "arguments",
                "input",
            ];
            if !read.contains(&key.as_str()) && !value.is_null() {
                call.beside.insert(key.clone(), value.clone());
            }
        }
    }

    /// Marks a call as told to its end.
    pub(super) fn end(&mut self, index: Option<i64>) {
        let position = index.and_then(|index| self.by_index.get(&index));
        let position = position.copied().unwrap_or(self.latest);
        if let Some(call) = self.calls.get_mut(position) {
            call.ended = true;
        }
    }

    /// The positions of the calls that were not told to their end.
    pub(super) fn open(&self) -> impl Iterator<Item = usize> {
        (self.calls.iter().enumerate())
            .filter(|(_, call)| !call.ended)
            .map(|(position, _)| position)
    }

    /// The calls as a whole message has them.
    pub(super) fn finish(&mut self) -> Vec<Value> {
        self.calls.drain(..).map(Growing::finish).collect()
    }

    /// The position of the call a piece belongs to, perhaps a new one.
    fn place(&mut self, piece: &Piece<'_>) -> Option<usize> {
        match self.known(piece) {
            Some(position) => Some(position),
            None if self.calls.len() >= MOST_ITEMS => {
                self.full = true;
                None
            }
            None => {
                self.calls.push(Growing::default());
                Some(self.calls.len() - 1)
            }
        }
    }

    /// The position of the call a piece goes on with; none where it begins another.
    fn known(&self, piece: &Piece<'_>) -> Option<usize> {
        let latest = (!self.calls.is_empty()).then_some(self.latest);
        let indexed = (piece.index).and_then(|index| self.by_index.get(&index).copied());
        let numbered = self.by_id.get(piece.id).copied();
        let candidate = match (numbered, piece.index) {
            _ if piece.id.is_empty() && piece.index.is_some() => {
                // An index nobody has seen begins a call, unless all it brings is more of
                // the arguments of one that waits for them.
                let waiting =
                    |position: &usize| piece.name.is_empty() && self.calls[*position].waits();
                indexed.or_else(|| latest.filter(waiting))?
            }
            _ if piece.id.is_empty() => latest?,
            // The same number under another index: a second call, where it has a name.
            (Some(same), Some(index)) if self.calls[same].index.is_some_and(|own| own != index) => {
                let here = indexed.filter(|position| self.calls[*position].id == piece.id);
                return here.or_else(|| piece.name.is_empty().then_some(same));
            }
            (Some(same), _) => same,
            // A number that is new.
            (None, _) => {
                let position = indexed.or_else(|| latest.filter(|_| piece.index.is_none()))?;
                let call = &self.calls[position];
                // It comes late, or it is another in each piece: then only the first has
                // a name, and what was begun is not yet whole.
                let late = call.id.is_empty() && (piece.name.is_empty() || call.name.is_empty());
                let fickle = piece.name.is_empty() && call.waits();
                return (late || fickle).then_some(position);
            }
        };
        (!self.calls[candidate].is_followed_by(piece)).then_some(candidate)
    }
}

impl Growing {
    /// Whether there is more to come: arguments were begun and not closed, or not begun.
    fn waits(&self) -> bool {
        !self.ended && !self.scan.is_closed()
    }

    /// Whether a piece that could be more of this call is the beginning of another.
    fn is_followed_by(&self, piece: &Piece<'_>) -> bool {
        if piece.name.is_empty() || self.name.is_empty() {
            return false;
        }
        let begun = self.scan.is_begun() || !self.arguments.is_empty();
        if piece.name != self.name {
            // Names come in pieces before there are arguments; a name with arguments
            // after a name without is another call, unless the two have one number.
            let together = !piece.id.is_empty() || piece.index.is_some();
            return begun || (!together && piece.arguments.is_some());
        }
        // The same name again is often only repeated, and so are whole arguments.
        let more = match piece.arguments {
            Some(Value::String(text)) => !text.trim().is_empty(),
            arguments => arguments.is_some(),
        };
        more && self.scan.is_closed() && !self.is_repeated(piece.arguments)
    }

    /// Whether arguments are those that are there already. Only what is about as long is
    /// compared, so that the cost is that of what was sent.
    fn is_repeated(&self, arguments: Option<&Value>) -> bool {
        let value = match arguments {
            None => return true,
            Some(Value::String(text)) if *text == self.arguments => return true,
            Some(Value::String(text)) if self.arguments.len() / 2 > text.len() => return false,
            Some(Value::String(text)) => serde_json::from_str(text).ok(),
            Some(value) if self.arguments.len() / 2 > json::size(value) * 2 => return false,
            Some(value) => Some(value.clone()),
        };
        value.is_some() && serde_json::from_str(&self.arguments).ok() == value
    }

    fn take_name(&mut self, name: &str, position: usize, deltas: &mut Vec<Delta>) {
        if name.is_empty() || name == self.name || self.name.len() >= LONGEST_NAME {
            return;
        }
        self.name.push_str(name);
        let name = self.name.clone();
        deltas.push(Delta::Call {
            index: position,
            name,
        });
    }

    fn take_arguments(&mut self, arguments: &Value, position: usize, deltas: &mut Vec<Delta>) {
        let text = match arguments {
            Value::String(text) => {
                if !self.free && self.scan.is_closed() && self.is_repeated(Some(arguments)) {
                    return;
                }
                text.clone()
            }
            // Anything but a text is whole, and replaces what came before.
            value => {
                self.arguments.clear();
                self.scan = Scan::default();
                value.to_string()
            }
        };
        if text.is_empty() {
            return;
        }
        if !self.free {
            self.scan.pass_all(&text);
        }
        self.arguments.push_str(&text);
        deltas.push(Delta::Arguments {
            index: position,
            text,
        });
    }

    fn finish(self) -> Value {
        let mut call = self.beside;
        if !self.id.is_empty() {
            call.insert("id".into(), self.id.into());
        }
        if self.free {
            let custom = json!({"name": self.name, "input": self.arguments});
            call.insert("custom".into(), custom);
            call.insert("type".into(), "custom".into());
        } else {
            let function = json!({"name": self.name, "arguments": self.arguments});
            call.insert("function".into(), function);
            call.entry("type").or_insert_with(|| "function".into());
        }
        Value::Object(call)
    }
}
