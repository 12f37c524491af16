//! Version 2 of Cohere's chat: OpenAI's message without the choices.

use serde_json::Value;

use super::draft::Draft;
use super::openai::{Shape, message_of};
use super::text;

const SHAPE: Shape = Shape {
    arguments_as_text: true,
    always_numbered: true,
    null_content: false,
};

pub(super) fn read(body: &Value, draft: &mut Draft<'_>) -> Option<()> {
    let message = match body.get("message") {
        Some(message) => message,
        None if text(body, "role") == "assistant" => body,
        None => return None,
    };
    message.as_object()?;
    draft.stopped(text(body, "finish_reason"));
    message_of(message, &SHAPE, draft);
    Some(())
}
