//! What two sequences have in common, found in time that does not explode.
//!
//! What is the same at both ends goes first, then what is there once on both sides
//! anchors the rest, and only the gaps between are compared in full, as far as a budget
//! lasts. A gap too large for it is told as replaced.

use std::collections::HashMap;
use std::convert::Infallible;
use std::hash::Hash;
use std::ops::Range;

use similar::Algorithm;
use similar::algorithms::{DiffHook, diff_slices};

/// A gap is compared in full if that costs at most this.
const LARGEST_GAP: usize = 4 << 20;
/// All gaps compared in full cost at most this.
const BUDGET: usize = 64 << 20;

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
    if cost(old_rest.len(), new_rest.len()) <= LARGEST_GAP {
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
        let cost = cost(old.len(), new.len());
        if old.is_empty() || new.is_empty() || cost > self.budget.min(LARGEST_GAP) {
            self.push(old_at..old_at + old.len(), new_at..new_at + new.len());
            return;
        }
        self.budget -= cost;
        let mut same = Same::default();
        // It stops only where told to, which nothing does.
        let Ok(()) = diff_slices(Algorithm::Myers, &mut same, old, new);
        let (mut old_done, mut new_done) = (0, 0);
        for (old_start, new_start, length) in same.0.into_iter().chain([(old.len(), new.len(), 0)])
        {
            if old_start > old_done || new_start > new_done {
                self.push(
                    old_at + old_done..old_at + old_start,
                    new_at + new_done..new_at + new_start,
                );
            }
            (old_done, new_done) = (old_start + length, new_start + length);
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

/// Takes down what is the same: where in the old, where in the new, and how long.
#[derive(Default)]
struct Same(Vec<(usize, usize, usize)>);

impl DiffHook for Same {
    type Error = Infallible;

    fn equal(&mut self, old: usize, new: usize, length: usize) -> Result<(), Infallible> {
        self.0.push((old, new, length));
        Ok(())
    }
}

/// What it costs to compare a gap in full, at worst: its steps times its differences,
/// each of which may be as many as both sides have elements.
fn cost(old: usize, new: usize) -> usize {
    let both = old.saturating_add(new);
    both.saturating_mul(both)
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
