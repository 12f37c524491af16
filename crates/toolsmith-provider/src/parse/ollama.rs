//! Ollama's own chat: OpenAI's message with arguments as objects and, often, no numbers.

use serde_json::Value;

use super::draft::Draft;
use super::openai::{Shape, message_of};
use super::text;

const SHAPE: Shape = Shape {
    arguments_as_text: false,
    always_numbered: false,
    null_content: true,
};

pub(super) fn read(body: &Value, draft: &mut Draft<'_>) -> Option<()> {
    let message = match body.get("message") {
        Some(message) => message,
        None if text(body, "role") == "assistant" => body,
        None => return None,
    };
    message.as_object()?;
    draft.stopped(text(body, "done_reason"));
    message_of(message, &SHAPE, draft);
    Some(())
}
