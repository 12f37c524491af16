//! OpenAI's Responses: a turn is a list of items, and all of them go back, since a call
//! without the reasoning before it is refused.

use serde_json::{Value, json};

use super::draft::{Draft, Input, Sent};
use super::{list, text};

pub(super) fn read(body: &Value, draft: &mut Draft<'_>) -> Option<()> {
    let items = body.get("output")?.as_array()?;
    let reason = body.pointer("/incomplete_details/reason");
    let status = text(body, "status");
    match reason.and_then(Value::as_str) {
        Some(reason) if status != "completed" => draft.stopped(reason),
        _ => draft.stopped(status),
    }
    for (position, item) in items.iter().enumerate() {
        let last = position + 1 == items.len();
        let mut item = match text(item, "type") {
            "message" => {
                said(item, draft);
                item.clone()
            }
            "reasoning" => {
                for piece in list(item, "summary").iter().chain(list(item, "content")) {
                    draft.thought(text(piece, "text"));
                }
                item.clone()
            }
            "function_call" => function_call(item, last, draft),
            "custom_tool_call" => custom_call(item, last, draft),
            _ => item.clone(),
        };
        if text(&item, "status") == "in_progress" {
            item["status"] = "incomplete".into();
        }
        draft.turn(item);
    }
    Some(())
}

fn said(message: &Value, draft: &mut Draft<'_>) {
    for piece in list(message, "content") {
        match text(piece, "type") {
            "refusal" => {
                draft.refused();
                draft.text(text(piece, "refusal"));
            }
            _ => draft.text(text(piece, "text")),
        }
    }
}

fn function_call(item: &Value, last: bool, draft: &mut Draft<'_>) -> Value {
    let echo = draft.call(&Sent {
        id: number(item),
        name: text(item, "name"),
        input: Input::Json(item.get("arguments")),
        // Only the last can be cut off, and it says so itself.
        last: last || text(item, "status") == "incomplete",
    });
    let mut item = item.clone();
    item["call_id"] = echo.id.clone().into();
    item["name"] = echo.name.clone().into();
    item["arguments"] = echo.arguments_text().into();
    item
}

fn custom_call(item: &Value, last: bool, draft: &mut Draft<'_>) -> Value {
    let input = text(item, "input");
    let echo = draft.call(&Sent {
        id: number(item),
        name: text(item, "name"),
        input: Input::Free(input),
        last,
    });
    let mut item = item.clone();
    item["call_id"] = echo.id.into();
    item["name"] = echo.name.into();
    item["input"] = json!(input);
    item
}

/// The number results are filed under, which is not the one of the item.
fn number(item: &Value) -> Option<&str> {
    item.get("call_id").and_then(Value::as_str)
}
