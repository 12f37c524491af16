//! Names of properties that a provider refuses, or in which something hides, and what stands
//! for them.
//!
//! One name has one stand-in throughout a schema, so that it does not matter in which
//! branch of a union a value belongs.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::words;
use crate::names;
use crate::rules::Names;

/// The names that stand for those in which something hides, where any other is accepted.
const PLAIN: Names = Names {
    more: b".-",
    begins_with_letter: false,
    longest: 64,
};

#[derive(Debug)]
pub(crate) struct Renames<'a> {
    root: &'a Value,
    /// Every key in the schema, read when the first name must change. More than the names
    /// of properties, and never fewer.
    known: Option<HashSet<&'a str>>,
    assigned: HashMap<&'a str, String>,
}

impl<'a> Renames<'a> {
    pub(crate) fn new(root: &'a Value) -> Self {
        Self {
            root,
            known: None,
            assigned: HashMap::new(),
        }
    }

    /// The name that stands for a property, where its own is refused or hides something.
    pub(crate) fn of(&mut self, name: &'a str, rules: Option<&Names>) -> Option<String> {
        let rules = match rules {
            Some(rules) if rules.accept(name) => return None,
            None if words::is_clean(name) => return None,
            rules => rules.unwrap_or(&PLAIN),
        };
        if self.known.is_none() {
            let known = keys(self.root);
            let mut all: Vec<&str> = known.iter().copied().collect();
            all.sort_unstable();
            let assigned = names::assign(&all, rules, std::iter::empty());
            self.assigned = all.into_iter().zip(assigned).collect();
            self.known = Some(known);
        }
        let assigned = self.assigned.get(name)?;
        (assigned != name).then(|| assigned.clone())
    }
}

fn keys(root: &Value) -> HashSet<&str> {
    let mut keys = HashSet::new();
    let mut waiting = vec![root];
    while let Some(value) = waiting.pop() {
        match value {
            Value::Object(object) => {
                for (key, value) in object {
                    keys.insert(key.as_str());
                    if let ("required", Value::Array(names)) = (key.as_str(), value) {
                        keys.extend(names.iter().filter_map(Value::as_str));
                    }
                    waiting.push(value);
                }
            }
            Value::Array(list) => waiting.extend(list),
            _ => {}
        }
    }
    keys
}
