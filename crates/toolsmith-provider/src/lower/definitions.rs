//! Definitions that stay definitions, each with a name that no other has.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

/// The definitions of one lowered schema.
#[derive(Debug, Default)]
pub(crate) struct Definitions<'a> {
    /// What each was referred to by, and its name, in the order in which they were met.
    met: Vec<(&'a str, String)>,
    by_reference: HashMap<&'a str, usize>,
    /// The names that are taken, with the last number that was put behind each.
    taken: HashMap<String, usize>,
}

impl<'a> Definitions<'a> {
    /// What a definition was referred to by, and its name.
    pub(crate) fn get(&self, index: usize) -> Option<(&'a str, &str)> {
        let (reference, name) = self.met.get(index)?;
        Some((reference, name))
    }

    /// The definition a reference means, perhaps a new one, and its name.
    pub(crate) fn of(&mut self, reference: &'a str) -> (usize, &str) {
        let index = match self.by_reference.get(reference) {
            Some(&index) => index,
            None => self.add(reference),
        };
        (index, &self.met[index].1)
    }

    fn add(&mut self, reference: &'a str) -> usize {
        let wanted = name_of(reference);
        let mut name = wanted.clone();
        // Numbers that were tried before are not tried again.
        let mut number = self.taken.get(&wanted).copied().unwrap_or(1);
        while self.taken.contains_key(&name) {
            number += 1;
            name = format!("{wanted}{number}");
        }
        self.taken.insert(wanted, number);
        self.taken.entry(name.clone()).or_insert(1);
        let index = self.met.len();
        self.by_reference.insert(reference, index);
        self.met.push((reference, name));
        index
    }
}

/// A name for a definition: the end of its pointer, as far as that is plain.
fn name_of(reference: &str) -> String {
    let end = reference.rsplit('/').next().unwrap_or_default();
    let plain = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let name: String = end.chars().filter(|&c| plain(c)).take(48).collect();
    if name.is_empty() {
        "root".to_owned()
    } else {
        name
    }
}

/// The definitions that a lowered schema refers to, by itself or through others: some were made for
/// what was left out in the end.
pub(super) fn in_use(
    schema: &Map<String, Value>,
    mut definitions: Map<String, Value>,
) -> Map<String, Value> {
    let mut used: HashSet<String> = HashSet::new();
    let mut fresh = Vec::new();
    schema.values().for_each(|value| refer(value, &mut fresh));
    while let Some(name) = fresh.pop() {
        if let Some(definition) = definitions.get(&name)
            && used.insert(name)
        {
            refer(definition, &mut fresh);
        }
    }
    definitions.retain(|name, _| used.contains(name));
    definitions
}

/// Collects the names of definitions in a lowered schema, which is no deeper than schemas are read.
fn refer(value: &Value, names: &mut Vec<String>) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| refer(value, names)),
        Value::Object(fields) => {
            let target = fields.get("$ref").and_then(Value::as_str);
            names.extend(
                target
                    .and_then(|it| it.strip_prefix("#/$defs/"))
                    .map(str::to_owned),
            );
            fields.values().for_each(|value| refer(value, names));
        }
        _ => {}
    }
}
