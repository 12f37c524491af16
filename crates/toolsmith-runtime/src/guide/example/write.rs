//! Calls written in the form a reader wants: as Python, as JSON, as a command.
//!
//! Characters that hide or steer are always written as escapes. What is written as Python
//! or JSON reads back as the same arguments.

use std::fmt::Write;

use serde_json::{Map, Value};
use toolsmith_core::Schema;

use super::python::RESERVED;
use crate::guide::render::json;
use crate::shape::is_plain;

/// A call longer than this has each of its arguments on a line of its own.
const WIDTH: usize = 88;

/// `name(key=value, …)`.
pub(super) fn python(name: &str, arguments: &Map<String, Value>) -> String {
    let (plain, other): (Vec<_>, Vec<_>) = arguments.iter().partition(|(key, _)| is_keyword(key));
    let mut parts: Vec<String> = Vec::with_capacity(arguments.len());
    for (key, value) in plain {
        let mut part = format!("{key}=");
        python_value(&mut part, value);
        parts.push(part);
    }
    if !other.is_empty() {
        let other: Map<String, Value> = (other
            .into_iter()
            .map(|(key, value)| (key.clone(), value.clone())))
        .collect();
        let mut part = "**".to_owned();
        python_value(&mut part, &Value::Object(other));
        parts.push(part);
    }
    let line = format!("{name}({})", parts.join(", "));
    if line.chars().count() <= WIDTH || parts.len() < 2 {
        return line;
    }
    format!("{name}(\n    {},\n)", parts.join(",\n    "))
}

/// The arguments as an object.
pub(super) fn json(arguments: &Map<String, Value>) -> String {
    json::pretty(&Value::Object(arguments.clone()), usize::MAX).unwrap_or_default()
}

/// `toolsmith call name key=value …`, for a POSIX shell. Where a pair would be read as
/// something else, all arguments come as JSON.
pub(super) fn command_line(name: &str, arguments: &Map<String, Value>, schema: &Schema) -> String {
    let properties = &schema.as_value()["properties"];
    let mut line = format!("toolsmith call {name}");
    for (key, value) in arguments {
        let texts = match properties.get(key) {
            Some(property) if is_word(key) => texts(property, value),
            _ => None,
        };
        let Some(texts) = texts else {
            let arguments = Value::Object(arguments.clone());
            let arguments = json::compact(&arguments, usize::MAX).unwrap_or_default();
            return format!("toolsmith call {name} --args {}", quoted(&arguments));
        };
        for text in texts {
            let _ = write!(line, " {key}={}", quoted(&text));
        }
    }
    line
}

fn is_keyword(key: &str) -> bool {
    let mut characters = key.chars();
    let first = characters.next();
    first.is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && characters.all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !RESERVED.contains(&key)
}

fn python_value(into: &mut String, value: &Value) {
    match value {
        Value::Null => into.push_str("None"),
        Value::Bool(true) => into.push_str("True"),
        Value::Bool(false) => into.push_str("False"),
        Value::Number(number) => {
            let _ = write!(into, "{number}");
        }
        Value::String(text) => python_text(into, text),
        Value::Array(items) => {
            into.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    into.push_str(", ");
                }
                python_value(into, item);
            }
            into.push(']');
        }
        Value::Object(fields) => {
            into.push('{');
            for (index, (key, field)) in fields.iter().enumerate() {
                if index > 0 {
                    into.push_str(", ");
                }
                python_text(into, key);
                into.push_str(": ");
                python_value(into, field);
            }
            into.push('}');
        }
    }
}

fn python_text(into: &mut String, text: &str) {
    let quote = if text.contains('"') && !text.contains('\'') {
        '\''
    } else {
        '"'
    };
    into.push(quote);
    for c in text.chars() {
        match c {
            '\\' => into.push_str("\\\\"),
            '\n' => into.push_str("\\n"),
            '\r' => into.push_str("\\r"),
            '\t' => into.push_str("\\t"),
            c if c == quote => into.extend(['\\', c]),
            c if is_plain(c) => into.push(c),
            c => {
                let code = u32::from(c);
                let _ = match code {
                    0..=0xff => write!(into, "\\x{code:02x}"),
                    0x100..=0xffff => write!(into, "\\u{code:04x}"),
                    _ => write!(into, "\\U{code:08x}"),
                };
            }
        }
    }
    into.push(quote);
}

/// The texts of the pairs an argument is given by, if the command line reads them as this
/// very value: it goes by the type the schema names, and by nothing cleverer.
fn texts(property: &Value, value: &Value) -> Option<Vec<String>> {
    let (word, or_null) = wanted(property)?;
    match (word, value) {
        ("string", Value::String(text)) => {
            let is_shown = text.chars().all(is_plain);
            let is_null = or_null && text == "null";
            (is_shown && !is_null).then(|| vec![text.clone()])
        }
        ("number" | "integer", Value::Number(number)) => Some(vec![number.to_string()]),
        ("boolean", Value::Bool(truth)) => Some(vec![truth.to_string()]),
        ("object", Value::Object(_)) => Some(vec![json::compact(value, usize::MAX)?]),
        ("array", Value::Array(items)) => {
            let of_texts = wanted(&property["items"]) == Some(("string", false));
            let plain = |item: &Value| {
                let text = item.as_str()?;
                let is_list = text.trim_start().starts_with('[');
                let is_null = or_null && text == "null";
                (text.chars().all(is_plain) && !is_list && !is_null).then(|| text.to_owned())
            };
            let texts: Option<Vec<String>> = items.iter().map(plain).collect();
            match texts {
                Some(texts) if of_texts && !texts.is_empty() => Some(texts),
                _ => Some(vec![json::compact(value, usize::MAX)?]),
            }
        }
        (_, Value::Null) if or_null => Some(vec!["null".to_owned()]),
        _ => None,
    }
}

/// The one type a property names, and whether it may be null instead.
fn wanted(property: &Value) -> Option<(&str, bool)> {
    if property.get("anyOf").is_some() || property.get("oneOf").is_some() {
        return None;
    }
    match property.get("type")? {
        Value::String(word) => Some((word, false)),
        Value::Array(words) => {
            let mut others = words.iter().filter(|word| *word != "null");
            match (others.next(), others.next()) {
                (Some(only), None) => Some((only.as_str()?, words.len() > 1)),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Tells whether a key is no option, and nothing a shell or the pair itself would read.
fn is_word(key: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    !key.is_empty() && !key.starts_with('-') && key.chars().all(fits)
}

/// A word as a POSIX shell reads it back.
fn quoted(text: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || "_./:@%+,=-".contains(c);
    if !text.is_empty() && text.chars().all(is_bare) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}
