//! Script: speaks as a provider would.
//!
//! For models that say what a test or a demonstration tells them to: the answer to a
//! request, whole or as the provider streams it. What is said here, [`crate::parse`] and
//! [`crate::stream`] understand.

mod cut;
mod events;
mod usage;

use serde_json::{Value, json};
use toolsmith_core::RawCall;

use crate::dictionary::Dictionary;
use crate::provider::Provider;
use crate::render::{self, made, spoken};
use crate::text::TextFormat;

pub use self::cut::cut;
pub use self::usage::{tell_usage, tokens};

/// What answers are numbered with.
const ID: &str = "scripted";

/// The body with which a provider would answer, had the model said `text` and made these
/// calls, which are in the tools' own terms. What it took is estimated by its length;
/// [`tell_usage`] says it otherwise.
///
/// ```
/// use serde_json::json;
/// use toolsmith_core::RawCall;
/// use toolsmith_provider::{Dictionary, Provider, parse::parse, script};
///
/// let call = RawCall::new("weather", json!({"city": "Bern"})).with_id("toolu_1");
/// let body = script::body(Provider::Anthropic, &Dictionary::default(), "Looking.", &[call.clone()]);
/// let answer = parse(Provider::Anthropic, body.to_string().as_bytes(), &Dictionary::default());
/// assert_eq!(answer.unwrap().raw_calls(), [call]);
/// ```
pub fn body(provider: Provider, dictionary: &Dictionary, text: &str, calls: &[RawCall]) -> Value {
    let turn = spoken(provider, text, made(provider, dictionary, calls));
    let called = !calls.is_empty();
    let said: usize = turn.iter().map(|said| said.to_string().len()).sum();
    let mut body = wrap(provider, turn, called);
    tell_usage(provider, &mut body, &usage::estimated(said));
    body
}

/// The bytes of the stream with which a provider would answer, in several pieces for each
/// text and each call.
pub fn stream(
    provider: Provider,
    dictionary: &Dictionary,
    text: &str,
    calls: &[RawCall],
) -> Vec<u8> {
    streamed(provider, &body(provider, dictionary, text, calls))
}

/// The bytes of the stream with which a provider would give an answer that has this body.
pub fn streamed(provider: Provider, body: &Value) -> Vec<u8> {
    match provider {
        Provider::Anthropic => events::anthropic(body),
        Provider::Gemini => events::gemini(body),
        Provider::Bedrock => events::bedrock(body),
        Provider::Cohere => events::cohere(body),
        Provider::Ollama => events::ollama(body),
        Provider::OpenAiResponses => events::responses(body),
        Provider::Mcp => body.to_string().into_bytes(),
        Provider::Text => body.as_str().unwrap_or_default().as_bytes().to_vec(),
        _ => events::openai(body),
    }
}

/// The text of a model that makes these calls within it: to be said by [`body`] or
/// [`stream`] for a model that was asked to.
pub fn written(
    format: TextFormat,
    dictionary: &Dictionary,
    text: &str,
    calls: &[RawCall],
) -> String {
    render::written(format, text, &made(Provider::Text, dictionary, calls))
}

/// Wraps a turn as the body of an answer.
fn wrap(provider: Provider, turn: Vec<Value>, called: bool) -> Value {
    let word = |with: &'static str, without: &'static str| if called { with } else { without };
    if provider == Provider::OpenAiResponses {
        return json!({"id": ID, "object": "response", "status": "completed", "output": turn});
    }
    let message = turn.into_iter().next().unwrap_or(Value::Null);
    match provider {
        Provider::Anthropic => json!({
            "id": ID,
            "type": "message",
            "role": "assistant",
            "content": message.get("content").cloned().unwrap_or_else(|| json!([])),
            "stop_reason": word("tool_use", "end_turn"),
        }),
        Provider::Gemini => {
            let content = match message {
                Value::Null => json!({"role": "model", "parts": []}),
                content => content,
            };
            json!({"responseId": ID, "candidates": [{"content": content, "finishReason": "STOP"}]})
        }
        Provider::Bedrock => {
            let message = match message {
                Value::Null => json!({"role": "assistant", "content": []}),
                message => message,
            };
            json!({"output": {"message": message}, "stopReason": word("tool_use", "end_turn")})
        }
        Provider::Cohere => json!({
            "id": ID,
            "message": message,
            "finish_reason": word("TOOL_CALL", "COMPLETE"),
        }),
        Provider::Ollama => json!({"message": message, "done": true, "done_reason": "stop"}),
        Provider::Mcp | Provider::Text => message,
        _ => {
            let legacy = message.get("function_call").is_some();
            let reason = match legacy {
                true => "function_call",
                false => word("tool_calls", "stop"),
            };
            let choice = json!({"index": 0, "message": message, "finish_reason": reason});
            json!({"id": ID, "object": "chat.completion", "choices": [choice]})
        }
    }
}
