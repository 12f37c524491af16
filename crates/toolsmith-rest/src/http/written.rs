//! A body that the file writes out: JSON in which `"{name}"` stands for an argument.
//!
//! It is read once, as a tree. An argument becomes a value of that tree and never text
//! that is read again.

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use toolsmith_core::Arguments;

use super::encode;

/// A body with places for arguments.
#[derive(Clone, Debug)]
pub(crate) enum Written {
    /// As it is.
    Value(Value),
    /// The argument itself, whatever its type.
    Argument(String),
    /// A text with arguments in it.
    Text(Vec<Piece>),
    List(Vec<Self>),
    Object(Vec<(String, Self)>),
}

/// A piece of a text.
#[derive(Clone, Debug)]
pub(crate) enum Piece {
    Text(String),
    Argument(String),
}

impl Written {
    /// Reads what the file says.
    pub(crate) fn read(value: &Value) -> Self {
        match value {
            Value::String(text) => {
                let mut pieces = pieces(text);
                match pieces.as_mut_slice() {
                    [] => Self::Value(Value::from("")),
                    [Piece::Text(text)] => Self::Value(Value::from(std::mem::take(text))),
                    [Piece::Argument(name)] => Self::Argument(std::mem::take(name)),
                    _ => Self::Text(pieces),
                }
            }
            Value::Array(items) => Self::List(items.iter().map(Self::read).collect()),
            Value::Object(object) => {
                let fields = object.iter();
                Self::Object(
                    fields
                        .map(|(key, value)| (key.clone(), Self::read(value)))
                        .collect(),
                )
            }
            other => Self::Value(other.clone()),
        }
    }

    /// The arguments it names.
    pub(crate) fn names(&self) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        self.collect(&mut names);
        names
    }

    fn collect(&self, names: &mut BTreeSet<String>) {
        match self {
            Self::Value(_) => {}
            Self::Argument(name) => {
                names.insert(name.clone());
            }
            Self::Text(pieces) => names.extend(pieces.iter().filter_map(|piece| match piece {
                Piece::Text(_) => None,
                Piece::Argument(name) => Some(name.clone()),
            })),
            Self::List(items) => items.iter().for_each(|item| item.collect(names)),
            Self::Object(fields) => fields.iter().for_each(|(_, field)| field.collect(names)),
        }
    }

    /// The body with the arguments in it; what an absent one stands in is left out.
    pub(crate) fn fill(&self, arguments: &Arguments) -> Option<Value> {
        match self {
            Self::Value(value) => Some(value.clone()),
            Self::Argument(name) => arguments.get(name).cloned(),
            Self::Text(pieces) => {
                let mut text = String::new();
                for piece in pieces {
                    match piece {
                        Piece::Text(piece) => text.push_str(piece),
                        Piece::Argument(name) => text.push_str(&encode::text(arguments.get(name)?)),
                    }
                }
                Some(text.into())
            }
            Self::List(items) => Some(
                items
                    .iter()
                    .filter_map(|item| item.fill(arguments))
                    .collect(),
            ),
            Self::Object(fields) => {
                let fill =
                    |(key, field): &(String, Self)| Some((key.clone(), field.fill(arguments)?));
                Some(Value::Object(
                    fields.iter().filter_map(fill).collect::<Map<_, _>>(),
                ))
            }
        }
    }
}

/// Splits a text at the arguments it names. Only a name alone in braces is one, since
/// braces are at home in many languages; `{{name}}` stands for `{name}` as it is.
fn pieces(text: &str) -> Vec<Piece> {
    let (mut pieces, mut plain) = (Vec::new(), String::new());
    let mut rest = text;
    while let Some(at) = rest.find('{') {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some((name, after)) = rest.strip_prefix('{').and_then(named) {
            if !plain.is_empty() {
                pieces.push(Piece::Text(std::mem::take(&mut plain)));
            }
            pieces.push(Piece::Argument(name.to_owned()));
            rest = after;
        } else if let Some((name, after)) = rest.strip_prefix("{{").and_then(named)
            && let Some(after) = after.strip_prefix('}')
        {
            plain.extend(["{", name, "}"]);
            rest = after;
        } else {
            plain.push('{');
            rest = &rest[1..];
        }
    }
    plain.push_str(rest);
    if !plain.is_empty() {
        pieces.push(Piece::Text(plain));
    }
    pieces
}

/// A name up to its brace, and what comes after that.
fn named(text: &str) -> Option<(&str, &str)> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let end = text.find(|c| !is_name(c))?;
    let (name, after) = text.split_at(end);
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    begins.then_some((name, after.strip_prefix('}')?))
}
