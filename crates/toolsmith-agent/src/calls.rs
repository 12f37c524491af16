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
use crate::limits::Price;
use crate::repeats::Repeats;
use crate::task;

/// Who makes the calls, and who is told of them.
pub(crate) struct Calls<'a> {
    pub(crate) toolbox: &'a Toolbox,
    pub(crate) caller: &'a Caller,
    pub(crate) offer: &'a Arc<Offer>,
    pub(crate) observer: &'a Arc<dyn Observer>,
    pub(crate) journal: Option<&'a Arc<dyn Journal>>,
    /// What the tokens of tasks cost that do not know it themselves.
    pub(crate) price: Option<Price>,
}

/// What came of the calls of a turn.
#[derive(Debug, Default)]
pub(crate) struct Called {
    /// In call order.
    pub(crate) outcomes: Vec<KeptOutcome>,
    /// What tasks took that were given to others.
    pub(crate) usage: Usage,
    /// What that costs, each by the price of its own model.
    pub(crate) cost: f64,
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
        let _closing = Closing(Arc::clone(&watch));
        watch.repeats().begin_turn();
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
    price: Option<Price>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    outcomes: Vec<Option<KeptOutcome>>,
    usage: Usage,
    cost: f64,
    repeated: u32,
    fault: Option<JournalError>,
    /// Whether nobody waits for the calls any more.
    is_closed: bool,
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
            price: calls.price,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn repeats(&self) -> MutexGuard<'_, Repeats> {
        self.repeats.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self, index: usize, outcome: &Outcome, tool: Option<&str>) {
        let call = &self.calls[index];
        // Held until the result is kept: none comes into a conversation that has gone on.
        let mut state = self.state();
        if state.is_closed {
            return;
        }
        let mut kept = KeptOutcome::of(outcome);
        let effect = { self.offer.find(&call.name) }.map_or(Effect::Read, |it| it.tool.effect);
        let times = self.repeats().note(call, &kept, effect);
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
        state.outcomes[index] = Some(kept);
        state.repeated = state.repeated.max(times);
        if let Some(took) = tool.and_then(|tool| task::took(tool, outcome)) {
            state.usage.add(&took.usage);
            let by_ours = || self.price.map(|price| price.of(&took.usage));
            state.cost += took.cost.or_else(by_ours).unwrap_or_default();
        }
        if let Some(Err(fault)) = journaled {
            state.fault.get_or_insert(fault);
        }
        drop(state);
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
            cost: state.cost,
            repeated: state.repeated,
            fault: state.fault,
        }
    }
}

/// Ends the watch when nobody waits for the calls any more: what ends later, within its
/// grace, is told as interrupted by whoever goes on with the conversation.
struct Closing(Arc<Watch>);

impl Drop for Closing {
    fn drop(&mut self) {
        self.0.state().is_closed = true;
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
