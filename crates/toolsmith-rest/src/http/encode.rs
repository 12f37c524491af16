//! Values as the texts of an address: nothing in them means anything there.

use std::borrow::Cow;

use serde_json::Value;
use url::form_urlencoded::byte_serialize;

use crate::form::ListStyle;

/// A text as part of one segment of a path. Everything but letters, digits and `-._~`
/// is encoded; whether the segment is a dot segment is for its owner to see.
pub(crate) fn segment(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                encoded.push(char::from(byte));
            }
            _ => push_encoded(&mut encoded, byte),
        }
    }
    encoded
}

/// What the file itself says of a segment: encoded where it has to be, and as it is where
/// it is encoded already.
pub(crate) fn literal(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut encoded = String::with_capacity(text.len());
    for (at, byte) in bytes.iter().copied().enumerate() {
        let is_digit = |ahead: usize| bytes.get(at + ahead).is_some_and(u8::is_ascii_hexdigit);
        match byte {
            b'%' if is_digit(1) && is_digit(2) => encoded.push('%'),
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' => encoded.push(char::from(byte)),
            b'-' | b'.' | b'_' | b'~' | b'!' | b'$' | b'&' | b'(' | b')' | b'*' | b'+' | b','
            | b';' | b'=' | b':' | b'@' => encoded.push(char::from(byte)),
            _ => push_encoded(&mut encoded, byte),
        }
    }
    encoded
}

/// A text as a name or a value of a query or a web form.
pub(crate) fn form(text: &str) -> String {
    byte_serialize(text.as_bytes()).collect()
}

/// A text as the value of a cookie, which ends at a semicolon and has no quotes.
pub(crate) fn cookie(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'"' | b',' | b';' | b'\\' | b'%' | 0..=b' ' | 0x7f.. => {
                push_encoded(&mut encoded, byte);
            }
            _ => encoded.push(char::from(byte)),
        }
    }
    encoded
}

/// Writes a byte as `%XX`.
pub(crate) fn push_encoded(encoded: &mut String, byte: u8) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    encoded.push('%');
    encoded.push(char::from(DIGITS[usize::from(byte >> 4)]));
    encoded.push(char::from(DIGITS[usize::from(byte & 15)]));
}

/// A value as one text: a text as it is, anything that has parts as JSON.
pub(crate) fn text(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        other => Cow::Owned(other.to_string()),
    }
}

/// A value as one text in an address, each piece of it encoded, the entries of a list
/// apart from each other by the mark of their style.
pub(crate) fn joined(value: &Value, style: ListStyle, encode: impl Fn(&str) -> String) -> String {
    let space = "%20";
    join(value, style, space, encode)
}

/// The same outside of addresses, where nothing is encoded.
pub(crate) fn plainly_joined(value: &Value, style: ListStyle) -> String {
    join(value, style, " ", str::to_owned)
}

fn join(value: &Value, style: ListStyle, space: &str, encode: impl Fn(&str) -> String) -> String {
    let Value::Array(items) = value else {
        return encode(&text(value));
    };
    let mark = match style {
        ListStyle::Repeat | ListStyle::Comma | ListStyle::Brackets => ",",
        ListStyle::Space => space,
        ListStyle::Pipe => "|",
    };
    let items: Vec<String> = items.iter().map(|item| encode(&text(item))).collect();
    items.join(mark)
}
