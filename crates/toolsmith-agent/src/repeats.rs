//! Notices calls that bring the same result again and again.
//!
//! A call that changes something makes it worth looking once more, so it begins the count
//! anew; as long as nothing changes, the same question has the same answer.

use serde_json::Value;
use toolsmith_core::call::RawArguments;
use toolsmith_core::{Effect, RawCall};

use crate::conversation::KeptOutcome;

/// From which time on the model is told.
const TOLD: u32 = 3;

/// How many calls are remembered; older ones are forgotten first.
const MOST: usize = 256;

/// The calls since something changed last.
#[derive(Debug, Default)]
pub(crate) struct Repeats {
    seen: Vec<Seen>,
    turn: u32,
}

#[derive(Debug)]
struct Seen {
    name: String,
    arguments: Value,
    outcome: KeptOutcome,
    times: u32,
    /// The turn it was made in last.
    turn: u32,
}

impl Repeats {
    /// The calls of another turn follow. Those of one turn are made before the model is told
    /// of any of them, so however many are the same, they count once.
    pub(crate) fn begin_turn(&mut self) {
        self.turn = self.turn.wrapping_add(1);
    }

    /// Takes a call and what came of it, and tells in how many turns it brought just that.
    pub(crate) fn note(&mut self, call: &RawCall, outcome: &KeptOutcome, effect: Effect) -> u32 {
        let RawArguments::Json(arguments) = &call.arguments else {
            return 1;
        };
        let same_call = |seen: &Seen| seen.name == call.name && seen.arguments == *arguments;
        let known = self.seen.iter_mut().find(|seen| same_call(seen));
        if let Some(seen) = known
            && is_same(&seen.outcome, outcome)
        {
            if std::mem::replace(&mut seen.turn, self.turn) != self.turn {
                seen.times = seen.times.saturating_add(1);
            }
            return seen.times;
        }
        if effect != Effect::Read && outcome.is_success() {
            self.seen.clear();
        }
        self.seen.retain(|seen| !same_call(seen));
        if self.seen.len() >= MOST {
            self.seen.remove(0);
        }
        self.seen.push(Seen {
            name: call.name.clone(),
            arguments: arguments.clone(),
            outcome: outcome.clone(),
            times: 1,
            turn: self.turn,
        });
        1
    }

    /// What a model is told that makes a call so often, where it is told something.
    pub(crate) fn advice(times: u32) -> Option<String> {
        (times >= TOLD).then(|| {
            format!(
                "You have made this very call {times} times, and it brought this very result each \
                 time. It will not bring another: try something else, or answer with what you know."
            )
        })
    }
}

/// Whether a model would read the same.
fn is_same(one: &KeptOutcome, other: &KeptOutcome) -> bool {
    one.content == other.content && one.value == other.value && one.error == other.error
}
