//! A call of Gemini whose arguments arrive value by value, each with the path of its
//! place: what Vertex streams where it was asked to.

use serde_json::{Map, Value};

use crate::parse::{list, text};

#[derive(Debug)]
pub(super) struct PartialCall {
    /// The part in which it began, with its name and its signature.
    part: Value,
    arguments: Value,
    /// Whether the last value was a text that goes on.
    goes_on: bool,
    /// Whether a piece of it could not be understood.
    broken: bool,
    pub(super) ended: bool,
}

/// The longest list that is filled by index.
const LONGEST: usize = 10_000;

/// The deepest place.
const DEEPEST: usize = 60;

enum Step {
    Key(String),
    Index(usize),
}

impl PartialCall {
    /// Whether a call is only the beginning of one.
    pub(super) fn begins(call: &Value) -> bool {
        continues(call) || call.get("partialArgs").is_some()
    }

    pub(super) fn new(part: Value) -> Self {
        let call = part.get("functionCall").cloned().unwrap_or_default();
        let arguments = match call.get("args") {
            Some(arguments @ Value::Object(_)) => arguments.clone(),
            _ => Value::Object(Map::new()),
        };
        let mut begun = Self {
            part,
            arguments,
            goes_on: false,
            broken: false,
            ended: false,
        };
        begun.take(&call);
        begun
    }

    /// Takes a piece: values and their places, and whether more will come.
    pub(super) fn take(&mut self, call: &Value) {
        for piece in list(call, "partialArgs") {
            if self.place(piece).is_none() {
                self.broken = true;
            }
        }
        self.ended = !continues(call);
    }

    fn place(&mut self, piece: &Value) -> Option<()> {
        let steps = steps(text(piece, "jsonPath"))?;
        let mut target = &mut self.arguments;
        for step in steps {
            target = match step {
                Step::Key(key) => {
                    if target.is_null() {
                        *target = Value::Object(Map::new());
                    }
                    target.as_object_mut()?.entry(key).or_insert(Value::Null)
                }
                Step::Index(index) => {
                    if target.is_null() {
                        *target = Value::Array(Vec::new());
                    }
                    let items = target.as_array_mut()?;
                    // Values come in order; a gap would be filled with what nobody said.
                    if index == items.len() {
                        items.push(Value::Null);
                    }
                    items.get_mut(index)?
                }
            };
        }
        match (piece.get("stringValue"), target) {
            (Some(Value::String(more)), Value::String(text)) if self.goes_on => text.push_str(more),
            (Some(text @ Value::String(_)), target) => *target = text.clone(),
            (_, target) => {
                let value = piece.get("numberValue").or_else(|| piece.get("boolValue"));
                let null = piece.get("nullValue").map(|_| &Value::Null);
                *target = value.or(null)?.clone();
            }
        }
        self.goes_on = continues(piece);
        Some(())
    }

    /// The part as it would have come whole. One that did not end says that it goes on.
    pub(super) fn finish(mut self) -> Value {
        let Some(Value::Object(call)) = self.part.get_mut("functionCall") else {
            return self.part;
        };
        let whole = self.ended && !self.broken && !self.goes_on;
        call.retain(|key, _| !matches!(key.as_str(), "willContinue" | "partialArgs"));
        call.insert("args".into(), self.arguments);
        if !whole {
            call.insert("willContinue".into(), true.into());
        }
        self.part
    }
}

fn continues(value: &Value) -> bool {
    value.get("willContinue").and_then(Value::as_bool) == Some(true)
}

/// The steps of a path such as `$.a.b[0]['c d']`.
fn steps(path: &str) -> Option<Vec<Step>> {
    let mut rest = path.strip_prefix('$')?;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        let step;
        if let Some(key) = rest.strip_prefix('.') {
            let end = key.find(['.', '[']).unwrap_or(key.len());
            step = Step::Key(key[..end].to_owned());
            rest = &key[end..];
        } else {
            let inner = rest.strip_prefix('[')?;
            let quote = inner.chars().next().filter(|c| matches!(c, '\'' | '"'));
            let (inside, after) = match quote {
                Some(quote) => {
                    let quoted = &inner[1..];
                    let end = quoted.find(quote)?;
                    let after = quoted[end + 1..].strip_prefix(']')?;
                    (&quoted[..end], after)
                }
                None => inner.split_once(']')?,
            };
            step = match quote {
                Some(_) => Step::Key(inside.to_owned()),
                None => Step::Index(inside.parse().ok().filter(|index| *index < LONGEST)?),
            };
            rest = after;
        }
        steps.push(step);
        if steps.len() > DEEPEST {
            return None;
        }
    }
    (!steps.is_empty()).then_some(steps)
}
