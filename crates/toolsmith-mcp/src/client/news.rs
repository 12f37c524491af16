//! What an upstream tells of itself, until somebody hears it.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// How many changed resources may wait to be heard of, and how long the address of
/// one may be.
const UPDATED: usize = 1000;
const LONGEST_ADDRESS: usize = 8 << 10;

/// News that wait. What is told twice is heard once, so nothing grows, and an
/// upstream that talks without pause drowns out only itself.
#[derive(Debug, Default)]
pub(super) struct News {
    told: Mutex<Told>,
    bell: Notify,
}

/// What changed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) tools: bool,
    pub(super) prompts: bool,
    pub(super) resources: bool,
    pub(super) updated: BTreeSet<String>,
}

impl Told {
    /// A resource changed.
    pub(super) fn updated(&mut self, uri: String) {
        if uri.len() <= LONGEST_ADDRESS && self.updated.len() < UPDATED {
            self.updated.insert(uri);
        }
    }
}

impl News {
    pub(super) fn tell(&self, add: impl FnOnce(&mut Told)) {
        add(&mut self.told());
        self.bell.notify_one();
    }

    /// Waits for news and takes all there are. It may be given up at any point.
    pub(super) async fn heard(&self) -> Told {
        loop {
            let told = std::mem::take(&mut *self.told());
            if told != Told::default() {
                return told;
            }
            self.bell.notified().await;
        }
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
