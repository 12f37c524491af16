//! Measures a schema before it is trusted with a processor.
//!
//! A few hundred bytes can expand to billions of schemas, or apply themselves to
//! the same value for ever. All of that is seen here by walking the document once,
//! with every reference's weight remembered.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};
use toolsmith_core::json;

use super::SchemaFault;
use crate::keywords::{DEFINITIONS, IN_PLACE, NESTED, REFERENCES};
use crate::validate::{bounded, choice};

const MAX_DEPTH: usize = 64;
const MAX_BYTES: usize = 1024 * 1024;
/// Real schemas expand to a few thousand at most.
const MAX_EXPANSION: u64 = 100_000;
/// How many schema applications one call may cost, at the worst, all passes
/// together: a tenth of a second or so.
const MAX_APPLICATIONS: f64 = 10_000_000.0;
/// The same where no part of the schema comes again, so that the values are all that
/// multiplies: it is reckoned as if each were put to the heaviest of the schemas that any
/// number of values can have.
const MAX_SPREAD: u64 = 100_000_000;
/// How often a call's arguments are gone through at most: before each round of
/// mending, in each, and to say what is left.
const PASSES: f64 = 10.0;
/// What every schema may be given, however it branches.
const LEAST_DEPTH: usize = 3;
/// How many characters of a reference or an identity errors repeat.
const SHOWN: usize = 120;

/// How costly a schema is to apply.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measure {
    /// How deep arguments may nest. Only schemas that refer to themselves have a
    /// limit: each level of the value multiplies the work by their branching.
    pub(crate) argument_depth: usize,
    /// How many ways each level of a value is gone through.
    pub(crate) widest: u64,
    /// How many schemas one item of a list, or one unnamed property, is put to at most, and
    /// how many names they demand.
    pub(crate) heaviest: u64,
    /// The same of the arguments as a whole, their lists and unnamed properties counted once.
    pub(crate) work: u64,
    /// Whether there is any regular expression in it.
    pub(super) has_patterns: bool,
}

impl Measure {
    /// Tells whether a value can be judged in bearable time: a part at depth `d` of
    /// a value is looked at `widest^d` times, so it is not depth alone that counts.
    pub(crate) fn affords(&self, value: &Value) -> bool {
        let most = MAX_SPREAD / self.heaviest.max(1);
        // No text of JSON has more values, so most schemas need no counting.
        if most < json::MAX_VALUES as u64 && holds_more_than(most, value) {
            return false;
        }
        if self.widest <= 1 {
            return true;
        }
        let mut cost = 0.0;
        let mut waiting = vec![(value, 1.0)];
        while let Some((value, times)) = waiting.pop() {
            cost += times;
            if cost > MAX_APPLICATIONS / PASSES {
                return false;
            }
            let times = times * self.widest as f64;
            match value {
                Value::Array(items) => waiting.extend(items.iter().map(|v| (v, times))),
                Value::Object(fields) => waiting.extend(fields.values().map(|v| (v, times))),
                _ => {}
            }
        }
        true
    }
}

fn holds_more_than(most: u64, value: &Value) -> bool {
    let mut count = 0_u64;
    let mut waiting = vec![value];
    while let Some(value) = waiting.pop() {
        count += 1;
        match value {
            Value::Array(items) => waiting.extend(items),
            Value::Object(fields) => waiting.extend(fields.values()),
            _ => {}
        }
        if count > most {
            return true;
        }
    }
    false
}

/// Keywords that must know what the other keywords of their schema have looked at.
const UNEVALUATED: [&str; 2] = ["unevaluatedProperties", "unevaluatedItems"];
/// The validator finds that out by applying everything in place again: measured,
/// each such schema inside another costs nearly three times as much.
const UNEVALUATED_COST: u64 = 3;

