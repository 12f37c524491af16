//! The bytes a client sends, and how it knows an answer.

use std::io;

use serde_json::{Value, json};

/// What is sent to be echoed.
pub(crate) const TEXT: &str = "a sentence of ordinary length, to be echoed";

/// The two lifecycles of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    /// A session begins with a handshake.
    Handshake,
    /// Every request says all there is to say.
    Stateless,
}

impl Era {
    pub(crate) const BOTH: [Self; 2] = [Self::Handshake, Self::Stateless];

    /// The version of the protocol.
    pub(crate) fn version(self) -> &'static str {
        match self {
            Self::Handshake => "2025-11-25",
            Self::Stateless => "2026-07-28",
        }
    }
}

/// A request, whole but for its id.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) era: Era,
    pub(crate) method: &'static str,
    /// The tool, if one is called.
    pub(crate) name: Option<String>,
    before: String,
    after: String,
}

const ID: &str = "\"the id\"";

impl Request {
    /// A request with parameters, to which the era's own are added.
    pub(crate) fn new(era: Era, method: &'static str, mut params: Value) -> Self {
        if era == Era::Stateless {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": era.version(),
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": { "name": "bench", "version": "1" },
            });
        }
        let name = params["name"].as_str().map(str::to_owned);
        let message =
            json!({ "jsonrpc": "2.0", "id": "the id", "method": method, "params": params });
        let text = message.to_string();
        let (before, after) = text.split_once(ID).unwrap_or((&text, ""));
        Self {
            era,
            method,
            name,
            before: before.to_owned(),
            after: after.to_owned(),
        }
    }

    /// A call of an echo tool.
    pub(crate) fn echo(era: Era, tool: &str) -> Self {
        let params = json!({ "name": tool, "arguments": { "text": TEXT } });
        Self::new(era, "tools/call", params)
    }

    /// Asks for the tools.
    pub(crate) fn list(era: Era) -> Self {
        Self::new(era, "tools/list", json!({}))
    }

    /// Begins a session.
    pub(crate) fn initialize() -> Self {
        let params = json!({
            "protocolVersion": Era::Handshake.version(),
            "capabilities": {},
            "clientInfo": { "name": "bench", "version": "1" },
        });
        Self::new(Era::Handshake, "initialize", params)
    }

    /// Writes the request with an id.
    pub(crate) fn write(&self, id: u64, into: &mut Vec<u8>) {
        into.extend_from_slice(self.before.as_bytes());
        into.extend_from_slice(id.to_string().as_bytes());
        into.extend_from_slice(self.after.as_bytes());
    }
}

/// The note that ends a handshake.
pub(crate) const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// Tells whether a message is an answer to a request; what is no success is an error.
pub(crate) fn is_answer(request: &Request, message: &[u8]) -> io::Result<bool> {
    let expected = match request.method {
        "tools/call" => TEXT,
        "tools/list" => "\"inputSchema\"",
        _ => "\"capabilities\"",
    };
    if has(message, "\"result\"") && has(message, expected) {
        return Ok(true);
    }
    if has(message, "\"method\"") || message.trim_ascii().is_empty() {
        return Ok(false);
    }
    let start = String::from_utf8_lossy(&message[..message.len().min(300)]).into_owned();
    let text = format!("{} was answered by {start:?}", request.method);
    Err(io::Error::other(text))
}

/// Tells whether bytes hold a text.
pub(crate) fn has(bytes: &[u8], text: &str) -> bool {
    let text = text.as_bytes();
    bytes.windows(text.len()).any(|window| window == text)
}
