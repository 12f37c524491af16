//! The calls in flight at one upstream, and which of them a message belongs to.
//!
//! Progress carries the token of its call. What an upstream asks over HTTP comes on
//! the stream of a call; over a child's streams it carries nothing, and then it can
//! only belong to the one caller there is.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::model::{ProgressToken, RequestId};
use toolsmith_core::ToolContext;

/// A message may overtake the note of the call it belongs to by this much.
const OVERTAKEN: Duration = Duration::from_millis(100);

/// The calls in flight.
#[derive(Clone, Debug, Default)]
pub(super) struct Calls(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    next: u64,
    flying: BTreeMap<u64, Flying>,
}

#[derive(Clone, Debug)]
struct Flying {
    id: RequestId,
    token: ProgressToken,
    context: ToolContext,
}

/// A call in flight, while it lives.
#[derive(Debug)]
pub(super) struct InFlight {
    calls: Calls,
    number: u64,
}

impl Calls {
    /// Notes a call that was sent.
    pub(super) fn sent(
        &self,
        id: RequestId,
        token: ProgressToken,
        context: ToolContext,
    ) -> InFlight {
        let mut state = self.state();
        state.next += 1;
        let number = state.next;
        let flying = Flying { id, token, context };
        state.flying.insert(number, flying);
        InFlight {
            calls: self.clone(),
            number,
        }
    }

    /// Tells whether any is in flight.
    pub(super) fn are_any(&self) -> bool {
        !self.state().flying.is_empty()
    }

    /// The call progress belongs to.
    pub(super) fn by_token(&self, token: &ProgressToken) -> Option<ToolContext> {
        let state = self.state();
        let found = state.flying.values().find(|each| each.token == *token);
        found.map(|each| each.context.clone())
    }

    /// The call a question belongs to: that of the request whose stream it came on,
    /// or the latest of the only caller there is.
    pub(super) async fn asker(&self, stream: Option<&RequestId>) -> Option<ToolContext> {
        if let Some(asker) = self.asker_now(stream) {
            return Some(asker);
        }
        tokio::time::sleep(OVERTAKEN).await;
        self.asker_now(stream)
    }

    pub(super) fn asker_now(&self, stream: Option<&RequestId>) -> Option<ToolContext> {
        let state = self.state();
        if let Some(id) = stream {
            let found = state.flying.values().find(|each| each.id == *id);
            return found.map(|each| each.context.clone());
        }
        let latest = state.flying.values().next_back()?;
        let caller = latest.context.caller();
        // Callers without a session go by a name others may go by too.
        let known = caller.contains('#') || state.flying.len() == 1;
        let mut flying = state.flying.values();
        let alone = known && flying.all(|each| each.context.caller() == caller);
        alone.then(|| latest.context.clone())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.calls.state().flying.remove(&self.number);
    }
}
