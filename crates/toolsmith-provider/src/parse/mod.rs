//! Parse: what a provider sent, whole, as an [`Answer`].
//!
//! One file per provider reads that provider's JSON; `draft` is what they all fill in,
//! so that names, arguments and numbers are treated alike whoever sent them. A stream is
//! first put together to the whole it stands for (see [`crate::stream`]) and then read
//! here, which is why both give the same.

mod anthropic;
mod bedrock;
mod cohere;
mod draft;
mod error;
mod gemini;
mod ids;
mod mcp;
mod ollama;
mod openai;
mod refusal;
mod responses;
mod stop;

use serde_json::Value;
use toolsmith_core::json;

pub use self::error::{ParseError, ProviderError};

pub(crate) use self::draft::{Ending, declared_name, echo_name};
pub(crate) use self::error::reported;
pub(crate) use self::ids::Ids;

use self::draft::Draft;
use crate::answer::Answer;
use crate::dictionary::Dictionary;
use crate::provider::Provider;
use crate::stream::Stream;
use crate::text::Tools;
use crate::textual::Textual;

/// The largest answer that is read. As values it takes several times its bytes.
pub(crate) const LARGEST: usize = 16 << 20;

/// Reads the body a provider answered with.
///
/// A single message or choice is read too, where it cannot be anything else, and so is
/// the whole text of a stream.
///
/// ```
/// use toolsmith_provider::{Dictionary, Provider, parse::parse};
///
/// let body = br#"{"type": "message", "role": "assistant", "stop_reason": "tool_use", "content": [
///     {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {"city": "Bern"}}]}"#;
/// let answer = parse(Provider::Anthropic, body, &Dictionary::default()).unwrap();
/// assert_eq!(answer.calls[0].call.name, "weather");
/// ```
pub fn parse(
    provider: Provider,
    body: &[u8],
    dictionary: &Dictionary,
) -> Result<Answer, ParseError> {
    if provider == Provider::Text {
        let textual = Textual::always(Tools::default());
        return Ok(textual.adopt(plain(body), provider, dictionary));
    }
    let text = String::from_utf8_lossy(body);
    let ending = Ending {
        replaced: matches!(text, std::borrow::Cow::Owned(_)),
        ..Ending::default()
    };
    let text = text.trim_start_matches('\u{feff}').trim();
    let refusal = match json::parse(text.as_bytes(), LARGEST) {
        Ok(value @ Value::Object(_)) => return read(provider, &value, &ending, dictionary),
        Ok(Value::Array(_)) => ParseError::not_an_answer(provider, text),
        Ok(_) => return Err(ParseError::not_an_answer(provider, text)),
        Err(error) => ParseError::not_json(&error.to_string(), text),
    };
    // Several values: perhaps somebody kept the text of a stream.
    let mut stream = Stream::new(provider, dictionary);
    stream.push(body);
    match stream.finish_if_told() {
        Some(answer) => answer,
        None => Err(refusal),
    }
}

/// An answer that is nothing but text.
pub(crate) fn plain(body: &[u8]) -> Answer {
    let text = String::from_utf8_lossy(body);
    let mut answer = Answer {
        turn: vec![Value::String(text.clone().into_owned())],
        ..Answer::default()
    };
    if matches!(text, std::borrow::Cow::Owned(_)) {
        answer.notes.push(draft::REPLACED.to_owned());
    }
    answer.text = text.into_owned();
    answer
}

/// Reads a body that is one JSON object.
pub(crate) fn read(
    provider: Provider,
    body: &Value,
    ending: &Ending,
    dictionary: &Dictionary,
) -> Result<Answer, ParseError> {
    if let Some(error) = reported(provider, None, body) {
        return Err(ParseError::Provider(error));
    }
    let mut draft = Draft::new(provider, dictionary, ending, body);
    let known = match provider {
        Provider::OpenAi
        | Provider::OpenAiFunctions
        | Provider::OpenAiCompatible
        | Provider::Mistral
        | Provider::DeepSeek
        | Provider::Qwen => openai::read(body, &mut draft),
        Provider::OpenAiResponses => responses::read(body, &mut draft),
        Provider::Anthropic => anthropic::read(body, &mut draft),
        Provider::Gemini => gemini::read(body, &mut draft),
        Provider::Bedrock => bedrock::read(body, &mut draft),
        Provider::Cohere => cohere::read(body, &mut draft),
        Provider::Ollama => ollama::read(body, &mut draft),
        Provider::Mcp => mcp::read(body, &mut draft),
        Provider::Text => None,
    };
    match known {
        Some(()) => {
            let mut answer = draft.finish();
            answer.usage.note(body);
            Ok(answer)
        }
        None => Err(ParseError::not_an_answer(provider, &body.to_string())),
    }
}

/// The text under a key; nothing where there is none.
pub(crate) fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// The list under a key; nothing where there is none.
pub(crate) fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value
        .get(key)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}
