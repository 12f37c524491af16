//! Why an answer cannot be read: it is none, or the provider reports an error instead.

use serde_json::Value;
use toolsmith_core::clean::clean;

use crate::provider::Provider;

/// Why an answer cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseError {
    /// It is not JSON.
    #[error("the answer is not JSON: {reason}; it begins {beginning:?}")]
    NotJson {
        /// What is wrong with it.
        reason: String,
        /// How it begins.
        beginning: String,
    },
    /// It is JSON, but not an answer as this provider gives it.
    #[error("this is no answer of {provider}; it begins {beginning:?}")]
    NotAnAnswer {
        /// Who should have given it.
        provider: Provider,
        /// How it begins.
        beginning: String,
    },
    /// The provider reports an error.
    #[error("{0}")]
    Provider(ProviderError),
}

impl ParseError {
    pub(crate) fn not_json(reason: &str, text: &str) -> Self {
        Self::NotJson {
            reason: reason.to_owned(),
            beginning: beginning(text, 200),
        }
    }

    pub(crate) fn not_an_answer(provider: Provider, text: &str) -> Self {
        Self::NotAnAnswer {
            provider,
            beginning: beginning(text, 200),
        }
    }

    /// Tells whether the provider says that this model cannot take tools, so that calls
    /// may be asked for as text instead.
    pub fn refuses_tools(&self) -> bool {
        matches!(self, Self::Provider(error) if error.refuses_tools)
    }
}

/// An error a provider reports in place of an answer, or in the middle of one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the provider reports: {message}{}", code.as_ref().map_or_else(String::new, |code| format!(" ({code})")))]
#[non_exhaustive]
pub struct ProviderError {
    /// What it says, without what would steer a terminal.
    pub message: String,
    /// What it calls this type of error.
    pub kind: Option<String>,
    /// Its code.
    pub code: Option<String>,
    /// Whether it says that the model cannot take tools.
    pub refuses_tools: bool,
}

/// The beginning of what somebody else wrote, without what would steer a terminal.
pub(super) fn beginning(text: &str, limit: usize) -> String {
    let end = text.floor_char_boundary(limit * 4);
    clean(&text[..end]).chars().take(limit).collect()
}

/// The keys one of which every answer has, so that a text under `message` is none.
const OF_ANSWERS: &[&str] = &[
    "choices",
    "candidates",
    "content",
    "output",
    "role",
    "parts",
    "delta",
    "tool_calls",
    "done",
    "finish_reason",
];

/// The error a body or an event reports, where it reports one.
pub(crate) fn reported(
    provider: Provider,
    event: Option<&str>,
    value: &Value,
) -> Option<ProviderError> {
    let is_error = |word: &str| word == "error" || word.ends_with("Exception");
    let kind = super::text(value, "type");
    let object = value.as_object()?;
    if let Some(error) = object.get("error").filter(|error| is_said(error)) {
        return Some(told(provider, error));
    }
    // What has failed says so below `response` in the events of OpenAI's Responses.
    if kind == "response.failed" {
        let error = value.pointer("/response/error").unwrap_or(value);
        return Some(told(provider, error));
    }
    if is_error(kind) || is_error(super::text(value, "object")) || event.is_some_and(is_error) {
        return Some(told(provider, value));
    }
    // Bedrock names the exception by the key.
    if let Some((name, exception)) = object
        .iter()
        .find(|(key, value)| key.ends_with("Exception") && value.is_object())
    {
        let mut error = told(provider, exception);
        error.kind.get_or_insert_with(|| name.clone());
        return Some(error);
    }
    let answers = OF_ANSWERS.iter().any(|key| object.contains_key(*key));
    let said = ["message", "Message", "detail"]
        .iter()
        .any(|key| match object.get(*key) {
            Some(Value::String(_)) => true,
            Some(Value::Array(_)) => *key == "detail",
            _ => false,
        });
    (said && !answers).then(|| told(provider, value))
}

/// Whether there is an error under the key of errors.
fn is_said(error: &Value) -> bool {
    match error {
        Value::String(text) => !text.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        _ => false,
    }
}

fn told(provider: Provider, error: &Value) -> ProviderError {
    let first = |keys: &[&str]| {
        keys.iter().find_map(|key| match error.get(*key)? {
            Value::String(text) if !text.is_empty() => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        })
    };
    let message = match error {
        Value::String(text) => text.clone(),
        _ => first(&["message", "Message", "detail", "originalMessage"])
            .unwrap_or_else(|| error.to_string()),
    };
    let kind = first(&["type", "status", "__type"]).filter(|kind| kind != "error");
    ProviderError {
        refuses_tools: super::refusal::refuses_tools(provider, &message),
        message: beginning(&message, 2000),
        kind: kind.map(|kind| beginning(&kind, 80)),
        code: first(&["code"]).map(|code| beginning(&code, 80)),
    }
}
