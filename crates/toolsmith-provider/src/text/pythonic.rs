//! Calls in Python's words: `[f(a=1), g(b="x")]`, of Llama 4 and others.

use serde_json::{Map, Value};
use toolsmith_core::json;

use super::TextFormat;
use super::calls::{Block, TextCall};
use super::reader::MOST_CALLS;
use super::write::Written;
use crate::arguments::Read;
use crate::repair::{self, Step};

pub(super) fn read(block: &Block<'_>) -> Option<Vec<TextCall>> {
    let mut rest = block.body.strip_prefix('[')?.trim_start();
    let mut calls = Vec::new();
    loop {
        let length =
            rest.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-')));
        let (name, after) = rest.split_at(length.unwrap_or(rest.len()));
        let Some(inside) = after.trim_start().strip_prefix('(') else {
            // The text ended in a name: what was to come is not known.
            let cut = !block.closed && after.trim().is_empty() && !calls.is_empty();
            return cut.then_some(calls);
        };
        if calls.len() > MOST_CALLS {
            return None;
        }
        let mut arguments = Arguments::default();
        let Some(next) = arguments.take(inside) else {
            // Cut off: a call if anything says so, for a bracket alone does not.
            let sure = arguments.named || !calls.is_empty() || block.tools.knows(name);
            calls.push(TextCall::new(TextFormat::Pythonic, name, Read::cut_off()));
            return (sure && !block.closed).then_some(calls);
        };
        if arguments.unnamed && !block.tools.knows(name) {
            return None;
        }
        calls.push(TextCall::new(TextFormat::Pythonic, name, arguments.read()));
        let next = next.trim_start();
        rest = match next.strip_prefix(',') {
            Some(next) => next.trim_start(),
            None => next,
        };
        match rest.chars().next() {
            Some(']') => return rest[1..].trim().is_empty().then_some(calls),
            None => return Some(calls),
            Some(_) if rest.len() == next.len() => return None,
            Some(_) => {}
        }
    }
}

/// The arguments of one call, as they are read.
#[derive(Debug, Default)]
struct Arguments {
    fields: Map<String, Value>,
    named: bool,
    unnamed: bool,
    problem: Option<String>,
}

impl Arguments {
    /// Takes arguments up to the closing bracket, and returns what follows it.
    fn take<'t>(&mut self, text: &'t str) -> Option<&'t str> {
        let mut rest = text;
        loop {
            let Some(end) = end_of_argument(rest) else {
                self.named |= named(rest).is_some() || rest.trim_start().starts_with("**");
                return None;
            };
            let (argument, next) = rest.split_at(end);
            if !argument.trim().is_empty() {
                self.add(argument.trim());
            }
            rest = &next[1..];
            if next.starts_with(')') {
                return Some(rest);
            }
        }
    }

    fn add(&mut self, argument: &str) {
        if let Some(unpacked) = argument.strip_prefix("**") {
            self.named = true;
            match value(unpacked) {
                Ok(Value::Object(fields)) => {
                    for (key, value) in fields {
                        self.insert(key, value);
                    }
                }
                Ok(_) => self.fail("what is unpacked is no dictionary".to_owned()),
                Err(reason) => self.fail(reason),
            }
            return;
        }
        match named(argument) {
            Some((key, text)) => {
                self.named = true;
                match value(text.trim()) {
                    Ok(value) => self.insert(key.to_owned(), value),
                    Err(reason) => self.fail(format!("{key}: {reason}")),
                }
            }
            None => {
                self.unnamed = true;
                self.fail("every argument must be given by its name".to_owned());
            }
        }
    }

    fn insert(&mut self, key: String, value: Value) {
        if self.fields.contains_key(&key) {
            let key: String = key.chars().take(80).collect();
            self.fail(format!("the argument {key:?} is given twice"));
        } else {
            self.fields.insert(key, value);
        }
    }

    fn fail(&mut self, reason: String) {
        self.problem.get_or_insert(reason);
    }

    fn read(self) -> Read {
        match self.problem {
            Some(reason) => Read::malformed(format!("the arguments cannot be read: {reason}")),
            None => Read::value(Value::Object(self.fields)),
        }
    }
}

/// The name and the value of an argument that is given by name.
fn named(argument: &str) -> Option<(&str, &str)> {
    let (key, text) = argument.split_once('=')?;
    let key = key.trim();
    let word = |c: char| c.is_alphanumeric() || c == '_';
    (!key.is_empty() && key.chars().all(word)).then_some((key, text))
}

/// Where an argument ends: at a comma or a closing bracket of its own level.
fn end_of_argument(text: &str) -> Option<usize> {
    let (mut depth, mut quote, mut escaped) = (0_usize, None, false);
    for (at, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            _ if escaped => escaped = false,
            (Some(_), b'\\') => escaped = true,
            (Some(open), _) if open == byte => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'(' | b'[' | b'{') => depth += 1,
            (None, b')' | b',') if depth == 0 => return Some(at),
            (None, b')' | b']' | b'}') => depth = depth.saturating_sub(1),
            (None, _) => {}
        }
    }
    None
}

/// A value in Python's words.
fn value(text: &str) -> Result<Value, String> {
    if let Ok(value) = json::parse(text.as_bytes(), repair::LONGEST) {
        return Ok(value);
    }
    let repaired = repair::mend(text).map_err(|error| error.to_string())?;
    let more = [
        Step::TextBefore,
        Step::TextAfter,
        Step::Fence,
        Step::Unclosed,
    ];
    if repaired.kinds().iter().any(|step| more.contains(step)) {
        return Err("it is more than a value".to_owned());
    }
    Ok(repaired.value)
}

pub(super) fn write(calls: &[Written<'_>]) -> String {
    let calls: Vec<String> = calls.iter().map(call).collect();
    format!("[{}]", calls.join(", "))
}

fn call((name, arguments, _): &Written<'_>) -> String {
    let Value::Object(fields) = arguments else {
        return format!("{name}(**{})", python(arguments));
    };
    let mut parts = Vec::new();
    let mut unnamed = Map::new();
    for (key, value) in fields {
        let begins = key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if begins
            && key
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        {
            parts.push(format!("{key}={}", python(value)));
        } else {
            unnamed.insert(key.clone(), value.clone());
        }
    }
    if !unnamed.is_empty() {
        parts.push(format!("**{}", python(&Value::Object(unnamed))));
    }
    format!("{name}({})", parts.join(", "))
}

/// A value in Python's words: JSON but for three of them.
fn python(value: &Value) -> String {
    let json = value.to_string();
    let mut text = String::with_capacity(json.len());
    // Every other piece stands in quotes, once those that are escaped are out of the way.
    let (mut from, mut inside, mut escaped) = (0, false, false);
    for (at, byte) in json.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => {
                push(&mut text, &json[from..at], inside);
                text.push('"');
                (from, inside) = (at + 1, !inside);
            }
            _ => {}
        }
    }
    push(&mut text, &json[from..], inside);
    text
}

fn push(text: &mut String, piece: &str, inside: bool) {
    if inside {
        text.push_str(piece);
    } else {
        let words = piece.replace("true", "True").replace("false", "False");
        text.push_str(&words.replace("null", "None"));
    }
}
