//! Mistral: `[TOOL_CALLS]` before a list of calls, or before a name and its arguments.

use serde_json::Value;

use super::TextFormat;
use super::calls::{self, Block, Certainty, TextCall};
use super::json;
use super::write::Written;
use crate::arguments;

pub(super) fn read(block: &Block<'_>) -> Option<Vec<TextCall>> {
    let body = block.body.trim_start();
    if body.starts_with(['{', '[']) {
        return calls::from_json(block, TextFormat::Mistral, Certainty::Marked);
    }
    let (head, text) = match body.split_once("[ARGS]") {
        Some(split) => split,
        None => body.split_at(body.find('{').unwrap_or(body.len())),
    };
    let (name, id) = match head.split_once("[CALL_ID]") {
        Some((name, id)) => (name.trim(), Some(id.trim().to_owned())),
        None => (head.trim(), None),
    };
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '/');
    if name.is_empty() || !name.chars().all(plain) {
        return None;
    }
    if text.is_empty() && !block.tools.knows(name) {
        return None;
    }
    let read = if block.closed {
        arguments::read_whole(text)
    } else {
        arguments::read_open(text)
    };
    Some(vec![
        TextCall::new(TextFormat::Mistral, name, read).with_id(id),
    ])
}

pub(super) fn write(calls: &[Written<'_>]) -> String {
    let list: Vec<Value> = calls
        .iter()
        .map(|call| json::object(call, "arguments"))
        .collect();
    format!("[TOOL_CALLS]{}", Value::Array(list))
}
