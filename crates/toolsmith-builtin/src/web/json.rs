//! JSON as it was written: indented piece by piece, and weighed before it becomes a value.
//!
//! A value takes many times the memory of its text, keeps one of two equal keys and rounds
//! long numbers. What is only shown is therefore never made into one.

use std::io;

use serde::de::IgnoredAny;
use serde_json::Value;

/// The longest text that is indented, and how deep; the rest stays on one line.
const LONGEST_INDENTED: usize = 256 << 10;
const DEEPEST_INDENTED: usize = 32;

/// How deep a value is at most: what holds it lies in an outcome, which is bounded too.
const DEEPEST_VALUE: usize = 64;

/// How much memory a value takes at most, roughly.
const HEAVIEST_VALUE: usize = 48 << 20;

/// What a value, a list and an object take by themselves, with the room they keep free.
const VALUE: usize = 110;
const LIST: usize = 290;
const OBJECT: usize = 520;

/// A value that was read, and whether numbers in it lost digits.
#[derive(Debug)]
pub(crate) struct ReadJson {
    pub(crate) value: Value,
    pub(crate) is_rounded: bool,
}

/// Tells whether a text is JSON, however deep, with little memory.
pub(super) fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// Reads a value, or tells why the text is not made into one.
pub(crate) fn read(text: &str) -> Result<ReadJson, String> {
    let (mut depth, mut deepest, mut weight) = (0_usize, 0, 0_usize);
    let mut is_rounded = false;
    for piece in Pieces(text) {
        weight += match piece.as_bytes().first() {
            Some(b'{' | b'[') => {
                depth += 1;
                deepest = deepest.max(depth);
                VALUE + if piece == "{" { OBJECT } else { LIST }
            }
            Some(b'}' | b']') => {
                depth = depth.saturating_sub(1);
                0
            }
            Some(b',' | b':') => 0,
            Some(b'"') => VALUE + piece.len(),
            _ => {
                is_rounded |= loses_digits(piece);
                VALUE
            }
        };
    }
    if deepest > DEEPEST_VALUE {
        return Err(format!(
            "The JSON is nested deeper than {DEEPEST_VALUE} levels, so it comes as text."
        ));
    }
    if weight > HEAVIEST_VALUE {
        return Err("The JSON has too many parts to be a value, so it comes as text.".to_owned());
    }
    match serde_json::from_str(text) {
        Ok(value) => Ok(ReadJson { value, is_rounded }),
        Err(error) => Err(format!(
            "The JSON cannot be read as a value, so it comes as text: {error}."
        )),
    }
}

/// The text on lines of its own, every number and key as it was written.
pub(crate) fn indented(text: &str) -> String {
    let is_short = text.len() <= LONGEST_INDENTED;
    let mut written = String::with_capacity(text.len());
    let mut depth = 0_usize;
    let line = |written: &mut String, within: usize, depth: usize| {
        if is_short && within <= DEEPEST_INDENTED {
            written.push('\n');
            written.extend(std::iter::repeat_n("  ", depth));
        }
    };
    let mut pieces = Pieces(text).peekable();
    while let Some(piece) = pieces.next() {
        match piece {
            "{" | "[" => {
                written.push_str(piece);
                if let Some(end) = pieces.next_if(|next| matches!(*next, "}" | "]")) {
                    written.push_str(end);
                    continue;
                }
                depth += 1;
                line(&mut written, depth, depth);
            }
            "}" | "]" => {
                line(&mut written, depth, depth.saturating_sub(1));
                depth = depth.saturating_sub(1);
                written.push_str(piece);
            }
            "," => {
                written.push(',');
                line(&mut written, depth, depth);
            }
            ":" if is_short && depth <= DEEPEST_INDENTED => written.push_str(": "),
            _ => written.push_str(piece),
        }
    }
    written
}

/// A value on lines of its own, and whether it goes on after `limit` bytes.
pub(crate) fn pretty_within(value: &Value, limit: usize) -> (String, bool) {
    let mut bounded = Bounded::new(limit);
    let is_cut = serde_json::to_writer_pretty(&mut bounded, value).is_err();
    (bounded.into_text(is_cut), is_cut)
}

/// What is told of a value that takes more than `limit` bytes as JSON: the beginning of its
/// text, which takes no more than that as JSON in turn. None where the value itself fits.
pub(crate) fn beginning(value: &Value, limit: usize) -> Option<String> {
    let mut bounded = Bounded::new(limit);
    serde_json::to_writer(&mut bounded, value).err()?;
    let text = match value {
        Value::String(text) => text.clone(),
        _ => bounded.into_text(true),
    };
    // Without the quotes around it.
    let mut room = limit.saturating_sub(2);
    let does_not_fit = |(_, sign): &(usize, char)| {
        let left = room.checked_sub(escaped_length(*sign));
        room = left.unwrap_or(0);
        left.is_none()
    };
    let end = text.char_indices().find(does_not_fit);
    let end = end.map_or(text.len(), |(at, _)| at);
    Some(text[..end].to_owned())
}

