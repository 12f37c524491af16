//! Work that waits for a client to come back with answers.
//!
//! The name it waits under is random and works once. Whoever brings it must repeat
//! the request it belongs to; how many may wait, how much they hold, and how long, is
//! bounded. Work that was given up, or whose client has left, does not wait.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{ErrorData, InputRequests, InputRequiredResult};
use serde_json::Value;
use tokio::time::Instant;
use tokio_util::sync::DropGuard;
use toolsmith_core::{CancellationToken, json};

use super::ask::Asked;
use super::errand::{Errand, PATIENCE};

/// How many errands may wait at once; the oldest gives way.
const MOST: usize = 1024;

/// About how many bytes their requests may have together; the oldest give way.
const MOST_BYTES: usize = 32 << 20;

/// What a state of parked work begins with. Approvals have states of another form.
const MARK: &str = "parked.";

/// An errand that waits for answers.
pub(super) struct Unfinished<T> {
    pub(super) errand: Errand<T>,
    pub(super) asked: Asked,
    /// What was requested, which must be requested again.
    pub(super) subject: Value,
}

/// The errands that wait.
pub(super) struct Parked<T>(Arc<Mutex<HashMap<String, Waiting<T>>>>);

struct Waiting<T> {
    unfinished: Unfinished<T>,
    /// About how many bytes its request has.
    size: usize,
    since: Instant,
    /// Tells whoever watches over the time that there is nothing to watch.
    _taken: DropGuard,
}

impl<T> Default for Parked<T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<T> Parked<T> {
    /// Tells whether a state is the name of parked work.
    pub(super) fn is_name(state: &str) -> bool {
        state.starts_with(MARK)
    }

    /// How many errands wait now.
    pub(super) fn len(&self) -> usize {
        self.waiting().len()
    }

    /// Takes an errand out; the name is worth nothing afterwards.
    pub(super) fn take(&self, name: &str, subject: &Value) -> Result<Unfinished<T>, ErrorData> {
        let unknown = || {
            let message = "this requestState is not known, was used before, or is too old; make the request again without it";
            ErrorData::invalid_params(message, None)
        };
        let mut waiting = self.waiting();
        let found = waiting.get(name).ok_or_else(unknown)?;
        if found.unfinished.subject != *subject {
            let message = "this requestState belongs to another request";
            return Err(ErrorData::invalid_params(message, None));
        }
        let found = waiting.remove(name).ok_or_else(unknown)?;
        Ok(found.unfinished)
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<String, Waiting<T>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Send + 'static> Parked<T> {
    /// Parks an errand and returns what its client is told.
    pub(super) fn park(
        &self,
        unfinished: Unfinished<T>,
        requests: InputRequests,
    ) -> InputRequiredResult {
        let Some(name) = new_name() else {
            // Without randomness a name could be guessed; the work is given up.
            return InputRequiredResult::from_input_requests(requests);
        };
        let (taken, given_up) = (CancellationToken::new(), &unfinished.errand.cancellation);
        let (parked, forgotten) = (Arc::downgrade(&self.0), name.clone());
        let (is_taken, given_up) = (taken.clone(), given_up.clone());
        tokio::spawn(async move {
            tokio::select! {
                () = is_taken.cancelled() => return,
                () = given_up.cancelled() => {}
                () = tokio::time::sleep(PATIENCE) => {}
            }
            if let Some(parked) = parked.upgrade() {
                // What is dropped may be anything, so it is dropped without the lock.
                let dropped = parked
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .remove(&forgotten);
                drop(dropped);
            }
        });
        let waits = Waiting {
            size: json::size(&unfinished.subject),
            unfinished,
            since: Instant::now(),
            _taken: taken.drop_guard(),
        };
        let mut waiting = self.waiting();
        let dropped = make_room(&mut waiting, waits.size);
        waiting.insert(name.clone(), waits);
        drop(waiting);
        drop(dropped);
        InputRequiredResult::new(Some(requests), Some(name))
    }
}

/// Takes out the oldest until there is room for one more of this size.
fn make_room<T>(waiting: &mut HashMap<String, Waiting<T>>, size: usize) -> Vec<Waiting<T>> {
    let mut bytes = size + waiting.values().map(|each| each.size).sum::<usize>();
    let mut taken = Vec::new();
    while waiting.len() >= MOST || bytes > MOST_BYTES {
        let oldest = waiting.iter().min_by_key(|(_, each)| each.since);
        let Some(oldest) = oldest.map(|(name, _)| name.clone()) else {
            break;
        };
        let oldest = waiting.remove(&oldest);
        bytes -= oldest.as_ref().map_or(0, |oldest| oldest.size);
        taken.extend(oldest);
    }
    taken
}

fn new_name() -> Option<String> {
    let mut bytes = [0_u8; 24];
    getrandom::fill(&mut bytes).ok()?;
    let mut name = MARK.to_owned();
    for byte in bytes {
        let _ = write!(name, "{byte:02x}");
    }
    Some(name)
}
