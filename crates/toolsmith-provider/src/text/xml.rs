//! Tags with names: `<tool_call name="…"><parameter name="…">…</parameter></tool_call>`.
//!
//! What stands in quotes is a JSON string without angle brackets, so any name fits.

use serde_json::Value;

use super::TextFormat;
use super::calls::{Block, TextCall};
use super::hermes;
use super::parameters::{self, Pairs};
use super::write::Written;

const PARAMETER: &str = "<parameter name=";

pub(super) fn read(block: &Block<'_>) -> Option<Vec<TextCall>> {
    let (name, rest) = attribute(block.opener.strip_prefix("<tool_call name=")?)?;
    let id = rest
        .trim_start()
        .strip_prefix("id=")
        .and_then(attribute)
        .map(|(id, _)| id);
    let mut pairs = Pairs::new(block, &name);
    let mut rest = block.body;
    let mut complete = block.closed;
    while let Some((gap, inside)) = rest.split_once(PARAMETER) {
        pairs.gap(gap);
        let pair = inside.split_once('>').and_then(|(key, inside)| {
            let (value, next) = inside.split_once("</parameter>")?;
            Some((key, value, next))
        });
        let Some((key, value, next)) = pair else {
            complete = false;
            break;
        };
        pairs.add(key, value);
        rest = next;
    }
    if complete {
        pairs.gap(rest);
    }
    let call = TextCall::new(TextFormat::Xml, name, pairs.read(complete));
    Some(vec![call.with_id(id)])
}

/// The text in quotes that begins here, and what follows it.
fn attribute(text: &str) -> Option<(String, &str)> {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let mut escaped = false;
    let end = text[1..].find(|c: char| {
        let ends = c == quote && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    })?;
    let (value, rest) = text.split_at(end + 2);
    Some((parameters::read_name(value), rest))
}

pub(super) fn block(call: &Written<'_>) -> String {
    let (name, arguments, id) = call;
    let Value::Object(fields) = arguments else {
        return hermes::block(call);
    };
    let quoted = |text: &str| parameters::without_brackets(&text.into());
    let id = id
        .map(|id| format!(" id={}", quoted(id)))
        .unwrap_or_default();
    let mut text = format!("<tool_call name={}{id}>\n", quoted(name));
    for (key, value) in fields {
        let key = quoted(key);
        let value = parameters::write(value);
        text.push_str(&format!("{PARAMETER}{key}>{value}</parameter>\n"));
    }
    text.push_str("</tool_call>");
    text
}
