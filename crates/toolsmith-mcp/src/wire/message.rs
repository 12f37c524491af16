//! What an upstream sent, read strictly as JSON and leniently as a message.

use rmcp::model::{ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage, Tool};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

/// Reads a message of at most `limit` bytes; none where it is none.
///
/// A tool that is none does not spoil the list it stands in. An answer nobody can
/// read or understands becomes a failure of the request it answers: whoever waits for
/// it would otherwise wait for ever.
pub(crate) fn read(bytes: &[u8], limit: usize) -> Option<ServerJsonRpcMessage> {
    let mut value = match toolsmith_core::json::parse(bytes, limit) {
        Ok(value) => value,
        Err(error) => {
            // Looks at the top of it only, however deep it goes.
            let Answer { id, .. } = serde_json::from_slice(bytes).ok()?;
            return Some(failure(id, &format!("the answer cannot be read: {error}")));
        }
    };
    if let Some(Value::Array(tools)) = value.pointer_mut("/result/tools") {
        tools.retain(|tool| serde_json::from_value::<Tool>(tool.clone()).is_ok());
    }
    let answers = value.get("result").and_then(|_| value.get("id")).cloned();
    match serde_json::from_value(value) {
        Ok(message) => Some(message),
        Err(error) => {
            let id: RequestId = serde_json::from_value(answers?).ok()?;
            let message = format!("the answer was not understood: {error}");
            Some(failure(id, &message))
        }
    }
}

/// The top of an answer.
#[derive(Deserialize)]
struct Answer {
    id: RequestId,
    #[expect(dead_code, reason = "a message without a result answers nothing")]
    result: IgnoredAny,
}

fn failure(id: RequestId, message: &str) -> ServerJsonRpcMessage {
    let error = ErrorData::internal_error(message.to_owned(), None);
    JsonRpcMessage::error(error, Some(id))
}
