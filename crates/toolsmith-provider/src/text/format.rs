//! The formats in which models write calls into their text.

use std::fmt;
use std::str::FromStr;

/// A format in which models write calls into their text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum TextFormat {
    /// `{"name": …, "parameters": {…}}`, alone, fenced or among prose.
    Json,
    /// One such object per line.
    Jsonl,
    /// `<tool_call name="…"><parameter name="…">…</parameter></tool_call>`.
    Xml,
    /// `<tool_call>{"name": …, "arguments": {…}}</tool_call>`: Hermes, Qwen.
    Hermes,
    /// `<tool_call><function=…><parameter=…>`: Qwen3-coder.
    QwenCoder,
    /// `{"name": …, "parameters": {…}}`, several with `;`, after `<|python_tag|>`: Llama 3.
    Llama3,
    /// `[f(a=1), g()]`: Llama 4 and others.
    Pythonic,
    /// `[TOOL_CALLS]`: Mistral.
    Mistral,
    /// DeepSeek V3: markers around a fenced block.
    DeepSeekV3,
    /// DeepSeek V3.1: markers around plain JSON.
    DeepSeekV31,
    /// `<arg_key>` and `<arg_value>`: GLM 4.5.
    Glm,
    /// `<|tool_call_begin|>`: Kimi K2.
    Kimi,
}

impl TextFormat {
    /// Every one of them: what to read where it is not known which model wrote.
    pub const ALL: [Self; 12] = [
        Self::Json,
        Self::Jsonl,
        Self::Xml,
        Self::Hermes,
        Self::QwenCoder,
        Self::Llama3,
        Self::Pythonic,
        Self::Mistral,
        Self::DeepSeekV3,
        Self::DeepSeekV31,
        Self::Glm,
        Self::Kimi,
    ];

    /// What it is called in configurations and on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Jsonl => "jsonl",
            Self::Xml => "xml",
            Self::Hermes => "hermes",
            Self::QwenCoder => "qwen-coder",
            Self::Llama3 => "llama3",
            Self::Pythonic => "pythonic",
            Self::Mistral => "mistral",
            Self::DeepSeekV3 => "deepseek-v3",
            Self::DeepSeekV31 => "deepseek-v31",
            Self::Glm => "glm",
            Self::Kimi => "kimi",
        }
    }
}

impl fmt::Display for TextFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for TextFormat {
    type Err = UnknownFormat;
    fn from_str(word: &str) -> Result<Self, UnknownFormat> {
        let known = Self::ALL.into_iter().find(|each| each.word() == word);
        known.ok_or_else(|| UnknownFormat(word.chars().take(80).collect()))
    }
}

/// A word that names no format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown text format {0:?}; known are {known}", known = TextFormat::ALL.map(TextFormat::word).join(", "))]
pub struct UnknownFormat(String);
