//! Puts writes to one path in line.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};
use toolsmith_core::Plan;
use toolsmith_core::plan::Access;

/// How many paths may be remembered before the unused ones are forgotten.
const SWEEP_AT: usize = 1024;

/// A call's turn to write its paths, for as long as this lives.
pub(super) type InLine = Vec<OwnedMutexGuard<()>>;

/// The paths that are being written now.
#[derive(Debug, Default)]
pub(crate) struct PathLocks {
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    locks: HashMap<PathBuf, Weak<AsyncMutex<()>>>,
    /// How many were left when the unused ones were last forgotten.
    swept: usize,
}

impl PathLocks {
    /// Waits until nobody else writes what this plan writes. All paths are taken
    /// in one order, so two plans cannot wait for each other.
    pub(super) async fn acquire(&self, plan: &Plan) -> InLine {
        let mut paths: Vec<PathBuf> = plan
            .touches
            .iter()
            .filter(|touch| touch.access != Access::Read)
            .map(|touch| plain(&touch.path))
            .collect();
        paths.sort();
        paths.dedup();
        let mut guards = Vec::with_capacity(paths.len());
        for path in paths {
            guards.push(self.lock_of(path).lock_owned().await);
        }
        guards
    }

    fn lock_of(&self, path: PathBuf) -> Arc<AsyncMutex<()>> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        // Where many are in use, looking through all of them for each would take for ever.
        if held.locks.len() >= SWEEP_AT.max(2 * held.swept) {
            held.locks.retain(|_, lock| lock.strong_count() > 0);
            held.swept = held.locks.len();
        }
        if let Some(lock) = held.locks.get(&path).and_then(Weak::upgrade) {
            return lock;
        }
        let lock = Arc::new(AsyncMutex::new(()));
        held.locks.insert(path, Arc::downgrade(&lock));
        lock
    }
}

/// The path without `.` and doubled slashes, so that spellings do not matter. A
/// `..` stays: what it means depends on links.
fn plain(path: &Path) -> PathBuf {
    path.components()
        .filter(|component| *component != Component::CurDir)
        .collect()
}
