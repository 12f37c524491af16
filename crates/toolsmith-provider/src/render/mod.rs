//! Render: what came of calls, and calls themselves, as a provider wants to read them.
//!
//! One file per provider writes that provider's messages; `answered` decides what is
//! said of each call, so that no call is left unanswered and an instruction reaches the
//! model whoever serves it.

mod answered;
mod anthropic;
mod bedrock;
mod gemini;
mod made;
mod mcp;
mod ollama;
mod openai;
mod responses;

use serde_json::{Value, json};
use toolsmith_core::{RawCall, Reply};

pub(crate) use self::made::{Made, made};

use self::answered::{Answered, answered};
use crate::answer::Answer;
use crate::dictionary::Dictionary;
use crate::parse::echo_name;
use crate::provider::Provider;
use crate::text::{self, TextFormat};

/// The messages that tell a model what came of the calls of its turn: to be added to the
/// conversation after [`Answer::turn`].
///
/// Where the calls stand in the text of the turn, the results are a text of the user.
///
/// Replies count for the call whose number they bear, or else in order. A call without a
/// reply is answered as cancelled: providers refuse conversations with unanswered calls.
///
/// ```
/// use toolsmith_core::{Outcome, Reply};
/// use toolsmith_provider::{Dictionary, Provider, parse::parse, render};
///
/// let body = br#"{"role": "assistant", "tool_calls": [
///     {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}]}"#;
/// let answer = parse(Provider::OpenAi, body, &Dictionary::default()).unwrap();
/// let messages = render::results(Provider::OpenAi, &answer, &[Outcome::text("Sunny.").into()]);
/// assert_eq!(messages[0]["tool_call_id"], "call_1");
/// ```
pub fn results(provider: Provider, answer: &Answer, replies: &[Reply]) -> Vec<Value> {
    let answered = answered(provider, answer, replies);
    if answered.is_empty() {
        return Vec::new();
    }
    if answer.in_text {
        let result = |it: &Answered<'_>| text::result(&it.call.declared_name, None, &it.outcome);
        let results: Vec<String> = answered.iter().map(result).collect();
        return vec![user_text(provider, &results.join("\n"))];
    }
    match provider {
        Provider::OpenAi
        | Provider::OpenAiFunctions
        | Provider::OpenAiCompatible
        | Provider::Mistral
        | Provider::Cohere
        | Provider::DeepSeek
        | Provider::Qwen => openai::results(provider, answer, &answered),
        Provider::OpenAiResponses => responses::results(answer, &answered),
        Provider::Anthropic => anthropic::results(&answered),
        Provider::Gemini => gemini::results(answer, &answered),
        Provider::Bedrock => bedrock::results(&answered),
        Provider::Ollama => ollama::results(answer, &answered),
        Provider::Mcp => mcp::results(answer, &answered),
        // All its calls are in the text.
        Provider::Text => Vec::new(),
    }
}

/// The turn of a model that says `text` and makes these calls: what [`Answer::turn`]
/// would be had it done so.
pub fn calls(
    provider: Provider,
    dictionary: &Dictionary,
    text: &str,
    calls: &[RawCall],
) -> Vec<Value> {
    let mut made = made(provider, dictionary, calls);
    for call in &mut made {
        call.name = echo_name(provider, &call.name);
    }
    spoken(provider, text, made)
}

/// The turn of a model that says this, in the very names it is given.
pub(crate) fn spoken(provider: Provider, text: &str, made: Vec<Made>) -> Vec<Value> {
    match provider {
        Provider::OpenAiResponses => responses::calls(text, made),
        Provider::Anthropic => anthropic::calls(text, made),
        Provider::Gemini => gemini::calls(text, made),
        Provider::Bedrock => bedrock::calls(text, made),
        Provider::Ollama => ollama::calls(text, made),
        Provider::Mcp => mcp::calls(made),
        Provider::Text => vec![Value::String(written(TextFormat::Json, text, &made))],
        _ => openai::calls(provider, text, &made),
    }
}

/// What a model says that makes calls in its text.
pub(crate) fn written(format: TextFormat, text: &str, made: &[Made]) -> String {
    let arguments: Vec<Value> = (made.iter())
        .map(|call| Value::Object(call.arguments.clone()))
        .collect();
    let calls: Vec<(&str, &Value, Option<&str>)> = (made.iter().zip(&arguments))
        .map(|(call, arguments)| (call.name.as_str(), arguments, None))
        .collect();
    let calls = text::write(format, &calls);
    match (text.is_empty(), calls.is_empty()) {
        (_, true) => text.to_owned(),
        (true, _) => calls,
        _ => format!("{text}\n{calls}"),
    }
}

/// The field of a request that holds the conversation.
pub fn conversation_field(provider: Provider) -> &'static str {
    match provider {
        Provider::OpenAiResponses => "input",
        Provider::Gemini => "contents",
        _ => "messages",
    }
}

/// A message of the user that is nothing but text.
pub fn user_text(provider: Provider, text: &str) -> Value {
    match provider {
        Provider::Gemini => json!({"role": "user", "parts": [{"text": text}]}),
        Provider::Bedrock => json!({"role": "user", "content": [{"text": text}]}),
        Provider::Text => Value::String(text.to_owned()),
        _ => json!({"role": "user", "content": text}),
    }
}
