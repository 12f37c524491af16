//! One writer a file, however its path is spelled.

use std::collections::HashSet;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::target::FileKey;
use crate::refusal::{Reason, Refusal};

/// How often a waiting writer looks whether it is still wanted.
const LOOK: Duration = Duration::from_millis(20);

/// The files that are being written.
#[derive(Debug, Default)]
pub(super) struct Locks {
    held: Mutex<HashSet<FileKey>>,
    fewer: Condvar,
}

/// Files nobody else writes, for as long as this lives.
#[derive(Debug)]
pub(crate) struct Held<'l> {
    locks: &'l Locks,
    keys: Vec<FileKey>,
}

impl Locks {
    /// Waits until nobody writes any of these files, and keeps others from it. All at
    /// once, so that two callers cannot wait for each other.
    pub(super) fn hold(
        &self,
        keys: Vec<FileKey>,
        is_cancelled: impl Fn() -> bool,
    ) -> Result<Held<'_>, Refusal> {
        let mut held = self.held();
        while keys.iter().any(|key| held.contains(key)) {
            if is_cancelled() {
                let message = "the call was given up while another wrote the file";
                return Err(Refusal::new(Reason::Cancelled, message));
            }
            let waited = self.fewer.wait_timeout(held, LOOK);
            held = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        held.extend(keys.iter().cloned());
        drop(held);
        Ok(Held { locks: self, keys })
    }

    fn held(&self) -> MutexGuard<'_, HashSet<FileKey>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        let mut held = self.locks.held();
        for key in &self.keys {
            held.remove(key);
        }
        drop(held);
        self.locks.fewer.notify_all();
    }
}
