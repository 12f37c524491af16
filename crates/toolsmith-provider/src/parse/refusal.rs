//! How providers say that a model takes no tools at all.
//!
//! Only that is a reason to ask as text: an error about one tool, a setting of tools or a
//! way of sending is another, and would be the same error as text or needlessly lose the
//! model's own format.

use crate::provider::Provider;

/// Tells whether an error says that the model takes no tools.
pub(super) fn refuses_tools(provider: Provider, message: &str) -> bool {
    let message: String = message
        .chars()
        .filter(|c| !matches!(c, '`' | '\'' | '"' | '’'))
        .flat_map(char::to_lowercase)
        .collect();
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| holds(&message, phrase));
    let own = { OWN.iter() }.find(|(whose, _)| *whose == provider);
    own.is_some_and(|(_, phrases)| says(phrases)) || (says(ANYBODY) && !says(ABOUT_OTHERS))
}

/// Tells whether a phrase stands in a text, not as the beginning or end of longer words.
fn holds(text: &str, phrase: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(phrase).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + phrase.len()..].chars().next();
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })
}

/// In lower case, without quotes. OpenAI, OpenRouter, Groq, and most who copy their words.
const ANYBODY: &[&str] = &[
    "does not support tools",
    "does not support tool use",
    "does not support tool calling",
    "does not support tool calls",
    "doesnt support tools",
    "doesnt support tool use",
    "doesnt support tool calling",
    "doesnt support tool calls",
    "do not support tools",
    "do not support tool use",
    "not support function calling",
    "not support function calls",
    "not support functions",
    "not support the tools",
    "no endpoints found that support tool use",
    "tools is not supported",
    "tools are not supported",
    "tool use is not supported",
    "tool calling is not supported",
    "tool_calls is not supported",
    "function calling is not supported",
    "function calling is not enabled",
    "functions is not supported",
    "functions are not supported",
    "unsupported parameter: tools",
    "unrecognized request argument supplied: tools",
    "unrecognized request argument supplied: functions",
];

/// What the same words are about where they are not about tools as such.
const ABOUT_OTHERS: &[&str] = &[
    "streaming",
    "tool_choice",
    "tool types",
    "tool type",
    "following tools",
    "parallel tool calls",
    "parallel_tool_calls",
    "strict",
];

/// What one of them alone says.
const OWN: &[(Provider, &[&str])] = &[
    // vLLM and llama.cpp, started without a parser for calls.
    (
        Provider::OpenAiCompatible,
        &[
            "tool choice requires --enable-auto-tool-choice",
            "tools param requires --jinja",
            "requires --tool-call-parser",
        ],
    ),
    (
        Provider::Gemini,
        &[
            "function calling is unsupported",
            "tool use with function calling is unsupported",
        ],
    ),
    (Provider::Qwen, &["the tool call is not supported"]),
];
