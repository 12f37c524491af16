//! Anthropic's messages: all results of a turn in one message of the user.

use serde_json::{Value, json};

use super::answered::{Answered, Piece};
use super::made::Made;

pub(super) fn results(answered: &[Answered<'_>]) -> Vec<Value> {
    let results: Vec<Value> = answered.iter().map(result).collect();
    vec![json!({"role": "user", "content": results})]
}

fn result(each: &Answered<'_>) -> Value {
    let blocks: Vec<Value> = each.pieces().into_iter().map(block).collect();
    let mut result = json!({"type": "tool_result", "tool_use_id": each.id(), "content": blocks});
    if each.failed() {
        result["is_error"] = true.into();
    }
    result
}

fn block(piece: Piece) -> Value {
    let source = |media_type: &str, data: String| json!({"type": "base64", "media_type": media_type, "data": data});
    match piece {
        Piece::Text(text) => json!({"type": "text", "text": text}),
        Piece::Image { media_type, data } => {
            json!({"type": "image", "source": source(&media_type, data)})
        }
        Piece::Document { data, .. } => {
            json!({"type": "document", "source": source("application/pdf", data)})
        }
    }
}

pub(super) fn calls(text: &str, made: Vec<Made>) -> Vec<Value> {
    let mut blocks = Vec::with_capacity(made.len() + 1);
    if !text.trim().is_empty() {
        blocks.push(json!({"type": "text", "text": text}));
    }
    for call in made {
        let Made {
            id,
            name,
            arguments,
        } = call;
        blocks.push(json!({"type": "tool_use", "id": id, "name": name, "input": arguments}));
    }
    if blocks.is_empty() {
        return Vec::new();
    }
    vec![json!({"role": "assistant", "content": blocks})]
}
