//! `$ref`: what a reference means, and whether what it means contains itself.
//!
//! Only pointers into the schema itself mean anything here. Nothing is fetched.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde_json::Value;

/// How many values are looked at, all in all, to find recursion. What takes longer counts as
/// recursive, which is safe.
const STEPS: usize = 100_000;

/// The references of one schema.
#[derive(Debug)]
pub(crate) struct References<'a> {
    root: &'a Value,
    recursive: HashMap<&'a str, bool>,
    /// The references within what a reference means.
    within: HashMap<&'a str, Vec<&'a str>>,
    steps: usize,
}

impl<'a> References<'a> {
    pub(crate) fn new(root: &'a Value) -> Self {
        Self {
            root,
            recursive: HashMap::new(),
            within: HashMap::new(),
            steps: 0,
        }
    }

    /// What a reference means.
    pub(crate) fn resolve(&self, reference: &str) -> Option<&'a Value> {
        let pointer = reference.strip_prefix('#')?;
        if pointer.is_empty() {
            return Some(self.root);
        }
        let found = self.root.pointer(&decoded(pointer))?;
        matches!(found, Value::Object(_) | Value::Bool(_)).then_some(found)
    }

    /// Tells whether what a reference means contains itself.
    pub(crate) fn is_recursive(&mut self, reference: &'a str) -> bool {
        if let Some(&known) = self.recursive.get(reference) {
            return known;
        }
        let mut seen = HashSet::new();
        let mut waiting = self.within(reference);
        let mut recursive = false;
        while let Some(next) = waiting.pop() {
            if next == reference || self.steps > STEPS {
                recursive = true;
                break;
            }
            if seen.insert(next) {
                self.steps += 1;
                waiting.extend(self.within(next));
            }
        }
        self.recursive.insert(reference, recursive);
        recursive
    }

    fn within(&mut self, reference: &'a str) -> Vec<&'a str> {
        if let Some(known) = self.within.get(reference) {
            return known.clone();
        }
        let mut found = Vec::new();
        let mut waiting: Vec<&'a Value> = self.resolve(reference).into_iter().collect();
        while let Some(value) = waiting.pop() {
            self.steps += 1;
            if self.steps > STEPS {
                break;
            }
            match value {
                Value::Object(object) => {
                    for (keyword, value) in object {
                        match value {
                            Value::String(target) if is_reference(keyword) => {
                                found.push(target.as_str());
                            }
                            // A definition is within whatever refers to it, not within
                            // whatever it stands in.
                            _ if matches!(keyword.as_str(), "$defs" | "definitions") => {}
                            value => waiting.push(value),
                        }
                    }
                }
                Value::Array(list) => waiting.extend(list),
                _ => {}
            }
        }
        self.within.insert(reference, found.clone());
        found
    }
}

/// Tells whether a keyword refers to a schema.
pub(crate) fn is_reference(keyword: &str) -> bool {
    matches!(keyword, "$ref" | "$recursiveRef" | "$dynamicRef")
}

/// A pointer without the escapes of addresses.
fn decoded(pointer: &str) -> Cow<'_, str> {
    if !pointer.contains('%') {
        return Cow::Borrowed(pointer);
    }
    let bytes = pointer.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut index = 0;
    while index < bytes.len() {
        let digits = bytes.get(index + 1..index + 3);
        let byte = digits
            .filter(|_| bytes[index] == b'%')
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match byte {
            Some(byte) => {
                decoded.push(byte);
                index += 3;
            }
            None => {
                decoded.push(bytes[index]);
                index += 1;
            }
        }
    }
    String::from_utf8(decoded).map_or(Cow::Borrowed(pointer), Cow::Owned)
}