pub(crate) fn measure(schema: &Value) -> Result<Measure, SchemaFault> {
    if json::depth_exceeds(schema, MAX_DEPTH) {
        return Err(SchemaFault::Depth { limit: MAX_DEPTH });
    }
    if json::size_exceeds(schema, MAX_BYTES) {
        return Err(SchemaFault::Size { limit: MAX_BYTES });
    }
    refuse_endless(schema)?;
    let mut walk = Walk {
        root: schema,
        weights: HashMap::new(),
        under_way: HashSet::new(),
        depth: 0,
        choices_are_sharpened: choice::can_be_rewritten(schema),
        has_patterns: false,
        heaviest: 0,
    };
    let weight = walk.weigh(schema)?;
    let widest = weight.widest();
    let argument_depth = match widest {
        0 | 1 => json::MAX_DEPTH,
        _ => affordable_depth(weight.total, widest),
    };
    // What refers to itself is put to all of itself again, however many values there are.
    let heaviest = match weight.again.is_empty() {
        true => walk.heaviest,
        false => walk.heaviest.max(weight.work),
    };
    Ok(Measure {
        argument_depth,
        widest,
        heaviest,
        work: weight.work,
        has_patterns: walk.has_patterns,
    })
}

/// How deep a value may nest before a schema that branches into itself costs too
/// much. To report a failure the validator asks every level again whether it fits,
/// so the levels count once more.
fn affordable_depth(total: u64, widest: u64) -> usize {
    let cost = |depth: usize| {
        let depth = depth as f64;
        total as f64 * (widest as f64).powf(depth) * depth * PASSES
    };
    let affordable = |depth: &usize| cost(*depth) <= MAX_APPLICATIONS;
    (LEAST_DEPTH..=json::MAX_DEPTH)
        .take_while(affordable)
        .last()
        .unwrap_or(LEAST_DEPTH)
}

/// Finds a schema that applies itself to the same value through references and
/// in-place keywords alone: the validator would never come back.
fn refuse_endless(root: &Value) -> Result<(), SchemaFault> {
    let mut finished: HashSet<&str> = HashSet::new();
    for start in all_references(root)? {
        // A depth-first walk with the path kept by hand.
        let mut path: Vec<(&str, std::vec::IntoIter<&str>)> = Vec::new();
        let mut on_path: HashSet<&str> = HashSet::new();
        let mut enter = Some(start);
        loop {
            if let Some(reference) = enter.take() {
                if on_path.contains(reference) {
                    return Err(SchemaFault::Endless {
                        pointer: bounded(reference, SHOWN),
                    });
                }
                if finished.insert(reference) {
                    let next = in_place_references(target(root, reference)?);
                    path.push((reference, next.into_iter()));
                    on_path.insert(reference);
                }
            }
            match path.last_mut() {
                Some((left, next)) => match next.next() {
                    Some(reference) => enter = Some(reference),
                    None => {
                        on_path.remove(left);
                        path.pop();
                    }
                },
                None => break,
            }
        }
    }
    Ok(())
}

/// Every reference of every schema in a document, wherever references lead. Data is
/// passed over: a default or an example may have a field called `$ref`.
fn all_references(root: &Value) -> Result<Vec<&str>, SchemaFault> {
    let mut found = Vec::new();
    let mut seen: HashSet<*const Value> = HashSet::new();
    let mut waiting = vec![root];
    while let Some(schema) = waiting.pop() {
        let Value::Object(object) = schema else {
            continue;
        };
        if !seen.insert(std::ptr::from_ref(schema)) {
            continue;
        }
        // A schema with an identity of its own is a document of its own, in which
        // the same reference would lead elsewhere.
        if let Some(id) = object.get("$id")
            && !std::ptr::eq(schema, root)
        {
            let id = bounded(&id.to_string(), SHOWN);
            return Err(SchemaFault::Embedded { id });
        }
        for reference in references_of(object) {
            found.push(reference);
            waiting.push(target(root, reference)?);
        }
        for (keyword, value) in object {
            let keyword = keyword.as_str();
            let lists = [&IN_PLACE[..], &NESTED, &DEFINITIONS];
            if lists.iter().any(|list| list.contains(&keyword)) {
                waiting.extend(parts(keyword, value).into_iter().map(|(_, schema)| schema));
            }
        }
    }
    Ok(found)
}

/// The references a schema applies to the same value as itself.
fn in_place_references(schema: &Value) -> Vec<&str> {
    let mut found = Vec::new();
    let mut waiting = vec![schema];
    while let Some(schema) = waiting.pop() {
        let Value::Object(object) = schema else {
            continue;
        };
        found.extend(references_of(object));
        for keyword in IN_PLACE {
            if let Some(value) = object.get(keyword) {
                waiting.extend(parts(keyword, value).into_iter().map(|(_, schema)| schema));
            }
        }
    }
    found
}

