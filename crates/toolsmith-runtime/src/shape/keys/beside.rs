//! Secrets that are told by what stands beside them: headers, schemes of authorization,
//! cookies, names of settings. Tokens whose parts tell them are here too.

use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use super::body::{Body, Letters, is_lot, is_placeholder, is_words};
use super::{ahead, continues_word, is_word};

/// How much of a value is looked at to judge it: the rest goes with it.
const JUDGED: usize = 128;
/// Shorter values are no keys.
const SHORTEST: usize = 8;
/// How many spaces may stand beside a sign.
const SPACES: usize = 16;
/// Shorter values of cookies open nothing.
const SHORTEST_COOKIE: usize = 12;

/// A signed token: three parts, of which two are objects; or an encrypted one of five.
pub(super) fn token(text: &str, hit: Range<usize>) -> Option<Range<usize>> {
    let before = &text[..hit.start];
    if &text[hit.clone()] != "eyJ" || continues_word(before) || before.ends_with('-') {
        return None;
    }
    let rest = &text[hit.start..];
    let (mut end, mut parts, mut objects) = (0, 0, 0);
    while parts < 5 {
        let begin = if parts == 0 { 0 } else { end + 1 };
        let run = rest[begin..]
            .bytes()
            .take_while(|it| Letters::Slug.has(*it));
        let length = run.count();
        if length < SHORTEST && (parts != 1 || length > 0) {
            break;
        }
        objects += usize::from(rest[begin..].starts_with("eyJ"));
        (end, parts) = (begin + length, parts + 1);
        if rest.as_bytes().get(end) != Some(&b'.') {
            break;
        }
    }
    // Two objects are one, even where the rest was cut.
    let is_token = parts == 5 || objects >= 2;
    is_token.then_some(hit.start..hit.start + end)
}

/// A number, a colon and the rest, as Telegram's bots have it.
pub(super) fn telegram(text: &str, hit: Range<usize>) -> Option<Range<usize>> {
    let before = &text.as_bytes()[..hit.start];
    let digits = before.iter().rev().take(12);
    let digits = digits.take_while(|it| it.is_ascii_digit()).count();
    let begin = hit.start - digits;
    let body = ahead(text, hit.start + 1);
    let length = body.bytes().take_while(|it| Letters::Slug.has(*it)).count();
    let is_number = (8..=11).contains(&digits);
    // In an address the number follows the word `bot`.
    let is_begun = !continues_word(&text[..begin]) || text[..begin].ends_with("bot");
    let fits = is_number && is_begun && body.starts_with("AA") && (30..=40).contains(&length);
    (fits && is_lot(&body[..length])).then_some(begin..hit.start + 1 + length)
}

/// The value of a header, without its scheme.
pub(super) fn header(text: &str, hit: Range<usize>) -> Option<Range<usize>> {
    let begin = after_sign(text, hit.end)?;
    let word = judged(text, begin, is_of_header);
    let mut rest = Rest { text, at: begin };
    rest.at += word.len();
    let spaces = rest.skip(|c| c == ' ' || c == '\t', SPACES);
    let is_scheme = spaces > 0
        && word.starts_with(|c: char| c.is_ascii_alphabetic())
        && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    // What looks like a scheme may be the value, and what follows no part of it.
    let value = if is_scheme { rest.at } else { begin };
    let is_secret = |at: &usize| is_credential(judged(text, *at, is_of_header));
    let value = [value, begin].into_iter().find(is_secret)?;
    Some(whole(text, value, is_of_header))
}

/// What follows the word `bearer`.
pub(super) fn bearer(text: &str, hit: Range<usize>) -> Option<Range<usize>> {
    let value = after_word(text, &hit)?;
    let is_secret = is_credential(judged(text, value, is_of_token));
    is_secret.then(|| whole(text, value, is_of_token))
}

/// What follows the word `basic`: a name, a colon and a password in Base64.
pub(super) fn basic(text: &str, hit: Range<usize>) -> Option<Range<usize>> {
    let value = after_word(text, &hit)?;
    // Four letters are three bytes; so much of it tells whether there is a name.
    let coded = judged(text, value, is_of_token).trim_end_matches('=');
    let plain = STANDARD_NO_PAD.decode(coded).ok()?;
    let is_name = plain.iter().all(|byte| *byte >= b' ') && plain.contains(&b':');
    let is_secret = is_name && coded.len() >= SHORTEST;
    is_secret.then(|| whole(text, value, is_of_token))
}

