//! The calls of one turn: made in parallel, told and kept as each ends, in the state in
//! call order.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use toolsmith_core::event::{Event, RecordError, Recorder, What};
use toolsmith_core::{CallId, Effect, ErrorKind, Offer, Outcome, RawCall};
use toolsmith_provider::{Answer, Usage};
use toolsmith_runtime::{Caller, Order, Toolbox};

use crate::conversation::{Entry, Journal, JournalError, KeptOutcome};
use crate::event::{AgentEvent, Observer};
use crate::repeats::Repeats;
use crate::task;

/// Who makes the calls, and who is told of them.
pub(crate) struct Calls<'a> {
    pub(crate) toolbox: &'a Toolbox,
    pub(crate) caller: &'a Caller,
    pub(crate) offer: &'a Arc<Offer>,
    pub(crate) observer: &'a Arc<dyn Observer>,
    pub(crate) journal: Option<&'a Arc<dyn Journal>>,
}

/// What came of the calls of a turn.
#[derive(Debug, Default)]
pub(crate) struct Called {
    /// In call order.
    pub(crate) outcomes: Vec<KeptOutcome>,
    /// What tasks took that were given to others.
    pub(crate) usage: Usage,
    /// How often the most repeated of them brought the same.
    pub(crate) repeated: u32,
    /// Why not all of it could be kept.
    pub(crate) fault: Option<JournalError>,
}

impl Called {
    pub(crate) fn failed(&self) -> usize {
        self.outcomes
            .iter()
            .filter(|outcome| !outcome.is_success())
            .count()
    }

    /// Whether none of the calls fitted its tool.
    pub(crate) fn none_fits(&self) -> bool {
        let misfit = |outcome: &KeptOutcome| {
            let kind = outcome.error.as_ref().map(|error| error.kind);
            matches!(
                kind,
                Some(ErrorKind::InvalidParameters | ErrorKind::UnknownTool)
            )
        };
        !self.outcomes.is_empty() && self.outcomes.iter().all(misfit)
    }
}

impl Calls<'_> {
    /// Makes the calls of an answer. `repeats` is what is known of those before.
    pub(crate) async fn make(&self, answer: &Answer, repeats: &Arc<Mutex<Repeats>>) -> Called {
        let calls = answer.raw_calls();
        let watch = Arc::new(Watch::new(self, &calls, repeats));
        for (index, call) in calls.iter().enumerate() {
            self.observer.observe(&AgentEvent::Calling { index, call });
        }
        let caller = self
            .caller
            .clone()
            .with_recorder(Shared(Arc::clone(&watch)));
        let replies = self.toolbox.run_all(calls, &caller, Order::Parallel).await;
        for (index, reply) in replies.into_iter().enumerate() {
            // Told and kept already, unless it was asked for input nobody can give here.
            if watch.state().outcomes[index].is_none() {
                watch.end(index, &reply.into_outcome(), None);
            }
        }
        watch.take()
    }
}

/// Takes the end of each call: tells it, keeps it, counts it.
struct Watch {
    observer: Arc<dyn Observer>,
    journal: Option<Arc<dyn Journal>>,
    offer: Arc<Offer>,
    calls: Vec<RawCall>,
    index: HashMap<CallId, usize>,
    repeats: Arc<Mutex<Repeats>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    outcomes: Vec<Option<KeptOutcome>>,
    usage: Usage,
    repeated: u32,
    fault: Option<JournalError>,
}

impl Watch {
    fn new(calls: &Calls<'_>, made: &[RawCall], repeats: &Arc<Mutex<Repeats>>) -> Self {
        let numbered = made.iter().enumerate();
        let index = numbered.filter_map(|(index, call)| Some((call.id.clone()?, index)));
        Self {
            observer: Arc::clone(calls.observer),
            journal: calls.journal.cloned(),
            offer: Arc::clone(calls.offer),
            index: index.collect(),
            state: Mutex::new(State {
                outcomes: vec![None; made.len()],
                ..State::default()
            }),
            calls: made.to_vec(),
            repeats: Arc::clone(repeats),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self, index: usize, outcome: &Outcome, tool: Option<&str>) {
        let call = &self.calls[index];
        let mut kept = KeptOutcome::of(outcome);
        let effect = { self.offer.find(&call.name) }.map_or(Effect::Read, |it| it.tool.effect);
        let times = {
            let mut repeats = self.repeats.lock().unwrap_or_else(PoisonError::into_inner);
            repeats.note(call, &kept, effect)
        };
        if let Some(advice) = Repeats::advice(times) {
            kept.instruction = Some(match kept.instruction.take() {
                Some(before) => format!("{before}\n{advice}"),
                None => advice,
            });
        }
        let entry = Entry::Result {
            index,
            outcome: Box::new(kept.clone()),
        };
        let journaled = self.journal.as_ref().map(|journal| journal.append(&entry));
        {
            let mut state = self.state();
            state.outcomes[index] = Some(kept);
            state.repeated = state.repeated.max(times);
            if let Some(usage) = tool.and_then(|tool| task::usage_of(tool, outcome)) {
                state.usage.add(&usage);
            }
            if let Some(Err(fault)) = journaled {
                state.fault.get_or_insert(fault);
            }
        }
        self.observer.observe(&AgentEvent::Called {
            index,
            call,
            outcome,
        });
    }

    fn take(&self) -> Called {
        let state = std::mem::take(&mut *self.state());
        Called {
            outcomes: state
                .outcomes
                .into_iter()
                .map(Option::unwrap_or_default)
                .collect(),
            usage: state.usage,
            repeated: state.repeated,
            fault: state.fault,
        }
    }
}

struct Shared(Arc<Watch>);

impl Recorder for Shared {
    fn record(&self, event: &Event<'_>) -> Result<(), RecordError> {
        let What::Replied {
            outcome: Some(outcome),
            ..
        } = &event.what
        else {
            return Ok(());
        };
        if let Some(&index) = event.call.and_then(|call| self.0.index.get(call)) {
            self.0
                .end(index, outcome, event.tool.map(|tool| tool.as_str()));
        }
        Ok(())
    }
}
