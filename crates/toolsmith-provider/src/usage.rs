//! How many tokens an answer took, in whatever words a provider tells it.
//!
//! The words of the providers do not contradict each other, so one table reads all of
//! them. Streams tell the same number several times, each time for all of the answer so
//! far, and some tell one of the two early and the other late: the greatest counts.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How many tokens an answer took; nought where nobody said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Usage {
    /// What the model read, what it had kept from before included.
    pub input_tokens: u64,
    /// What it wrote, thoughts included.
    pub output_tokens: u64,
    /// How much of what it read it had kept from before.
    #[serde(default, skip_serializing_if = "is_nought")]
    pub cached_tokens: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_nought(count: &u64) -> bool {
    *count == 0
}

/// Where it is told: in the body or an event, in what an event is about, or beneath.
const PLACES: &[&str] = &[
    "/usage",
    "/usageMetadata",
    "/message/usage",
    "/response/usage",
    "/metadata/usage",
    "/delta/usage",
    "/x_groq/usage",
    "/output/usage",
    // Ollama tells it beside the message.
    "",
];

const INPUT: &[&str] = &[
    "/prompt_tokens",
    "/input_tokens",
    "/inputTokens",
    "/promptTokenCount",
    "/tokens/input_tokens",
    "/prompt_eval_count",
];

/// What is counted apart from the input, and is a part of it.
const BESIDE_INPUT: &[&str] = &[
    "/cache_creation_input_tokens",
    "/cache_read_input_tokens",
    "/cacheReadInputTokens",
    "/cacheWriteInputTokens",
    "/toolUsePromptTokenCount",
];

const OUTPUT: &[&str] = &[
    "/completion_tokens",
    "/output_tokens",
    "/outputTokens",
    "/candidatesTokenCount",
    "/tokens/output_tokens",
    "/eval_count",
];

/// What is counted apart from the output, and is a part of it.
const BESIDE_OUTPUT: &[&str] = &["/thoughtsTokenCount"];

const CACHED: &[&str] = &[
    "/prompt_tokens_details/cached_tokens",
    "/input_tokens_details/cached_tokens",
    "/cache_read_input_tokens",
    "/cacheReadInputTokens",
    "/cachedContentTokenCount",
    "/prompt_cache_hit_tokens",
];

/// More than any answer takes: what is greater is no count.
const MOST: u64 = 1 << 40;

impl Usage {
    /// So many tokens read and written.
    pub fn new(input_tokens: u64, output_tokens: u64) -> Self {
        Self {
            input_tokens,
            output_tokens,
            cached_tokens: 0,
        }
    }

    /// What was read and written.
    pub fn total(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }

    /// Adds what another answer took.
    pub fn add(&mut self, other: &Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.cached_tokens = self.cached_tokens.saturating_add(other.cached_tokens);
    }

    /// Takes what a body or an event says.
    pub(crate) fn note(&mut self, told: &Value) {
        for place in PLACES {
            let Some(told) = told.pointer(place).filter(|told| told.is_object()) else {
                continue;
            };
            let input = first(told, INPUT).saturating_add(sum(told, BESIDE_INPUT));
            let output = first(told, OUTPUT).saturating_add(sum(told, BESIDE_OUTPUT));
            self.input_tokens = self.input_tokens.max(input);
            self.output_tokens = self.output_tokens.max(output);
            self.cached_tokens = self.cached_tokens.max(first(told, CACHED));
        }
    }
}

fn count(told: &Value, place: &str) -> Option<u64> {
    let count = told.pointer(place)?;
    let count = count.as_u64().or_else(|| {
        // Cohere counts in floating point.
        let count = count.as_f64().filter(|count| *count >= 0.0)?;
        Some(count as u64)
    });
    count.filter(|count| *count <= MOST)
}

fn first(told: &Value, places: &[&str]) -> u64 {
    let mut counts = places.iter().filter_map(|place| count(told, place));
    counts.next().unwrap_or(0)
}

fn sum(told: &Value, places: &[&str]) -> u64 {
    places.iter().filter_map(|place| count(told, place)).sum()
}
