//! How many repetitions a source is worth: a fifth of its calls, and a few to begin with.
//!
//! A source that fails everything would otherwise get every call several times over, just
//! when it can bear least.

use std::sync::atomic::{AtomicU32, Ordering};

/// What a call puts in and a repetition takes out: one in five.
const PUT: u32 = 1;
const TAKE: u32 = 5;

/// What there is at first, so that the only call of a run can be repeated, and what is
/// kept at most: a long good time must not pay for a storm.
const FIRST: u32 = 2 * TAKE;
const MOST: u32 = 10 * TAKE;

/// The budget of one source.
#[derive(Debug)]
pub(crate) struct Budget(AtomicU32);

impl Default for Budget {
    fn default() -> Self {
        Self(AtomicU32::new(FIRST))
    }
}

impl Budget {
    /// Counts a call.
    pub(crate) fn called(&self) {
        let add = |held: u32| (held < MOST).then_some((held + PUT).min(MOST));
        let _ = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
    }

    /// Takes what a repetition costs, if there is so much.
    pub(crate) fn repeat(&self) -> bool {
        let take = |held: u32| held.checked_sub(TAKE);
        let taken = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
        taken.is_ok()
    }
}
