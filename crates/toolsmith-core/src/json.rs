//! JSON from outside, read strictly.
//!
//! `serde_json` keeps the last of two equal keys in silence, which lets a call
//! look one way to a checker and another way to a tool. Here duplicate keys,
//! excessive depth, size and number of values are errors with a place. Values that were
//! built by a program are measured by [`depth_exceeds`] without recursion.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashSet;
use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// The deepest nesting accepted. `serde_json` itself stops at 128.
pub const MAX_DEPTH: usize = 100;

/// The most values accepted in one text. A value of one byte takes forty in memory,
/// so a bound on bytes alone would let sixteen megabytes become seven hundred.
pub const MAX_VALUES: usize = 1 << 20;

/// Why a text is not JSON we accept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JsonError {
    /// More bytes than were allowed.
    #[error("the JSON is larger than the {limit} bytes that are accepted")]
    TooLarge {
        /// How many came.
        bytes: usize,
        /// How many are accepted.
        limit: usize,
    },
    /// Not UTF-8.
    #[error("the JSON is not valid UTF-8 after byte {valid_up_to}")]
    NotUtf8 {
        /// Where the valid part ends.
        valid_up_to: usize,
    },
    /// Not JSON, or too deep, or with a key twice; the message says which and where.
    #[error("{0}")]
    Malformed(#[from] serde_json::Error),
}

/// Reads one JSON value of at most `limit` bytes.
///
/// ```
/// use toolsmith_core::json;
///
/// assert!(json::parse(b"{\"a\": 1}", 1024).is_ok());
/// let error = json::parse(b"{\"a\": 1, \"a\": 2}", 1024).unwrap_err();
/// assert!(error.to_string().contains("duplicate key"));
/// ```
pub fn parse(bytes: &[u8], limit: usize) -> Result<Value, JsonError> {
    outline(bytes, limit, MAX_DEPTH)
}

/// Reads as strictly as [`parse`], and keeps only the outermost levels: objects and
/// lists that nest deeper are checked and come out empty.
///
/// ```
/// use serde_json::json;
///
/// let outline = toolsmith_core::json::outline(b"{\"a\": 1, \"b\": {\"c\": 2}}", 1024, 1);
/// assert_eq!(outline.unwrap(), json!({ "a": 1, "b": {} }));
/// ```
pub fn outline(bytes: &[u8], limit: usize, levels: usize) -> Result<Value, JsonError> {
    if bytes.len() > limit {
        return Err(JsonError::TooLarge {
            bytes: bytes.len(),
            limit,
        });
    }
    let text = std::str::from_utf8(bytes).map_err(|error| JsonError::NotUtf8 {
        valid_up_to: error.valid_up_to(),
    })?;
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let values = Cell::new(0);
    let strict = Strict {
        depth: 0,
        kept: levels,
        values: &values,
    };
    let value = strict.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

/// Tells whether a value nests deeper than `limit`, without recursion.
pub fn depth_exceeds(value: &Value, limit: usize) -> bool {
    let mut waiting = vec![(value, 1_usize)];
    while let Some((value, depth)) = waiting.pop() {
        let below: &mut dyn Iterator<Item = &Value> = match value {
            Value::Array(items) => &mut items.iter(),
            Value::Object(fields) => &mut fields.values(),
            _ => continue,
        };
        if depth > limit {
            return true;
        }
        waiting.extend(below.map(|value| (value, depth + 1)));
    }
    false
}

/// About how many bytes a value takes.
pub fn size(value: &Value) -> usize {
    size_within(value, usize::MAX)
}

/// Tells whether a value takes more than about so many bytes, without counting the rest.
pub fn size_exceeds(value: &Value, limit: usize) -> bool {
    size_within(value, limit) > limit
}

/// The size, counted until it exceeds `limit`.
fn size_within(value: &Value, limit: usize) -> usize {
    let mut size = 0_usize;
    let mut waiting = vec![value];
    while let Some(value) = waiting.pop() {
        size += match value {
            Value::String(text) => text.len() + 2,
            Value::Array(items) => {
                waiting.extend(items);
                items.len() + 2
            }
            Value::Object(fields) => {
                waiting.extend(fields.values());
                fields.keys().map(|key| key.len() + 4).sum::<usize>() + 2
            }
            _ => 8,
        };
        if size > limit {
            break;
        }
    }
    size
}

/// Drops a value without recursion: dropping a very deep one the usual way
/// overflows the stack.
pub fn dismantle(value: Value) {
    let mut waiting = vec![value];
    while let Some(value) = waiting.pop() {
        match value {
            Value::Array(items) => waiting.extend(items),
            Value::Object(fields) => waiting.extend(fields.into_iter().map(|(_, value)| value)),
            _ => {}
        }
    }
}

#[derive(Clone, Copy)]
struct Strict<'c> {
    depth: usize,
    /// How many levels are kept.
    kept: usize,
    values: &'c Cell<usize>,
}

impl Strict<'_> {
    fn deeper<E: de::Error>(self) -> Result<Self, E> {
        if self.depth >= MAX_DEPTH {
            return Err(E::custom(format_args!(
                "nested deeper than {MAX_DEPTH} levels"
            )));
        }
        Ok(Self {
            depth: self.depth + 1,
            ..self
        })
    }

    /// Whether what is read is kept.
    fn keeps(self) -> bool {
        self.depth <= self.kept
    }

    fn count<E: de::Error>(self) -> Result<(), E> {
        self.values.set(self.values.get() + 1);
        if self.values.get() > MAX_VALUES {
            return Err(E::custom(format_args!("more than {MAX_VALUES} values")));
        }
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.count()?;
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value)
            .map(Value::Number)
            .ok_or_else(|| E::custom("a number that is not finite"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        if !self.keeps() {
            return Ok(Value::Null);
        }
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let deeper = self.deeper()?;
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(deeper)? {
            if deeper.keeps() {
                list.push(item);
            }
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let deeper = self.deeper()?;
        let mut map = Map::new();
        if !deeper.keeps() {
            let mut keys = Keys::default();
            while let Some(Key(key)) = fields.next_key()? {
                if let Some(twice) = keys.add(key) {
                    return Err(duplicate(&twice));
                }
                fields.next_value_seed(deeper)?;
            }
            return Ok(Value::Object(map));
        }
        while let Some(key) = fields.next_key::<String>()? {
            if map.contains_key(&key) {
                return Err(duplicate(&key));
            }
            let value = fields.next_value_seed(deeper)?;
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }
}

fn duplicate<E: de::Error>(key: &str) -> E {
    let key: String = key.chars().take(80).collect();
    E::custom(format_args!("duplicate key {key:?}"))
}

/// A key, not copied where it need not be.
struct Key<'de>(Cow<'de, str>);

impl<'de> de::Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Key<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }
            fn visit_borrowed_str<E>(self, key: &'de str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Borrowed(key)))
            }
            fn visit_str<E>(self, key: &str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(key.to_owned())))
            }
        }
        deserializer.deserialize_str(Read)
    }
}

/// The keys of one object. Most have few, which are found faster by looking.
#[derive(Default)]
struct Keys<'de> {
    few: Vec<Cow<'de, str>>,
    many: HashSet<Cow<'de, str>>,
}

const FEW: usize = 16;

impl<'de> Keys<'de> {
    /// Notes a key; returned where it is there already.
    fn add(&mut self, key: Cow<'de, str>) -> Option<Cow<'de, str>> {
        if self.few.contains(&key) || self.many.contains(&key) {
            return Some(key);
        }
        if self.few.len() < FEW {
            self.few.push(key);
        } else {
            self.many.insert(key);
        }
        None
    }
}
