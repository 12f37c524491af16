//! What two sequences have in common, found in time that does not explode.
//!
//! What is the same at both ends goes first, then what is there once on both sides
//! anchors the rest, and only the gaps between are compared in full, as far as a budget
//! lasts. A gap too large for it is told as replaced.

use std::collections::HashMap;
use std::hash::Hash;
use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// A gap is compared in full if its sides multiplied are at most this.
const LARGEST_GAP: usize = 1 << 20;
/// All gaps compared in full amount to at most this.
const BUDGET: usize = 16 << 20;

/// A stretch that differs: what was there, and what is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) old: Range<usize>,
    pub(crate) new: Range<usize>,
}

/// What differs between two sequences, in order; what lies between is the same.
pub(crate) fn align<T: Eq + Hash>(old: &[T], new: &[T]) -> Vec<Block> {
    let head = old
        .iter()
        .zip(new)
        .take_while(|(old, new)| old == new)
        .count();
    let (old_rest, new_rest) = (&old[head..], &new[head..]);
    let pairs = old_rest.iter().rev().zip(new_rest.iter().rev());
    let tail = pairs.take_while(|(old, new)| old == new).count();
    let old_rest = &old_rest[..old_rest.len() - tail];
    let new_rest = &new_rest[..new_rest.len() - tail];
    let mut aligned = Aligned {
        blocks: Vec::new(),
        budget: BUDGET,
    };
    let mut numbers = HashMap::new();
    let old_rest = numbered(old_rest, &mut numbers);
    let new_rest = numbered(new_rest, &mut numbers);
    if fits(old_rest.len(), new_rest.len()) {
        aligned.gap(&old_rest, &new_rest, head, head);
    } else {
        let (mut old_at, mut new_at) = (0, 0);
        let end = (old_rest.len(), new_rest.len());
        for (old_next, new_next) in anchors(&old_rest, &new_rest, numbers.len())
            .into_iter()
            .chain([end])
        {
            let gap = (&old_rest[old_at..old_next], &new_rest[new_at..new_next]);
            aligned.gap(gap.0, gap.1, head + old_at, head + new_at);
            (old_at, new_at) = (old_next + 1, new_next + 1);
        }
    }
    aligned.blocks
}

struct Aligned {
    blocks: Vec<Block>,
    budget: usize,
}

impl Aligned {
    fn gap(&mut self, old: &[u32], new: &[u32], old_at: usize, new_at: usize) {
        if old.is_empty() && new.is_empty() {
            return;
        }
        let cost = old.len().saturating_mul(new.len());
        if cost == 0 || cost > self.budget || !fits(old.len(), new.len()) {
            self.push(old_at..old_at + old.len(), new_at..new_at + new.len());
            return;
        }
        self.budget -= cost;
        for op in capture_diff_slices(Algorithm::Myers, old, new) {
            if !matches!(op, DiffOp::Equal { .. }) {
                let (old, new) = (op.old_range(), op.new_range());
                self.push(
                    old_at + old.start..old_at + old.end,
                    new_at + new.start..new_at + new.end,
                );
            }
        }
    }

    /// Adds a block, to the last one if nothing is between them.
    fn push(&mut self, old: Range<usize>, new: Range<usize>) {
        match self.blocks.last_mut() {
            Some(last) if last.old.end == old.start && last.new.end == new.start => {
                last.old.end = old.end;
                last.new.end = new.end;
            }
            _ => self.blocks.push(Block { old, new }),
        }
    }
}

fn fits(old: usize, new: usize) -> bool {
    old.saturating_mul(new) <= LARGEST_GAP
}

/// Equal elements get equal numbers, so that comparing them costs the same always.
#[expect(
    clippy::cast_possible_truncation,
    reason = "there are fewer elements than bytes"
)]
fn numbered<'a, T: Eq + Hash>(elements: &'a [T], numbers: &mut HashMap<&'a T, u32>) -> Vec<u32> {
    let number = |element| {
        let next = numbers.len() as u32;
        *numbers.entry(element).or_insert(next)
    };
    elements.iter().map(number).collect()
}

/// The longest run of pairs in order among what is there once on both sides.
fn anchors(old: &[u32], new: &[u32], count: usize) -> Vec<(usize, usize)> {
    let (in_old, in_new) = (once(old, count), once(new, count));
    let pairs = old.iter().enumerate().filter_map(|(at, number)| {
        let number = *number as usize;
        Some((in_old[number].filter(|only| *only == at)?, in_new[number]?))
    });
    let pairs: Vec<(usize, usize)> = pairs.collect();
    // Patience sorting: the ends of the best runs of each length, and what came before.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (index, (_, place)) in pairs.iter().enumerate() {
        let length = ends.partition_point(|end| pairs[*end].1 < *place);
        before.push(length.checked_sub(1).map(|length| ends[length]));
        match ends.get_mut(length) {
            Some(end) => *end = index,
            None => ends.push(index),
        }
    }
    let mut run = Vec::with_capacity(ends.len());
    let mut next = ends.last().copied();
    while let Some(index) = next {
        run.push(pairs[index]);
        next = before[index];
    }
    run.reverse();
    run
}

/// Where each number is, if it is there once.
fn once(numbers: &[u32], count: usize) -> Vec<Option<usize>> {
    let mut places: Vec<(usize, usize)> = vec![(0, 0); count];
    for (at, number) in numbers.iter().enumerate() {
        let place = &mut places[*number as usize];
        *place = (place.0 + 1, at);
    }
    let only = |(times, at)| (times == 1).then_some(at);
    places.into_iter().map(only).collect()
}
