//! Version 2 of Cohere's chat: named events, each with a piece of a message.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::openai::Message;
use super::{Assemble, Assembled, Delta};
use crate::parse::text;

#[derive(Debug, Default)]
pub(super) struct Assembler {
    id: String,
    message: Message,
    ended: bool,
}

impl Assemble for Assembler {
    fn event(&mut self, event: &Value, deltas: &mut Vec<Delta>) {
        let index = event.get("index").and_then(Value::as_i64);
        match text(event, "type") {
            "message-start" => text(event, "id").clone_into(&mut self.id),
            "tool-call-end" => self.message.calls.end(index),
            "message-end" => {
                let delta = event.get("delta").unwrap_or(event);
                text(delta, "finish_reason").clone_into(&mut self.message.finish_reason);
                self.ended = true;
            }
            _ => {
                if let Some(delta) = event.pointer("/delta/message") {
                    self.message.grow(delta, index, deltas);
                }
            }
        }
    }

    fn is_whole(&self, event: &Value) -> bool {
        event.get("message").is_some_and(Value::is_object)
    }

    fn finish(&mut self, _ended: bool) -> Assembled {
        let mut message = std::mem::take(&mut self.message);
        let open: HashSet<usize> = match self.ended {
            true => HashSet::new(),
            false => message.calls.open().collect(),
        };
        let whole = self.ended && !message.calls.full;
        let finish_reason = std::mem::take(&mut message.finish_reason);
        let message = message.message();
        Assembled {
            body: json!({"id": self.id, "message": message, "finish_reason": finish_reason}),
            whole,
            open: Some(open),
        }
    }
}
