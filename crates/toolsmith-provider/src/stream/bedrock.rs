//! Converse of AWS Bedrock in pieces: the events of its stream as JSON objects, each
//! under its name. The framing of AWS around them is the client's to take away.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};
use toolsmith_core::json;

use super::{Assemble, Assembled, Delta, MOST_ITEMS};
use crate::parse::{LARGEST, text};

#[derive(Debug, Default)]
pub(super) struct Assembler {
    blocks: Vec<Block>,
    by_index: HashMap<u64, usize>,
    calls: usize,
    stop_reason: String,
    stopped: bool,
    /// Whether there were more blocks than are kept.
    full: bool,
}

#[derive(Debug, Default)]
struct Block {
    text: Option<String>,
    reasoning: Option<Reasoning>,
    call: Option<Call>,
    ended: bool,
}

#[derive(Debug, Default)]
struct Reasoning {
    text: String,
    signature: String,
    redacted: Option<Value>,
}

#[derive(Debug)]
struct Call {
    start: Value,
    input: String,
    position: Option<usize>,
}

impl Assemble for Assembler {
    fn event(&mut self, event: &Value, deltas: &mut Vec<Delta>) {
        if let Some(start) = event.get("contentBlockStart") {
            let call = start.pointer("/start/toolUse").cloned();
            let Some(position) = self.begin(index(start)) else {
                return;
            };
            if let Some(start) = call {
                // What has no name is a call all the same, and is answered.
                let start = if start.is_object() { start } else { json!({}) };
                let ours = text(&start, "type") != "server_tool_use";
                if ours {
                    let name = text(&start, "name").to_owned();
                    let index = self.calls;
                    deltas.push(Delta::Call { index, name });
                }
                self.blocks[position].call = Some(Call {
                    start,
                    input: String::new(),
                    position: ours.then_some(self.calls),
                });
                self.calls += usize::from(ours);
            }
        } else if let Some(event) = event.get("contentBlockDelta") {
            // Blocks of text begin without saying so.
            let known = self.by_index.get(&index(event)).copied();
            let Some(position) = known.or_else(|| self.begin(index(event))) else {
                return;
            };
            let delta = event.get("delta").unwrap_or(&Value::Null);
            self.blocks[position].grow(delta, deltas);
        } else if let Some(event) = event.get("contentBlockStop") {
            if let Some(position) = self.by_index.get(&index(event)) {
                self.blocks[*position].ended = true;
            }
        } else if let Some(event) = event.get("messageStop") {
            text(event, "stopReason").clone_into(&mut self.stop_reason);
            self.stopped = true;
        }
    }

    fn is_whole(&self, event: &Value) -> bool {
        event.get("output").is_some() || event.get("content").is_some()
    }

    fn finish(&mut self, _ended: bool) -> Assembled {
        let open: HashSet<usize> = (self.blocks.iter())
            .filter(|block| !self.stopped && !block.ended)
            .filter_map(|block| block.call.as_ref()?.position)
            .collect();
        let content: Vec<Value> = self.blocks.drain(..).filter_map(Block::finish).collect();
        let message = json!({"role": "assistant", "content": content});
        Assembled {
            body: json!({"output": {"message": message}, "stopReason": self.stop_reason}),
            whole: self.stopped && !self.full,
            open: Some(open),
        }
    }
}

impl Assembler {
    fn begin(&mut self, index: u64) -> Option<usize> {
        if self.blocks.len() >= MOST_ITEMS {
            self.full = true;
            return None;
        }
        self.by_index.insert(index, self.blocks.len());
        self.blocks.push(Block::default());
        Some(self.blocks.len() - 1)
    }
}

fn index(event: &Value) -> u64 {
    event
        .get("contentBlockIndex")
        .and_then(Value::as_u64)
        .unwrap_or(0)
}

impl Block {
    fn grow(&mut self, delta: &Value, deltas: &mut Vec<Delta>) {
        if let Some(more) = delta.get("text").and_then(Value::as_str) {
            self.text.get_or_insert_default().push_str(more);
            deltas.push(Delta::Text(more.to_owned()));
        } else if let Some(thought) = delta.get("reasoningContent") {
            let reasoning = self.reasoning.get_or_insert_default();
            let more = text(thought, "text");
            reasoning.text.push_str(more);
            reasoning.signature.push_str(text(thought, "signature"));
            if let Some(redacted) = thought.get("redactedContent") {
                reasoning.redacted = Some(redacted.clone());
            }
            if !more.is_empty() {
                deltas.push(Delta::Reasoning(more.to_owned()));
            }
        } else if let Some(use_) = delta.get("toolUse")
            && let Some(call) = &mut self.call
        {
            let more = text(use_, "input");
            call.input.push_str(more);
            if let Some(index) = call.position
                && !more.is_empty()
            {
                let text = more.to_owned();
                deltas.push(Delta::Arguments { index, text });
            }
        }
    }

    fn finish(self) -> Option<Value> {
        if let Some(call) = self.call {
            let mut value = call.start;
            if call.input.trim().is_empty() {
                value["input"] = json!({});
            } else {
                value["input"] = match json::parse(call.input.as_bytes(), LARGEST) {
                    Ok(input) => input,
                    Err(_) => call.input.into(),
                };
            }
            return Some(json!({"toolUse": value}));
        }
        if let Some(reasoning) = self.reasoning {
            if let Some(redacted) = reasoning.redacted {
                return Some(json!({"reasoningContent": {"redactedContent": redacted}}));
            }
            let mut thought = json!({"text": reasoning.text});
            if !reasoning.signature.is_empty() {
                thought["signature"] = reasoning.signature.into();
            }
            return Some(json!({"reasoningContent": {"reasoningText": thought}}));
        }
        Some(json!({"text": self.text?}))
    }
}
