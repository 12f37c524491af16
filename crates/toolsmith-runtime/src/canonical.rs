//! JSON as one sequence of bytes, for digests: the order of keys makes no difference,
//! and neither does the white space between them. Everything else does.

use serde_json::Value;
use sha2::{Digest, Sha256};

/// Feeds a value to a hasher. Every part is preceded by its kind and its length, so no
/// two different values are fed the same way.
pub(crate) fn feed(hasher: &mut Sha256, value: &Value) {
    match value {
        Value::Null => hasher.update(b"n"),
        Value::Bool(value) => hasher.update(if *value { b"t" } else { b"f" }),
        Value::Number(number) => {
            hasher.update(b"#");
            text(hasher, &number.to_string());
        }
        Value::String(string) => {
            hasher.update(b"s");
            text(hasher, string);
        }
        Value::Array(items) => {
            hasher.update(b"[");
            hasher.update((items.len() as u64).to_le_bytes());
            items.iter().for_each(|item| feed(hasher, item));
        }
        Value::Object(fields) => {
            hasher.update(b"{");
            hasher.update((fields.len() as u64).to_le_bytes());
            let mut sorted: Vec<_> = fields.iter().collect();
            sorted.sort_by_key(|(key, _)| *key);
            for (key, value) in sorted {
                text(hasher, key);
                feed(hasher, value);
            }
        }
    }
}

/// Feeds a text with its length.
pub(crate) fn text(hasher: &mut Sha256, text: &str) {
    hasher.update((text.len() as u64).to_le_bytes());
    hasher.update(text);
}

/// Bytes in hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: [u8; 16] = *b"0123456789abcdef";
    let digit = |half: u8| DIGITS[usize::from(half & 15)];
    let mut text = vec![0; 2 * bytes.len()];
    for (pair, byte) in text.chunks_exact_mut(2).zip(bytes) {
        pair.copy_from_slice(&[digit(byte >> 4), digit(*byte)]);
    }
    String::from_utf8(text).expect("digits are ASCII")
}

/// The 32 bytes that 64 hexadecimal digits stand for.
pub(crate) fn unhex(text: &str) -> Option<[u8; 32]> {
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    let mut bytes = [0; 32];
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[at * 2..at * 2 + 2], 16).ok()?;
    }
    Some(bytes)
}
