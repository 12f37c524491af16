//! DeepSeek: marks with full-width bars, around a fenced block (V3) or plain JSON (V3.1).

use super::TextFormat;
use super::calls::{Block, TextCall};
use super::write::Written;
use crate::arguments;

const SEPARATOR: &str = "<｜tool▁sep｜>";

pub(super) fn read(block: &Block<'_>) -> Option<Vec<TextCall>> {
    let (head, rest) = match block.body.split_once(SEPARATOR) {
        Some((head, rest)) => (head.trim(), rest),
        None => (block.body.trim(), ""),
    };
    // V3 writes a type before the separator, then the name in a line of its own.
    let json = rest.trim_start();
    let (format, name, text) = if head == "function" && !json.starts_with(['{', '[']) {
        let (name, text) = json.split_once('\n').unwrap_or((json, ""));
        (TextFormat::DeepSeekV3, name.trim(), without_fence(text))
    } else {
        (TextFormat::DeepSeekV31, head, without_fence(rest))
    };
    let read = if block.closed {
        arguments::read_whole(text)
    } else {
        arguments::read_open(text)
    };
    Some(vec![TextCall::new(format, name, read)])
}

/// What stands in a fence, or all where there is none.
fn without_fence(text: &str) -> &str {
    let text = text.trim();
    let Some(inside) = text.strip_prefix("```") else {
        return text;
    };
    let inside = inside.trim_start_matches(|c: char| c.is_ascii_alphanumeric());
    inside.strip_suffix("```").unwrap_or(inside).trim()
}

pub(super) fn write_v3(calls: &[Written<'_>]) -> String {
    section(calls, |(name, arguments, _)| {
        format!("function{SEPARATOR}{name}\n```json\n{arguments}\n```")
    })
}

pub(super) fn write_v31(calls: &[Written<'_>]) -> String {
    section(calls, |(name, arguments, _)| {
        format!("{name}{SEPARATOR}{arguments}")
    })
}

fn section(calls: &[Written<'_>], body: impl Fn(&Written<'_>) -> String) -> String {
    let block = |call| format!("<｜tool▁call▁begin｜>{}<｜tool▁call▁end｜>", body(call));
    let blocks: Vec<String> = calls.iter().map(block).collect();
    format!(
        "<｜tool▁calls▁begin｜>{}<｜tool▁calls▁end｜>",
        blocks.join("\n")
    )
}
