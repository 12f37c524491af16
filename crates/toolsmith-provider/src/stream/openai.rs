//! Chat completions in pieces, from OpenAI and everybody who copies it.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::calls::{Calls, Piece};
use super::{Assemble, Assembled, Delta, grow};
use crate::parse::{list, text};

/// How many choices are followed; more are not asked for.
const MOST_CHOICES: usize = 16;

#[derive(Debug, Default)]
pub(super) struct Assembler {
    id: String,
    choices: BTreeMap<u64, Message>,
}

impl Assemble for Assembler {
    fn event(&mut self, event: &Value, deltas: &mut Vec<Delta>) {
        let event = match event.get("output") {
            Some(output) if output.get("choices").is_some() => output,
            _ => event,
        };
        if self.id.is_empty() {
            text(event, "id").clone_into(&mut self.id);
        }
        for choice in list(event, "choices") {
            let index = choice.get("index").and_then(Value::as_u64).unwrap_or(0);
            if self.choices.len() >= MOST_CHOICES && !self.choices.contains_key(&index) {
                continue;
            }
            // Only the first choice is shown while it grows.
            let shown = self
                .choices
                .keys()
                .next()
                .is_none_or(|first| index <= *first);
            let mut unseen = Vec::new();
            let message = self.choices.entry(index).or_default();
            message.push(choice, if shown { deltas } else { &mut unseen });
        }
    }

    fn is_whole(&self, event: &Value) -> bool {
        let whole = |choice: &Value| choice.get("message").is_some_and(Value::is_object);
        list(event, "choices").iter().any(whole)
            || event.pointer("/output/choices/0/message").is_some()
            || event.get("choices").is_none()
                && (event.get("message").is_some() || event.get("role").is_some())
    }

    fn finish(&mut self, ended: bool) -> Assembled {
        let mut choices = std::mem::take(&mut self.choices);
        // What broke off before there was a choice is an answer all the same.
        if choices.is_empty() {
            choices.insert(0, Message::default());
        }
        let whole = ended || (choices.values()).all(|message| !message.finish_reason.is_empty());
        let whole = whole && !choices.values().any(|message| message.calls.full);
        let choices: Vec<Value> = choices.into_values().map(Message::finish).collect();
        Assembled {
            whole,
            body: json!({"id": self.id, "choices": choices}),
            open: None,
        }
    }
}

/// A message that grows.
#[derive(Debug, Default)]
pub(super) struct Message {
    content: Content,
    /// Texts under other keys: thoughts under several names, a refusal, a plan.
    texts: BTreeMap<&'static str, String>,
    details: Vec<Value>,
    pub(super) calls: Calls,
    legacy: Calls,
    pub(super) finish_reason: String,
}

/// The keys of texts that grow, and whether they are thoughts.
const TEXTS: &[(&str, bool)] = &[
    ("reasoning_content", true),
    ("reasoning", true),
    ("thinking", true),
    ("tool_plan", true),
    ("refusal", false),
];

impl Message {
    fn push(&mut self, choice: &Value, deltas: &mut Vec<Delta>) {
        // Some servers send the last piece as if it were whole.
        let delta = choice.get("delta").or_else(|| choice.get("message"));
        if let Some(delta) = delta {
            self.grow(delta, None, deltas);
        }
        let reason = text(choice, "finish_reason");
        if !reason.is_empty() {
            reason.clone_into(&mut self.finish_reason);
        }
    }

    pub(super) fn grow(&mut self, delta: &Value, index: Option<i64>, deltas: &mut Vec<Delta>) {
        let mut thought = false;
        for (key, is_thought) in TEXTS {
            let Some(more) = delta.get(*key).and_then(Value::as_str) else {
                continue;
            };
            let grown = self.texts.entry(key).or_default();
            // The same thought under two names is shown once.
            let shown = !(*is_thought && std::mem::replace(&mut thought, true));
            let kind = if *is_thought {
                Delta::Reasoning
            } else {
                Delta::Text
            };
            let mut unseen = Vec::new();
            grow(grown, more, if shown { deltas } else { &mut unseen }, kind);
        }
        self.details
            .extend_from_slice(list(delta, "reasoning_details"));
        if let Some(content) = delta.get("content") {
            self.content.push(content, deltas);
        }
        match delta.get("tool_calls") {
            Some(Value::Array(calls)) => {
                for call in calls {
                    self.calls.push(&Piece::of(call, None), deltas);
                }
            }
            Some(call @ Value::Object(_)) => self.calls.push(&Piece::of(call, index), deltas),
            _ => {}
        }
        if let Some(call) = delta.get("function_call").filter(|call| call.is_object()) {
            self.legacy.push(&Piece::legacy(call), deltas);
        }
    }

