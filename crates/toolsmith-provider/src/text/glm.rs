//! GLM 4.5: a name, then `<arg_key>` and `<arg_value>` by turns, in `<tool_call>`.

use serde_json::Value;

use super::TextFormat;
use super::calls::{Block, NAMELESS, TextCall};
use super::hermes;
use super::parameters::{self, Pairs};
use super::write::Written;
use crate::arguments::Read;

pub(super) fn read(block: &Block<'_>) -> Option<Vec<TextCall>> {
    let (head, mut rest) = match block.body.find("<arg_key>") {
        Some(at) => block.body.split_at(at),
        None => (block.body, ""),
    };
    let name = head.trim();
    let one_word = !name.is_empty() && !name.contains(char::is_whitespace) && !name.contains('<');
    if !one_word {
        // Between its marks it was meant as a call; without an end it was talk of marks.
        let call = TextCall::new(TextFormat::Glm, "", Read::malformed(NAMELESS));
        return block.closed.then(|| vec![call]);
    }
    if rest.is_empty() && !block.closed && !block.tools.knows(name) {
        return None;
    }
    let name = parameters::read_name(name);
    let mut pairs = Pairs::new(block, &name);
    let mut complete = block.closed;
    while let Some((gap, inside)) = rest.split_once("<arg_key>") {
        pairs.gap(gap);
        let pair = inside.split_once("</arg_key>").and_then(|(key, inside)| {
            let (between, value) = inside.split_once("<arg_value>")?;
            let (value, next) = value.split_once("</arg_value>")?;
            Some((key, between, value, next))
        });
        let Some((key, between, value, next)) = pair else {
            complete = false;
            break;
        };
        pairs.gap(between);
        pairs.add(key, value);
        rest = next;
    }
    if complete {
        pairs.gap(rest);
    }
    Some(vec![TextCall::new(
        TextFormat::Glm,
        name,
        pairs.read(complete),
    )])
}

pub(super) fn block(call: &Written<'_>) -> String {
    let (name, arguments, _) = call;
    let Value::Object(fields) = arguments else {
        return hermes::block(call);
    };
    let mut text = format!("<tool_call>{}\n", parameters::write_name(name));
    for (key, value) in fields {
        let key = parameters::write_name(key);
        let value = parameters::write(value);
        text.push_str(&format!(
            "<arg_key>{key}</arg_key>\n<arg_value>{value}</arg_value>\n"
        ));
    }
    text.push_str("</tool_call>");
    text
}
