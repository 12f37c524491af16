//! What a validator would make of a schema.
//!
//! A small schema can expand to billions of others by its references. The registry
//! refuses those; here they are found before, so that parts can be opened instead. The
//! count is the registry's or higher: objects that are put together of several schemas
//! are closed later on, which makes a validator go through those three times.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::keywords::{IN_PLACE, beneath};

/// How many schemas one may expand to: half of what the registry takes.
const MAX_EXPANSION: u64 = 50_000;
/// How deep they may nest, references followed; the registry takes 256.
const MAX_DEPTH: usize = 200;
/// How often schemas in place are gone through where an object is closed.
const IN_PLACE_COST: u64 = 3;

/// What makes an object one of several parts, or says already that it is closed.
const JOINING: [&str; 4] = [
    "properties",
    "allOf",
    "unevaluatedProperties",
    "unevaluatedItems",
];

/// Tells whether a schema with its definitions can be afforded.
pub(super) fn is_affordable(schema: &Value) -> bool {
    let definitions = schema.get("$defs").and_then(Value::as_object);
    let mut walk = Walk {
        definitions,
        shared: shared(schema),
        weights: HashMap::new(),
        under_way: HashSet::new(),
        depth: 0,
    };
    walk.weigh(schema).is_some()
}

/// The definitions that may be parts of an object: what refers to them beside other
/// parts, or alone, is closed around them.
fn shared(schema: &Value) -> HashSet<&str> {
    let mut found = HashSet::new();
    let definitions = schema.get("$defs").and_then(Value::as_object);
    let definitions = definitions.into_iter().flat_map(Map::values);
    let mut waiting = vec![schema];
    for definition in definitions {
        found.extend(definition.get("$ref").and_then(Value::as_str));
        waiting.push(definition);
    }
    while let Some(schema) = waiting.pop() {
        let Value::Object(object) = schema else {
            continue;
        };
        if object.contains_key("properties") {
            found.extend(object.get("$ref").and_then(Value::as_str));
        }
        for (keyword, part) in beneath(object) {
            if IN_PLACE.contains(&keyword) {
                found.extend(part.get("$ref").and_then(Value::as_str));
            }
            waiting.push(part);
        }
    }
    found
}

struct Walk<'s> {
    definitions: Option<&'s Map<String, Value>>,
    shared: HashSet<&'s str>,
    weights: HashMap<&'s str, u64>,
    under_way: HashSet<&'s str>,
    depth: usize,
}

impl<'s> Walk<'s> {
    /// How many schemas there are, unless they are too many.
    fn weigh(&mut self, schema: &'s Value) -> Option<u64> {
        let Value::Object(object) = schema else {
            return Some(1);
        };
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let mut weight: u64 = 1;
        let mut add = |more: u64| {
            weight = weight.saturating_add(more);
            (weight <= MAX_EXPANSION).then_some(())
        };
        let is_joined = JOINING.iter().any(|keyword| object.contains_key(*keyword));
        if let Some(Value::String(reference)) = object.get("$ref") {
            let is_closed = is_joined || self.shared.contains(reference.as_str());
            let cost = if is_closed { IN_PLACE_COST } else { 1 };
            add(self.follow(reference)?.saturating_mul(cost))?;
        }
        for (keyword, part) in beneath(object) {
            let is_closed = is_joined && IN_PLACE.contains(&keyword);
            let cost = if is_closed { IN_PLACE_COST } else { 1 };
            add(self.weigh(part)?.saturating_mul(cost))?;
        }
        self.depth -= 1;
        Some(weight)
    }

    fn follow(&mut self, reference: &'s str) -> Option<u64> {
        if let Some(known) = self.weights.get(reference) {
            return Some(*known);
        }
        let name = reference.strip_prefix("#/$defs/")?;
        let target = self.definitions?.get(name)?;
        if !self.under_way.insert(reference) {
            return Some(1);
        }
        let weight = self.weigh(target)?;
        self.under_way.remove(reference);
        self.weights.insert(reference, weight);
        Some(weight)
    }
}
