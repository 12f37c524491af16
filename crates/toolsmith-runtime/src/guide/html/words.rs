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
        .map(marked)
        .collect()
}

/// Texts of one paragraph each.
pub(super) fn list(texts: &[String]) -> Vec<Value> {
    let texts = texts.iter().map(|text| clean(text));
    texts.map(|text| marked(&text)).collect()
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
