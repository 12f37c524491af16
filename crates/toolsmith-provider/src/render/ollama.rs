//! Messages of Ollama's own chat: results go by the name of the tool.

use serde_json::{Value, json};

use super::answered::Answered;
use super::made::Made;
use crate::answer::Answer;
use crate::parse::list;

pub(super) fn results(answer: &Answer, answered: &[Answered<'_>]) -> Vec<Value> {
    let calls: Vec<&Value> = (answer.turn.iter())
        .flat_map(|turn| list(turn, "tool_calls"))
        .collect();
    let result = |each: &Answered<'_>| {
        let mut message = json!({
            "role": "tool",
            "tool_name": each.name,
            "content": each.text(),
        });
        // Newer servers number their calls.
        if calls
            .get(each.position)
            .is_some_and(|call| call.get("id").is_some())
        {
            message["tool_call_id"] = each.id().into();
        }
        let images = each.images();
        if !images.is_empty() {
            message["images"] = images.into_iter().map(|(_, data)| data).collect();
        }
        message
    };
    answered.iter().map(result).collect()
}

pub(super) fn calls(text: &str, made: Vec<Made>) -> Vec<Value> {
    let mut message = json!({"role": "assistant", "content": text});
    let calls = made.into_iter().map(|call| {
        let function = json!({"name": call.name, "arguments": call.arguments});
        json!({"id": call.id, "type": "function", "function": function})
    });
    let calls: Vec<Value> = calls.collect();
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    vec![message]
}
