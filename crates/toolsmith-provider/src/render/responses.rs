//! Items of OpenAI's Responses: one output for each call, under the number of the call.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::answered::{Answered, Piece};
use super::made::Made;
use crate::answer::Answer;
use crate::parse::text;

pub(super) fn results(answer: &Answer, answered: &[Answered<'_>]) -> Vec<Value> {
    let custom: HashSet<&str> = (answer.turn.iter())
        .filter(|item| text(item, "type") == "custom_tool_call")
        .map(|item| text(item, "call_id"))
        .collect();
    let result = |each: &Answered<'_>| {
        let kind = match custom.contains(each.id()) {
            true => "custom_tool_call_output",
            false => "function_call_output",
        };
        json!({"type": kind, "call_id": each.id(), "output": output(each)})
    };
    answered.iter().map(result).collect()
}

/// A text where that is all there is, or a list of inputs.
fn output(each: &Answered<'_>) -> Value {
    let pieces = each.pieces();
    if pieces.iter().all(|piece| matches!(piece, Piece::Text(_))) {
        return each.text().into();
    }
    pieces.into_iter().map(input).collect()
}

fn input(piece: Piece) -> Value {
    match piece {
        Piece::Text(text) => json!({"type": "input_text", "text": text}),
        Piece::Image { media_type, data } => {
            let url = format!("data:{media_type};base64,{data}");
            json!({"type": "input_image", "image_url": url})
        }
        Piece::Document { uri, data } => {
            let name = uri.rsplit('/').next().unwrap_or("document.pdf").to_owned();
            let data = format!("data:application/pdf;base64,{data}");
            json!({"type": "input_file", "filename": name, "file_data": data})
        }
    }
}

pub(super) fn calls(text: &str, made: Vec<Made>) -> Vec<Value> {
    let mut items = Vec::with_capacity(made.len() + 1);
    if !text.is_empty() {
        let content = json!([{"type": "output_text", "text": text, "annotations": []}]);
        items.push(json!({"type": "message", "role": "assistant", "content": content}));
    }
    for call in made {
        items.push(json!({
            "type": "function_call",
            "call_id": call.id,
            "name": call.name,
            "arguments": call.arguments_text(),
        }));
    }
    items
}
