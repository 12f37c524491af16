//! Secrets in addresses: the password before the host, parameters that let somebody in,
//! and ends that nobody is to know.

use std::ops::Range;

use super::ahead;
use super::beside::is_credential;
use super::body::{Body, is_lot};

/// How many letters of a parameter are looked at to judge it, and of its name.
const JUDGED: usize = 256;
/// Shorter values of parameters are no keys.
const SHORTEST: usize = 8;
/// How long a signature is that stands in no address.
const SIGNATURE: usize = 32;

/// Passwords that only show where one goes.
const EXAMPLES: [&str; 8] = [
    "pass", "password", "passwd", "pwd", "secret", "token", "username", "user",
];

/// The password of an address whose scheme ends here.
pub(super) fn password(text: &str, at: usize) -> Option<Range<usize>> {
    let rest = ahead(text, at);
    let user = rest.find(|c: char| c.is_whitespace() || "/:@\"'".contains(c))?;
    if !rest[user..].starts_with(':') {
        return None;
    }
    let begin = user + 1;
    let is_end = |c: char| c.is_whitespace() || "/\"'<>`".contains(c);
    let until = rest[begin..].find(is_end).unwrap_or(rest.len() - begin);
    // The last one: a password may hold the sign itself.
    let length = rest[begin..begin + until].rfind('@').filter(|it| *it > 0)?;
    let password = &rest[begin..begin + length];
    let is_template = password.starts_with(['$', '{', '[', '*', '(', '#'])
        || password.starts_with("%s")
        || password.starts_with("...")
        || password.contains("${")
        || password.contains("&lt;");
    let is_example = EXAMPLES.iter().any(|it| password.eq_ignore_ascii_case(it));
    (!is_template && !is_example).then_some(at + begin..at + begin + length)
}

/// The value of a parameter of which this is the end of the name, and the sign.
pub(super) fn parameter(text: &str, hit: Range<usize>) -> Option<Range<usize>> {
    let before = &text.as_bytes()[..hit.start];
    let name = before.iter().rev().take(JUDGED);
    let name = name.take_while(|it| it.is_ascii_alphanumeric() || b"_-.".contains(it));
    let sign = before.iter().rev().nth(name.count());
    let is_parameter = matches!(sign, Some(b'?' | b'&' | b';' | b'#'));
    let is_of_value = |c: char| c.is_ascii_alphanumeric() || "%._~+/=-".contains(c);
    let run = |text: &str| text.find(|c| !is_of_value(c)).unwrap_or(text.len());
    let rest = &text[hit.end..];
    let judged = &rest[..rest.floor_char_boundary(JUDGED)];
    let judged = &judged[..run(judged)];
    let is_signature = text[hit.clone()].to_ascii_lowercase().starts_with("sig");
    let is_secret = match is_parameter {
        true => judged.len() >= SHORTEST && is_credential(judged),
        false => is_signature && judged.len() >= SIGNATURE && is_lot(judged),
    };
    is_secret.then(|| hit.end..hit.end + run(rest))
}

/// The end of an address that begins here.
pub(super) fn path(text: &str, at: usize, body: &Body) -> Option<Range<usize>> {
    let length = body.length_in(ahead(text, at))?;
    Some(at..at + length)
}