    fn finish(self) -> Value {
        let finish_reason = self.finish_reason.clone();
        json!({"message": self.message(), "finish_reason": finish_reason})
    }

    pub(super) fn message(mut self) -> Value {
        let mut message = Map::new();
        message.insert("role".into(), "assistant".into());
        message.insert("content".into(), self.content.finish());
        for (key, text) in self.texts {
            message.insert(key.into(), text.into());
        }
        if !self.details.is_empty() {
            message.insert("reasoning_details".into(), self.details.into());
        }
        if !self.calls.is_empty() {
            message.insert("tool_calls".into(), self.calls.finish().into());
        }
        if let Some(call) = self.legacy.finish().into_iter().next() {
            message.insert("function_call".into(), call["function"].clone());
        }
        Value::Object(message)
    }
}

/// What a message says: a text, or typed pieces where any came.
#[derive(Debug, Default)]
struct Content {
    said: bool,
    text: String,
    pieces: Vec<Value>,
}

impl Content {
    fn push(&mut self, content: &Value, deltas: &mut Vec<Delta>) {
        match content {
            Value::String(more) => {
                self.said = true;
                if self.pieces.is_empty() {
                    grow(&mut self.text, more, deltas, Delta::Text);
                } else {
                    self.piece(&json!({"type": "text", "text": more}), deltas);
                }
            }
            Value::Array(pieces) => {
                self.said = true;
                let text = std::mem::take(&mut self.text);
                if !text.is_empty() {
                    self.pieces.push(json!({"type": "text", "text": text}));
                }
                for piece in pieces.iter().filter(|piece| piece.is_object()) {
                    self.piece(piece, deltas);
                }
            }
            // Cohere sends one piece at a time.
            Value::Object(_) => {
                self.said = true;
                self.piece(content, deltas);
            }
            _ => {}
        }
    }

    /// Adds a piece, which is an object, to the one before it where both are of a kind.
    fn piece(&mut self, piece: &Value, deltas: &mut Vec<Delta>) {
        let kind = match text(piece, "type") {
            "" if piece.get("thinking").is_some() => "thinking",
            "" => "text",
            kind => kind,
        };
        let nested = list(piece, "thinking")
            .iter()
            .map(|each| text(each, "text"));
        let more: String = match piece.get(kind) {
            Some(Value::String(more)) => more.clone(),
            _ => nested.collect(),
        };
        let last = self
            .pieces
            .last_mut()
            .filter(|last| text(last, "type") == kind);
        if !matches!(kind, "text" | "thinking") {
            self.pieces.push(piece.clone());
            return;
        }
        match last {
            Some(last) => {
                let target = match &mut last[kind] {
                    Value::Array(nested) => nested.first_mut().map(|first| &mut first["text"]),
                    text => Some(text),
                };
                if let Some(Value::String(target)) = target {
                    target.push_str(&more);
                }
            }
            None => {
                let mut piece = piece.clone();
                piece["type"] = kind.into();
                // One text, so that the next pieces can be added to it.
                if piece[kind].is_array() {
                    piece[kind] = json!([{"type": "text", "text": more}]);
                }
                self.pieces.push(piece);
            }
        }
        if !more.is_empty() {
            deltas.push(match kind {
                "thinking" => Delta::Reasoning(more),
                _ => Delta::Text(more),
            });
        }
    }

    fn finish(self) -> Value {
        if !self.pieces.is_empty() {
            self.pieces.into()
        } else if self.said {
            self.text.into()
        } else {
            Value::Null
        }
    }
}
