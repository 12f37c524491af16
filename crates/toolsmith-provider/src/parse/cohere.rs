//! Version 2 of Cohere's chat: OpenAI's message without the choices.

use serde_json::Value;

use super::draft::Draft;
use super::openai::{Shape, single};

const SHAPE: Shape = Shape {
    arguments_as_text: true,
    always_numbered: true,
    null_content: false,
};

pub(super) fn read(body: &Value, draft: &mut Draft<'_>) -> Option<()> {
    single(body, "finish_reason", &SHAPE, draft)
}