/// Whatever a header of cookies holds, where one of them looks like a key.
pub(super) fn cookie(text: &str, hit: Range<usize>) -> Option<Range<usize>> {
    let begin = after_sign(text, hit.end)?;
    let is_secret = judged(text, begin, is_of_cookies).split(';').any(|cookie| {
        let (name, value) = cookie.trim().split_once('=').unwrap_or_default();
        let is_name = !name.is_empty() && name.bytes().all(|it| is_word(it) || b"-.".contains(&it));
        let is_value = value.bytes().all(|it| it.is_ascii_graphic());
        is_name && is_value && value.len() >= SHORTEST_COOKIE && is_lot_or_signed(value)
    });
    is_secret.then(|| whole(text, begin, is_of_cookies))
}

/// The value beside a name.
pub(super) fn value(text: &str, hit: Range<usize>, body: &Body) -> Option<Range<usize>> {
    let begin = after_sign(text, hit.end)?;
    let length = body.length_in(ahead(text, begin))?;
    Some(begin..begin + length)
}

/// Tells whether a value that stands where a key belongs is one, and not a word, an
/// expression of a program or a placeholder.
pub(super) fn is_credential(value: &str) -> bool {
    let judged = &value[..value.floor_char_boundary(JUDGED)];
    let is_expression = judged.contains(['(', ')', '{', '}', '[', ']', '*'])
        || judged.starts_with(['$', '<', '%', '#', '&', '@', ':', '/', '!'])
        || judged.contains("://")
        || judged.contains("::")
        || judged.contains("...");
    let has_digit = judged.bytes().any(|it| it.is_ascii_digit());
    let has_letter = judged.bytes().any(|it| it.is_ascii_alphabetic());
    judged.len() >= SHORTEST
        && has_letter
        && !is_expression
        && (has_digit || !is_words(judged))
        && !is_placeholder(judged)
}

fn is_lot_or_signed(value: &str) -> bool {
    value.split(['.', '%', '|', ':', '&']).any(|part| {
        let has_digit = part.bytes().any(|it| it.is_ascii_digit());
        is_lot(part) || part.len() >= SHORTEST_COOKIE && has_digit && !is_words(part)
    })
}

/// Where a value begins whose name ends here: behind a sign that joins them, however the
/// two are quoted.
fn after_sign(text: &str, at: usize) -> Option<usize> {
    let mut rest = Rest { text, at };
    rest.skip(|c| c == '\\', 4);
    let is_quoted = rest.skip(|c| matches!(c, '"' | '\'' | '`'), 1) > 0;
    rest.skip(|c| c == ']', 1);
    rest.skip(|c| c == ' ' || c == '\t', SPACES);
    let has_sign = rest.skip(|c| c == ':' || c == '=', 2) > 0;
    if has_sign {
        rest.skip(|c| c == '>', 1);
    } else if rest.skip(|c| c == ',', 1) == 0 {
        return None;
    }
    rest.skip(|c| c == ' ' || c == '\t', SPACES);
    rest.skip(|c| c == '\\', 4);
    let value_is_quoted = rest.skip(|c| matches!(c, '"' | '\'' | '`'), 1) > 0;
    // A comma joins them only where both are texts of a list, or of a call.
    (has_sign || is_quoted && value_is_quoted).then_some(rest.at)
}

/// Where the value begins of a scheme that ends here.
fn after_word(text: &str, hit: &Range<usize>) -> Option<usize> {
    if continues_word(&text[..hit.start]) {
        return None;
    }
    let mut rest = Rest { text, at: hit.end };
    rest.skip(|c| c == ':', 1);
    let spaces = rest.skip(|c| c == ' ' || c == '\t', SPACES);
    (spaces > 0).then_some(rest.at)
}

/// The rest of a text, from some place on.
struct Rest<'t> {
    text: &'t str,
    at: usize,
}

impl Rest<'_> {
    /// Skips such characters, and tells how many there were.
    fn skip(&mut self, is: fn(char) -> bool, most: usize) -> usize {
        let rest = self.text[self.at..].bytes().take(most);
        let skipped = rest.take_while(|it| is(char::from(*it))).count();
        self.at += skipped;
        skipped
    }
}

/// What cookies are written in, and what separates them.
fn is_of_cookies(c: char) -> bool {
    c == ' ' || c == ';' || is_of_header(c)
}

/// What values of headers are written in, for as much as is one.
fn is_of_header(c: char) -> bool {
    !c.is_whitespace() && !matches!(c, '"' | '\'' | '\\' | ',' | ';' | '<' | '>' | '`')
}

fn is_of_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || "._~+/=-!:|".contains(c)
}

/// As much of a value that begins here as is looked at.
fn judged(text: &str, at: usize, is: fn(char) -> bool) -> &str {
    let near = &text[at..];
    let near = &near[..near.floor_char_boundary(JUDGED)];
    &near[..near.find(|c| !is(c)).unwrap_or(near.len())]
}

/// The whole of it.
fn whole(text: &str, at: usize, is: fn(char) -> bool) -> Range<usize> {
    let rest = &text[at..];
    at..at + rest.find(|c| !is(c)).unwrap_or(rest.len())
}
