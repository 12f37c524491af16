//! Converse of AWS Bedrock: a turn is a list of blocks, each named by its only key.

use serde_json::{Value, json};

use super::draft::{Draft, Input, Sent};
use super::text;

pub(super) fn read(body: &Value, draft: &mut Draft<'_>) -> Option<()> {
    let message = match body.pointer("/output/message") {
        Some(message) => message,
        None if text(body, "role") == "assistant" => body,
        None => return None,
    };
    let blocks = message.get("content")?.as_array()?;
    draft.stopped(text(body, "stopReason"));
    let mut turn = Vec::with_capacity(blocks.len());
    for (position, block) in blocks.iter().enumerate() {
        let mut block = block.clone();
        if let Some(said) = block.get("text").and_then(Value::as_str) {
            draft.text(said);
            // The API takes no blank text back.
            if said.trim().is_empty() {
                continue;
            }
        } else if let Some(thought) = block.pointer("/reasoningContent/reasoningText") {
            draft.thought(text(thought, "text"));
        } else if let Some(call) = block.get("toolUse")
            && text(call, "type") != "server_tool_use"
        {
            let last = position + 1 == blocks.len();
            block["toolUse"] = tool_use(call, last, draft);
        }
        turn.push(block);
    }
    if !turn.is_empty() {
        draft.turn(json!({"role": "assistant", "content": turn}));
    }
    Some(())
}

fn tool_use(call: &Value, last: bool, draft: &mut Draft<'_>) -> Value {
    let input = match call {
        Value::Object(_) => Input::Document(call.get("input")),
        _ => Input::Unreadable,
    };
    let echo = draft.call(&Sent {
        id: call.get("toolUseId").and_then(Value::as_str),
        name: text(call, "name"),
        input,
        last,
    });
    json!({"toolUseId": echo.id, "name": echo.name, "input": echo.arguments})
}
