//! Texts as pages show them: paragraphs, and names in backquotes as code. Nothing else of
//! Markdown is read; the rest stays the text it is.

use std::fmt::Write as _;

use minijinja::{HtmlEscape, Value};

use crate::shape::clean;

/// A text without characters that hide or steer.
pub(super) fn cleaned(text: &str) -> String {
    clean(text).into_owned()
}

/// The paragraphs of a text.
pub(super) fn paragraphs(text: &str) -> Vec<Value> {
    let text = clean(text).replace("\r\n", "\n");
    let paragraphs = text
        .split("\n\n")
        .map(|paragraph| paragraph.trim_matches('\n'));
    paragraphs
        .filter(|paragraph| !paragraph.trim().is_empty())
        .map(|paragraph| marked(&flowing(paragraph)))
        .collect()
}

/// Texts of one paragraph each.
pub(super) fn list(texts: &[String]) -> Vec<Value> {
    let texts = texts.iter().map(|text| clean(text));
    texts.map(|text| marked(&flowing(&text))).collect()
}

/// A paragraph without the breaks of a narrow source. Those before list items, quotes,
/// tables and indented lines stay, and all of them in code.
fn flowing(paragraph: &str) -> String {
    if paragraph.contains("```") {
        return paragraph.to_owned();
    }
    let mut flowing = String::with_capacity(paragraph.len());
    for line in paragraph.lines() {
        let begins_anew = line.starts_with(|c: char| {
            c.is_whitespace()
                || c.is_ascii_digit()
                || matches!(c, '-' | '*' | '+' | '•' | '>' | '|' | '#')
        });
        if !flowing.is_empty() {
            flowing.push(if begins_anew { '\n' } else { ' ' });
        }
        flowing.push_str(line.trim_end());
    }
    flowing
}

/// A paragraph, escaped, with what stands in backquotes marked as code.
fn marked(paragraph: &str) -> Value {
    let mut html = String::with_capacity(paragraph.len());
    let mut rest = paragraph;
    while let Some((before, after)) = rest.split_once('`') {
        let Some((code, after)) = after.split_once('`') else {
            break;
        };
        let (before, code) = (HtmlEscape(before), HtmlEscape(code));
        let _ = write!(html, "{before}<code>{code}</code>");
        rest = after;
    }
    let _ = write!(html, "{}", HtmlEscape(rest));
    Value::from_safe_string(html)
}
