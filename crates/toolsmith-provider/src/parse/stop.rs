//! Why a turn ended: the words of all providers, which do not contradict each other.

use super::error::beginning;
use crate::answer::Stop;

/// The words for a model that was done or waits for its calls.
const DONE: &[&str] = &[
    "stop",
    "tool_calls",
    "function_call",
    "tool_call",
    "end_turn",
    "tool_use",
    "stop_sequence",
    "complete",
    "completed",
    "eos",
];

/// The words for a limit that was reached.
const LENGTH: &[&str] = &[
    "length",
    "max_tokens",
    "max_output_tokens",
    "model_length",
    "model_context_window_exceeded",
    "error_limit",
];

/// The words for an unwillingness.
const REFUSED: &[&str] = &[
    "refusal",
    "content_filter",
    "content_filtered",
    "guardrail_intervened",
    "safety",
    "recitation",
    "blocklist",
    "prohibited_content",
    "spii",
    "image_safety",
    "error_toxic",
];

/// What a provider's word means.
pub(super) fn stop(word: &str) -> Stop {
    let among = |words: &[&str]| words.iter().any(|each| each.eq_ignore_ascii_case(word));
    if word.is_empty() || among(DONE) {
        Stop::Done
    } else if among(LENGTH) {
        Stop::Length
    } else if among(REFUSED) {
        Stop::Refused
    } else {
        Stop::Other(beginning(word, 80))
    }
}
