//! How much room a JSON text takes once it is read.
//!
//! A few bytes of text become hundreds in memory: an object of one field takes six of
//! the one and four hundred of the other. What would take too much is refused before it
//! is read, since afterwards the room is gone.

/// How much room one answer may take. A template sees a copy of it, and both together
/// stay below what a call may use.
pub(crate) const MAX_WEIGHT: usize = 128 << 20;

/// An object with room for its first fields.
const OBJECT: usize = 420;

/// A list with room for its first entries.
const LIST: usize = 300;

/// A field or an entry more, and the room left for the next ones.
const ENTRY: usize = 150;

/// One of the two ends of a text, however short the text is.
const QUOTE: usize = 16;

/// About how many bytes the value of a JSON text takes. What is no JSON weighs something
/// too, and is refused by whoever reads it.
pub(crate) fn of_json(text: &str) -> usize {
    let mut weight = text.len();
    let (mut in_text, mut is_escaped) = (false, false);
    for byte in text.bytes() {
        if is_escaped {
            is_escaped = false;
            continue;
        }
        weight += match byte {
            b'\\' if in_text => {
                is_escaped = true;
                0
            }
            b'"' => {
                in_text = !in_text;
                QUOTE
            }
            _ if in_text => 0,
            b'{' => OBJECT,
            b'[' => LIST,
            b',' => ENTRY,
            _ => 0,
        };
    }
    weight
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_stands_outside_of_texts_weighs() {
        for (text, expected) in [
            ("", 0),
            ("1", 1),
            ("[1,2]", 5 + LIST + ENTRY),
            ("{\"a\":1}", 7 + OBJECT + 2 * QUOTE),
            ("\"[{,\\\"[\\\\\"", 10 + 2 * QUOTE),
        ] {
            assert_eq!(of_json(text), expected, "{text}");
        }
    }
}
