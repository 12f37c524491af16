//! A schema with the definitions it needs, within a tool's limits.
//!
//! Definitions are taken nearest first. What does not fit goes in this order: the
//! descriptions, then the definitions farthest away, then the depths of the schema
//! itself. Whatever goes is replaced by a schema that accepts anything.

use std::collections::{HashMap, HashSet, VecDeque};

use serde_json::{Map, Value};

use toolsmith_core::json::size;

use super::keywords::{IN_PLACE, Reach, beneath_mut, opened};
use super::pool::{Piece, Pool};
use super::weigh::is_affordable;
use crate::openapi::notes::Notes;
use crate::openapi::text;

/// How deep a schema is kept that is too large by itself, tried one after the other.
const DEPTHS: [usize; 5] = [8, 5, 3, 2, 1];
/// How long a description at the surface is when others are cut.
const SURFACE: usize = 200;

/// What a schema had to lose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::openapi) enum Cut {
    Nothing,
    Descriptions,
    Parts,
}

impl Pool<'_> {
    /// Puts a schema together, in at most so many bytes; nothing where even the
    /// outermost level has more.
    pub(in crate::openapi) fn gather(
        &mut self,
        root: &Piece,
        limit: usize,
        notes: &mut Notes,
    ) -> Option<(Value, Cut)> {
        if root.bytes <= limit {
            let whole = self.reach(root, limit, |piece| piece.bytes, notes);
            let value = || self.assemble(root, &whole.order, Dress::Whole);
            if let Some(value) = whole.is_complete.then(value)
                && is_affordable(&value)
            {
                return Some((value, Cut::Nothing));
            }
        }
        let mut root = root.clone();
        bare(&mut root.value, 0);
        for depth in [usize::MAX].into_iter().chain(DEPTHS) {
            root.is_loose |= prune(&mut root.value, depth, false);
            root.bytes = size(&root.value);
            if root.bytes > limit {
                continue;
            }
            let reached = self.reach(&root, limit, |piece| piece.bare_bytes, notes);
            if let Some((value, count)) = self.largest(&root, &reached.order) {
                let is_whole = reached.is_complete && count == reached.order.len();
                let cut = if is_whole && depth == usize::MAX {
                    Cut::Descriptions
                } else {
                    Cut::Parts
                };
                return Some((value, cut));
            }
        }
        None
    }

    /// The most definitions that can be afforded.
    fn largest(&self, root: &Piece, order: &[usize]) -> Option<(Value, usize)> {
        let build = |count: usize| {
            let value = self.assemble(root, &order[..count], Dress::Bare);
            is_affordable(&value).then_some(value)
        };
        if let Some(value) = build(order.len()) {
            return Some((value, order.len()));
        }
        let mut best = (build(0)?, 0);
        let (mut low, mut high) = (1, order.len());
        while low < high {
            let middle = low.midpoint(high);
            match build(middle) {
                Some(value) => {
                    best = (value, middle);
                    low = middle + 1;
                }
                None => high = middle,
            }
        }
        Some(best)
    }

    /// The definitions a schema leads to, nearest first, as far as they fit.
    fn reach(
        &mut self,
        root: &Piece,
        limit: usize,
        bytes_of: impl Fn(&Piece) -> usize,
        notes: &mut Notes,
    ) -> Reached {
        let mut order = Vec::new();
        let mut bytes = root.bytes;
        let mut seen: HashSet<usize> = root.references.iter().copied().collect();
        let mut waiting: VecDeque<usize> = root.references.iter().copied().collect();
        let mut is_complete = true;
        while let Some(number) = waiting.pop_front() {
            self.prepare(number, notes);
            let Some(piece) = self.piece(number) else {
                continue;
            };
            let more = bytes_of(piece) + self.definition_name(number).len() + 6;
            if bytes + more > limit {
                is_complete = false;
                continue;
            }
            bytes += more;
            order.push(number);
            let next = piece.references.iter().filter(|next| seen.insert(**next));
            waiting.extend(next);
        }
        Reached { order, is_complete }
    }

    /// The schema with these definitions; references to others are opened, and so is
    /// what would apply itself to the same value without end.
    fn assemble(&self, root: &Piece, included: &[usize], dress: Dress) -> Value {
        let taken: HashSet<usize> = included.iter().copied().collect();
        let circles = self.circles(root, included, &taken);
        let pieces = || included.iter().filter_map(|number| self.piece(*number));
        let is_open = |piece: &Piece| {
            piece
                .references
                .iter()
                .any(|number| !taken.contains(number))
        };
        let is_opened = !circles.is_empty() || is_open(root) || pieces().any(is_open);
        let is_loose = is_opened || root.is_loose || pieces().any(|piece| piece.is_loose);
        let mend = |from: Option<usize>, value: &mut Value| {
            let none = HashSet::new();
            let mending = Mending {
                pool: self,
                taken: &taken,
                circles: circles.get(&from).unwrap_or(&none),
                is_loose,
            };
            mending.mend(value, Reach::Whole, true);
        };
        let mut value = root.value.clone();
        mend(None, &mut value);
        let mut definitions = Map::new();
        for number in included {
            let Some(piece) = self.piece(*number) else {
                continue;
            };
            let mut value = match dress {
                Dress::Whole => piece.value.clone(),
                Dress::Bare => bared(&piece.value),
            };
            mend(Some(*number), &mut value);
            definitions.insert(self.definition_name(*number).to_owned(), value);
        }
        if let Value::Object(object) = &mut value
            && !definitions.is_empty()
        {
            object.insert("$defs".to_owned(), Value::Object(definitions));
        }
        value
    }

    /// References that close a circle of schemas for the same value, by where they
    /// stand: a depth-first walk with the path kept by hand.
    fn circles(
        &self,
        root: &Piece,
        included: &[usize],
        taken: &HashSet<usize>,
    ) -> HashMap<Option<usize>, HashSet<usize>> {
        let mut found: HashMap<Option<usize>, HashSet<usize>> = HashMap::new();
        let mut finished: HashSet<usize> = HashSet::new();
        let mut on_path: HashSet<usize> = HashSet::new();
        let edges = |number: usize| {
            let piece = self.piece(number);
            piece.map_or(&[][..], |piece| &piece.in_place[..]).iter()
        };
        for start in root.in_place.iter().chain(included) {
            if !taken.contains(start) || !finished.insert(*start) {
                continue;
            }
            on_path.insert(*start);
            let mut path = vec![(*start, edges(*start))];
            while let Some((number, next)) = path.last_mut() {
                let number = *number;
                match next.next() {
                    Some(next) if on_path.contains(next) => {
                        found.entry(Some(number)).or_default().insert(*next);
                    }
                    Some(next) if taken.contains(next) && finished.insert(*next) => {
                        on_path.insert(*next);
                        path.push((*next, edges(*next)));
                    }
                    Some(_) => {}
                    None => {
                        on_path.remove(&number);
                        path.pop();
                    }
                }
            }
        }
        found
    }
}

