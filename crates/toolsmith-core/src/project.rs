//! One outcome, four shapes: each has every field its convention names.
//!
//! | shape | method | for |
//! |---|---|---|
//! | tool result | [`Outcome::to_result`] | hosts that show and feed results |
//! | result envelope | [`Outcome::to_envelope`] | tool servers that answer in one JSON text |
//! | tool message | [`Outcome::to_message`] | agents that keep messages in a state |
//! | call result | [`Outcome::to_mcp`] | MCP |

use std::borrow::Cow;
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::definition::{Effect, ToolDef};
use crate::error::ToolError;
use crate::outcome::{Block, Outcome, ResourceContent};

impl Outcome {
    /// The outcome as one text, as a model that reads only text gets it.
    ///
    /// A failure says its kind, what happened, and what to do; an instruction
    /// stands at the end.
    pub fn model_text(&self) -> String {
        let mut text = match &self.error {
            Some(error) => format!("{error}\n{}", error.kind.advice()),
            None => self.content_text(),
        };
        if self.error.is_some() && !self.content.is_empty() {
            text.push('\n');
            text.push_str(&self.content_text());
        }
        if let Some(instruction) = &self.instruction {
            text.push_str("\n\nInstruction: ");
            text.push_str(instruction);
        }
        text
    }

    /// The beginning of what it says, at most `limit` bytes of it: for records, which
    /// need not copy a large text to keep a little of it.
    pub fn beginning(&self, limit: usize) -> Cow<'_, str> {
        let text = match (self.content.as_slice(), &self.value) {
            ([Block::Text { text }], _) => Cow::Borrowed(text.as_str()),
            ([], Some(Value::String(text))) => Cow::Borrowed(text.as_str()),
            _ => Cow::Owned(self.content_text()),
        };
        if text.len() <= limit {
            return text;
        }
        let end = text.floor_char_boundary(limit);
        match text {
            Cow::Borrowed(text) => Cow::Borrowed(&text[..end]),
            Cow::Owned(mut text) => {
                text.truncate(end);
                Cow::Owned(text)
            }
        }
    }

    /// What a success says: its blocks as text, or its value.
    fn content_text(&self) -> String {
        if self.content.is_empty() {
            return match &self.value {
                Some(value) => value_text(value),
                None => self.message.clone().unwrap_or_else(|| "Done.".to_owned()),
            };
        }
        let pieces: Vec<String> = self.content.iter().map(block_text).collect();
        pieces.join("\n")
    }

    /// One line for the person.
    pub fn display_text(&self) -> String {
        if let Some(display) = &self.display {
            return display.clone();
        }
        if let Some(error) = &self.error {
            return error.to_string();
        }
        if let Some(message) = &self.message {
            return message.clone();
        }
        let text = self.content_text();
        let line = text.lines().next().unwrap_or_default();
        match line.char_indices().nth(200) {
            Some((end, _)) => format!("{}…", &line[..end]),
            None => line.to_owned(),
        }
    }

    /// The tool result: success, content for the model, content for the person,
    /// error, metadata.
    pub fn to_result(&self) -> Value {
        let content = match (&self.error, &self.value) {
            (None, Some(value @ (Value::Object(_) | Value::Array(_))))
                if self.content.is_empty() && self.instruction.is_none() =>
            {
                value.clone()
            }
            _ => Value::String(self.model_text()),
        };
        let mut result = json!({
            "success": self.is_success(),
            "llm_content": content,
            "display_content": self.display_text(),
        });
        if let Some(error) = &self.error {
            let mut object = json!({
                "message": error.message,
                "type": error.kind.result_type(),
                "code": error.code(),
            });
            if let Some(details) = &error.details {
                object["details"] = details.clone();
            }
            result["error"] = object;
        }
        if !self.metadata.is_empty() {
            result["metadata"] = Value::Object(self.metadata.clone());
        }
        result
    }

    /// The result envelope: success, value, error, error_type, exception_type,
    /// exception_message, message, instruction; what is absent is left out.
    pub fn to_envelope(&self) -> Value {
        let mut envelope = Map::new();
        envelope.insert("success".into(), self.is_success().into());
        if let Some(value) = self.value_or_content() {
            envelope.insert("value".into(), value);
        }
        if let Some(error) = &self.error {
            envelope.insert("error".into(), error.message.clone().into());
            envelope.insert("error_type".into(), error.code().into());
            if let Some(cause) = &error.cause {
                envelope.insert("exception_type".into(), cause_type(&**cause).into());
                envelope.insert("exception_message".into(), cause.to_string().into());
            }
        }
        if let Some(message) = &self.message {
            envelope.insert("message".into(), message.clone().into());
        }
        if let Some(instruction) = &self.instruction {
            envelope.insert("instruction".into(), instruction.clone().into());
        }
        Value::Object(envelope)
    }

    /// The tool message: tool_name, output, error.
    pub fn to_message(&self) -> Value {
        let name = match (&self.facts.tool, &self.facts.called_as) {
            (Some(tool), _) => tool.as_str(),
            (None, Some(name)) => name,
            (None, None) => "",
        };
        json!({
            "tool_name": name,
            "output": self.value_or_content(),
            "error": self.error,
        })
    }

    /// What the model reads, block by block: a failure in words first, and an
    /// instruction as a block of its own at the end, since nothing else reaches it.
    pub fn to_blocks(&self) -> Vec<Block> {
        let mut blocks = Vec::with_capacity(self.content.len() + 1);
        if let Some(error) = &self.error {
            blocks.push(Block::text(format!("{error}\n{}", error.kind.advice())));
        } else if self.content.is_empty() {
            blocks.push(Block::text(self.content_text()));
        }
        blocks.extend(self.content.iter().cloned());
        if let Some(instruction) = &self.instruction {
            blocks.push(Block::text(format!("Instruction: {instruction}")));
        }
        blocks
    }

    /// The MCP call result: content, structuredContent, isError.
    pub fn to_mcp(&self) -> Value {
        let content: Vec<Value> = self.to_blocks().iter().map(mcp_block).collect();
        let mut result = json!({ "content": content });
        if self.is_success()
            && let Some(value) = &self.value
        {
            result["structuredContent"] = value.clone();
        }
        result["isError"] = (!self.is_success()).into();
        let meta = self.mcp_meta();
        if !meta.is_empty() {
            result["_meta"] = Value::Object(meta);
        }
        result
    }

    /// What programs are told beside an MCP call result: how old an answer is that was
    /// kept, and when to come back.
    pub fn mcp_meta(&self) -> Map<String, Value> {
        let mut meta = Map::new();
        let mut tell = |name: &str, time: Option<Duration>| {
            if let Some(time) = time {
                let millis = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
                meta.insert(format!("toolsmith/{name}"), millis.into());
            }
        };
        tell("cachedMs", self.facts.cached);
        let error = self.error.as_ref();
        tell("retryAfterMs", error.and_then(ToolError::retry_after));
        meta
    }

    /// The value, or what the model reads where there is none.
    fn value_or_content(&self) -> Option<Value> {
        if let Some(value) = &self.value {
            return Some(value.clone());
        }
        if self.content.is_empty() {
            return None;
        }
        Some(Value::String(self.content_text()))
    }
}

