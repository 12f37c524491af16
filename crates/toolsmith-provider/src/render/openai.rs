//! Messages of chat completions: one with role `tool` for each result, or `function`
//! where the turn was of before there were tools.

use serde_json::{Value, json};

use super::answered::{Answered, Piece, in_words};
use super::made::Made;
use crate::answer::Answer;
use crate::provider::Provider;

/// Where images of results go.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Images {
    /// A message of the user, after all results: no tool may bring any.
    Afterwards,
    /// Into the result. (Mistral refuses a user right after a tool.)
    Within,
    /// Nowhere: none of the models sees.
    Nowhere,
}

fn images_of(provider: Provider) -> Images {
    match provider {
        Provider::Mistral => Images::Within,
        Provider::DeepSeek | Provider::Cohere => Images::Nowhere,
        _ => Images::Afterwards,
    }
}

pub(super) fn results(
    provider: Provider,
    answer: &Answer,
    answered: &[Answered<'_>],
) -> Vec<Value> {
    let legacy = (answer.turn.first()).is_some_and(|turn| turn.get("function_call").is_some());
    let images = images_of(provider);
    let mut messages = Vec::with_capacity(answered.len() + 1);
    let mut shown = Vec::new();
    for each in answered {
        let content = match images {
            Images::Within if !each.images().is_empty() => within(each),
            _ => each.text().into(),
        };
        messages.push(if legacy {
            json!({"role": "function", "name": each.name, "content": content})
        } else if provider == Provider::Mistral {
            json!({"role": "tool", "tool_call_id": each.id(), "name": each.name, "content": content})
        } else {
            json!({"role": "tool", "tool_call_id": each.id(), "content": content})
        });
        if images == Images::Afterwards {
            afterwards(each, &mut shown);
        }
    }
    if !shown.is_empty() {
        messages.push(json!({"role": "user", "content": shown}));
    }
    messages
}

fn afterwards(each: &Answered<'_>, shown: &mut Vec<Value>) {
    let images = each.images();
    if images.is_empty() {
        return;
    }
    let text = format!("What {} showed, for call {}:", each.name, each.id());
    shown.push(json!({"type": "text", "text": text}));
    for (media_type, data) in images {
        let url = format!("data:{media_type};base64,{data}");
        shown.push(json!({"type": "image_url", "image_url": {"url": url}}));
    }
}

fn within(each: &Answered<'_>) -> Value {
    let pieces = each.pieces().into_iter().map(|piece| match piece {
        Piece::Image { media_type, data } => {
            let url = format!("data:{media_type};base64,{data}");
            json!({"type": "image_url", "image_url": url})
        }
        other => json!({"type": "text", "text": in_words(&other)}),
    });
    pieces.collect()
}

pub(super) fn calls(provider: Provider, text: &str, made: &[Made]) -> Vec<Value> {
    let content = match text {
        "" if !made.is_empty() => Value::Null,
        text => text.into(),
    };
    let mut message = json!({"role": "assistant", "content": content});
    if provider == Provider::Cohere && content.is_null() {
        message = json!({"role": "assistant"});
    }
    if provider == Provider::OpenAiFunctions && made.len() == 1 {
        let call = &made[0];
        message["function_call"] = json!({"name": call.name, "arguments": call.arguments_text()});
    } else if !made.is_empty() {
        let calls = made.iter().map(|call| {
            let function = json!({"name": call.name, "arguments": call.arguments_text()});
            json!({"id": call.id, "type": "function", "function": function})
        });
        message["tool_calls"] = calls.collect();
    }
    vec![message]
}
