//! Anthropic's Messages in pieces: blocks that begin, grow and end.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};
use toolsmith_core::json;

use super::{Assemble, Assembled, Delta, MOST_ITEMS};
use crate::parse::{LARGEST, text};

#[derive(Debug, Default)]
pub(super) struct Assembler {
    message: Option<Value>,
    blocks: Vec<Block>,
    /// The latest block by its index.
    by_index: HashMap<u64, usize>,
    calls: usize,
    stop_reason: String,
    stopped: bool,
    /// Whether there were more blocks than are kept.
    full: bool,
}

#[derive(Debug)]
struct Block {
    value: Value,
    /// The input, as far as it came in pieces.
    input: String,
    /// Which call it is, where it is one.
    call: Option<usize>,
    ended: bool,
}

impl Assemble for Assembler {
    fn event(&mut self, event: &Value, deltas: &mut Vec<Delta>) {
        let index = event.get("index").and_then(Value::as_u64);
        match text(event, "type") {
            "message_start" => self.message = event.get("message").cloned(),
            "content_block_start" => self.begin(index, event.get("content_block"), deltas),
            "content_block_delta" => {
                let delta = event.get("delta").unwrap_or(&Value::Null);
                if let Some(block) = self.block(index) {
                    block.grow(delta, deltas);
                }
            }
            "content_block_stop" => {
                if let Some(block) = self.block(index) {
                    block.ended = true;
                }
            }
            "message_delta" => {
                let reason = event
                    .get("delta")
                    .map_or("", |delta| text(delta, "stop_reason"));
                if !reason.is_empty() {
                    reason.clone_into(&mut self.stop_reason);
                }
            }
            "message_stop" => self.stopped = true,
            _ => {}
        }
    }

    fn is_whole(&self, event: &Value) -> bool {
        event.get("content").is_some()
    }

    fn finish(&mut self, _ended: bool) -> Assembled {
        let whole = !self.full && (self.stopped || !self.stop_reason.is_empty());
        let open: HashSet<usize> = (self.blocks.iter())
            .filter(|block| !whole && !block.ended)
            .filter_map(|block| block.call)
            .collect();
        let blocks: Vec<Value> = self.blocks.drain(..).map(Block::finish).collect();
        let mut body = (self.message.take())
            .filter(Value::is_object)
            .unwrap_or_else(|| json!({}));
        body["type"] = "message".into();
        body["role"] = "assistant".into();
        body["content"] = blocks.into();
        body["stop_reason"] = std::mem::take(&mut self.stop_reason).into();
        Assembled {
            body,
            whole,
            open: Some(open),
        }
    }
}

impl Assembler {
    fn block(&mut self, index: Option<u64>) -> Option<&mut Block> {
        let position = match index {
            Some(index) => *self.by_index.get(&index)?,
            None => self.blocks.len().checked_sub(1)?,
        };
        self.blocks.get_mut(position)
    }

    fn begin(&mut self, index: Option<u64>, block: Option<&Value>, deltas: &mut Vec<Delta>) {
        let Some(block) = block.filter(|block| block.is_object()) else {
            return;
        };
        if self.blocks.len() >= MOST_ITEMS {
            self.full = true;
            return;
        }
        if let Some(index) = index {
            self.by_index.insert(index, self.blocks.len());
        }
        let call = (text(block, "type") == "tool_use").then_some(self.calls);
        match text(block, "type") {
            "tool_use" => {
                self.calls += 1;
                let name = text(block, "name").to_owned();
                let index = self.calls - 1;
                deltas.push(Delta::Call { index, name });
            }
            "text" if !text(block, "text").is_empty() => {
                deltas.push(Delta::Text(text(block, "text").to_owned()));
            }
            _ => {}
        }
        self.blocks.push(Block {
            value: block.clone(),
            input: String::new(),
            call,
            ended: false,
        });
    }
}

impl Block {
    fn grow(&mut self, delta: &Value, deltas: &mut Vec<Delta>) {
        match text(delta, "type") {
            "text_delta" => {
                let more = text(delta, "text");
                append(&mut self.value, "text", more);
                deltas.push(Delta::Text(more.to_owned()));
            }
            "thinking_delta" => {
                let more = text(delta, "thinking");
                append(&mut self.value, "thinking", more);
                deltas.push(Delta::Reasoning(more.to_owned()));
            }
            "signature_delta" => append(&mut self.value, "signature", text(delta, "signature")),
            "input_json_delta" => {
                let more = text(delta, "partial_json");
                self.input.push_str(more);
                if let Some(index) = self.call
                    && !more.is_empty()
                {
                    let text = more.to_owned();
                    deltas.push(Delta::Arguments { index, text });
                }
            }
            "citations_delta" => {
                if let Some(citation) = delta.get("citation") {
                    match &mut self.value["citations"] {
                        Value::Array(citations) => citations.push(citation.clone()),
                        other => *other = json!([citation]),
                    }
                }
            }
            _ => {}
        }
    }

    fn finish(mut self) -> Value {
        if !self.input.trim().is_empty() {
            self.value["input"] = match json::parse(self.input.as_bytes(), LARGEST) {
                Ok(input) => input,
                // What cannot be read is judged where calls are; the provider's own tools
                // must only be something it takes back.
                Err(_) if self.call.is_some() => self.input.into(),
                Err(_) => json!({}),
            };
        }
        self.value
    }
}

/// Adds to the text under a key.
fn append(value: &mut Value, key: &str, more: &str) {
    match &mut value[key] {
        Value::String(text) => text.push_str(more),
        other => *other = more.into(),
    }
}