impl ToolDef {
    /// The tool's MCP annotations, from its effect and hints.
    pub fn annotations(&self) -> Value {
        let read_only = self.effect == Effect::Read;
        let mut annotations = json!({
            "readOnlyHint": read_only,
            "destructiveHint": self.hints.destructive.unwrap_or(!read_only),
            "idempotentHint": self.is_idempotent(),
            "openWorldHint": self.hints.open_world.unwrap_or(self.effect == Effect::Network),
        });
        if let Some(title) = &self.title {
            annotations["title"] = title.clone().into();
        }
        annotations
    }
}

/// The best name there is for an erased error: the word its debug form begins with.
fn cause_type(cause: &(dyn std::error::Error + Send + Sync)) -> String {
    let debug = format!("{cause:?}");
    let name: String = debug
        .chars()
        .take_while(|c| c.is_alphanumeric() || *c == '_')
        .take(60)
        .collect();
    if name.is_empty() {
        "error".to_owned()
    } else {
        name
    }
}

fn value_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn block_text(block: &Block) -> String {
    match block {
        Block::Text { text } => text.clone(),
        Block::Image { mime_type, data } => {
            format!("[image: {mime_type}, {} bytes in base64]", data.len())
        }
        Block::Audio { mime_type, data } => {
            format!("[audio: {mime_type}, {} bytes in base64]", data.len())
        }
        Block::Resource { uri, content, .. } => match content {
            ResourceContent::Text(text) => format!("[resource: {uri}]\n{text}"),
            ResourceContent::Blob(data) => {
                format!("[resource: {uri}, {} bytes in base64]", data.len())
            }
        },
        Block::Link { uri, name, .. } => format!("[{name}: {uri}]"),
    }
}

fn text_block(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn mcp_block(block: &Block) -> Value {
    match block {
        Block::Text { text } => text_block(text),
        Block::Image { data, mime_type } => {
            json!({"type": "image", "data": data, "mimeType": mime_type})
        }
        Block::Audio { data, mime_type } => {
            json!({"type": "audio", "data": data, "mimeType": mime_type})
        }
        Block::Resource {
            uri,
            mime_type,
            content,
        } => {
            let mut resource = json!({ "uri": uri });
            if let Some(mime_type) = mime_type {
                resource["mimeType"] = mime_type.clone().into();
            }
            match content {
                ResourceContent::Text(text) => resource["text"] = text.clone().into(),
                ResourceContent::Blob(data) => resource["blob"] = data.clone().into(),
            }
            json!({"type": "resource", "resource": resource})
        }
        Block::Link {
            uri,
            name,
            description,
            mime_type,
        } => {
            let mut link = json!({"type": "resource_link", "uri": uri, "name": name});
            if let Some(description) = description {
                link["description"] = description.clone().into();
            }
            if let Some(mime_type) = mime_type {
                link["mimeType"] = mime_type.clone().into();
            }
            link
        }
    }
}
