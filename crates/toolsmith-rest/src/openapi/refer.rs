//! References within a document.
//!
//! Only `#/…` is followed: another document would have to be fetched, and an anchor
//! would have to be searched for.

use serde_json::{Map, Value};

use super::text;

/// How many references are followed one after the other.
const CHAIN: usize = 16;
/// How long one may be. It stands in a document once, and is followed as often as somebody
/// refers to what holds it.
const LONGEST: usize = 2000;

/// Follows an object's `$ref`, if it has one, to what it stands for.
pub(super) fn follow<'d>(root: &'d Value, value: &'d Value) -> Result<&'d Value, String> {
    let mut value = value;
    for _ in 0..CHAIN {
        let Some(reference) = value.get("$ref").and_then(Value::as_str) else {
            return Ok(value);
        };
        value = target(root, reference)?;
    }
    Err("references lead to references without end".to_owned())
}

/// What a reference leads to, or why it leads nowhere.
pub(super) fn target<'d>(root: &'d Value, reference: &str) -> Result<&'d Value, String> {
    let shown = || text::line(reference, 120);
    if reference.len() > LONGEST {
        return Err(format!("`$ref` to {:?} is too long", shown()));
    }
    let Some(pointer) = reference.strip_prefix('#') else {
        return Err(format!("`$ref` to {:?} leads out of the document", shown()));
    };
    if !pointer.starts_with('/') {
        return Err(format!("`$ref` to {:?} is no JSON pointer", shown()));
    }
    let found = root
        .pointer(pointer)
        .or_else(|| root.pointer(&decoded(pointer)?));
    found.ok_or_else(|| format!("`$ref` to {:?} leads nowhere", shown()))
}

/// The last part of a pointer, as it is written without escapes.
pub(super) fn last_part(reference: &str) -> String {
    let last = reference.rsplit('/').next().unwrap_or_default();
    let last = decoded(last).unwrap_or_else(|| last.to_owned());
    last.replace("~1", "/").replace("~0", "~")
}

/// A field that is an object.
pub(super) fn object<'d>(value: &'d Value, field: &str) -> Option<&'d Map<String, Value>> {
    value.get(field).and_then(Value::as_object)
}

/// A field that is a text, and not an empty one.
pub(super) fn string<'d>(value: &'d Value, field: &str) -> Option<&'d str> {
    let text = value.get(field).and_then(Value::as_str);
    text.filter(|text| !text.trim().is_empty())
}

/// Whether a field says yes.
pub(super) fn is_true(value: &Value, field: &str) -> bool {
    value.get(field) == Some(&Value::Bool(true))
}

/// A text with its `%xx` replaced, as references are URIs.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        if *first == b'%' && tail.len() >= 2 && tail[..2].iter().all(u8::is_ascii_hexdigit) {
            let digits = std::str::from_utf8(&tail[..2]).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &tail[2..];
        } else {
            bytes.push(*first);
        }
    }
    String::from_utf8(bytes).ok()
}
