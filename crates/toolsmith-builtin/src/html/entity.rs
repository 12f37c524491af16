//! Character references: `&amp;`, `&#38;`, `&#x26;`, and the old names without a semicolon.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::OnceLock;

use encoding_rs::WINDOWS_1252;

/// The longest name, and the longest that counts without its semicolon.
const LONGEST: usize = 33;
const LONGEST_BARE: usize = 6;

/// Where a text stands. In an attribute `&copy=1` is part of an address, not a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Within {
    Text,
    Attribute,
}

/// The text with its references replaced by what they stand for.
pub(super) fn decode(text: &str, within: Within) -> Cow<'_, str> {
    let Some(first) = text.find('&') else {
        return Cow::Borrowed(text);
    };
    let mut decoded = String::with_capacity(text.len());
    decoded.push_str(&text[..first]);
    let mut rest = &text[first..];
    while let Some(after) = rest.strip_prefix('&') {
        let length = match after.strip_prefix('#') {
            Some(number) => numeric(number, &mut decoded).map(|length| length + 1),
            None => named(after, within, &mut decoded),
        };
        match length {
            Some(length) => rest = &after[length..],
            None => {
                decoded.push('&');
                rest = after;
            }
        }
        let next = rest.find('&').unwrap_or(rest.len());
        decoded.push_str(&rest[..next]);
        rest = &rest[next..];
    }
    Cow::Owned(decoded)
}

/// Reads what follows `&#`, and returns how long it is.
fn numeric(text: &str, decoded: &mut String) -> Option<usize> {
    let (digits, radix, before) = match text.strip_prefix(['x', 'X']) {
        Some(digits) => (digits, 16, 1),
        None => (text, 10, 0),
    };
    let length = digits
        .find(|c: char| !c.is_digit(radix))
        .unwrap_or(digits.len());
    if length == 0 {
        return None;
    }
    let mut number: u32 = 0;
    for digit in digits[..length].chars().filter_map(|c| c.to_digit(radix)) {
        number = number.saturating_mul(radix).saturating_add(digit);
    }
    decoded.push(character(number));
    let has_end = digits[length..].starts_with(';');
    Some(before + length + usize::from(has_end))
}

/// What a number means. Pages write those of Windows' own table between 128 and 159.
fn character(number: u32) -> char {
    if let Ok(byte @ 0x80..=0x9f) = u8::try_from(number) {
        let (text, _) = WINDOWS_1252.decode_without_bom_handling(std::slice::from_ref(&byte));
        return text.chars().next().unwrap_or(char::REPLACEMENT_CHARACTER);
    }
    match number {
        0 => char::REPLACEMENT_CHARACTER,
        _ => char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER),
    }
}

/// Reads what follows `&` as a name, and returns how long it is.
fn named(text: &str, within: Within, decoded: &mut String) -> Option<usize> {
    let bytes = text.as_bytes();
    let run = bytes.iter().take(LONGEST);
    let run = run.take_while(|byte| byte.is_ascii_alphanumeric()).count();
    if bytes.get(run) == Some(&b';')
        && let Some(found) = names().get(&text[..=run])
    {
        decoded.push_str(found);
        return Some(run + 1);
    }
    let (length, found) = (2..=run.min(LONGEST_BARE))
        .rev()
        .find_map(|length| Some((length, names().get(&text[..length])?)))?;
    let next = bytes.get(length);
    let is_address = next.is_some_and(|next| next.is_ascii_alphanumeric() || *next == b'=');
    if within == Within::Attribute && is_address {
        return None;
    }
    decoded.push_str(found);
    Some(length)
}

/// What each name stands for, the names without their `&`.
fn names() -> &'static HashMap<&'static str, &'static str> {
    static NAMES: OnceLock<HashMap<&str, &str>> = OnceLock::new();
    NAMES.get_or_init(|| {
        let all = entities::ENTITIES.iter();
        all.map(|entity| (entity.entity.trim_start_matches('&'), entity.characters))
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_replaced() {
        for (written, meant) in [
            ("a & b", "a & b"),
            ("&amp;&lt;&gt;&quot;&#39;", "&<>\"'"),
            ("&amp;lt;", "&lt;"),
            ("&ampx &copy 2020", "&x \u{a9} 2020"),
            ("&notin; &notit;", "\u{2209} \u{ac}it;"),
            ("&#x41;&#65;&#65", "AAA"),
            (
                "&#150;&#0;&#xD800;&#99999999999;",
                "\u{2013}\u{fffd}\u{fffd}\u{fffd}",
            ),
            ("&nosuchname; &; &# &#x;", "&nosuchname; &; &# &#x;"),
            ("&", "&"),
            ("&é;", "&é;"),
        ] {
            assert_eq!(decode(written, Within::Text), meant, "{written}");
        }
    }

    #[test]
    fn addresses_keep_their_parameters() {
        for (written, meant) in [
            ("/?a=1&copy=2&amp;b", "/?a=1&copy=2&b"),
            ("/?a=1&lt;", "/?a=1<"),
            ("/?a&copy", "/?a\u{a9}"),
        ] {
            assert_eq!(decode(written, Within::Attribute), meant, "{written}");
        }
    }
}
