//! A circuit that opens when an upstream keeps failing.
//!
//! Calls to an upstream that times out one after another would each hold their
//! caller for the whole time limit. After a few failures in a row calls fail at
//! once, until one that is let through as a probe succeeds.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// How many failures in a row open it.
const FAILURES: u32 = 5;

/// How long it stays open before a probe.
const OPEN: Duration = Duration::from_secs(15);

/// The circuit of one upstream.
#[derive(Debug, Default)]
pub(super) struct Circuit(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    failures: u32,
    /// When the next call may try.
    probe_at: Option<Instant>,
}

impl Circuit {
    /// Lets a call through, or says how long it stays open.
    pub(super) fn enter(&self) -> Result<(), Duration> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(probe_at) = state.probe_at else {
            return Ok(());
        };
        let now = Instant::now();
        if now < probe_at {
            return Err(probe_at - now);
        }
        // One probe; the others wait for what becomes of it.
        state.probe_at = Some(now + OPEN);
        Ok(())
    }

    pub(super) fn succeeded(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = State::default();
    }

    pub(super) fn failed(&self) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.failures = state.failures.saturating_add(1);
        if state.failures >= FAILURES {
            state.probe_at = Some(Instant::now() + OPEN);
        }
    }
}
