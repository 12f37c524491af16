//! Gemini's contents: all results of a turn in one, each as an object.

use serde_json::{Map, Value, json};

use super::answered::Answered;
use super::made::Made;
use crate::answer::Answer;
use crate::parse::list;

pub(super) fn results(answer: &Answer, answered: &[Answered<'_>]) -> Vec<Value> {
    let numbered = numbered(answer);
    let mut parts = Vec::with_capacity(answered.len());
    for each in answered {
        let mut response = json!({"name": each.name, "response": response(each)});
        // A number is only understood where the call had one.
        if numbered.get(each.position) == Some(&true) {
            response["id"] = each.id().into();
        }
        parts.push(json!({"functionResponse": response}));
    }
    for (media_type, data) in answered.iter().flat_map(Answered::images) {
        parts.push(json!({"inlineData": {"mimeType": media_type, "data": data}}));
    }
    vec![json!({"role": "user", "parts": parts})]
}

/// Which calls of a turn were sent with a number.
fn numbered(answer: &Answer) -> Vec<bool> {
    let parts = answer.turn.iter().flat_map(|turn| list(turn, "parts"));
    parts
        .filter_map(|part| part.get("functionCall"))
        .map(|call| call.get("id").is_some())
        .collect()
}

fn response(each: &Answered<'_>) -> Value {
    if each.failed() {
        return json!({"error": each.text()});
    }
    match &each.outcome.value {
        Some(value) if each.outcome.content.is_empty() && !value.is_string() => {
            let mut response = json!({"output": without_references(value.clone())});
            if let Some(instruction) = &each.outcome.instruction {
                response["instruction"] = instruction.clone().into();
            }
            response
        }
        _ => json!({"output": each.text()}),
    }
}

/// A value without the keys the API takes for references of its own and then refuses.
/// The value nests no deeper than what can be read, so recursion is bounded.
fn without_references(value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(without_references).collect(),
        Value::Object(fields) => {
            let mut kept = Map::with_capacity(fields.len());
            let taken: Vec<String> = fields.keys().cloned().collect();
            for (key, value) in fields {
                let mut name = match key.as_str() {
                    "$ref" | "$defs" => key.trim_start_matches('$').to_owned(),
                    _ => {
                        kept.insert(key, without_references(value));
                        continue;
                    }
                };
                while taken.contains(&name) {
                    name.push('_');
                }
                kept.insert(name, without_references(value));
            }
            Value::Object(kept)
        }
        other => other,
    }
}

pub(super) fn calls(text: &str, made: Vec<Made>) -> Vec<Value> {
    let mut parts = Vec::with_capacity(made.len() + 1);
    if !text.is_empty() {
        parts.push(json!({"text": text}));
    }
    for call in made {
        let Made {
            id,
            name,
            arguments,
        } = call;
        parts.push(json!({"functionCall": {"id": id, "name": name, "args": arguments}}));
    }
    if parts.is_empty() {
        return Vec::new();
    }
    vec![json!({"role": "model", "parts": parts})]
}
