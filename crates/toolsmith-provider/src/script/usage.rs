//! How many tokens a scripted answer took, in the provider's words: an estimate, as nothing
//! here counts tokens.

use serde_json::{Value, json};

use crate::provider::Provider;
use crate::usage::Usage;

/// What a model that was asked nothing in particular has read.
const READ: u64 = 16;

/// About so many bytes are a token.
const BYTES_OF_TOKEN: usize = 4;

/// A guess at how many tokens a text of so many bytes has.
pub fn tokens(bytes: usize) -> u64 {
    bytes.div_ceil(BYTES_OF_TOKEN) as u64
}

/// What an answer that says so many bytes took; its end is a token, too.
pub(super) fn estimated(bytes: usize) -> Usage {
    Usage::new(READ, tokens(bytes).max(1))
}

/// Says in a body what the answer took, in place of what it said before.
pub fn tell_usage(provider: Provider, body: &mut Value, usage: &Usage) {
    let (input, output, cached) = (usage.input_tokens, usage.output_tokens, usage.cached_tokens);
    let total = usage.total();
    let Value::Object(fields) = body else {
        return;
    };
    let mut tell = |key: &str, value: Value| {
        fields.insert(key.to_owned(), value);
    };
    match provider {
        Provider::Mcp | Provider::Text => {}
        Provider::OpenAiResponses => tell(
            "usage",
            json!({
                "input_tokens": input,
                "input_tokens_details": {"cached_tokens": cached},
                "output_tokens": output,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": total,
            }),
        ),
        Provider::Anthropic => tell(
            "usage",
            json!({
                // What was kept from before is counted apart.
                "input_tokens": input.saturating_sub(cached),
                "cache_read_input_tokens": cached,
                "output_tokens": output,
            }),
        ),
        Provider::Gemini => tell(
            "usageMetadata",
            json!({
                "promptTokenCount": input,
                "cachedContentTokenCount": cached,
                "candidatesTokenCount": output,
                "totalTokenCount": total,
            }),
        ),
        Provider::Bedrock => tell(
            "usage",
            json!({"inputTokens": input, "outputTokens": output, "totalTokens": total}),
        ),
        Provider::Cohere => {
            let tokens = json!({"input_tokens": input, "output_tokens": output});
            tell("usage", json!({"tokens": tokens}));
        }
        Provider::Ollama => {
            tell("prompt_eval_count", input.into());
            tell("eval_count", output.into());
        }
        _ => tell(
            "usage",
            json!({
                "prompt_tokens": input,
                "prompt_tokens_details": {"cached_tokens": cached},
                "completion_tokens": output,
                "total_tokens": total,
            }),
        ),
    }
}