/// Whether definitions keep their descriptions.
#[derive(Clone, Copy)]
enum Dress {
    Whole,
    Bare,
}

struct Reached {
    order: Vec<usize>,
    /// Whether all of them fit.
    is_complete: bool,
}

/// What is changed in a schema once it is known what it can refer to.
struct Mending<'p, 'd> {
    pool: &'p Pool<'d>,
    taken: &'p HashSet<usize>,
    /// References in place that are not followed.
    circles: &'p HashSet<usize>,
    is_loose: bool,
}

impl Mending<'_, '_> {
    fn mend(&self, schema: &mut Value, reach: Reach, is_in_place: bool) {
        let Value::Object(object) = schema else {
            return;
        };
        if let Some(Value::String(reference)) = object.get("$ref") {
            let number = self.pool.referred(reference);
            let is_kept = |number: usize| {
                let is_circle = reach == Reach::Whole && self.circles.contains(&number);
                self.taken.contains(&number) && !is_circle
            };
            if !number.is_some_and(is_kept) {
                object.shift_remove("$ref");
                if let Value::Object(open) = opened(is_in_place) {
                    object.extend(open);
                }
            }
        }
        if self.is_loose {
            loosen(object);
        }
        for (keyword, schema) in beneath_mut(object) {
            self.mend(schema, reach.under(keyword), IN_PLACE.contains(&keyword));
        }
    }
}

/// Where parts accept more than they should, what depends on their refusing something
/// must go: the one of several that fits may no longer be the only one.
fn loosen(object: &mut Map<String, Value>) {
    for keyword in ["not", "if", "then", "else"] {
        object.shift_remove(keyword);
    }
    if let Some(branches) = object.shift_remove("oneOf") {
        if !object.contains_key("anyOf") {
            object.insert("anyOf".to_owned(), branches);
        } else if let Some(Value::Array(all)) = object.get_mut("allOf") {
            all.push(any_of(branches));
        } else {
            object.insert("allOf".to_owned(), Value::Array(vec![any_of(branches)]));
        }
    }
}

fn any_of(branches: Value) -> Value {
    let mut object = Map::new();
    object.insert("anyOf".to_owned(), branches);
    Value::Object(object)
}

/// Opens what stands deeper than so many schemas; tells whether there was any.
fn prune(schema: &mut Value, depth: usize, is_in_place: bool) -> bool {
    let Value::Object(object) = schema else {
        return false;
    };
    if depth == 0 {
        let is_open = object.is_empty();
        *schema = opened(is_in_place);
        return !is_open;
    }
    let mut is_pruned = false;
    for (keyword, schema) in beneath_mut(object) {
        is_pruned |= prune(schema, depth.saturating_sub(1), IN_PLACE.contains(&keyword));
    }
    is_pruned
}

/// A schema without descriptions.
pub(super) fn bared(value: &Value) -> Value {
    let mut value = value.clone();
    bare(&mut value, 2);
    value
}

/// Takes descriptions away, but shortens those at the surface.
fn bare(schema: &mut Value, level: usize) {
    let Value::Object(object) = schema else {
        return;
    };
    object.shift_remove("examples");
    object.shift_remove("title");
    if level > 1 {
        object.shift_remove("description");
    } else if let Some(Value::String(description)) = object.get_mut("description") {
        *description = text::line(description, SURFACE);
    }
    for (_, schema) in beneath_mut(object) {
        bare(schema, level + 1);
    }
}
