//! Texts of others inside our Markdown: whatever they contain, they stay text.
//!
//! Only what CommonMark (or GitHub's dialect of it) would take for something else gets a
//! backslash, so that most texts stay as they are; names such as `file_path` among them.
//! Code in single or double backticks stays code. Lines stay lines, and blank lines divide
//! paragraphs.

use std::borrow::Cow;

/// A text of one or more paragraphs.
pub(super) fn text(text: &str) -> Cow<'_, str> {
    let text = text.trim();
    if text.bytes().all(is_harmless) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + text.len() / 16);
    for (number, text) in text.lines().enumerate() {
        if number > 0 {
            escaped.push('\n');
        }
        line(&mut escaped, text.trim());
    }
    Cow::Owned(escaped)
}

/// Letters, digits, spaces within a line and what never means anything.
fn is_harmless(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || b" ,.;'\"()?%/@^$".contains(&byte)
}

fn line(into: &mut String, line: &str) {
    let after_start = start(into, line);
    let mut previous = after_start.chars().next_back();
    let mut rest = &line[after_start.len()..];
    while let Some(c) = rest.chars().next() {
        if c == '`' {
            let length = code(into, rest);
            rest = &rest[length..];
            previous = Some('`');
            continue;
        }
        if c == '_' {
            let length = underscores(into, previous, rest);
            rest = &rest[length..];
            previous = Some('_');
            continue;
        }
        let after = &rest[c.len_utf8()..];
        if needs_escape(c, previous, after) {
            into.push('\\');
        }
        into.push(c);
        previous = Some(c);
        rest = after;
    }
}

/// Writes what could begin a block, escaped: a heading, a quote, a list, a rule, the
/// underline of a heading, a fence, a table, a definition.
fn start<'l>(into: &mut String, line: &'l str) -> &'l str {
    let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (begin, after) = line.split_at(digits);
    if digits > 0 {
        into.push_str(begin);
        let ends = |text: &str| text.chars().next().is_none_or(char::is_whitespace);
        if after.starts_with(['.', ')']) && ends(&after[1..]) {
            into.push('\\');
            into.push_str(&after[..1]);
            return &line[..=digits];
        }
        return begin;
    }
    if line.starts_with(['#', '>', '-', '+', '*', '=', '_', '~', '[', '|'])
        || line.starts_with(":-")
    {
        // A path in the home folder keeps its looks.
        if !line.starts_with("~/") {
            into.push('\\');
        }
        into.push_str(&line[..1]);
        return &line[..1];
    }
    ""
}

/// Writes underscores. Between letters they mean nothing, however many: names stay as they
/// are. Returns how much was taken.
fn underscores(into: &mut String, previous: Option<char>, rest: &str) -> usize {
    let after = rest.trim_start_matches('_');
    let length = rest.len() - after.len();
    let is_letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let is_space = |c: Option<char>| c.is_none_or(char::is_whitespace);
    let next = after.chars().next();
    let is_within = is_letter(previous) && is_letter(next);
    let underscore = match is_within || is_space(previous) && is_space(next) {
        true => "_",
        false => "\\_",
    };
    into.extend(std::iter::repeat_n(underscore, length));
    length
}

/// Tells whether a character could begin or end something within a line.
fn needs_escape(c: char, previous: Option<char>, after: &str) -> bool {
    let next = after.chars().next();
    let is_space = |c: Option<char>| c.is_none_or(char::is_whitespace);
    match c {
        '*' => !(is_space(previous) && is_space(next)),
        // Struck-out text needs an end, which stands right after something.
        '~' => !is_space(previous) || next == Some('~'),
        '\\' => next.is_none_or(|next| next.is_ascii_punctuation()),
        '(' => previous == Some(']'),
        '|' => true,
        '<' => next.is_some_and(|next| next.is_ascii_alphabetic() || "/!?".contains(next)),
        '&' => is_entity(after),
        _ => false,
    }
}

/// Tells whether an ampersand is followed by the rest of an entity.
fn is_entity(after: &str) -> bool {
    // The longest name has 31 letters.
    let end = after.bytes().take(40).position(|byte| byte == b';');
    end.is_some_and(|end| {
        let name = after[..end].strip_prefix('#').unwrap_or(&after[..end]);
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

/// Writes backticks: with the code up to those that close it, on the same line, or escaped.
/// Returns how much was taken.
fn code(into: &mut String, rest: &str) -> usize {
    let run = |text: &str| text.len() - text.trim_start_matches('`').len();
    let opening = run(rest);
    if opening <= 2 {
        let mut at = opening;
        while let Some(next) = rest[at..].find('`') {
            at += next;
            let closing = run(&rest[at..]);
            at += closing;
            if closing == opening {
                into.push_str(&rest[..at]);
                return at;
            }
        }
    }
    into.extend(std::iter::repeat_n("\\`", opening));
    opening
}
