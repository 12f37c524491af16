//! What is secret by its name alone, whatever it looks like: for logs and records, where
//! nobody misses a value that was none. Replies are not judged by names, since models read
//! programs, and programs have such names everywhere.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::keys::is_words;
use super::known::REDACTED;
use super::redact::chain;

/// Names under which a value is secret whatever it looks like.
const NAMES: &str = "(?i-u:password|passwd|passphrase|secret|api_?-?key|access_?-?key|private_?-?key\
     |token|authorization|cookie|credential)";

/// How much of a name before its telling end is looked at.
const LONGEST_NAME: usize = 64;

/// Names that only sound like it: what models count, what reads text, and what is said of
/// a secret beside its value.
const OTHERS: &str = "(?i-u:tokens_?(?:used|limit|total|count|per)\
     |(?:max|min|num|total|input|output|prompt|completion|reasoning|cached|thinking|budget)\
     [a-z_]*tokens?|token_?(?:count|type|limit|budget|usage|ize|ise)|public_?key|secretary\
     |cookiecutter|(?:progress|page|cancellation|continuation)_?token|(?:endpoint|url|uri|path|file|type|hint|index|idx|length|size)s?\\b)";

static SECRET: LazyLock<Regex> = LazyLock::new(|| pattern(NAMES));

static NO_SECRET: LazyLock<Regex> = LazyLock::new(|| pattern(OTHERS));

/// Values under such names in JSON, and in JSON written into a JSON string.
static IN_JSON: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&format!(
        r#"(?x)
        (?P<keep>"[^"]*{NAMES}[^"]*"\s*:\s*)
        (?: "(?:[^"\\]|\\.)*(?:"|\z) | -?[0-9][0-9.eE+-]*
          | \[[^\]]*(?:\]|\z) | \{{[^}}]*(?:\}}|\z) )
      | (?P<inner>\\"[^"\\]*{NAMES}[^"\\]*\\"\s*:\s*) \\"[^"]*(?:"|\z)
    "#
    ))
});

/// Values that are assigned to such names in settings, scripts and commands.
static ASSIGNED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&format!(
        r#"(?x)
        (?P<name>{NAMES}[A-Za-z0-9_-]*)
        (?P<sign> [\ \t]* (?: := | => | [:=] ) [\ \t]* )
        (?: \\?"(?P<double>[^"\\\n]*) | \\?'(?P<single>[^'\\\n]*) | (?P<plain>[^\s"'`\\,;&|<>(){{}}\[\]]+) (?P<next>[\ \t]*[^\s"'`\\&|;]?) )
    "#
    ))
});

/// Values that follow such an option of a command.
static OPTION: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&format!(
        r#"(?x) (?P<keep>--[A-Za-z0-9-]*{NAMES}[A-Za-z0-9-]*[\ \t]+) (?P<value>[^\s"'`\\]+)"#
    ))
});

/// What authorizes, behind its scheme, even where it is a word.
static AUTHORIZED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"(?x)
        (?P<keep> (?i-u:authorization)\\*["']?\s*[:=]\s*\\*["']? [A-Za-z][A-Za-z0-9-]*[\ \t]+ )
        [^\s"'\\,;<>(){}\[\]$]{6,}
    "#,
    )
});

/// Tells whether what stands under this name is secret whatever it looks like.
pub(super) fn is_secret_name(name: &str) -> bool {
    SECRET.is_match(name) && !NO_SECRET.is_match(name)
}

/// The text without values under telling names.
pub(super) fn replace(text: &str) -> Cow<'_, str> {
    if !SECRET.is_match(text) {
        return Cow::Borrowed(text);
    }
    let text = IN_JSON.replace_all(text, in_json);
    let text = chain(text, |text| {
        ASSIGNED.replace_all(text, |found: &Captures<'_>| assigned(text, found))
    });
    // What most texts do not hold is found out faster than it is looked at.
    let text = chain(text, |text| match text.contains("--") {
        true => OPTION.replace_all(text, option),
        false => Cow::Borrowed(text),
    });
    let is_there = |text: &str| text.contains("uthorization") || text.contains("UTHORIZATION");
    chain(text, |text| match is_there(text) {
        true => AUTHORIZED.replace_all(text, authorized),
        false => Cow::Borrowed(text),
    })
}

