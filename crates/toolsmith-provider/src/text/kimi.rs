//! Kimi K2: `functions.name:0` between marks, which is also the number of the call.

use super::TextFormat;
use super::calls::{Block, TextCall};
use super::write::Written;
use crate::arguments;

const ARGUMENTS: &str = "<|tool_call_argument_begin|>";

pub(super) fn read(block: &Block<'_>) -> Option<Vec<TextCall>> {
    let (id, text) = block.body.split_once(ARGUMENTS).unwrap_or((block.body, ""));
    let id = id.trim();
    let read = if block.closed {
        arguments::read_whole(text)
    } else {
        arguments::read_open(text)
    };
    let call = TextCall::new(TextFormat::Kimi, name(id), read);
    Some(vec![call.with_id(Some(id.to_owned()))])
}

/// The name in a number of a call.
fn name(id: &str) -> &str {
    let name = id.strip_prefix("functions.").unwrap_or(id);
    match name.rsplit_once(':') {
        Some((name, index)) if index.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => name,
    }
}

pub(super) fn write(calls: &[Written<'_>]) -> String {
    let block = |(index, (called, arguments, id)): (usize, &Written<'_>)| {
        let own = id.filter(|id| name(id) == *called && id.contains(':'));
        let id = own.map_or_else(|| format!("functions.{called}:{index}"), str::to_owned);
        format!("<|tool_call_begin|>{id}{ARGUMENTS}{arguments}<|tool_call_end|>")
    };
    let blocks: String = calls.iter().enumerate().map(block).collect();
    format!("<|tool_calls_section_begin|>{blocks}<|tool_calls_section_end|>")
}
