//! What looks like a key, wherever it stands in a text.
//!
//! A [sieve] looks for what keys begin with or stand beside; only where it finds
//! something is the rest looked at, so that ordinary text costs one pass. A beginning alone
//! is not enough: each [rule](table) says how such a key goes on, and [`body`] tells
//! letters that were drawn by lot from words and from placeholders. Values the host knows
//! are [`Known`](super::known::Known)'s, and what is secret by its name alone
//! [`named`](super::named)'s.

mod address;
mod armour;
mod beside;
mod body;
mod discord;
mod sieve;
mod table;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

pub(super) use armour::{open_armour, rest_of_armour};
pub(super) use body::is_words;

use super::known::REDACTED;
use sieve::Sieve;
use table::{Begins, Rule, rules};

/// No rule looks further back or ahead than this, but for private keys: a rule that does
/// not apply costs no more, however often its beginning is repeated.
const FAR: usize = 4 << 10;

static SIEVE: LazyLock<Sieve> = LazyLock::new(|| Sieve::new(rules()));

/// The text without what looks like a key.
pub(super) fn replace(text: &str) -> Cow<'_, str> {
    let sieve = &*SIEVE;
    let (mut clean, mut told, mut from) = (String::new(), 0, 0);
    while let Some(at) = sieve.next(text.as_bytes(), from) {
        from = at + 1;
        let key = sieve.rules_at(text.as_bytes(), at).find_map(|rule| {
            let key = find(rule, text, at..at + rule.begins.len())?;
            (key.start >= told).then_some(key)
        });
        if let Some(key) = key {
            clean.push_str(&text[told..key.start]);
            clean.push_str(REDACTED);
            (told, from) = (key.end, key.end.max(from));
        }
    }
    if told == 0 {
        return Cow::Borrowed(text);
    }
    clean.push_str(&text[told..]);
    Cow::Owned(clean)
}

/// The key a rule means, where it applies to what was found.
fn find(rule: &Rule, text: &str, hit: Range<usize>) -> Option<Range<usize>> {
    match &rule.then {
        Begins::Key(body) => {
            let before = &text[..hit.start];
            if continues_word(before) || body.continues_after(before) {
                return None;
            }
            let end = hit.end + body.length_in(ahead(text, hit.end))?;
            Some(hit.start..end)
        }
        Begins::Armour => armour::find(text, hit),
        Begins::Token => beside::token(text, hit),
        Begins::Telegram => beside::telegram(text, hit),
        Begins::Discord => discord::find(text, hit.start),
        Begins::Path(body) => address::path(text, hit.end, body),
        Begins::Address => address::password(text, hit.end),
        Begins::Parameter => address::parameter(text, hit),
        Begins::Header => beside::header(text, hit),
        Begins::Cookie => beside::cookie(text, hit),
        Begins::Bearer => beside::bearer(text, hit),
        Begins::Basic => beside::basic(text, hit),
        Begins::Value(body) => beside::value(text, hit, body),
    }
}

/// What follows a place, as far as rules look.
fn ahead(text: &str, at: usize) -> &str {
    let rest = &text[at..];
    &rest[..rest.floor_char_boundary(FAR)]
}

/// Tells whether a text ends in the middle of a word, where no key begins.
fn continues_word(before: &str) -> bool {
    match before.as_bytes() {
        // A line break or a tab may be written as two letters, the second of which is
        // none of the word.
        [.., b'\\', b'n' | b'r' | b't'] => false,
        [.., last] => is_word(*last),
        [] => false,
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}
