//! Google's Gemini: each event is an answer with some more parts.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::gemini_partial::PartialCall;
use super::{Assemble, Assembled, Delta, MOST_ITEMS};
use crate::parse::{list, text};

#[derive(Debug, Default)]
pub(super) struct Assembler {
    id: String,
    parts: Vec<Value>,
    calls: usize,
    finish_reason: String,
    finish_message: String,
    feedback: Option<Value>,
    growing: Option<PartialCall>,
    /// Whether there were more parts than are kept.
    full: bool,
}

impl Assemble for Assembler {
    fn event(&mut self, event: &Value, deltas: &mut Vec<Delta>) {
        let event = event
            .get("response")
            .filter(|inner| inner.get("candidates").is_some())
            .unwrap_or(event);
        if self.id.is_empty() {
            text(event, "responseId").clone_into(&mut self.id);
        }
        if let Some(feedback) = event.get("promptFeedback") {
            self.feedback = Some(feedback.clone());
        }
        // Streams have one candidate.
        let Some(candidate) = list(event, "candidates").first() else {
            return;
        };
        let parts = candidate
            .get("content")
            .map_or(&[][..], |content| list(content, "parts"));
        for part in parts {
            self.part(part, deltas);
        }
        for (key, kept) in [
            ("finishReason", &mut self.finish_reason),
            ("finishMessage", &mut self.finish_message),
        ] {
            let word = text(candidate, key);
            if !word.is_empty() {
                word.clone_into(kept);
            }
        }
    }

    fn is_whole(&self, event: &Value) -> bool {
        event.pointer("/candidates/0/finishReason").is_some() || event.get("parts").is_some()
    }

    fn finish(&mut self, _ended: bool) -> Assembled {
        self.end_call();
        let parts = std::mem::take(&mut self.parts);
        let blocked = self
            .feedback
            .as_ref()
            .is_some_and(|it| it.get("blockReason").is_some());
        let whole = !self.full && (!self.finish_reason.is_empty() || blocked);
        let mut body = json!({"responseId": self.id});
        if let Some(feedback) = self.feedback.take() {
            body["promptFeedback"] = feedback;
        }
        if !parts.is_empty() || !blocked {
            let mut candidate = json!({"content": {"role": "model", "parts": parts}});
            candidate["finishReason"] = std::mem::take(&mut self.finish_reason).into();
            candidate["finishMessage"] = std::mem::take(&mut self.finish_message).into();
            body["candidates"] = json!([candidate]);
        }
        Assembled {
            body,
            whole,
            // Calls come whole.
            open: Some(HashSet::new()),
        }
    }
}

impl Assembler {
    fn part(&mut self, part: &Value, deltas: &mut Vec<Delta>) {
        if let Some(call) = part.get("functionCall") {
            return self.call(part, call, deltas);
        }
        self.end_call();
        if let Some(more) = part.get("text").and_then(Value::as_str) {
            let thought = is_thought(part);
            if !more.is_empty() {
                deltas.push(match thought {
                    true => Delta::Reasoning(more.to_owned()),
                    false => Delta::Text(more.to_owned()),
                });
            }
            // A part that is signed stays as it is, and so does what stands before it.
            if is_plain(part)
                && let Some(last) = self.parts.last_mut()
                && is_plain(last)
                && is_thought(last) == thought
                && let Value::String(text) = &mut last["text"]
            {
                text.push_str(more);
                return;
            }
        }
        self.keep(part.clone());
    }

    /// A call, whole or, on Vertex where that was asked for, a piece of one.
    fn call(&mut self, part: &Value, call: &Value, deltas: &mut Vec<Delta>) {
        if let Some(growing) = &mut self.growing
            && text(call, "name").is_empty()
        {
            growing.take(call);
            if growing.ended {
                self.end_call();
            }
            return;
        }
        self.end_call();
        let index = self.calls;
        self.calls += 1;
        let name = text(call, "name").to_owned();
        deltas.push(Delta::Call { index, name });
        if PartialCall::begins(call) {
            self.growing = Some(PartialCall::new(part.clone()));
            return;
        }
        if let Some(arguments) = call.get("args") {
            let text = arguments.to_string();
            deltas.push(Delta::Arguments { index, text });
        }
        self.keep(part.clone());
    }

    fn end_call(&mut self) {
        if let Some(growing) = self.growing.take() {
            self.keep(growing.finish());
        }
    }

    fn keep(&mut self, part: Value) {
        if self.parts.len() < MOST_ITEMS {
            self.parts.push(part);
        } else {
            self.full = true;
        }
    }
}

fn is_thought(part: &Value) -> bool {
    part.get("thought").and_then(Value::as_bool) == Some(true)
}

/// Whether a part is text and nothing else.
fn is_plain(part: &Value) -> bool {
    part.as_object().is_some_and(|fields| {
        fields.contains_key("text") && fields.keys().all(|key| key == "text" || key == "thought")
    })
}
