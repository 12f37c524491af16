//! A call that was found in a text, and the shapes in which JSON says one.

use serde_json::{Map, Value};
use toolsmith_core::call::RawArguments;

use super::TextFormat;
use super::tools::Tools;
use crate::arguments::{self, Read};
use crate::repair;

/// A call that was found in a text.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TextCall {
    /// The number the model gave it, where it gave one.
    pub id: Option<String>,
    /// The name of the tool, as the model wrote it. Empty where it wrote none.
    pub name: String,
    /// What it is called with. What could not be read, or was cut off, is malformed.
    pub arguments: RawArguments,
    /// What was mended to read it, in words.
    pub repairs: Vec<String>,
    /// Whether it was told to the end.
    pub complete: bool,
    /// The format it was written in. JSON that stands alone is told as
    /// [`TextFormat::Json`], whoever wrote it.
    pub format: TextFormat,
}

impl TextCall {
    pub(super) fn new(format: TextFormat, name: impl Into<String>, read: Read) -> Self {
        Self {
            id: None,
            name: name.into(),
            arguments: read.arguments,
            repairs: read.repairs,
            complete: read.complete,
            format,
        }
    }

    /// The same call, not to be run: it may be part of a text.
    pub(super) fn doubt(self) -> Self {
        self.not_to_be_run(DOUBT)
    }

    /// The same call, not to be run: the model was thinking when it wrote it.
    pub(super) fn thought(self) -> Self {
        self.not_to_be_run(THOUGHT)
    }

    fn not_to_be_run(mut self, because: &str) -> Self {
        if let RawArguments::Json(_) = self.arguments {
            self.arguments = RawArguments::Malformed(because.to_owned());
        }
        self
    }

    pub(super) fn with_id(mut self, id: Option<String>) -> Self {
        self.id = id.filter(|id| !id.is_empty());
        self
    }
}

/// What a model reads whose call may be part of a text that it wrote.
const DOUBT: &str = "something before this call was never closed, so it is unclear whether it is \
                     a call or part of a text, and nothing was run; make the calls again";

/// What a model reads that called before it had thought to the end.
const THOUGHT: &str = "the call stands in the reasoning before the answer, so it is unclear whether \
                       it was meant, and nothing was run; make it in the answer";

/// What a model reads whose call has no name.
pub(super) const NAMELESS: &str = "the call does not say which tool is meant";

/// A block of a text that should hold calls.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block<'b> {
    /// What stands between its marks; for blocks without marks, all of it.
    pub(super) body: &'b str,
    /// What opened it.
    pub(super) opener: &'b str,
    /// Whether its end was found.
    pub(super) closed: bool,
    pub(super) tools: &'b Tools,
}

const NAMES: [&str; 6] = [
    "name",
    "function",
    "tool",
    "tool_name",
    "function_name",
    "action",
];
const ARGUMENTS: [&str; 7] = [
    "arguments",
    "parameters",
    "args",
    "input",
    "params",
    "tool_input",
    "action_input",
];
const BESIDE: [&str; 5] = ["id", "type", "index", "call_id", "tool_call_id"];

/// The keys a call may begin with.
fn keys() -> impl Iterator<Item = &'static str> {
    let more = ARGUMENTS.into_iter().chain(BESIDE).chain(["tool_calls"]);
    NAMES.into_iter().chain(more)
}

/// Whether an object that begins with this key may be a call.
pub(super) fn may_begin(key: &str) -> bool {
    keys().any(|known| known == key)
}

/// Whether some such key begins like this.
pub(super) fn may_go_on(beginning: &str) -> bool {
    keys().any(|known| known.starts_with(beginning))
}

/// How sure it is that JSON is meant as a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Certainty {
    /// It stands between marks that say so.
    Marked,
    /// It stands alone, and must have the whole shape of one.
    Bare,
}

/// Reads JSON that should be one call or a list of them. `None` where it is something
/// else.
pub(super) fn from_json(
    block: &Block<'_>,
    format: TextFormat,
    certainty: Certainty,
) -> Option<Vec<TextCall>> {
    let text = block.body.trim();
    let (value, repairs, complete) =
        match toolsmith_core::json::parse(text.as_bytes(), repair::LONGEST) {
            Ok(value) => (value, Vec::new(), true),
            Err(strict) => match repair::mend(text) {
                Ok(repaired) => {
                    let complete = !repaired.truncated || (block.closed && repaired.brackets_only);
                    let steps = repaired.steps();
                    (repaired.value, steps, complete)
                }
                Err(error) => {
                    let reason = format!("the call is not JSON: {strict} ({error})");
                    return unreadable(text, format, certainty, reason);
                }
            },
        };
    let several = several(value)?;
    let last = several.len().checked_sub(1)?;
    let mut calls = Vec::new();
    for (index, value) in several.into_iter().enumerate() {
        // Of a list that was cut, only the last is not whole.
        let whole = complete || index < last;
        let mut call = one(value, format, certainty, whole, block.tools)?;
        call.repairs.splice(0..0, repairs.iter().cloned());
        calls.push(call);
    }
    Some(calls)
}