fn references_of(object: &Map<String, Value>) -> impl Iterator<Item = &str> {
    let value = |keyword: &&str| object.get(*keyword).and_then(Value::as_str);
    REFERENCES.iter().filter_map(value)
}

/// The schema a reference leads to. Only pointers into the same document are
/// followed: an anchor would need a search, an address a network.
fn target<'s>(root: &'s Value, reference: &str) -> Result<&'s Value, SchemaFault> {
    reference
        .strip_prefix('#')
        .and_then(|pointer| root.pointer(pointer))
        .ok_or_else(|| SchemaFault::Reference {
            reference: bounded(reference, SHOWN),
        })
}

/// Adds up what a schema expands to.
struct Walk<'s> {
    root: &'s Value,
    /// What each reference expands to.
    weights: HashMap<&'s str, Weight<'s>>,
    /// References being expanded now.
    under_way: HashSet<&'s str>,
    depth: usize,
    /// Whether a choice that can be told apart is compiled to enter one branch only.
    choices_are_sharpened: bool,
    has_patterns: bool,
    /// The most that any schema puts one item of its value to.
    heaviest: u64,
}

/// What a schema expands to.
#[derive(Clone)]
struct Weight<'s> {
    /// All schemas beneath it, references followed.
    total: u64,
    /// Those of them that one value is put to at most: of choices it enters one only. The
    /// names they demand count, too: each may be missing.
    work: u64,
    /// Those that each item of the value is put to, or each unnamed property.
    items: u64,
    /// How often each part of the value is put to a schema that is being expanded
    /// already. Where that is more than once, every level of the value multiplies
    /// the work.
    again: HashMap<Vec<&'s str>, u64>,
}

/// Any part of a value at this place: what lists and unnamed properties have.
const ANY: &str = "*";

impl<'s> Weight<'s> {
    fn one() -> Self {
        Self {
            total: 1,
            work: 1,
            items: 0,
            again: HashMap::new(),
        }
    }

    /// Adds what is beneath, at a part of the value or at the value itself.
    fn add(&mut self, beneath: &Self, part: Option<&'s str>) {
        self.total = self.total.saturating_add(beneath.total);
        self.work = self.work.saturating_add(beneath.work);
        let items = match part {
            None => beneath.items,
            Some(ANY) => beneath.work,
            Some(_) => 0,
        };
        self.items = self.items.saturating_add(items);
        for (place, count) in &beneath.again {
            let place = part.into_iter().chain(place.iter().copied()).collect();
            let sum = self.again.entry(place).or_default();
            *sum = sum.saturating_add(*count);
        }
    }

    fn bounded(&self) -> Result<(), SchemaFault> {
        if self.total > MAX_EXPANSION {
            return Err(SchemaFault::Expansion {
                limit: MAX_EXPANSION,
            });
        }
        Ok(())
    }

    /// Adds an alternative: a value is put to one of them only.
    fn or(&mut self, other: &Self) {
        self.total = self.total.saturating_add(other.total);
        self.work = self.work.max(other.work);
        self.items = self.items.max(other.items);
        for (place, count) in &other.again {
            let most = self.again.entry(place.clone()).or_default();
            *most = (*most).max(*count);
        }
    }

    /// The same, applied this often.
    fn times(mut self, factor: u64) -> Self {
        self.total = self.total.saturating_mul(factor);
        self.work = self.work.saturating_mul(factor);
        self.items = self.items.saturating_mul(factor);
        for count in self.again.values_mut() {
            *count = count.saturating_mul(factor);
        }
        self
    }

    /// The most any part of a value is put to: what is said of it by name, and all
    /// that is said of any part.
    fn widest(&self) -> u64 {
        let is_any = |place: &Vec<&str>| place.contains(&ANY);
        let any = self.again.iter().filter(|(place, _)| is_any(place));
        let any = any.fold(0_u64, |sum, (_, count)| sum.saturating_add(*count));
        let named = self.again.iter().filter(|(place, _)| !is_any(place));
        let named = named.map(|(_, count)| *count).max();
        any.saturating_add(named.unwrap_or(0))
    }
}

