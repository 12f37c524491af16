//! What was asked, answered and left, and how long healthy calls took.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::call::Sort;
use crate::upstream;

/// All clients together.
#[derive(Debug, Default)]
pub(crate) struct Tally(Mutex<Told>);

/// The counts at some time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Told {
    counts: BTreeMap<Sort, Counts>,
    /// Microseconds of calls that nothing held up but the machine.
    healthy: Vec<u64>,
    /// How many calls of upstreams went well: not all can, and not all may fail.
    reached: u64,
    /// What was answered otherwise than it had to be, some of it.
    wrong: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    sent: u64,
    answered: u64,
    abandoned: u64,
}

impl Tally {
    fn told_mut(&self) -> MutexGuard<'_, Told> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn sent(&self, sort: Sort) {
        self.told_mut().counts.entry(sort).or_default().sent += 1;
    }

    /// Notes that somebody went without waiting.
    pub(crate) fn abandoned(&self, sort: Sort) {
        self.told_mut().counts.entry(sort).or_default().abandoned += 1;
    }

    /// Notes an answer.
    pub(crate) fn answered(&self, sort: Sort, took: Duration, answer: &str) {
        let mut told = self.told_mut();
        told.counts.entry(sort).or_default().answered += 1;
        if sort.is_healthy() {
            told.healthy
                .push(u64::try_from(took.as_micros()).unwrap_or(u64::MAX));
        }
        told.reached += u64::from(sort == Sort::Upstream && answer.contains(upstream::DONE));
        if !sort.accepts(answer) && told.wrong.len() < 5 {
            let start: String = answer.chars().take(300).collect();
            told.wrong.push(format!("{sort:?}: {start}"));
        }
    }

    /// How many requests have neither an answer nor been left.
    pub(crate) fn open(&self) -> u64 {
        let told = self.told_mut();
        let open = |counts: &Counts| {
            counts
                .sent
                .saturating_sub(counts.answered + counts.abandoned)
        };
        told.counts.values().map(open).sum()
    }

    pub(crate) fn told(&self) -> Told {
        self.told_mut().clone()
    }

    /// Prints what came of all requests and how long healthy ones took since a warm-up,
    /// and tells whether it is as it must be.
    pub(crate) fn report(&self, warmed: &Told) -> bool {
        let told = self.told();
        let mut is_well = true;
        for (sort, counts) in &told.counts {
            let Counts {
                sent,
                answered,
                abandoned,
            } = counts;
            let is_even = *answered == sent - abandoned;
            is_well &= is_even;
            let word = if is_even { "" } else { "  NOT even" };
            let sort = format!("{sort:?}");
            println!("{sort:10} {sent:8} sent {answered:8} answered {abandoned:6} left{word}");
        }
        let mut healthy = told.healthy[warmed.healthy.len()..].to_vec();
        healthy.sort_unstable();
        let at = |share: f64| {
            let index = (healthy.len() as f64 * share) as usize;
            healthy.get(index).copied().unwrap_or_default() as f64 / 1000.0
        };
        println!(
            "healthy calls: {}, half within {:.2} ms, 99 of 100 within {:.2} ms, all within {:.2} ms",
            healthy.len(),
            at(0.5),
            at(0.99),
            healthy.last().copied().unwrap_or_default() as f64 / 1000.0,
        );
        println!("calls of upstreams that went well: {}", told.reached);
        is_well &= told.reached > 0;
        for wrong in &told.wrong {
            println!("NOT as it must be: {wrong}");
            is_well = false;
        }
        is_well
    }
}
