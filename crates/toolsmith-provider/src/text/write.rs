//! Calls as a model would write them.

use serde_json::Value;
use toolsmith_core::json as core_json;

use super::{TextFormat, deepseek, glm, hermes, json, kimi, mistral, pythonic, qwen_coder, xml};

/// A call to write: its name, its arguments, and its number where it has one.
pub(super) type Written<'c> = (&'c str, &'c Value, Option<&'c str>);

/// Writes calls in a format, so that reading gives the same calls. Formats without a
/// place for numbers leave them out, and arguments that nest deeper than any JSON that is
/// read become `null`.
///
/// ```
/// use serde_json::json;
/// use toolsmith_provider::text::{TextFormat, write};
///
/// let text = write(TextFormat::Pythonic, &[("find", &json!({ "n": 1 }), None)]);
/// assert_eq!(text, "[find(n=1)]");
/// ```
pub fn write(format: TextFormat, calls: &[(&str, &Value, Option<&str>)]) -> String {
    if calls.is_empty() {
        return String::new();
    }
    // What nests too deep to be read is not written either: that alone takes the stack.
    let null = Value::Null;
    let too_deep = |call: &Written<'_>| core_json::depth_exceeds(call.1, core_json::MAX_DEPTH);
    let calls: Vec<_> = calls
        .iter()
        .map(|call| {
            if too_deep(call) {
                (call.0, &null, call.2)
            } else {
                *call
            }
        })
        .collect();
    let calls = calls.as_slice();
    match format {
        TextFormat::Json | TextFormat::Jsonl => json::write(calls),
        TextFormat::Llama3 => json::write_llama(calls),
        TextFormat::Hermes => blocks(calls, hermes::block),
        TextFormat::QwenCoder => blocks(calls, qwen_coder::block),
        TextFormat::Glm => blocks(calls, glm::block),
        TextFormat::Xml => blocks(calls, xml::block),
        TextFormat::Pythonic => pythonic::write(calls),
        TextFormat::Mistral => mistral::write(calls),
        TextFormat::DeepSeekV3 => deepseek::write_v3(calls),
        TextFormat::DeepSeekV31 => deepseek::write_v31(calls),
        TextFormat::Kimi => kimi::write(calls),
    }
}

/// One block for each call, each in lines of its own.
fn blocks(calls: &[Written<'_>], block: fn(&Written<'_>) -> String) -> String {
    let blocks: Vec<String> = calls.iter().map(block).collect();
    blocks.join("\n")
}