impl<'s> Walk<'s> {
    fn weigh(&mut self, schema: &'s Value) -> Result<Weight<'s>, SchemaFault> {
        let Value::Object(object) = schema else {
            return Ok(Weight::one());
        };
        // References can lead deeper than the document itself nests.
        self.depth += 1;
        if self.depth > 4 * MAX_DEPTH {
            return Err(SchemaFault::Depth { limit: MAX_DEPTH });
        }
        let mut weight = Weight::one();
        weight.work = weight.work.saturating_add(demanded(object));
        let is_unevaluated = UNEVALUATED
            .iter()
            .any(|keyword| object.contains_key(*keyword));
        let in_place_cost = if is_unevaluated { UNEVALUATED_COST } else { 1 };
        for reference in references_of(object) {
            let beneath = self.follow(reference)?.times(in_place_cost);
            weight.add(&beneath, None);
        }
        for (keyword, value) in object {
            let keyword = keyword.as_str();
            self.has_patterns |= matches!(keyword, "pattern" | "patternProperties");
            let same_value = IN_PLACE.contains(&keyword);
            if !same_value && !NESTED.contains(&keyword) {
                continue;
            }
            if matches!(keyword, "oneOf" | "anyOf")
                && let Value::Array(branches) = value
                && self.choices_are_sharpened
                && choice::is_told_apart(self.root, branches)
            {
                let mut either = Weight::one();
                for branch in branches {
                    either.or(&self.weigh(branch)?);
                    either.bounded()?;
                }
                // Each is asked whether it is meant.
                either.work = either.work.saturating_add(branches.len() as u64);
                weight.add(&either.times(in_place_cost), None);
                weight.bounded()?;
                continue;
            }
            for (name, part) in parts(keyword, value) {
                let place = match keyword {
                    _ if same_value => None,
                    "properties" => name,
                    _ => Some(ANY),
                };
                let mut beneath = self.weigh(part)?;
                if same_value {
                    beneath = beneath.times(in_place_cost);
                }
                weight.add(&beneath, place);
                // Each part may be as heavy as all that is allowed.
                weight.bounded()?;
            }
        }
        self.depth -= 1;
        self.heaviest = self.heaviest.max(weight.items);
        Ok(weight)
    }

    fn follow(&mut self, reference: &'s str) -> Result<Weight<'s>, SchemaFault> {
        if let Some(weight) = self.weights.get(reference) {
            return Ok(weight.clone());
        }
        let target = target(self.root, reference)?;
        if std::ptr::eq(target, self.root) || !self.under_way.insert(reference) {
            let mut again = Weight::one();
            again.again.insert(Vec::new(), 1);
            return Ok(again);
        }
        let weight = self.weigh(target)?;
        self.under_way.remove(reference);
        self.weights.insert(reference, weight.clone());
        Ok(weight)
    }
}

/// How many names a schema demands, itself or where others are given.
fn demanded(schema: &Map<String, Value>) -> u64 {
    let names = |value: &Value| value.as_array().map_or(0, Vec::len) as u64;
    let dependent = ["dependentRequired", "dependencies"];
    let dependent = dependent
        .iter()
        .filter_map(|keyword| schema.get(*keyword)?.as_object());
    let dependent = dependent.flat_map(Map::values).map(names);
    schema.get("required").map_or(0, names) + dependent.sum::<u64>()
}

/// The schemas a keyword holds: one, a list, or a map of them by name.
fn parts<'s>(keyword: &str, value: &'s Value) -> Vec<(Option<&'s str>, &'s Value)> {
    match value {
        Value::Array(list) => list.iter().map(|schema| (None, schema)).collect(),
        Value::Object(map) => match keyword {
            "properties" | "patternProperties" | "dependentSchemas" | "dependencies" | "$defs"
            | "definitions" => {
                let named = map
                    .iter()
                    .map(|(name, schema)| (Some(name.as_str()), schema));
                named.collect()
            }
            _ => vec![(None, value)],
        },
        _ => vec![(None, value)],
    }
}
