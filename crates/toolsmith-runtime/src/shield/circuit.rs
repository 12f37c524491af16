//! A circuit that opens when a source keeps failing.
//!
//! Calls to a source that times out one after another would each hold their caller for
//! the whole time limit. Once it has failed often enough, calls fail at once; after a
//! pause one of them is let through, and what becomes of that one decides.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::settings::CircuitSettings;

/// Into how many parts the time is cut in which failures count together.
const PARTS: usize = 6;

/// How long callers are told to wait while somebody else finds out.
const MOMENT: Duration = Duration::from_secs(1);

/// Whether calls of a source are let through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CircuitState {
    /// They are.
    #[default]
    Closed,
    /// They are not.
    Open,
    /// One is, to see whether the source is well again.
    HalfOpen,
}

/// The circuit of one source. Cheap to clone; clones share.
#[derive(Clone, Debug, Default)]
pub(crate) struct Circuit(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    phase: Phase,
    /// Counts the openings: what began before one says nothing about what comes after.
    era: u64,
    in_a_row: u32,
    window: Window,
    /// Why it opened, in words.
    why: String,
}

#[derive(Clone, Copy, Debug, Default)]
enum Phase {
    #[default]
    Closed,
    Open {
        until: Instant,
    },
    Probing,
}

/// Good and bad ends of the last while, in parts that are forgotten one by one.
#[derive(Debug, Default)]
struct Window {
    parts: [(u32, u32); PARTS],
    /// Which part is the present one, and when it ends.
    at: usize,
    ends: Option<Instant>,
}

/// What a call that was let through told about its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// It answered.
    Well,
    /// It did not.
    Failed,
    /// Nothing.
    Nothing,
}

/// Why a call is not let through, and when to come back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Closed {
    pub(crate) why: String,
    pub(crate) wait: Duration,
    pub(crate) state: CircuitState,
}

/// A call that was let through. Dropped without a word, it has told nothing.
#[derive(Debug)]
pub(crate) struct Pass {
    circuit: Circuit,
    settings: CircuitSettings,
    era: u64,
    is_probe: bool,
    told: Told,
}

impl Circuit {
    /// Lets a call through, or says why not.
    pub(crate) fn enter(&self, settings: CircuitSettings) -> Result<Pass, Closed> {
        let now = Instant::now();
        let mut state = self.state();
        state.refuses(now)?;
        let is_probe = matches!(state.phase, Phase::Open { .. });
        if is_probe {
            state.phase = Phase::Probing;
        }
        Ok(Pass {
            circuit: self.clone(),
            settings,
            era: state.era,
            is_probe,
            told: Told::Nothing,
        })
    }

    /// Says why a call would not be let through, without letting it.
    pub(crate) fn looks_shut(&self) -> Result<(), Closed> {
        self.state().refuses(Instant::now())
    }

    /// A sign of life: whoever comes next may see whether the source is well again.
    pub(crate) fn stirred(&self) {
        let mut state = self.state();
        if let Phase::Open { until } = &mut state.phase {
            *until = Instant::now().min(*until);
        }
    }

    pub(crate) fn now(&self) -> CircuitState {
        match self.state().phase {
            Phase::Closed => CircuitState::Closed,
            Phase::Open { .. } => CircuitState::Open,
            Phase::Probing => CircuitState::HalfOpen,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn refuses(&self, now: Instant) -> Result<(), Closed> {
        let (wait, state) = match self.phase {
            Phase::Open { until } if now < until => (until - now, CircuitState::Open),
            Phase::Probing => (MOMENT, CircuitState::HalfOpen),
            Phase::Closed | Phase::Open { .. } => return Ok(()),
        };
        Err(Closed {
            why: self.why.clone(),
            wait,
            state,
        })
    }

    fn open(&mut self, settings: CircuitSettings, now: Instant) {
        self.phase = Phase::Open {
            until: now + settings.pause,
        };
        self.era += 1;
        self.in_a_row = 0;
        self.window = Window::default();
    }
}

impl Window {
    /// Counts an end, and returns the good and bad ones of the whole window.
    fn count(&mut self, bad: bool, whole: Duration, now: Instant) -> (u32, u32) {
        let part = (whole / PARTS as u32).max(Duration::from_millis(1));
        let mut ends = *self.ends.get_or_insert(now + part);
        let mut passed = 0;
        while now >= ends && passed < PARTS {
            self.at = (self.at + 1) % PARTS;
            self.parts[self.at] = (0, 0);
            ends += part;
            passed += 1;
        }
        // After a long silence the parts begin anew from here.
        self.ends = Some(if now >= ends { now + part } else { ends });
        let present = &mut self.parts[self.at];
        match bad {
            true => present.1 = present.1.saturating_add(1),
            false => present.0 = present.0.saturating_add(1),
        }
        let sum = |(a, b): (u32, u32), part: &(u32, u32)| {
            (a.saturating_add(part.0), b.saturating_add(part.1))
        };
        self.parts.iter().fold((0, 0), sum)
    }
}

impl Pass {
    /// Ends the call, with what it told.
    pub(crate) fn end(mut self, told: Told) {
        self.told = told;
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        let now = Instant::now();
        let (settings, circuit) = (self.settings, self.circuit.clone());
        let mut state = circuit.state();
        if self.era != state.era {
            return;
        }
        match (self.told, self.is_probe) {
            (Told::Nothing, false) => {}
            // Somebody else may see, in a moment.
            (Told::Nothing, true) => {
                let until = now + MOMENT.min(settings.pause);
                state.phase = Phase::Open { until };
            }
            (Told::Well, true) => {
                state.phase = Phase::Closed;
                state.era += 1;
                state.in_a_row = 0;
            }
            (Told::Failed, true) => state.open(settings, now),
            (Told::Well, false) => {
                state.in_a_row = 0;
                // It may be the good end that makes enough of them to tell the share.
                state.judge(false, settings, now);
            }
            (Told::Failed, false) => {
                state.in_a_row = state.in_a_row.saturating_add(1);
                if state.in_a_row >= settings.failures.max(1) {
                    state.why = format!("failed {} times in a row", state.in_a_row);
                    state.open(settings, now);
                } else {
                    state.judge(true, settings, now);
                }
            }
        }
    }
}

impl State {
    /// Counts an end, and opens where too large a share was bad.
    fn judge(&mut self, bad: bool, settings: CircuitSettings, now: Instant) {
        let (good, failed) = self.window.count(bad, settings.window, now);
        let all = good.saturating_add(failed);
        let is_much = f64::from(failed) >= settings.share * f64::from(all);
        if failed > 0 && all >= settings.least.max(1) && is_much {
            self.why = format!("failed {failed} of the last {all} times");
            self.open(settings, now);
        }
    }
}
