//! A union beside properties, or at the root, becomes one object: every property of every
//! branch, and what all branches demand.

use std::collections::{HashMap, HashSet};

use serde_json::Value;
use toolsmith_core::json;

use super::facts::{Additional, Facts, Part, add_properties, unsaid};
use super::object::{ANYTHING, Entry, Fields};
use super::types::TypeSet;
use super::union::MOST_BRANCHES;
use super::walk::Walker;
use super::words;

impl<'a> Walker<'a> {
    /// What an object holds together with the unions beside its properties: every property
    /// of every branch, and what all branches demand.
    pub(crate) fn merged_fields(&mut self, facts: &Facts<'a>) -> Fields<'a> {
        let mut base = self.own_fields(facts);
        let Some((union, others)) = facts.unions.split_first() else {
            return base;
        };
        let named_elsewhere = others.iter().any(|other| add_properties(other, facts));
        if named_elsewhere && self.closes() && base.additional == Additional::Silent {
            base.additional = Additional::Open;
        }
        let mut branches = Vec::new();
        if !self.open_branches(union, &mut branches, 0) {
            self.change("more branches than are merged; they were put into words");
            self.remarks.push(words::one_of(union.iter()));
            self.forget(others);
            if self.closes() && base.additional == Additional::Silent {
                base.additional = Additional::Open;
            }
            return base;
        }
        self.change("a union was merged into one object");
        self.forget(others);
        let fitting = |branch: &Facts<'a>| !branch.typed || branch.types.has(TypeSet::OBJECT);
        let count = branches.len();
        branches.retain(fitting);
        if branches.len() < count {
            self.change("branches that are no objects were left out");
        }
        self.merge(base, &branches)
    }

    /// The branches of a union, those of unions within it among them. `false` where there
    /// are too many.
    fn open_branches(
        &mut self,
        union: &'a [Value],
        branches: &mut Vec<Facts<'a>>,
        depth: usize,
    ) -> bool {
        for schema in union {
            if branches.len() >= MOST_BRANCHES || depth > 8 {
                return false;
            }
            let facts = self.gather(&[Part::own(schema)], true);
            if facts.never {
                continue;
            }
            match facts.unions.first() {
                Some(inner) if facts.properties.is_empty() => {
                    if !self.open_branches(inner, branches, depth + 1) {
                        return false;
                    }
                }
                _ => branches.push(facts),
            }
        }
        true
    }

    fn merge(&mut self, base: Fields<'a>, branches: &[Facts<'a>]) -> Fields<'a> {
        let mut order: Vec<&'a str> = base.entries.iter().map(|(name, _)| *name).collect();
        let mut known: HashSet<&str> = order.iter().copied().collect();
        for name in branches.iter().flat_map(|branch| {
            let maps = branch.properties.iter();
            maps.flat_map(|map| map.keys().map(String::as_str))
        }) {
            if known.insert(name) {
                order.push(name);
            }
        }
        let mut own: HashMap<&str, Entry<'a>> = base.entries.into_iter().collect();
        let mut entries = Vec::with_capacity(order.len());
        for name in order {
            let entry = merged_entry(name, own.remove(name), branches);
            entries.push((name, entry));
        }
        let mut required = base.required;
        let sets: Vec<Vec<&'a str>> = branches.iter().map(|branch| demands(branch)).collect();
        if let Some((first, others)) = sets.split_first() {
            let others_have: Vec<HashSet<&str>> = { others.iter() }
                .map(|set| set.iter().copied().collect())
                .collect();
            let in_all = |name: &&&str| others_have.iter().all(|set| set.contains(**name));
            required.extend(first.iter().filter(in_all));
            let told: Vec<String> = sets
                .iter()
                .filter(|set| !set.is_empty())
                .take(16)
                .map(|set| set.join(" and "))
                .collect();
            let differ = others.iter().any(|set| set != first);
            if differ && told.len() == sets.len() {
                self.remarks
                    .push(format!("Give one of these: {}.", told.join("; ")));
            }
        }
        let additional = match base.additional {
            Additional::Silent if branches.is_empty() => Additional::Silent,
            Additional::Silent => branches
                .iter()
                .map(|branch| match branch.additional {
                    Additional::Closed if branch.patterns => Additional::Open,
                    Additional::Silent if self.closes() && leaves_out(branch) => Additional::Open,
                    additional => additional,
                })
                .reduce(wider)
                .unwrap_or(Additional::Silent),
            stated => stated,
        };
        Fields {
            entries,
            required,
            sometimes: sets.into_iter().flatten().collect(),
            additional,
            stated: true,
        }
    }
}

/// Whether a branch names properties beside those that are merged.
fn leaves_out(branch: &Facts<'_>) -> bool {
    let unions = || { branch.unions.iter() }.any(|union| add_properties(union, branch));
    branch.patterns || unsaid(branch) || unions()
}

/// What holds for a property in a merged object.
fn merged_entry<'a>(name: &str, own: Option<Entry<'a>>, branches: &[Facts<'a>]) -> Entry<'a> {
    let base: Vec<Part<'a>> = match &own {
        Some(Entry::One(schema)) => vec![Part::own(schema)],
        Some(Entry::All(parts)) => parts.clone(),
        _ => Vec::new(),
    };
    let mut alternatives: Vec<Vec<Part<'a>>> = Vec::new();
    for branch in branches {
        let maps = branch.properties.iter();
        let mut said: Vec<&'a Value> = maps.filter_map(|map| map.get(name)).collect();
        if said.is_empty() {
            match (&own, branch.additional) {
                // The branch says nothing of it, so what the object says is all.
                (Some(_), _) => return own.unwrap_or(Entry::One(&ANYTHING)),
                (None, Additional::Open) => said.push(&ANYTHING),
                (None, Additional::Schema(schema)) => said.push(schema),
                (None, _) => continue,
            }
        }
        // The same words twice are one alternative.
        let repeats = alternatives.iter().any(|known| {
            let known = &known[base.len()..];
            known.len() == said.len()
                && known.iter().zip(&said).all(|(part, value)| {
                    std::ptr::eq(part.schema, *value)
                        || (!json::depth_exceeds(value, 16) && part.schema == *value)
                })
        });
        if !repeats {
            let mut parts = base.clone();
            parts.extend(said.into_iter().map(Part::own));
            alternatives.push(parts);
        }
    }
    match (alternatives.len(), own) {
        (0, Some(own)) => own,
        (0, None) => Entry::One(&ANYTHING),
        (1, _) => Entry::All(alternatives.swap_remove(0)),
        _ => Entry::Any(alternatives),
    }
}

fn demands<'a>(branch: &Facts<'a>) -> Vec<&'a str> {
    let lists = branch.required.iter();
    lists
        .flat_map(|list| list.iter().filter_map(Value::as_str))
        .collect()
}

/// Of what two branches take beside their properties, what takes more.
fn wider<'a>(one: Additional<'a>, other: Additional<'a>) -> Additional<'a> {
    match (one, other) {
        (Additional::Open, _) | (_, Additional::Open) => Additional::Open,
        (Additional::Schema(_), _) | (_, Additional::Schema(_)) => Additional::Open,
        (Additional::Silent, _) | (_, Additional::Silent) => Additional::Silent,
        (Additional::Closed, Additional::Closed) => Additional::Closed,
    }
}
