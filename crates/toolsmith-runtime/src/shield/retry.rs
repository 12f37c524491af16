//! Whether and when a call is made again.
//!
//! Only what failed in a way that may pass, of a tool that does no more the second time,
//! and only as long as the call's time and the source's budget last.

use std::time::Duration;

use toolsmith_core::error::Retry;
use toolsmith_core::{ErrorKind, Outcome, ToolError};

use super::budget::Budget;
use crate::registry::Entry;

/// The first pause where nobody says how long to wait; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LAST_PAUSE: Duration = Duration::from_secs(10);

/// How often a call of a tool on another machine is repeated unless its binding says.
pub(crate) const USUAL: u8 = 2;

/// How long to wait before a call is made again; none where it is not.
pub(crate) fn pause(
    outcome: &Outcome,
    entry: &Entry,
    repeated: u32,
    left: Duration,
    budget: &Budget,
) -> Option<Duration> {
    let error = outcome.error.as_ref()?;
    let is_harmless = entry.binding.repeatable == Some(true) || entry.definition.is_idempotent();
    if !is_harmless || !may_pass(error) {
        return None;
    }
    let pause = match error.retry_after() {
        Some(told) => told.saturating_add(spread(told / 8)),
        None => backoff(repeated),
    };
    (pause < left && budget.repeat()).then_some(pause)
}

/// Whether the same call may succeed a little later.
fn may_pass(error: &ToolError) -> bool {
    match error.kind.retry() {
        Retry::Later => error.retryable,
        Retry::IfIdempotent => true,
        // Whoever gave it up does not want it any more.
        _ => false,
    }
}

/// Whether a failure speaks of the source, and not of the call.
pub(crate) fn is_of_source(error: &ToolError) -> bool {
    match error.kind {
        ErrorKind::Timeout | ErrorKind::Network => true,
        ErrorKind::Unavailable => error.retryable,
        _ => false,
    }
}

/// Twice as long each time, and never quite the same: those that failed together must
/// not come back together.
fn backoff(repeated: u32) -> Duration {
    let doubled = FIRST_PAUSE.saturating_mul(1 << repeated.min(16));
    let pause = doubled.min(LAST_PAUSE);
    pause / 2 + spread(pause / 2)
}

/// Some of a time, by chance.
fn spread(whole: Duration) -> Duration {
    let mut bytes = [0_u8; 2];
    // Without randomness everybody waits the whole of it.
    let part = match getrandom::fill(&mut bytes) {
        Ok(()) => u32::from(u16::from_le_bytes(bytes)),
        Err(_) => u32::from(u16::MAX),
    };
    (whole / u32::from(u16::MAX)).saturating_mul(part)
}
