//! What is to be known of each provider that has a client: a row each.
//!
//! Addresses and variables are those of the providers' own packages, so that what a user
//! has set up for those holds here.

use toolsmith_provider::Provider;

use super::form::Form;

/// Where a provider is reached, and what it wants to be shown.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) provider: Provider,
    pub(super) form: Form,
    /// Where it is unless somebody says otherwise.
    pub(super) url: &'static str,
    /// The variables that say otherwise; the first that is set counts.
    pub(super) url_variables: &'static [&'static str],
    /// The variables that hold its key; the first that is set counts.
    pub(super) key_variables: &'static [&'static str],
    pub(super) key_header: KeyHeader,
    /// Whether it answers nobody without a key.
    pub(super) needs_key: bool,
}

/// The header in which a key is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyHeader {
    /// `Authorization: Bearer …`.
    Bearer,
    /// `x-api-key`.
    Anthropic,
    /// `x-goog-api-key`.
    Google,
}

/// Anthropic's other variable, which holds a token that is shown as `Bearer`.
pub(super) const ANTHROPIC_TOKEN: &str = "ANTHROPIC_AUTH_TOKEN";

const OPENAI: Row = Row {
    provider: Provider::OpenAi,
    form: Form::Chat,
    url: "https://api.openai.com/v1",
    url_variables: &["OPENAI_BASE_URL", "OPENAI_API_BASE"],
    key_variables: &["OPENAI_API_KEY"],
    key_header: KeyHeader::Bearer,
    needs_key: true,
};

pub(super) const ROWS: &[Row] = &[
    OPENAI,
    Row {
        provider: Provider::OpenAiResponses,
        form: Form::Responses,
        ..OPENAI
    },
    Row {
        provider: Provider::OpenAiFunctions,
        ..OPENAI
    },
    Row {
        provider: Provider::OpenAiCompatible,
        // The port of vLLM; llama.cpp listens at 8080, LM Studio at 1234.
        url: "http://127.0.0.1:8000/v1",
        needs_key: false,
        ..OPENAI
    },
    Row {
        provider: Provider::Mistral,
        url: "https://api.mistral.ai/v1",
        url_variables: &["MISTRAL_BASE_URL"],
        key_variables: &["MISTRAL_API_KEY"],
        ..OPENAI
    },
    Row {
        provider: Provider::DeepSeek,
        url: "https://api.deepseek.com/v1",
        url_variables: &["DEEPSEEK_BASE_URL"],
        key_variables: &["DEEPSEEK_API_KEY"],
        ..OPENAI
    },
    Row {
        provider: Provider::Qwen,
        url: "https://dashscope.aliyuncs.com/compatible-mode/v1",
        url_variables: &["DASHSCOPE_BASE_URL"],
        key_variables: &["DASHSCOPE_API_KEY"],
        ..OPENAI
    },
    Row {
        provider: Provider::Anthropic,
        form: Form::Messages,
        url: "https://api.anthropic.com",
        url_variables: &["ANTHROPIC_BASE_URL"],
        key_variables: &["ANTHROPIC_API_KEY"],
        key_header: KeyHeader::Anthropic,
        needs_key: true,
    },
    Row {
        provider: Provider::Gemini,
        form: Form::Gemini,
        url: "https://generativelanguage.googleapis.com",
        url_variables: &["GOOGLE_GEMINI_BASE_URL"],
        key_variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        key_header: KeyHeader::Google,
        needs_key: true,
    },
    Row {
        provider: Provider::Ollama,
        form: Form::Ollama,
        url: "http://127.0.0.1:11434",
        url_variables: &["OLLAMA_HOST"],
        key_variables: &["OLLAMA_API_KEY"],
        key_header: KeyHeader::Bearer,
        needs_key: false,
    },
];

/// The row of a provider; none where it has no client.
pub(super) fn row(provider: Provider) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.provider == provider)
}

/// The words of all that have a client, to be told in errors.
pub(super) fn known() -> String {
    let words: Vec<&str> = ROWS.iter().map(|row| row.provider.word()).collect();
    words.join(", ")
}
