//! What an upstream sent, read strictly as JSON and leniently as a message.

use std::fmt;

use rmcp::model::{ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage, Tool};
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
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

/// What is made of a message longer than `limit` bytes, of which only the two ends are known:
/// a failure of the request it answers, where either end says which that is.
pub(crate) fn too_long(first: &[u8], last: &[u8], limit: usize) -> Option<ServerJsonRpcMessage> {
    let id = match known_of(first) {
        Known::Answer(id) => id,
        // Nobody here waits for it.
        Known::Question => return None,
        Known::Nothing => id_at_the_end(last)?,
    };
    let message = format!("the answer is longer than {limit} bytes");
    Some(failure(id, &message))
}

/// What the beginning of a message tells, where that stands before what is long.
enum Known {
    Answer(RequestId),
    Question,
    Nothing,
}

fn known_of(first: &[u8]) -> Known {
    let mut known = Known::Nothing;
    // It always fails, where what is known ends.
    let _ = serde_json::Deserializer::from_slice(first).deserialize_map(Beginning(&mut known));
    known
}

/// Reads as much of a message as there is.
struct Beginning<'k>(&'k mut Known);

impl<'de> Visitor<'de> for Beginning<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "id" => *self.0 = Known::Answer(map.next_value()?),
                "method" => {
                    *self.0 = Known::Question;
                    return Ok(());
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

/// The id of an answer that ends like this: it stands behind what is long.
fn id_at_the_end(last: &[u8]) -> Option<RequestId> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct End {
        id: RequestId,
        #[serde(default, rename = "jsonrpc")]
        _version: Option<IgnoredAny>,
    }
    // Only what closes the message itself is an object from here on.
    let key = b"\"id\"";
    let place = last.windows(key.len()).rposition(|window| window == key)?;
    let object = [b"{", &last[place..]].concat();
    let End { id, .. } = serde_json::from_slice(&object).ok()?;
    Some(id)
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
