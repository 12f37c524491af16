//! What was renamed and reshaped for a provider, and the way back.
//!
//! Made by [`declare`](crate::declare()), read by everything that turns a provider's words
//! into calls and calls into a provider's words.

use std::collections::HashMap;

use serde_json::Value;

use crate::lower::Mapping;

/// Two names for each tool, and two shapes for its arguments.
#[derive(Clone, Debug, Default)]
pub struct Dictionary {
    entries: Vec<Entry>,
    by_declared: HashMap<String, usize>,
    by_name: HashMap<String, usize>,
}

#[derive(Clone, Debug)]
struct Entry {
    name: String,
    declared: String,
    arguments: Mapping,
}

impl Dictionary {
    /// Adds a tool: the name it is offered by, the name the provider knows, and how its
    /// arguments differ.
    pub(crate) fn add(&mut self, name: &str, declared: &str, arguments: Mapping) {
        let index = self.entries.len();
        self.by_name.insert(name.to_owned(), index);
        self.by_declared.insert(declared.to_owned(), index);
        self.entries.push(Entry {
            name: name.to_owned(),
            declared: declared.to_owned(),
            arguments,
        });
    }

    /// The name a tool is offered by; a name that was never declared stays as it is.
    pub fn name<'a>(&'a self, declared: &'a str) -> &'a str {
        let entry = self.by_declared.get(declared);
        entry.map_or(declared, |&index| &self.entries[index].name)
    }

    /// The name the provider knows a tool by; one it was never told of stays as it is.
    pub fn declared<'a>(&'a self, name: &'a str) -> &'a str {
        let entry = self.by_name.get(name);
        entry.map_or(name, |&index| &self.entries[index].declared)
    }

    /// Tells whether a provider was told of a tool by this name.
    pub fn declares(&self, declared: &str) -> bool {
        self.by_declared.contains_key(declared)
    }

    /// The names providers were told, in the order of the offer.
    pub fn declared_names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.declared.as_str())
    }

    /// Arguments as the provider sent them, in the tool's own terms.
    pub fn arguments(&self, declared: &str, arguments: Value) -> Value {
        match self.by_declared.get(declared) {
            Some(&index) => self.entries[index].arguments.back(arguments),
            None => arguments,
        }
    }

    /// Arguments in the tool's own terms, as the provider would send them.
    pub fn declared_arguments(&self, name: &str, arguments: Value) -> Value {
        match self.by_name.get(name) {
            Some(&index) => self.entries[index].arguments.out(arguments),
            None => arguments,
        }
    }
}
