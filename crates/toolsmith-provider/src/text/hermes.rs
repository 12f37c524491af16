//! Hermes and Qwen: `<tool_call>` around JSON.

use super::TextFormat;
use super::calls::{self, Block, Certainty, TextCall};
use super::json;
use super::openers::Kind;
use super::reader::MOST_CALLS;
use super::scan::{Found, Scan};
use super::write::Written;

pub(super) fn read(block: &Block<'_>) -> Option<Vec<TextCall>> {
    let mut calls = Vec::new();
    for body in values(block.body) {
        if calls.len() > MOST_CALLS {
            break;
        }
        let one = Block { body, ..*block };
        let found = calls::from_json(&one, TextFormat::Hermes, Certainty::Marked);
        // One that is empty takes nothing away from the others.
        calls.extend(found.unwrap_or_default());
    }
    Some(calls)
}

/// The values of a tag: one, but for models that write several without closing it.
fn values(body: &str) -> Vec<&str> {
    let mut values = Vec::new();
    let mut rest = body.trim();
    loop {
        let mut scan = Scan::new(Kind::Bare, 0, false);
        let Found::End(end) = scan.run(rest, Kind::Bare, true) else {
            break;
        };
        let next = rest[end.block..]
            .trim_start_matches(|c: char| c.is_whitespace() || c == ',' || c == ';');
        if !next.starts_with(['{', '[']) {
            break;
        }
        values.push(&rest[..end.block]);
        rest = next;
    }
    values.push(rest);
    values
}

/// One call. Formats that have no way to say something fall back to it.
pub(super) fn block(call: &Written<'_>) -> String {
    format!(
        "<tool_call>\n{}\n</tool_call>",
        json::object(call, "arguments")
    )
}
