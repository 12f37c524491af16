//! An answer that reached the limit of its length in the middle of its last call.

use serde_json::{Value, json};

use crate::provider::Provider;

/// Cuts the last call of a body, and says that the limit of its length was reached.
///
/// Of arguments that are a text half is left; of those that are an object nothing, so that
/// they look whole to whoever does not ask why the answer ended. Gemini and Ollama send a
/// call whole or not at all: there it is gone.
pub fn cut(provider: Provider, body: &mut Value) {
    match provider {
        Provider::OpenAiResponses => {
            body["status"] = "incomplete".into();
            body["incomplete_details"] = json!({"reason": "max_output_tokens"});
            if let Some(call) = last(body, "/output") {
                shorten(&mut call["arguments"]);
                call["status"] = "incomplete".into();
            }
        }
        Provider::Anthropic => {
            body["stop_reason"] = "max_tokens".into();
            if let Some(call) = last(body, "/content") {
                call["input"] = json!({});
            }
        }
        Provider::Gemini => {
            body["candidates"][0]["finishReason"] = "MAX_TOKENS".into();
            drop_last(body, "/candidates/0/content/parts");
        }
        Provider::Bedrock => {
            body["stopReason"] = "max_tokens".into();
            if let Some(call) = last(body, "/output/message/content") {
                call["toolUse"]["input"] = json!({});
            }
        }
        Provider::Cohere => {
            body["finish_reason"] = "MAX_TOKENS".into();
            if let Some(call) = last(body, "/message/tool_calls") {
                shorten(&mut call["function"]["arguments"]);
            }
        }
        Provider::Ollama => {
            body["done_reason"] = "length".into();
            drop_last(body, "/message/tool_calls");
        }
        Provider::Mcp | Provider::Text => {}
        _ => {
            let choice = &mut body["choices"][0];
            choice["finish_reason"] = "length".into();
            if let Some(call) = choice.pointer_mut("/message/function_call") {
                shorten(&mut call["arguments"]);
            }
            if let Some(call) = last(choice, "/message/tool_calls") {
                shorten(&mut call["function"]["arguments"]);
            }
        }
    }
}

fn last<'b>(body: &'b mut Value, place: &str) -> Option<&'b mut Value> {
    body.pointer_mut(place)?.as_array_mut()?.last_mut()
}

fn drop_last(body: &mut Value, place: &str) {
    if let Some(Value::Array(calls)) = body.pointer_mut(place) {
        calls.pop();
    }
}

/// Leaves the first half of a text.
fn shorten(text: &mut Value) {
    let whole = text.as_str().unwrap_or_default();
    let half = whole.floor_char_boundary(whole.len() / 2);
    *text = whole[..half].into();
}
