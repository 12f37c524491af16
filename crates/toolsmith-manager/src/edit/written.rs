//! How new values are written.

use serde_json::Value;

/// How much deeper what stands in a mapping is written than the mapping.
pub(super) const STEP: usize = 2;

/// A text as a scalar of YAML: plain where nobody could take it for anything else, quoted
/// otherwise.
pub fn scalar(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    let begins = |c: char| c.is_ascii_alphabetic() || c == '_';
    let is_word = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"]
        .iter()
        .any(|word| text.eq_ignore_ascii_case(word));
    if text.starts_with(begins) && text.chars().all(is_plain) && !is_word {
        text.to_owned()
    } else {
        // JSON's strings are YAML's.
        Value::from(text).to_string()
    }
}

/// A key and its value as lines, without an indent.
pub(super) fn entry(key: &str, value: &str) -> String {
    let key = scalar(key);
    let value = value.trim_end();
    if value.trim().is_empty() {
        format!("{key}:")
    } else if is_block(value) {
        format!("{key}:\n{}", indented(value, STEP))
    } else {
        let (first, rest) = value
            .trim_start()
            .split_once('\n')
            .unwrap_or((value.trim_start(), ""));
        match rest {
            "" => format!("{key}: {first}"),
            rest => format!("{key}: {first}\n{}", indented(rest, STEP)),
        }
    }
}

/// A value under keys, one in the other.
pub(super) fn nested(path: &[&str], value: &str) -> String {
    let deeper = path.iter().rev();
    deeper.fold(value.to_owned(), |value, key| entry(key, &value))
}

/// Lines with an indent; empty ones stay empty.
pub(super) fn indented(lines: &str, columns: usize) -> String {
    let indent = " ".repeat(columns);
    let indented = lines.lines().map(|line| match line.trim() {
        "" => String::new(),
        _ => format!("{indent}{line}"),
    });
    indented.collect::<Vec<_>>().join("\n")
}

/// Tells whether a value must begin on a line of its own: a list or a mapping in lines,
/// or anything with a comment before it.
fn is_block(value: &str) -> bool {
    use serde_saphyr::granit_parser::{Scanner, StrInput, TokenType};

    if value.trim_start().starts_with('#') {
        return true;
    }
    let is_block = |token: &TokenType<'_>| {
        matches!(
            token,
            TokenType::BlockMappingStart | TokenType::BlockSequenceStart | TokenType::BlockEntry
        )
    };
    let first = Scanner::new(StrInput::new(value)).take(2);
    first.flatten().any(|token| is_block(token.token_type()))
}
