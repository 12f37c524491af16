//! What a validator would make of a schema.
//!
//! A small schema can expand to billions of others by its references. The registry
//! refuses those; here they are found before, so that parts can be opened instead. The
//! count is the registry's or higher: objects that apply schemas in place are closed
//! later on, which makes a validator go through those three times.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::keywords::{IN_PLACE, beneath};

/// How many schemas one may expand to: half of what the registry takes.
const MAX_EXPANSION: u64 = 50_000;
/// How deep they may nest, references followed; the registry takes 256.
const MAX_DEPTH: usize = 200;
/// How often schemas in place are gone through where an object is closed.
const IN_PLACE_COST: u64 = 3;

/// Tells whether a schema with its definitions can be afforded.
pub(super) fn is_affordable(schema: &Value) -> bool {
    let definitions = schema.get("$defs").and_then(Value::as_object);
    let mut walk = Walk {
        definitions,
        weights: HashMap::new(),
        under_way: HashSet::new(),
        depth: 0,
    };
    walk.weigh(schema).is_some()
}

struct Walk<'s> {
    definitions: Option<&'s Map<String, Value>>,
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
        if let Some(Value::String(reference)) = object.get("$ref") {
            add(self.follow(reference)?.saturating_mul(IN_PLACE_COST))?;
        }
        for (keyword, part) in beneath(object) {
            let cost = if IN_PLACE.contains(&keyword) {
                IN_PLACE_COST
            } else {
                1
            };
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
