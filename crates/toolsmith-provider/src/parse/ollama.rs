//! Ollama's own chat: OpenAI's message with arguments as objects and, often, no numbers.

use serde_json::Value;

use super::draft::Draft;
use super::openai::{Shape, single};

const SHAPE: Shape = Shape {
    arguments_as_text: false,
    always_numbered: false,
    null_content: true,
};

pub(super) fn read(body: &Value, draft: &mut Draft<'_>) -> Option<()> {
    single(body, "done_reason", &SHAPE, draft)
}
