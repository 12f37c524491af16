//! Anthropic's Messages: a turn is a list of blocks.

use serde_json::{Value, json};

use super::draft::{Draft, Input, Sent};
use super::text;

pub(super) fn read(body: &Value, draft: &mut Draft<'_>) -> Option<()> {
    if text(body, "type") != "message" && text(body, "role") != "assistant" {
        return None;
    }
    // A bare message may have its text as it is.
    if let Some(said) = body.get("content").and_then(Value::as_str) {
        draft.stopped(text(body, "stop_reason"));
        draft.text(said);
        draft.turn(json!({"role": "assistant", "content": said}));
        return Some(());
    }
    let blocks = body.get("content")?.as_array()?;
    draft.stopped(text(body, "stop_reason"));
    let mut turn = Vec::with_capacity(blocks.len());
    for (position, block) in blocks.iter().enumerate() {
        match text(block, "type") {
            "text" => {
                draft.text(text(block, "text"));
                // The API takes no empty text back.
                if text(block, "text").trim().is_empty() {
                    continue;
                }
            }
            "thinking" => {
                draft.thought(text(block, "thinking"));
                // Nor a thought that was not signed, which one that was cut off is not.
                if text(block, "signature").is_empty() {
                    continue;
                }
            }
            "tool_use" => {
                let last = position + 1 == blocks.len();
                turn.push(tool_use(block, last, draft));
                continue;
            }
            _ => {}
        }
        turn.push(block.clone());
    }
    if !turn.is_empty() {
        draft.turn(json!({"role": "assistant", "content": turn}));
    }
    Some(())
}

fn tool_use(block: &Value, last: bool, draft: &mut Draft<'_>) -> Value {
    let echo = draft.call(&Sent {
        id: block.get("id").and_then(Value::as_str),
        name: text(block, "name"),
        input: Input::Document(block.get("input")),
        last,
    });
    let mut block = block.clone();
    block["id"] = echo.id.into();
    block["name"] = echo.name.into();
    block["input"] = echo.arguments.into();
    block
}
