//! Whom a model is reached through: each has a format of its own.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A format in which models are told of tools and answer with calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "&'static str")]
#[non_exhaustive]
pub enum Provider {
    /// OpenAI's chat completions.
    OpenAi,
    /// OpenAI's Responses.
    OpenAiResponses,
    /// Chat completions from before there were tools: `functions` and `function_call`.
    OpenAiFunctions,
    /// A server that speaks OpenAI's chat completions: vLLM, llama.cpp, SGLang and others.
    OpenAiCompatible,
    /// Anthropic's Messages.
    Anthropic,
    /// Google's Gemini.
    Gemini,
    /// Converse of AWS Bedrock.
    Bedrock,
    /// Mistral's chat completions.
    Mistral,
    /// Version 2 of Cohere's chat.
    Cohere,
    /// Ollama's own chat.
    Ollama,
    /// DeepSeek's chat completions.
    DeepSeek,
    /// Qwen on DashScope.
    Qwen,
    /// The tools of an MCP server, for whatever reads those.
    Mcp,
    /// Free text, for models that know no tools.
    Text,
}

impl Provider {
    /// Every one of them.
    pub const ALL: [Self; 14] = [
        Self::OpenAi,
        Self::OpenAiResponses,
        Self::OpenAiFunctions,
        Self::OpenAiCompatible,
        Self::Anthropic,
        Self::Gemini,
        Self::Bedrock,
        Self::Mistral,
        Self::Cohere,
        Self::Ollama,
        Self::DeepSeek,
        Self::Qwen,
        Self::Mcp,
        Self::Text,
    ];

    /// What it is called in configurations and on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::OpenAiResponses => "openai-responses",
            Self::OpenAiFunctions => "openai-functions",
            Self::OpenAiCompatible => "openai-compatible",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Bedrock => "bedrock",
            Self::Mistral => "mistral",
            Self::Cohere => "cohere",
            Self::Ollama => "ollama",
            Self::DeepSeek => "deepseek",
            Self::Qwen => "qwen",
            Self::Mcp => "mcp",
            Self::Text => "text",
        }
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl From<Provider> for &'static str {
    fn from(provider: Provider) -> Self {
        provider.word()
    }
}

impl FromStr for Provider {
    type Err = UnknownProvider;
    fn from_str(word: &str) -> Result<Self, UnknownProvider> {
        let known = Self::ALL.into_iter().find(|each| each.word() == word);
        known.ok_or_else(|| UnknownProvider(word.chars().take(80).collect()))
    }
}

impl TryFrom<String> for Provider {
    type Error = UnknownProvider;
    fn try_from(word: String) -> Result<Self, UnknownProvider> {
        word.parse()
    }
}

/// A word that names no provider.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown provider {0:?}; known are {known}", known = Provider::ALL.map(Provider::word).join(", "))]
pub struct UnknownProvider(String);