/// How many bytes a character takes within a text of JSON.
fn escaped_length(sign: char) -> usize {
    match sign {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..='\u{1f}' => 6,
        _ => sign.len_utf8(),
    }
}

/// Takes so many bytes, and no more.
struct Bounded {
    bytes: Vec<u8>,
    limit: usize,
}

impl Bounded {
    fn new(limit: usize) -> Self {
        let bytes = Vec::new();
        Self { bytes, limit }
    }

    /// What was taken, without a character that was cut in two.
    fn into_text(self, is_cut: bool) -> String {
        let text = String::from_utf8_lossy(&self.bytes);
        match is_cut {
            true => text.trim_end_matches('\u{fffd}').to_owned(),
            false => text.into_owned(),
        }
    }
}

impl io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = self.limit - self.bytes.len();
        let taken = bytes.len().min(room);
        self.bytes.extend_from_slice(&bytes[..taken]);
        match taken == 0 && !bytes.is_empty() {
            true => Err(io::Error::other("there is no more room")),
            false => Ok(taken),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The pieces of a text that is JSON: signs, texts with their quotes, numbers and words.
struct Pieces<'t>(&'t str);

impl<'t> Iterator for Pieces<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        let rest = self.0.trim_ascii_start();
        let bytes = rest.as_bytes();
        let end = match bytes.first()? {
            b'{' | b'}' | b'[' | b']' | b',' | b':' => 1,
            b'"' => end_of_text(bytes),
            _ => {
                let is_end = |byte: &u8| b",:]} \t\r\n".contains(byte);
                bytes.iter().position(is_end).unwrap_or(bytes.len())
            }
        };
        let (piece, after) = rest.split_at_checked(end.max(1))?;
        self.0 = after;
        Some(piece)
    }
}

/// Where a text in quotes ends, its quote included.
fn end_of_text(bytes: &[u8]) -> usize {
    let mut at = 1;
    while let Some(byte) = bytes.get(at) {
        at += match byte {
            b'"' => return at + 1,
            b'\\' => 2,
            _ => 1,
        };
    }
    bytes.len()
}

/// Whether a number of a value has fewer digits than were written.
fn loses_digits(number: &str) -> bool {
    let is_whole = !number.contains(['.', 'e', 'E']);
    if is_whole && (number.parse::<i64>().is_ok() || number.parse::<u64>().is_ok()) {
        return false;
    }
    match number.parse::<f64>() {
        Ok(read) => significant(number) != significant(&format!("{read:e}")),
        // A word is no number.
        Err(_) => false,
    }
}

/// The digits that count, without the zeros around them.
fn significant(number: &str) -> String {
    let mantissa = number.split(['e', 'E']).next().unwrap_or_default();
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    digits.trim_matches('0').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_is_what_was_written() {
        for (text, lines) in [
            ("1", "1"),
            (" [ ] ", "[]"),
            ("{\"a\":{}}", "{\n  \"a\": {}\n}"),
            (
                "[12345678901234567890123,1.10,\"a\\\"]\\\\\"]",
                "[\n  12345678901234567890123,\n  1.10,\n  \"a\\\"]\\\\\"\n]",
            ),
            ("{\"a\":1,\"a\":2}", "{\n  \"a\": 1,\n  \"a\": 2\n}"),
        ] {
            assert!(is_json(text), "{text}");
            assert_eq!(indented(text), lines);
        }
        let deep = format!("{}0{}", "[".repeat(1000), "]".repeat(1000));
        assert!(is_json(&deep));
        let written = indented(&deep);
        assert!(
            written.len() < deep.len() + 2 * 33 * 34,
            "{}",
            written.len()
        );
        assert_eq!(written.lines().count(), 2 * DEEPEST_INDENTED + 1);
        let long = format!("[{}0]", "0,".repeat(LONGEST_INDENTED));
        assert_eq!(indented(&long), long);
    }

    #[test]
    fn values_are_bounded_and_rounding_is_noticed() {
        let deep = format!("{}0{}", "[".repeat(65), "]".repeat(65));
        assert!(read(&deep).unwrap_err().contains("deeper than 64"));
        let heavy = format!("[{}[0]]", "[0],".repeat(400_000));
        assert!(read(&heavy).unwrap_err().contains("too many parts"));
        for (text, is_rounded) in [
            ("9007199254740993", false),
            ("18446744073709551615", false),
            ("18446744073709551616", true),
            ("-9223372036854775808", false),
            ("0.1", false),
            ("1.50", false),
            ("1e10", false),
            ("100000000000000000000000", false),
            ("0.12345678901234567890", true),
            ("3.141592653589793", false),
            ("{\"1e5\":true}", false),
        ] {
            assert_eq!(read(text).unwrap().is_rounded, is_rounded, "{text}");
        }
    }

    #[test]
    fn what_is_written_is_bounded() {
        let value = serde_json::json!(["ä".repeat(10)]);
        let (text, is_cut) = pretty_within(&value, 8);
        assert_eq!((text.as_str(), is_cut), ("[\n  \"ä", true));
        assert!(!pretty_within(&value, 100).1);
    }
}
