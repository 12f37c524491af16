//! OpenAI's Responses in pieces: items that are added, grow and are done. The last event
//! has the whole once more; what came before counts where it does not come.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::{Value, json};

use super::{Assemble, Assembled, Delta, MOST_ITEMS};
use crate::parse::{list, text};

#[derive(Debug, Default)]
pub(super) struct Assembler {
    id: String,
    items: BTreeMap<u64, Item>,
    by_id: HashMap<String, u64>,
    calls: usize,
    /// The answer as the last event has it.
    response: Option<Value>,
    /// Whether there were more items than are kept.
    full: bool,
}

#[derive(Debug, Default)]
struct Item {
    value: Value,
    /// The arguments, the input or the texts so far, by the index of the piece.
    texts: BTreeMap<u64, String>,
    call: Option<usize>,
    done: bool,
}

impl Assemble for Assembler {
    fn event(&mut self, event: &Value, deltas: &mut Vec<Delta>) {
        let kind = text(event, "type");
        let number = self.number(event);
        match kind {
            "response.created" | "response.in_progress" => {
                if let Some(response) = event.get("response") {
                    text(response, "id").clone_into(&mut self.id);
                }
            }
            "response.completed" | "response.incomplete" | "response.done" => {
                self.response = event.get("response").cloned();
            }
            "response.output_item.added" => self.add(number, event.get("item"), deltas),
            "response.output_item.done" => {
                if !self.items.contains_key(&number) {
                    self.add(number, event.get("item"), deltas);
                }
                if let Some(item) = self.items.get_mut(&number) {
                    item.done = true;
                    if let Some(value) = event.get("item") {
                        item.value = value.clone();
                        item.texts.clear();
                    }
                }
            }
            _ => {
                if let Some(item) = self.items.get_mut(&number) {
                    item.grow(kind, event, deltas);
                }
            }
        }
    }

    fn is_whole(&self, event: &Value) -> bool {
        event.get("output").is_some()
    }

    fn finish(&mut self, _ended: bool) -> Assembled {
        let response = self.response.take().filter(Value::is_object);
        let whole = response.is_some() && !self.full;
        let open: HashSet<usize> = (self.items.values())
            .filter(|item| !whole && !item.done)
            .filter_map(|item| item.call)
            .collect();
        let items = std::mem::take(&mut self.items);
        let items: Vec<Value> = items.into_values().map(Item::finish).collect();
        let mut body = response.unwrap_or_else(|| json!({"id": self.id, "status": "in_progress"}));
        // Some servers leave the items out of the last event.
        if list(&body, "output").is_empty() {
            body["output"] = items.into();
        }
        Assembled {
            body,
            whole,
            open: Some(open),
        }
    }
}

impl Assembler {
    /// Which item an event speaks of: by its number where the index is missing.
    fn number(&self, event: &Value) -> u64 {
        let index = event.get("output_index").and_then(Value::as_u64);
        let by_id = || self.by_id.get(text(event, "item_id")).copied();
        let next = || {
            self.items
                .keys()
                .next_back()
                .map_or(0, |last| last.saturating_add(1))
        };
        index.or_else(by_id).unwrap_or_else(next)
    }

    fn add(&mut self, number: u64, item: Option<&Value>, deltas: &mut Vec<Delta>) {
        let Some(item) = item.filter(|item| item.is_object()) else {
            return;
        };
        if self.items.contains_key(&number) {
            return;
        }
        if self.items.len() >= MOST_ITEMS {
            self.full = true;
            return;
        }
        let is_call = matches!(text(item, "type"), "function_call" | "custom_tool_call");
        let call = is_call.then_some(self.calls);
        if let Some(index) = call {
            self.calls += 1;
            let name = text(item, "name").to_owned();
            deltas.push(Delta::Call { index, name });
        }
        self.by_id.insert(text(item, "id").to_owned(), number);
        let added = Item {
            value: item.clone(),
            call,
            ..Item::default()
        };
        self.items.insert(number, added);
    }
}

impl Item {
    fn grow(&mut self, kind: &str, event: &Value, deltas: &mut Vec<Delta>) {
        let piece = ["content_index", "summary_index"]
            .iter()
            .find_map(|key| event.get(*key)?.as_u64());
        let more = text(event, "delta");
        let (delta, whole) = match kind {
            "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta" => {
                let index = self.call.unwrap_or_default();
                let text = more.to_owned();
                (Delta::Arguments { index, text }, None)
            }
            "response.function_call_arguments.done" => {
                (Delta::Text(String::new()), event.get("arguments"))
            }
            "response.custom_tool_call_input.done" => {
                (Delta::Text(String::new()), event.get("input"))
            }
            "response.output_text.delta" | "response.refusal.delta" => {
                (Delta::Text(more.to_owned()), None)
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                (Delta::Reasoning(more.to_owned()), None)
            }
            _ => return,
        };
        if self.texts.len() >= MOST_ITEMS {
            return;
        }
        let text = self.texts.entry(piece.unwrap_or(0)).or_default();
        if let Some(whole) = whole.and_then(Value::as_str) {
            whole.clone_into(text);
            self.done = true;
        } else if !more.is_empty() {
            text.push_str(more);
            deltas.push(delta);
        }
    }

    fn finish(self) -> Value {
        let mut value = self.value;
        if self.texts.is_empty() {
            return value;
        }
        let whole: String = self.texts.values().map(String::as_str).collect();
        let pieces = |kind: &str| -> Vec<Value> {
            let piece = |text: &String| json!({"type": kind, "text": text});
            self.texts.values().map(piece).collect()
        };
        match text(&value, "type") {
            "function_call" => value["arguments"] = whole.into(),
            "custom_tool_call" => value["input"] = whole.into(),
            "message" => value["content"] = pieces("output_text").into(),
            "reasoning" => value["summary"] = pieces("summary_text").into(),
            _ => {}
        }
        value
    }
}
