//! OpenAI's Responses in pieces: items that are added, grow and are done. The last event
//! has the whole once more; what came before counts where it does not come.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::{Value, json};

use super::{Assemble, Assembled, Delta, MOST_ITEMS};
use crate::parse::{list, text};

#[derive(Debug, Default)]
pub(super) struct Assembler {
    id: String,
    /// In the order in which they came.
    items: Vec<Item>,
    /// The latest item by what its events say: some servers give every item the same index,
    /// and others one item a new id in each event.
    by_index: HashMap<u64, usize>,
    by_id: HashMap<String, usize>,
    calls: usize,
    /// The answer as the last event has it.
    response: Option<Value>,
    /// Whether there were more items than are kept.
    full: bool,
}

#[derive(Debug, Default)]
struct Item {
    index: u64,
    value: Value,
    /// The arguments, the input or the texts so far, by the index of the piece.
    texts: BTreeMap<u64, String>,
    call: Option<usize>,
    done: bool,
}

impl Assemble for Assembler {
    fn event(&mut self, event: &Value, deltas: &mut Vec<Delta>) {
        let kind = text(event, "type");
        match kind {
            "response.created" | "response.in_progress" => {
                if let Some(response) = event.get("response") {
                    text(response, "id").clone_into(&mut self.id);
                }
            }
            "response.completed" | "response.incomplete" | "response.done" => {
                self.response = event.get("response").cloned();
            }
            "response.output_item.added" => {
                if let Some(item) = event.get("item").filter(|item| item.is_object())
                    && !self.by_id.contains_key(text(item, "id"))
                {
                    self.add(index(event), item, deltas);
                }
            }
            "response.output_item.done" => {
                if let Some(item) = event.get("item").filter(|item| item.is_object()) {
                    self.end(index(event), item, deltas);
                }
            }
            _ => {
                let by_id = self.by_id.get(text(event, "item_id"));
                let by_index = || self.by_index.get(&index(event)?);
                let latest = self.items.len().checked_sub(1);
                let position = by_id.or_else(by_index).copied().or(latest);
                if let Some(position) = position {
                    self.items[position].grow(kind, event, deltas);
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
        let mut items = std::mem::take(&mut self.items);
        items.sort_by_key(|item| item.index);
        let calls = items.iter().filter(|item| item.call.is_some());
        let open: HashSet<usize> = { calls.enumerate() }
            .filter(|(_, item)| !whole && !item.done)
            .map(|(position, _)| position)
            .collect();
        let items: Vec<Value> = items.into_iter().map(Item::finish).collect();
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
    /// Takes an item that is done, and that may not have been added before.
    fn end(&mut self, index: Option<u64>, value: &Value, deltas: &mut Vec<Delta>) {
        let by_id = self.by_id.get(text(value, "id")).copied();
        let growing = |position: &&usize| !self.items[**position].done;
        let by_index = || self.by_index.get(&index?).filter(growing).copied();
        let known = by_id.or_else(by_index);
        let Some(position) = known.or_else(|| self.add(index, value, deltas)) else {
            return;
        };
        let item = &mut self.items[position];
        item.done = true;
        item.value = value.clone();
        item.texts.clear();
    }

    /// Begins an item, and returns its position, where there is room for it.
    fn add(&mut self, index: Option<u64>, value: &Value, deltas: &mut Vec<Delta>) -> Option<usize> {
        let position = self.items.len();
        if position >= MOST_ITEMS {
            self.full = true;
            return None;
        }
        let is_call = matches!(text(value, "type"), "function_call" | "custom_tool_call");
        let call = is_call.then_some(self.calls);
        if let Some(index) = call {
            self.calls += 1;
            let name = text(value, "name").to_owned();
            deltas.push(Delta::Call { index, name });
        }
        if !text(value, "id").is_empty() {
            self.by_id.insert(text(value, "id").to_owned(), position);
        }
        if let Some(index) = index {
            self.by_index.insert(index, position);
        }
        let last = self.items.last().map_or(0, |item| item.index);
        self.items.push(Item {
            index: index.unwrap_or(last),
            value: value.clone(),
            call,
            ..Item::default()
        });
        Some(position)
    }
}

fn index(event: &Value) -> Option<u64> {
    event.get("output_index").and_then(Value::as_u64)
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
