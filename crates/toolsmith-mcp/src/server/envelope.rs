//! Is this a JSON-RPC message at all?
//!
//! `rmcp` reads leniently and drops what it cannot read. Here every message is read
//! strictly first, so that whatever is wrong with one is answered: -32700 for what
//! is no JSON we accept, -32600 for what is JSON but no message, and -32602 for
//! those parameters of which `rmcp` would leave out what does not fit.

use serde_json::{Map, Value, json};
use toolsmith_core::json::{self, JsonError};

const PARSE_ERROR: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;
const INVALID_PARAMS: i32 = -32602;

/// How many bytes an id may have. Each comes back in an answer, and answers wait for
/// clients that do not read.
const LONGEST_ID: usize = 256 << 10;

/// A message, and what sort of one.
#[derive(Debug)]
pub(super) struct Envelope {
    pub(super) message: Value,
    pub(super) sort: Sort,
}

/// The sorts of messages there are.
#[derive(Debug, PartialEq)]
pub(super) enum Sort {
    /// Wants an answer to this id.
    Request(Value),
    /// Wants none; `cancels` is the id of the request it gives up, if it does.
    Notification { cancels: Option<Value> },
    /// Answers something we asked.
    Response,
}

/// Why a message was not accepted, as its sender is told.
#[derive(Debug, PartialEq)]
pub(super) struct Rejected {
    code: i32,
    message: String,
    id: Value,
}

impl Rejected {
    pub(super) fn invalid(message: impl Into<String>, id: Value) -> Self {
        Self {
            code: INVALID_REQUEST,
            message: message.into(),
            id,
        }
    }

    /// The answer.
    pub(super) fn to_value(&self) -> Value {
        json!({
            "jsonrpc": "2.0",
            "id": self.id,
            "error": { "code": self.code, "message": self.message },
        })
    }
}

/// Reads a message of at most `limit` bytes.
pub(super) fn open(bytes: &[u8], limit: usize) -> Result<Envelope, Rejected> {
    sorted(json::parse(bytes, limit))
}

/// Reads a message as strictly as [`open`], for somebody else to read again: of its
/// parameters only the outermost level is kept.
pub(super) fn glance(bytes: &[u8], limit: usize) -> Result<Envelope, Rejected> {
    sorted(json::outline(bytes, limit, 2))
}

fn sorted(message: Result<Value, JsonError>) -> Result<Envelope, Rejected> {
    let message = message.map_err(|error| unreadable(&error))?;
    let sort = match &message {
        Value::Object(object) => sort(object)?,
        Value::Array(_) => {
            let message = "batches are not supported; send one message at a time";
            return Err(Rejected::invalid(message, Value::Null));
        }
        _ => return Err(Rejected::invalid("a message is an object", Value::Null)),
    };
    Ok(Envelope { message, sort })
}

fn unreadable(error: &JsonError) -> Rejected {
    Rejected {
        code: PARSE_ERROR,
        message: error.to_string(),
        id: Value::Null,
    }
}

fn sort(object: &Map<String, Value>) -> Result<Sort, Rejected> {
    let id = match object.get("id") {
        None => None,
        Some(Value::String(id)) if id.len() > LONGEST_ID => {
            let message = format!("an id may have at most {LONGEST_ID} bytes");
            return Err(Rejected::invalid(message, Value::Null));
        }
        Some(id) if id.is_string() || id.is_i64() => Some(id.clone()),
        // An error we cannot be told the id of.
        Some(Value::Null) if !object.contains_key("method") => None,
        Some(_) => {
            let message = "an id is a string or a whole number of 64 bits";
            return Err(Rejected::invalid(message, Value::Null));
        }
    };
    let invalid = |message: &str| Rejected::invalid(message, id.clone().unwrap_or_default());
    if object.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err(invalid("`jsonrpc` must be \"2.0\""));
    }
    match object.get("method") {
        Some(_) if object.contains_key("result") || object.contains_key("error") => {
            return Err(invalid(
                "a message that has a method has no result and no error",
            ));
        }
        Some(Value::String(_)) => {}
        Some(_) => return Err(invalid("`method` must be a string")),
        None if object.contains_key("error") != object.contains_key("result") => {
            return Ok(Sort::Response);
        }
        None => return Err(invalid("a message has a method, a result or an error")),
    }
    if object
        .get("params")
        .is_some_and(|params| !params.is_object())
    {
        return Err(invalid("`params` must be an object"));
    }
    Ok(match id {
        Some(id) => {
            if let Some(message) = misfit(object) {
                return Err(Rejected {
                    code: INVALID_PARAMS,
                    message: message.to_owned(),
                    id,
                });
            }
            Sort::Request(id)
        }
        None => Sort::Notification {
            cancels: cancels(object),
        },
    })
}

/// What would be left out in silence.
fn misfit(object: &Map<String, Value>) -> Option<&'static str> {
    let params = object.get("params")?;
    let is_list = |method: &Value| method.as_str().is_some_and(|name| name.ends_with("/list"));
    if params.get("_meta").is_some_and(|meta| !meta.is_object()) {
        return Some("`_meta` must be an object");
    }
    let cursor = params.get("cursor").filter(|cursor| !cursor.is_null())?;
    (object.get("method").is_some_and(is_list) && !cursor.is_string())
        .then_some("`cursor` must be a string")
}

fn cancels(object: &Map<String, Value>) -> Option<Value> {
    if object.get("method")?.as_str()? != "notifications/cancelled" {
        return None;
    }
    object.get("params")?.get("requestId").cloned()
}
