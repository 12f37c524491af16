//! Work that waits for a client to come back with answers.
//!
//! The name it waits under is random and works once. Whoever brings it must repeat
//! the request it belongs to; how many may wait, and how long, is bounded.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{ErrorData, InputRequests, InputRequiredResult};
use serde_json::Value;
use tokio::time::Instant;

use super::ask::Asked;
use super::errand::{Errand, PATIENCE};

/// How many errands may wait at once; the oldest gives way.
const MOST: usize = 1024;

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
    since: Instant,
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
        let since = Instant::now();
        let mut waiting = self.waiting();
        if waiting.len() >= MOST
            && let Some(oldest) =
                (waiting.iter().min_by_key(|(_, w)| w.since)).map(|(name, _)| name.clone())
        {
            waiting.remove(&oldest);
        }
        waiting.insert(name.clone(), Waiting { unfinished, since });
        drop(waiting);
        let (parked, forgotten) = (Arc::downgrade(&self.0), name.clone());
        tokio::spawn(async move {
            tokio::time::sleep(PATIENCE).await;
            if let Some(parked) = parked.upgrade() {
                let mut waiting = parked.lock().unwrap_or_else(PoisonError::into_inner);
                waiting.remove(&forgotten);
            }
        });
        InputRequiredResult::new(Some(requests), Some(name))
    }
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