fn in_json(found: &Captures<'_>) -> String {
    let (keep, quote) = match (found.name("keep"), found.name("inner")) {
        (Some(keep), _) => (keep.as_str(), "\""),
        (_, inner) => (inner.map_or("", |inner| inner.as_str()), "\\\""),
    };
    let value = &found[0][keep.len()..];
    // A list or an object may hold secrets of its own.
    let is_other = !value.starts_with(['[', '{']) && NO_SECRET.is_match(keep);
    if is_other || value == "\"\"" {
        return found[0].to_owned();
    }
    format!("{keep}{quote}{REDACTED}{quote}")
}

fn assigned(text: &str, found: &Captures<'_>) -> String {
    let begins = found.get(0).map_or(0, |whole| whole.start());
    // What is looked for is the end of a name; the rest of it stands before.
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
    let near = &text[text.floor_char_boundary(begins.saturating_sub(LONGEST_NAME))..begins];
    let front = near.trim_end_matches(is_of_name).len();
    let part = |name: &str| found.name(name).map(|part| part.as_str());
    let name = format!("{}{}", &near[front..], part("name").unwrap_or_default());
    let sign = part("sign").unwrap_or_default();
    let quoted = part("double").or(part("single"));
    let is_secret = match (quoted, part("plain")) {
        _ if NO_SECRET.is_match(&name) => false,
        (Some(value), _) => is_literal(&name, value),
        (_, Some(value)) => is_plain_secret(&name, sign, value, part("next").unwrap_or_default()),
        _ => false,
    };
    if !is_secret {
        return found[0].to_owned();
    }
    let value = found.name("double").or(found.name("single"));
    let Some(value) = value.or(found.name("plain")) else {
        return found[0].to_owned();
    };
    let (front, rest) = found[0].split_at(value.start() - begins);
    format!("{front}{REDACTED}{}", &rest[value.len()..])
}

fn option(found: &Captures<'_>) -> String {
    let (keep, value) = (&found["keep"], &found["value"]);
    match is_plain_secret("", "", value, "") {
        true => format!("{keep}{REDACTED}"),
        false => found[0].to_owned(),
    }
}

fn authorized(found: &Captures<'_>) -> String {
    format!("{}{REDACTED}", &found["keep"])
}

/// Tells whether a value is one, and not a place for one. Several words are a password,
/// but no token.
fn is_literal(name: &str, value: &str) -> bool {
    let is_template = value.is_empty() || value == REDACTED || value.contains(['$', '{', '<', '%']);
    !is_template && (!value.contains(' ') || name.to_ascii_lowercase().contains("pass"))
}

/// Tells whether a value without quotes is a secret, and no word of a program.
fn is_plain_secret(name: &str, sign: &str, value: &str, next: &str) -> bool {
    // In settings a value after a colon ends its line; in programs it may be a type.
    let is_whole = match sign.contains(':') {
        true => next.trim().is_empty(),
        false => next.is_empty() || next.starts_with([' ', '\t']),
    };
    if !is_whole || !is_literal(name, value) || value.contains([':', '*', '#']) {
        return false;
    }
    // As in the environment: a name in capitals, and nothing between it and its value.
    let is_variable = sign == "=" && !name.bytes().any(|it| it.is_ascii_lowercase());
    let has_digit = value.bytes().any(|it| it.is_ascii_digit());
    let has_letter = value.bytes().any(|it| it.is_ascii_alphabetic());
    let is_password = value.len() >= 6 && has_digit && has_letter;
    is_variable || is_password && !is_expression(value)
}

/// Tells whether a value is written as programs write it: a path to something, a type.
fn is_expression(value: &str) -> bool {
    let mut parts = value.split('.');
    let is_name = |part: &str| part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let is_joined = value.contains('_') || value.starts_with(|c: char| c.is_ascii_uppercase());
    value.contains('.') && parts.all(is_name) || is_joined && is_words(value)
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is a constant")
}
