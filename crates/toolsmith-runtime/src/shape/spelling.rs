//! How a secret is spelled where it is not written as it is: in JSON, in addresses, in
//! markup, in Base64 and in hexadecimal. Whoever sends it back may have read it there.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};

/// Shorter secrets leave pieces of Base64 that occur by chance.
const SHORTEST_CODED: usize = 10;

/// A secret in every spelling that is looked for, itself first.
pub(super) fn spellings(secret: &str) -> Vec<String> {
    let mut spellings = vec![secret.to_owned()];
    let once = in_json(secret);
    // JSON is often told within JSON: a body that was sent as text, a record of it.
    let twice = once.iter().flat_map(|spelling| in_json(spelling));
    spellings.extend(twice);
    spellings.extend(once);
    // Within single quotes only these are escaped.
    spellings.push(secret.replace('\\', "\\\\").replace('\'', "\\'"));
    for stays in [is_unreserved, is_component, stays_in_query, stays_in_path] {
        for hex in [b"0123456789ABCDEF", b"0123456789abcdef"] {
            spellings.push(percent(secret, stays, hex));
        }
    }
    let form = percent(secret, is_unreserved, b"0123456789ABCDEF");
    spellings.push(form.replace("%20", "+"));
    spellings.push(markup(secret));
    for hex in [b"0123456789ABCDEF", b"0123456789abcdef"] {
        spellings.push(hexadecimal(secret, hex));
    }
    if secret.len() >= SHORTEST_CODED {
        // By itself, where its end shows; and in the middle of something, where it does not.
        spellings.extend([STANDARD.encode(secret), STANDARD_NO_PAD.encode(secret)]);
        spellings.extend((0..3).flat_map(|before| coded(secret, before)));
    }
    let mut seen = Vec::with_capacity(spellings.len());
    for spelling in spellings {
        if !seen.contains(&spelling) {
            seen.push(spelling);
        }
    }
    seen
}

/// What stays as it is wherever it stands.
fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}

/// What scripts of web pages leave as it is.
fn is_component(byte: u8) -> bool {
    is_unreserved(byte) || b"!*'()".contains(&byte)
}

/// What stays as it is in a query that nobody encoded.
fn stays_in_query(byte: u8) -> bool {
    byte.is_ascii_graphic() && !b"\"#<>'".contains(&byte)
}

/// What stays as it is in a path that nobody encoded.
fn stays_in_path(byte: u8) -> bool {
    byte.is_ascii_graphic() && !b"\"#<>?^`{}".contains(&byte)
}

fn percent(secret: &str, stays: fn(u8) -> bool, hex: &[u8; 16]) -> String {
    let mut text = String::with_capacity(secret.len());
    for byte in secret.bytes() {
        if stays(byte) {
            text.push(char::from(byte));
        } else {
            let (high, low) = (usize::from(byte >> 4), usize::from(byte & 15));
            text.extend(['%', char::from(hex[high]), char::from(hex[low])]);
        }
    }
    text
}

/// As it stands in HTML and XML.
fn markup(secret: &str) -> String {
    let escaped = secret.replace('&', "&amp;").replace('<', "&lt;");
    let escaped = escaped.replace('>', "&gt;").replace('"', "&quot;");
    escaped.replace('\'', "&#39;")
}

/// As it stands within a text of JSON, by the habits of those who write it.
fn in_json(secret: &str) -> Vec<String> {
    let escaped = serde_json::Value::from(secret).to_string();
    let escaped = escaped[1..escaped.len() - 1].to_owned();
    // Some write every slash like this.
    let slashes = escaped.replace('/', "\\/");
    // Some write what means something in markup by its number.
    let numbers = escaped.replace('&', "\\u0026").replace('<', "\\u003c");
    let numbers = numbers.replace('>', "\\u003e").replace('\'', "\\u0027");
    let quotes = numbers.replace("\\\"", "\\u0022");
    let mut written = vec![escaped, slashes, numbers, quotes];
    let plain: Vec<String> = written.iter().map(|text| ascii(text)).collect();
    written.extend(plain);
    written.sort();
    written.dedup();
    written
}

/// JSON of those who write nothing but ASCII.
fn ascii(escaped: &str) -> String {
    let mut text = String::with_capacity(escaped.len());
    for unit in escaped.encode_utf16() {
        match u8::try_from(unit) {
            Ok(byte) if byte.is_ascii() => text.push(char::from(byte)),
            _ => text.push_str(&format!("\\u{unit:04x}")),
        }
    }
    text
}

fn hexadecimal(secret: &str, digits: &[u8; 16]) -> String {
    let digit = |nibble: u8| char::from(digits[usize::from(nibble)]);
    let digits = secret
        .bytes()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]);
    digits.collect()
}

/// What is always the same of a secret in Base64 that so many bytes stand before, modulo
/// three; the letters at its ends that depend on what stands beside it are left out.
fn coded(secret: &str, before: usize) -> [String; 2] {
    let bytes = [&[0; 2][..before], secret.as_bytes()].concat();
    let (begin, end) = ((before * 8).div_ceil(6), bytes.len() * 8 / 6);
    let standard = STANDARD_NO_PAD.encode(&bytes);
    let for_addresses = URL_SAFE_NO_PAD.encode(&bytes);
    [standard, for_addresses].map(|text| text[begin..end].to_owned())
}
