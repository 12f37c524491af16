//! What a run tells while it goes on.

use toolsmith_core::{Outcome, RawCall};
use toolsmith_provider::Way;

use crate::report::Report;

/// Something that happened in a run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum AgentEvent<'a> {
    /// The model is asked.
    Turn {
        /// Which turn of the run, from 1.
        number: u32,
        /// The way it is asked for calls.
        way: Way,
    },
    /// More of what the model says. It was not cleaned: whoever shows it must.
    Text(&'a str),
    /// More of what it thinks. As for what it says.
    Reasoning(&'a str),
    /// What was shown of this turn is void: it broke off, and is asked for again.
    Again {
        /// Why.
        reason: &'a str,
    },
    /// The model takes no tools, and is asked for calls as text.
    FellBack {
        /// What it said.
        reason: &'a str,
    },
    /// A call is about to be made.
    Calling {
        /// Which call of the turn, from nought.
        index: usize,
        /// The call.
        call: &'a RawCall,
    },
    /// A call has ended. Calls end in any order.
    Called {
        /// Which call of the turn.
        index: usize,
        /// The call.
        call: &'a RawCall,
        /// What came of it.
        outcome: &'a Outcome,
    },
    /// Older results were shortened to make room.
    Shortened {
        /// How many.
        results: usize,
    },
    /// The run is over.
    Ended(&'a Report),
}

/// Watches a run. Implemented by hosts; it must not block.
pub trait Observer: Send + Sync {
    /// Takes an event.
    fn observe(&self, event: &AgentEvent<'_>);
}

impl<F: Fn(&AgentEvent<'_>) + Send + Sync> Observer for F {
    fn observe(&self, event: &AgentEvent<'_>) {
        self(event);
    }
}
