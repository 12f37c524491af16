//! Names and values, as a query or a web form has them.
//!
//! An object may bring names of its own. None of them may be one that something else of
//! the request has: a server would take the one for the other.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::Value;
use toolsmith_core::ToolError;

use super::encode;
use super::place::Placement;
use crate::form::{ListStyle, ObjectStyle};

/// How deep an object may be where its fields are written one by one.
const DEEPEST: usize = 16;

/// Names and values in their order, encoded.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pairs {
    pairs: Vec<(String, String)>,
    /// The names no argument may bring, as they are before they are encoded.
    taken: HashSet<String>,
    /// The names that parts may be of what others have: servers read `ids[0]` as one of `ids`.
    wholes: HashSet<String>,
}

impl Pairs {
    /// Pairs that keep these names free for what they belong to.
    pub(crate) fn keeping(taken: HashSet<String>) -> Self {
        Self {
            pairs: Vec::new(),
            wholes: taken.iter().map(|name| whole(name).to_owned()).collect(),
            taken,
        }
    }

    /// Adds what the file itself says.
    pub(crate) fn push(&mut self, name: &str, value: &str) {
        self.taken.insert(name.to_owned());
        self.pairs.push((encode::form(name), encode::form(value)));
    }

    /// Puts a value in the place of what has its name, or at the end.
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        let name = encode::form(name);
        self.pairs.retain(|(other, _)| *other != name);
        self.pairs.push((name, encode::form(value)));
    }

    /// The value of a name, as it was before it was encoded.
    pub(crate) fn get(&self, name: &str) -> Option<String> {
        let encoded = encode::form(name);
        let pair = self.pairs.iter().find(|(other, _)| *other == encoded)?;
        let both = format!("{}={}", pair.0, pair.1);
        let mut read = url::form_urlencoded::parse(both.as_bytes());
        read.next().map(|(_, value)| value.into_owned())
    }

    /// Adds an argument as its placement says.
    ///
    /// # Errors
    /// When it brings a name that belongs to something else.
    pub(crate) fn add(&mut self, placement: &Placement, value: &Value) -> Result<(), ToolError> {
        let name = placement.name.as_str();
        match value {
            // Nothing is what a query says by saying nothing.
            Value::Null => {}
            Value::Array(items) => self.add_list(name, placement.list, items, value),
            Value::Object(fields) => match placement.object {
                ObjectStyle::Json => self.push(name, &value.to_string()),
                ObjectStyle::Deep => {
                    for (field, value) in fields {
                        self.add_deep(name, field, value, placement.list, 0)?;
                    }
                }
                ObjectStyle::Form => {
                    for (field, value) in fields {
                        self.admit(field)?;
                        match value {
                            Value::Null => {}
                            Value::Array(items) => {
                                self.free(&listed(field, placement.list))?;
                                self.add_list(field, placement.list, items, value);
                            }
                            value => self.push(field, &encode::text(value)),
                        }
                    }
                }
            },
            scalar => self.push(name, &encode::text(scalar)),
        }
        Ok(())
    }

    /// Adds an argument the schema permits and does not name.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub(crate) fn add_unnamed(
        &mut self,
        placement: &Placement,
        value: &Value,
    ) -> Result<(), ToolError> {
        self.admit(&placement.name)?;
        self.add(placement, value)
    }

    /// The whole, as it stands in an address or a body.
    pub(crate) fn write(&self) -> String {
        let pairs = self
            .pairs
            .iter()
            .map(|(name, value)| format!("{name}={value}"));
        pairs.collect::<Vec<_>>().join("&")
    }

    fn add_list(&mut self, name: &str, style: ListStyle, items: &[Value], whole: &Value) {
        match style {
            ListStyle::Repeat => {
                for item in items {
                    self.push(name, &encode::text(item));
                }
            }
            ListStyle::Brackets => {
                let name = listed(name, style);
                for item in items {
                    self.push(&name, &encode::text(item));
                }
            }
            ListStyle::Comma | ListStyle::Space | ListStyle::Pipe => {
                let value = encode::joined(whole, style, encode::form);
                self.taken.insert(name.to_owned());
                self.pairs.push((encode::form(name), value));
            }
        }
    }

    fn add_deep(
        &mut self,
        name: &str,
        field: &str,
        value: &Value,
        list: ListStyle,
        depth: usize,
    ) -> Result<(), ToolError> {
        if field.contains(['[', ']']) {
            let message = format!("the field {:?} of `{name}` holds a bracket", bounded(field));
            return Err(ToolError::invalid(message));
        }
        let name = format!("{name}[{field}]");
        match value {
            Value::Null => {}
            Value::Object(fields) if depth < DEEPEST => {
                for (field, value) in fields {
                    self.add_deep(&name, field, value, list, depth + 1)?;
                }
            }
            value => {
                self.free(&name)?;
                match value {
                    Value::Array(items) => {
                        self.free(&listed(&name, list))?;
                        self.add_list(&name, list, items, value);
                    }
                    value => self.push(&name, &encode::text(value)),
                }
            }
        }
        Ok(())
    }

    /// Refuses a name that the file does not give, where it is one of something else or of
    /// a part of that.
    fn admit(&self, name: &str) -> Result<(), ToolError> {
        match self.wholes.contains(whole(name)) {
            true => Err(belongs_elsewhere(name)),
            false => self.free(name),
        }
    }

    fn free(&self, name: &str) -> Result<(), ToolError> {
        match self.taken.contains(name) {
            true => Err(belongs_elsewhere(name)),
            false => Ok(()),
        }
    }
}

/// The refusal of a name that something else has.
pub(crate) fn belongs_elsewhere(name: &str) -> ToolError {
    let message = format!("{:?} belongs to another part of the request", bounded(name));
    ToolError::invalid(message)
}

/// What a name is a part of: all before its first bracket.
fn whole(name: &str) -> &str {
    match name.split_once('[') {
        Some((whole, _)) if !whole.is_empty() => whole,
        _ => name,
    }
}

/// The name that the entries of a list have.
fn listed(name: &str, style: ListStyle) -> Cow<'_, str> {
    match style {
        ListStyle::Brackets => format!("{name}[]").into(),
        _ => name.into(),
    }
}

fn bounded(text: &str) -> String {
    text.chars().take(60).collect()
}
