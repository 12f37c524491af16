//! Ollama's own chat: a message per line, with more of the text or with whole calls.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::{Assemble, Assembled, Delta, MOST_ITEMS, grow};
use crate::parse::{list, text};

#[derive(Debug, Default)]
pub(super) struct Assembler {
    created_at: String,
    text: String,
    thinking: String,
    calls: Vec<Value>,
    reason: String,
    done: bool,
    /// Whether there were more calls than are kept.
    full: bool,
}

impl Assemble for Assembler {
    fn event(&mut self, event: &Value, deltas: &mut Vec<Delta>) {
        if self.created_at.is_empty() {
            text(event, "created_at").clone_into(&mut self.created_at);
        }
        let message = event.get("message").unwrap_or(&Value::Null);
        let (said, thought) = (text(message, "content"), text(message, "thinking"));
        grow(&mut self.thinking, thought, deltas, Delta::Reasoning);
        grow(&mut self.text, said, deltas, Delta::Text);
        for call in list(message, "tool_calls") {
            if self.calls.len() >= MOST_ITEMS {
                self.full = true;
                break;
            }
            let index = self.calls.len();
            let function = call.get("function").unwrap_or(call);
            let name = text(function, "name").to_owned();
            deltas.push(Delta::Call { index, name });
            if let Some(arguments) = function.get("arguments") {
                let text = arguments.to_string();
                deltas.push(Delta::Arguments { index, text });
            }
            self.calls.push(call.clone());
        }
        self.done |= event.get("done").and_then(Value::as_bool) == Some(true);
        let reason = text(event, "done_reason");
        if !reason.is_empty() {
            reason.clone_into(&mut self.reason);
        }
    }

    fn is_whole(&self, event: &Value) -> bool {
        event.get("done").and_then(Value::as_bool) != Some(false)
    }

    fn finish(&mut self, _ended: bool) -> Assembled {
        let mut message = json!({"role": "assistant", "content": self.text});
        if !self.thinking.is_empty() {
            message["thinking"] = std::mem::take(&mut self.thinking).into();
        }
        if !self.calls.is_empty() {
            message["tool_calls"] = std::mem::take(&mut self.calls).into();
        }
        Assembled {
            body: json!({
                "created_at": self.created_at,
                "message": message,
                "done": self.done,
                "done_reason": self.reason,
            }),
            whole: self.done && !self.full,
            // Calls come whole.
            open: Some(HashSet::new()),
        }
    }
}
