//! Messages of Bedrock's Converse: all results of a turn in one message of the user.

use serde_json::{Value, json};

use super::answered::{Answered, Piece, in_words};
use super::made::Made;

pub(super) fn results(answered: &[Answered<'_>]) -> Vec<Value> {
    let results: Vec<Value> = answered.iter().map(result).collect();
    vec![json!({"role": "user", "content": results})]
}

fn result(each: &Answered<'_>) -> Value {
    let mut content: Vec<Value> = each.pieces().into_iter().map(block).collect();
    // A value that is an object has a place of its own.
    if !each.failed()
        && each.outcome.content.is_empty()
        && let Some(value @ Value::Object(_)) = &each.outcome.value
    {
        content[0] = json!({"json": value});
    }
    let status = if each.failed() { "error" } else { "success" };
    json!({"toolResult": {"toolUseId": each.id(), "content": content, "status": status}})
}

fn block(piece: Piece) -> Value {
    match piece {
        Piece::Image { media_type, data } => {
            let format = media_type.trim_start_matches("image/");
            json!({"image": {"format": format, "source": {"bytes": data}}})
        }
        Piece::Document { uri, data } => {
            let name = document_name(&uri);
            json!({"document": {"format": "pdf", "name": name, "source": {"bytes": data}}})
        }
        text @ Piece::Text(_) => json!({"text": in_words(&text)}),
    }
}

/// Names of documents are letters, digits, single spaces, hyphens and brackets.
fn document_name(uri: &str) -> String {
    let last = uri.rsplit('/').next().unwrap_or_default();
    let name: String = (last.chars().take(100))
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    if name.is_empty() {
        "document".to_owned()
    } else {
        name
    }
}

pub(super) fn calls(text: &str, made: Vec<Made>) -> Vec<Value> {
    let mut blocks = Vec::with_capacity(made.len() + 1);
    if !text.trim().is_empty() {
        blocks.push(json!({"text": text}));
    }
    for call in made {
        let Made {
            id,
            name,
            arguments,
        } = call;
        blocks.push(json!({"toolUse": {"toolUseId": id, "name": name, "input": arguments}}));
    }
    if blocks.is_empty() {
        return Vec::new();
    }
    vec![json!({"role": "assistant", "content": blocks})]
}
