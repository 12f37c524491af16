//! What an upstream sent, read strictly as JSON and leniently as a message.

use rmcp::model::{ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage, Tool};
use serde_json::Value;

/// Reads a message of at most `limit` bytes; none where it is none.
///
/// A tool that is none does not spoil the list it stands in. An answer nobody
/// understands becomes a failure of the request it answers: whoever waits for it
/// would otherwise wait for ever.
pub(crate) fn read(bytes: &[u8], limit: usize) -> Option<ServerJsonRpcMessage> {
    let mut value = toolsmith_core::json::parse(bytes, limit).ok()?;
    if let Some(Value::Array(tools)) = value.pointer_mut("/result/tools") {
        tools.retain(|tool| serde_json::from_value::<Tool>(tool.clone()).is_ok());
    }
    let answers = value.get("result").and_then(|_| value.get("id")).cloned();
    match serde_json::from_value(value) {
        Ok(message) => Some(message),
        Err(error) => {
            let id: RequestId = serde_json::from_value(answers?).ok()?;
            let message = format!("the answer was not understood: {error}");
            let error = ErrorData::internal_error(message, None);
            Some(JsonRpcMessage::error(error, Some(id)))
        }
    }
}
