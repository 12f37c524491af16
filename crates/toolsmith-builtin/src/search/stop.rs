//! When a search has to end: its caller gave up, or its time is over.

use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use toolsmith_core::ToolContext;

use crate::refusal::{Reason, Refusal};

/// How long telling what was found may take once time ran out.
const TO_TELL: Duration = Duration::from_millis(500);

/// What a search asks, over and over, whether it may go on.
#[derive(Debug)]
pub(crate) struct Stop<'a> {
    context: &'a ToolContext,
    deadline: Instant,
    state: AtomicU8,
}

const GOING: u8 = 0;
const CANCELLED: u8 = 1;
const LATE: u8 = 2;

impl<'a> Stop<'a> {
    /// Ends when the caller gives up, or after a time.
    pub(crate) fn after(limit: Duration, context: &'a ToolContext) -> Self {
        Self {
            context,
            deadline: Instant::now() + limit,
            state: AtomicU8::new(GOING),
        }
    }

    /// The same for telling what was found: it goes on for a moment where time ran out,
    /// since an answer that says nothing is of no use.
    pub(crate) fn for_telling(&self) -> Self {
        let moment = Instant::now() + TO_TELL;
        let state = match self.state.load(Ordering::Relaxed) {
            CANCELLED => CANCELLED,
            _ => GOING,
        };
        Self {
            context: self.context,
            deadline: self.deadline.max(moment),
            state: AtomicU8::new(state),
        }
    }

    /// Tells whether it is over.
    pub(crate) fn is_due(&self) -> bool {
        if self.state.load(Ordering::Relaxed) != GOING {
            return true;
        }
        let state = if self.context.is_cancelled() {
            CANCELLED
        } else if Instant::now() >= self.deadline {
            LATE
        } else {
            return false;
        };
        self.state.store(state, Ordering::Relaxed);
        true
    }

    /// Tells whether time ran out, so that there is only a part of the answer.
    pub(crate) fn is_late(&self) -> bool {
        self.state.load(Ordering::Relaxed) == LATE
    }

    /// Fails where the caller gave up: nobody reads the answer.
    pub(crate) fn check(&self) -> Result<(), Refusal> {
        match self.context.is_cancelled() {
            true => Err(Refusal::new(Reason::Cancelled, "the search was given up")),
            false => Ok(()),
        }
    }
}
