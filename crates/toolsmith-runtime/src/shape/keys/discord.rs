//! Tokens of Discord's bots. They have no beginning of their own, but start with a number
//! in Base64, which few letters can stand for.

use std::ops::Range;

use super::body::{Letters, is_lot};
use super::{ahead, continues_word};

/// How numbers that begin with a one go in Base64: those of the last years, and of the
/// years to come. Others are told by what stands beside them, since words begin like
/// they do.
pub(super) const BEGINNINGS: [&str; 10] = [
    "MTA", "MTE", "MTI", "MTM", "MTQ", "MTU", "MTY", "MTc", "MTg", "MTk",
];

/// Tells whether a letter can follow such a beginning: one that ends a third digit.
pub(super) fn can_follow(letter: u8) -> bool {
    matches!(letter, b'w'..=b'z' | b'0'..=b'5')
}

/// A number in Base64, six letters of a time, and a signature.
pub(super) fn find(text: &str, at: usize) -> Option<Range<usize>> {
    if continues_word(&text[..at]) || text[..at].ends_with(['-', '.']) {
        return None;
    }
    let rest = ahead(text, at);
    let mut parts = [0; 3];
    let mut from = 0;
    for (nth, length) in parts.iter_mut().enumerate() {
        let run = rest[from..].bytes().take_while(|it| Letters::Slug.has(*it));
        *length = run.count();
        let fits = match nth {
            0 => (23..=28).contains(length),
            1 => *length == 6,
            _ => (27..=42).contains(length),
        };
        if !fits || nth < 2 && rest.as_bytes().get(from + *length) != Some(&b'.') {
            return None;
        }
        from += *length + 1;
    }
    let end = from - 1;
    is_lot(&rest[..end]).then_some(at..at + end)
}