/// The values of a list of calls, or of `tool_calls`.
fn several(value: Value) -> Option<Vec<Value>> {
    let value = match value {
        Value::Object(mut object) if object.len() == 1 && object.contains_key("tool_calls") => {
            object.remove("tool_calls")?
        }
        other => other,
    };
    match value {
        Value::Array(items) => Some(items),
        Value::Object(_) => Some(vec![value]),
        _ => None,
    }
}

fn one(
    value: Value,
    format: TextFormat,
    certainty: Certainty,
    whole: bool,
    tools: &Tools,
) -> Option<TextCall> {
    let nameless = || TextCall::new(format, "", Read::malformed(NAMELESS));
    let Value::Object(mut object) = value else {
        return (certainty == Certainty::Marked).then(nameless);
    };
    let id = take(&mut object, &["id", "call_id", "tool_call_id"]).and_then(|id| match id {
        Value::String(id) => Some(id),
        Value::Number(id) => Some(id.to_string()),
        _ => None,
    });
    if let Some(Value::Object(inner)) = object.get("function") {
        let inner = inner.clone();
        object.remove("function");
        if certainty == Certainty::Bare && !is_beside(&object) {
            return None;
        }
        object = inner;
    }
    let name = match take(&mut object, &NAMES) {
        Some(Value::String(name)) => name,
        _ if certainty == Certainty::Marked => return Some(nameless().with_id(id)),
        _ => return None,
    };
    let given = take(&mut object, &ARGUMENTS);
    if certainty == Certainty::Bare
        && !(is_beside(&object) && is_call(given.as_ref(), tools.knows(&name)))
    {
        return None;
    }
    let read = match given {
        _ if !whole => Read::cut_off(),
        // What stands beside the name may be arguments; nothing says so.
        None if !is_beside(&object) => {
            Read::malformed("the call must have its arguments in \"arguments\"")
        }
        Some(Value::String(text)) => arguments::read(&text),
        None | Some(Value::Null) => Read::value(Value::Object(Map::new())),
        Some(value) => Read::value(value),
    };
    Some(TextCall::new(format, name, read).with_id(id))
}

fn take(object: &mut Map<String, Value>, keys: &[&str]) -> Option<Value> {
    let key = keys.iter().find(|key| object.contains_key(**key))?;
    // The order of what is left does not matter: it is only looked at.
    object.swap_remove(*key)
}

fn is_beside(object: &Map<String, Value>) -> bool {
    object.keys().all(|key| BESIDE.contains(&key.as_str()))
}

/// Whether what a bare object gives beside a name makes a call of it.
fn is_call(arguments: Option<&Value>, known: bool) -> bool {
    match arguments {
        // A declaration, not a call.
        Some(Value::Object(object)) => {
            !(object.get("type").is_some_and(Value::is_string)
                && object.get("properties").is_some_and(Value::is_object))
        }
        Some(Value::Null) => true,
        Some(Value::String(text)) => known || text.trim_start().starts_with('{'),
        Some(_) | None => known,
    }
}

/// A call that is no JSON, if its beginning says that it is one.
fn unreadable(
    text: &str,
    format: TextFormat,
    certainty: Certainty,
    reason: String,
) -> Option<Vec<TextCall>> {
    let name = beginning(text);
    if certainty == Certainty::Bare && !name.as_ref().is_some_and(|(_, arguments)| *arguments) {
        return None;
    }
    let name = name.map(|(name, _)| name).unwrap_or_default();
    Some(vec![TextCall::new(format, name, Read::malformed(reason))])
}

/// The name in `{"name": "…", "arguments": …`, and whether arguments follow it.
fn beginning(text: &str) -> Option<(String, bool)> {
    let text = text.trim_start_matches(['[', '{']).trim_start();
    let (key, rest) = quoted(text)?;
    let (name, rest) = quoted(rest.trim_start().strip_prefix(':')?.trim_start())?;
    if !NAMES.contains(&key) {
        return None;
    }
    let next = rest.trim_start().strip_prefix(',').map(str::trim_start);
    let arguments = next
        .and_then(quoted)
        .is_some_and(|(key, _)| ARGUMENTS.contains(&key));
    Some((name.to_owned(), arguments))
}

fn quoted(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    text[1..].split_once(quote)
}
