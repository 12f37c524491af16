//! Parameters that are written as plain text between tags.
//!
//! A text stands as it is; everything else as JSON. A text that could not be read back,
//! because it looks like something else or holds a tag of the format, is written as a JSON
//! string without angle brackets. The reader takes a JSON string for one only where it
//! holds such a text, so a model's own quotes stay.

use serde_json::{Map, Value};
use toolsmith_core::json;

use super::calls::Block;
use super::tools::Types;
use crate::arguments::Read;
use crate::repair::{self, Step};

/// Tags that end or open something in one of these formats.
const TAGS: [&str; 11] = [
    "</parameter>",
    "</function>",
    "</tool_call>",
    "</arg_value>",
    "</arg_key>",
    "<tool_call>",
    "<tool_call name=",
    "<function=",
    "<parameter=",
    "<parameter name=",
    "<arg_",
];

/// A value as text.
pub(super) fn write(value: &Value) -> String {
    match value {
        Value::String(text) if !needs_quotes(text) => text.clone(),
        other => without_brackets(other),
    }
}

/// A name as text.
pub(super) fn write_name(name: &str) -> String {
    let plain =
        |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '/' | '$' | '@');
    if !name.is_empty() && name.chars().all(plain) {
        return name.to_owned();
    }
    without_brackets(&name.into())
}

/// A name that was written as text.
pub(super) fn read_name(text: &str) -> String {
    let text = text.trim();
    match json_string(text) {
        Some(name) => name,
        None => text.trim_matches(['"', '\'']).to_owned(),
    }
}

/// JSON in which no tag can stand.
pub(super) fn without_brackets(value: &Value) -> String {
    // Outside of strings JSON has no angle brackets.
    value
        .to_string()
        .replace('<', "\\u003c")
        .replace('>', "\\u003e")
}

/// A value that was written as text, for a parameter of these types.
pub(super) fn read(text: &str, types: Types) -> Value {
    if let Some(inner) = json_string(text).filter(|inner| needs_quotes(inner)) {
        return Value::String(inner);
    }
    if types.other
        && let Some(value) = other(text)
    {
        return value;
    }
    if !types.text
        && let Some(value) = mended(text)
    {
        return value;
    }
    Value::String(text.to_owned())
}

/// A pair as it is read, one after the other.
#[derive(Debug)]
pub(super) struct Pairs<'b> {
    block: &'b Block<'b>,
    tool: String,
    arguments: Map<String, Value>,
    twice: Option<String>,
    unclear: Option<String>,
}

impl<'b> Pairs<'b> {
    pub(super) fn new(block: &'b Block<'b>, tool: &str) -> Self {
        Self {
            block,
            tool: tool.to_owned(),
            arguments: Map::new(),
            twice: None,
            unclear: None,
        }
    }

    pub(super) fn add(&mut self, name: &str, text: &str) {
        let name = read_name(name);
        // A tag in a text may be meant, or may be where something else ended.
        if has_tags(text) {
            self.unclear.get_or_insert_with(|| {
                format!(
                    "the parameter {:?} holds a tag of the call itself, so it is unclear where it \
                     ends and nothing was run; write it as a JSON string, with \\u003c for <",
                    short(&name)
                )
            });
        }
        let value = read(
            without_frame(text),
            self.block.tools.types(&self.tool, &name),
        );
        if self.arguments.contains_key(&name) {
            self.twice.get_or_insert(name);
        } else {
            self.arguments.insert(name, value);
        }
    }

    /// Takes what stands between the parameters, where nothing should.
    pub(super) fn gap(&mut self, text: &str) {
        if !text.trim().is_empty() {
            let reason = "text stands between the parameters, so it is unclear where they end and \
                          nothing was run; write a text with tags as a JSON string, with \\u003c for <";
            self.unclear.get_or_insert_with(|| reason.to_owned());
        }
    }

    /// The arguments, or why they cannot be used.
    pub(super) fn read(self, complete: bool) -> Read {
        match (self.unclear, self.twice) {
            (Some(reason), _) => Read {
                complete: false,
                ..Read::malformed(reason)
            },
            _ if !complete => Read::cut_off(),
            (None, Some(name)) => {
                Read::malformed(format!("the parameter {:?} is given twice", short(&name)))
            }
            (None, None) => Read::value(Value::Object(self.arguments)),
        }
    }
}

fn short(name: &str) -> String {
    name.chars().take(80).collect()
}

/// The next place of a mark, looked for once: a mark that is nowhere is not looked for
/// again from every place before.
#[derive(Debug)]
pub(super) struct Mark<'t> {
    text: &'t str,
    mark: &'static str,
    found: Option<usize>,
}

impl<'t> Mark<'t> {
    pub(super) fn new(text: &'t str, mark: &'static str) -> Self {
        let found = text.find(mark);
        Self { text, mark, found }
    }

    /// Where it next stands. Asked for from places that only go forward.
    pub(super) fn next(&mut self, from: usize) -> Option<usize> {
        if self.found.is_some_and(|found| found < from) {
            let next = self.text[from..].find(self.mark);
            self.found = next.map(|at| from + at);
        }
        self.found
    }

    pub(super) fn length(&self) -> usize {
        self.mark.len()
    }
}

/// A text without the newlines that set it off from its tags: the same on both sides.
fn without_frame(text: &str) -> &str {
    let within = |line: &str| text.strip_prefix(line)?.strip_suffix(line);
    within("\r\n").or_else(|| within("\n")).unwrap_or(text)
}

/// Whether a text would be read as something else.
fn needs_quotes(text: &str) -> bool {
    let mut inner = None::<String>;
    loop {
        let text = inner.as_deref().unwrap_or(text);
        let framed = without_frame(text).len() < text.len();
        if framed || other(text).is_some() || has_tags(text) {
            return true;
        }
        // Quotes around quotes: each layer has fewer characters than the one around it.
        match json_string(text) {
            Some(next) => inner = Some(next),
            None => return false,
        }
    }
}

fn has_tags(text: &str) -> bool {
    text.contains('<') && TAGS.iter().any(|tag| text.contains(tag))
}

fn json_string(text: &str) -> Option<String> {
    let quoted = text.len() >= 2 && text.starts_with('"') && text.ends_with('"');
    if !quoted {
        return None;
    }
    serde_json::from_str(text).ok()
}

/// JSON of another type than text.
fn other(text: &str) -> Option<Value> {
    // Most texts are told by their first character.
    let first = text.trim_start().bytes().next()?;
    if !matches!(first, b'{' | b'[' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n') {
        return None;
    }
    let value = json::parse(text.as_bytes(), repair::LONGEST).ok();
    value.filter(|value| !value.is_string())
}

/// What can only be meant as another type than text.
fn mended(text: &str) -> Option<Value> {
    let repaired = repair::repair(text.trim()).ok()?;
    // `data['x']` is an expression, not the list in it.
    let more = [Step::TextBefore, Step::TextAfter, Step::ExtraBrackets];
    if repaired.kinds().iter().any(|step| more.contains(step)) {
        return None;
    }
    (!repaired.truncated && !repaired.value.is_string()).then_some(repaired.value)
}
