//! How a secret may be written: as it is, inside JSON, in an address, in a web form, and
//! in base64.
//!
//! Each value has a handful of spellings, never more, and the encodings are those that
//! programs use unasked. What somebody encodes twice, or into something else, is not
//! found.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};

/// The spellings of a value, the value itself first. Some may be the same.
pub(super) fn spellings(value: &str) -> [String; 7] {
    let in_json = serde_json::Value::from(value).to_string();
    let in_json = in_json[1..in_json.len() - 1].to_owned();
    [
        value.to_owned(),
        // Some write every slash of JSON like this.
        in_json.replace('/', "\\/"),
        in_json,
        percent_encoded(value),
        form_encoded(value),
        STANDARD.encode(value),
        STANDARD_NO_PAD.encode(value),
    ]
}

/// As one piece of a path or a query: all but letters, digits and `-._~` is encoded.
fn percent_encoded(value: &str) -> String {
    encoded(value, |byte, written| match byte {
        b'-' | b'.' | b'_' | b'~' => written.push(char::from(byte)),
        _ => push_encoded(written, byte),
    })
}

/// As a value of a web form, where a space is a plus.
fn form_encoded(value: &str) -> String {
    encoded(value, |byte, written| match byte {
        b'-' | b'.' | b'_' | b'*' => written.push(char::from(byte)),
        b' ' => written.push('+'),
        _ => push_encoded(written, byte),
    })
}

fn encoded(value: &str, other: impl Fn(u8, &mut String)) -> String {
    let mut written = String::with_capacity(value.len());
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() {
            written.push(char::from(byte));
        } else {
            other(byte, &mut written);
        }
    }
    written
}

fn push_encoded(written: &mut String, byte: u8) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    written.push('%');
    written.push(char::from(DIGITS[usize::from(byte >> 4)]));
    written.push(char::from(DIGITS[usize::from(byte & 15)]));
}
