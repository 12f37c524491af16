//! YAML of any kind, with the places of its outer pieces.
//!
//! The reader of YAML gives the place of what it cannot read at all, but not that of a
//! number where a text should be. Read into nodes first, everything has one.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_saphyr::Spanned;

/// A piece of a document, made of pieces `T`. Places are kept for as many levels as
/// there are types: each costs the reader more of the stack than a plain value.
pub(super) enum Node<T> {
    /// A text, a number, a truth value, or nothing.
    Scalar(Value),
    /// A list.
    List(Vec<Spanned<T>>),
    /// A mapping.
    Mapping(Pairs<T>),
}

/// A mapping in the order it is written in. No key stands there twice: the reader sees
/// to that.
pub(super) type Pairs<T> = Vec<(Spanned<String>, Spanned<T>)>;

impl<T> Node<T> {
    /// What it is, in words.
    pub(super) fn word(&self) -> &'static str {
        match self {
            Self::Scalar(value) => word(value),
            Self::List(_) => "a list",
            Self::Mapping(_) => "a mapping",
        }
    }
}

/// What a value is, in words.
pub(super) fn word(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a mapping",
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Node<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Anything(PhantomData))
    }
}

struct Anything<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Anything<T> {
    type Value = Node<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_unit<E>(self) -> Result<Node<T>, E> {
        Ok(Node::Scalar(Value::Null))
    }

    fn visit_str<E>(self, text: &str) -> Result<Node<T>, E> {
        Ok(Node::Scalar(text.into()))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Node<T>, E> {
        Ok(Node::Scalar(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Node<T>, E> {
        Ok(Node::Scalar(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Node<T>, E> {
        Ok(Node::Scalar(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Node<T>, E> {
        // What JSON has no number for is told as nothing.
        Ok(Node::Scalar(value.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Node<T>, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Node::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut pairs: A) -> Result<Node<T>, A::Error> {
        let mut mapping = Vec::new();
        while let Some(pair) = pairs.next_entry()? {
            mapping.push(pair);
        }
        Ok(Node::Mapping(mapping))
    }
}
