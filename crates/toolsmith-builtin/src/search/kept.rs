//! The first so many of what a walk finds, in an order the walk does not keep.

use std::collections::BinaryHeap;

/// Keeps the smallest of all values it is given, and no more than were asked for.
#[derive(Debug)]
pub(crate) struct Kept<T> {
    most: usize,
    /// The largest that is kept is on top.
    heap: BinaryHeap<T>,
}

impl<T: Ord> Kept<T> {
    pub(crate) fn new(most: usize) -> Self {
        Self {
            most,
            heap: BinaryHeap::new(),
        }
    }

    /// Tells whether a value would be kept, by what it would be compared by.
    pub(crate) fn admits(&self, is_before: impl FnOnce(&T) -> bool) -> bool {
        match self.heap.peek() {
            Some(largest) if self.heap.len() >= self.most => is_before(largest),
            _ => self.most > 0,
        }
    }

    pub(crate) fn push(&mut self, value: T) {
        if self.heap.len() < self.most {
            self.heap.push(value);
        } else if let Some(mut largest) = self.heap.peek_mut()
            && value < *largest
        {
            *largest = value;
        }
    }

    /// What several kept, as if one had seen it all, in order.
    pub(crate) fn merge(all: impl IntoIterator<Item = Self>) -> Vec<T> {
        let mut most = 0;
        let mut values = Vec::new();
        for kept in all {
            most = kept.most;
            values.extend(kept.heap);
        }
        values.sort_unstable();
        values.truncate(most);
        values
    }
}
