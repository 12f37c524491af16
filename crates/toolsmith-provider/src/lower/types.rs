//! Sets of JSON types, and the words people use for them in schemas.

use serde_json::Value;

/// A set of JSON types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TypeSet(u8);

impl TypeSet {
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const STRING: Self = Self(1);
    pub(crate) const NUMBER: Self = Self(2);
    pub(crate) const INTEGER: Self = Self(4);
    pub(crate) const BOOLEAN: Self = Self(8);
    pub(crate) const OBJECT: Self = Self(16);
    pub(crate) const ARRAY: Self = Self(32);
    pub(crate) const NULL: Self = Self(64);
    /// Every type; `number` holds the integers.
    pub(crate) const ALL: Self = Self(1 | 2 | 8 | 16 | 32 | 64);

    const WORDS: [(Self, &'static str); 7] = [
        (Self::STRING, "string"),
        (Self::NUMBER, "number"),
        (Self::INTEGER, "integer"),
        (Self::BOOLEAN, "boolean"),
        (Self::OBJECT, "object"),
        (Self::ARRAY, "array"),
        (Self::NULL, "null"),
    ];

    /// The type a standard word names.
    pub(crate) fn of_word(word: &str) -> Option<Self> {
        let known = Self::WORDS.iter().find(|(_, each)| *each == word);
        known.map(|(set, _)| *set)
    }

    /// The type somebody meant who wrote a word of another language.
    pub(crate) fn meant_by(word: &str) -> Option<Self> {
        Some(match word.to_ascii_lowercase().as_str() {
            "string" | "str" | "text" | "char" | "date" | "datetime" | "uuid" | "file" | "path" => {
                Self::STRING
            }
            "number" | "float" | "double" | "decimal" | "real" => Self::NUMBER,
            "integer" | "int" | "long" | "short" | "int32" | "int64" | "uint" => Self::INTEGER,
            "boolean" | "bool" => Self::BOOLEAN,
            "object" | "dict" | "map" | "hash" | "hashmap" | "record" | "struct" | "json" => {
                Self::OBJECT
            }
            "array" | "list" | "tuple" | "set" | "sequence" | "arraylist" => Self::ARRAY,
            "null" | "none" | "nil" | "void" => Self::NULL,
            "any" | "unknown" | "mixed" | "" => Self::ALL,
            _ => return None,
        })
    }

    /// The type of a value.
    pub(crate) fn of_value(value: &Value) -> Self {
        match value {
            Value::Null => Self::NULL,
            Value::Bool(_) => Self::BOOLEAN,
            Value::Number(number) if number.is_f64() => {
                // 1.0 is an integer to JSON Schema.
                let whole = number.as_f64().is_some_and(|number| number.fract() == 0.0);
                if whole { Self::INTEGER } else { Self::NUMBER }
            }
            Value::Number(_) => Self::INTEGER,
            Value::String(_) => Self::STRING,
            Value::Array(_) => Self::ARRAY,
            Value::Object(_) => Self::OBJECT,
        }
    }

    pub(crate) const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Tells whether a value is of one of the types.
    pub(crate) fn holds(self, value: &Value) -> bool {
        let kind = Self::of_value(value);
        self.has(kind) || (kind == Self::INTEGER && self.has(Self::NUMBER))
    }

    pub(crate) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// What is of both.
    pub(crate) const fn and(self, other: Self) -> Self {
        let mut both = self.0 & other.0;
        let integers = (self.has(Self::INTEGER) && other.has(Self::NUMBER))
            || (self.has(Self::NUMBER) && other.has(Self::INTEGER));
        if integers {
            both |= Self::INTEGER.0;
        }
        Self(both)
    }

    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn is_one(self) -> bool {
        self.0.count_ones() == 1
    }

    /// Each of the types, in a fixed order.
    pub(crate) fn each(self) -> impl Iterator<Item = Self> {
        let all = Self::WORDS.iter().map(|(set, _)| *set);
        all.filter(move |&set| self.has(set))
    }

    /// The standard words, in a fixed order.
    pub(crate) fn words(self) -> impl Iterator<Item = &'static str> {
        let all = Self::WORDS.iter();
        all.filter(move |(set, _)| self.has(*set))
            .map(|(_, word)| *word)
    }
}
