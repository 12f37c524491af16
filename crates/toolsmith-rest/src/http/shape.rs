//! What of an answer is returned: a part of it by a JSON pointer, and a text by a
//! template.

use std::io;

use minijinja::{Environment, context};
use serde_json::Value;
use toolsmith_core::ToolError;

use super::failure;
use crate::form::{Placed, ResponseForm, ResponseKind};
use crate::make::Problem;

/// How many steps a template may take: a loop over a long list takes some thousands.
const FUEL: u64 = 500_000;

/// How long the text of a template may be.
const MAX_TEXT: usize = 4 << 20;

/// How many keys an error names.
const KEYS: usize = 20;

/// What becomes of an answer.
#[derive(Default)]
pub(crate) struct Shape {
    pub(crate) kind: Option<ResponseKind>,
    pub(crate) select: Option<String>,
    template: Option<Environment<'static>>,
}

impl Shape {
    /// Checks what the file says.
    ///
    /// # Errors
    /// What is no pointer, and what is no template.
    pub(crate) fn read(form: Option<&ResponseForm>) -> Result<Self, Vec<Problem>> {
        let Some(form) = form else {
            return Ok(Self::default());
        };
        let mut problems = Vec::new();
        let select = form.select.as_ref();
        let select = select.and_then(|placed| match pointer("response.select", placed) {
            Ok(pointer) => Some(pointer),
            Err(problem) => {
                problems.push(problem);
                None
            }
        });
        let template = form.template.as_ref().and_then(|placed| {
            let mut environment = Environment::new();
            environment.set_fuel(Some(FUEL));
            match environment.add_template_owned("response", placed.value.clone()) {
                Ok(()) => Some(environment),
                Err(error) => {
                    let message = format!("`response.template`: {}", told(&error));
                    problems.push(Problem::at(placed.place, message));
                    None
                }
            }
        });
        if problems.is_empty() {
            Ok(Self {
                kind: form.kind,
                select,
                template,
            })
        } else {
            Err(problems)
        }
    }

    /// The text of the template, if there is one.
    ///
    /// # Errors
    /// When it fails, or takes too long or too much room.
    pub(crate) fn render(&self, value: &Value, status: u16) -> Result<Option<String>, ToolError> {
        let Some(environment) = &self.template else {
            return Ok(None);
        };
        let failed = |error: &minijinja::Error| {
            ToolError::failed(format!("`response.template` failed: {}", told(error)))
        };
        let template = environment
            .get_template("response")
            .map_err(|error| failed(&error))?;
        let value = seen(value);
        let mut text = Bounded(Vec::new());
        template
            .render_captured_to(context! { value, status }, &mut text)
            .map_err(|error| failed(&error))?;
        Ok(Some(String::from_utf8_lossy(&text.0).into_owned()))
    }
}

/// Takes the part of a value that a pointer names.
///
/// # Errors
/// Names what there is instead.
pub(crate) fn take(value: &mut Value, pointer: &str) -> Result<Value, ToolError> {
    if let Some(found) = value.pointer_mut(pointer) {
        return Ok(found.take());
    }
    // The last place on the way that is there says what went wrong.
    let mut reached = pointer;
    while let Some((before, _)) = reached.rsplit_once('/') {
        reached = before;
        if value.pointer(reached).is_some() {
            break;
        }
    }
    let there = match value.pointer(reached) {
        Some(Value::Object(object)) => {
            let keys: Vec<String> = object
                .keys()
                .take(KEYS)
                .map(|key| failure::excerpt(key))
                .collect();
            let more = if object.len() > KEYS { ", …" } else { "" };
            format!(
                "there is {}{more}",
                if keys.is_empty() {
                    "nothing".to_owned()
                } else {
                    keys.join(", ")
                }
            )
        }
        Some(Value::Array(items)) => format!("there is a list of {}", items.len()),
        Some(Value::Null) => "there is null".to_owned(),
        Some(_) => "there is a single value".to_owned(),
        None => "there is nothing".to_owned(),
    };
    let at = if reached.is_empty() {
        "at the top"
    } else {
        reached
    };
    let message = format!("the answer has no {pointer}; {at} {there}");
    Err(ToolError::failed(message))
}

/// Checks that a text is a JSON pointer.
pub(crate) fn pointer(key: &str, placed: &Placed<String>) -> Result<String, Problem> {
    let pointer = &placed.value;
    if pointer.is_empty() || pointer.starts_with('/') {
        return Ok(pointer.clone());
    }
    let message = format!("`{key}`: {pointer:?} is no JSON pointer; write it as /data/items");
    Err(Problem::at(placed.place, message))
}

/// A value as templates see it. How deep it is was settled when it was read.
fn seen(value: &Value) -> minijinja::Value {
    match value {
        Value::Null => ().into(),
        Value::Bool(is) => (*is).into(),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => number.into(),
            (_, Some(number)) => number.into(),
            _ => number.as_f64().unwrap_or_default().into(),
        },
        Value::String(text) => text.as_str().into(),
        Value::Array(items) => items.iter().map(seen).collect::<Vec<_>>().into(),
        Value::Object(fields) => {
            let fields = fields
                .iter()
                .map(|(key, value)| (key.as_str(), seen(value)));
            minijinja::Value::from_pairs(fields)
        }
    }
}

fn told(error: &minijinja::Error) -> String {
    let line = error
        .line()
        .map(|line| format!(" in line {line}"))
        .unwrap_or_default();
    let detail = error
        .detail()
        .map(|detail| format!(": {}", failure::excerpt(detail)));
    format!("{}{line}{}", error.kind(), detail.unwrap_or_default())
}

/// Takes so much and no more.
struct Bounded(Vec<u8>);

impl io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > MAX_TEXT {
            return Err(io::Error::other("the text is too long"));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
