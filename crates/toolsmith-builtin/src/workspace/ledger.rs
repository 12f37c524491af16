//! What each caller has read: so that nobody overwrites what they have not seen.
//!
//! By content, not by time: a file that was only touched is still the same. Bounded in
//! callers, files and bytes; who has read so much that it was forgotten reads again.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sha2::{Digest as _, Sha256};

use super::target::FileKey;

/// How many readings are remembered, of all callers together.
const READINGS: usize = 16 << 10;

/// How long a text may be to be kept for showing what changed.
const TEXT: usize = 32 << 10;

/// How many bytes of texts are kept.
const TEXTS: usize = 8 << 20;

/// The hash of a file's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Digest([u8; 32]);

impl Digest {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The hash of what a hasher was fed.
    pub(crate) fn finish(hasher: Sha256) -> Self {
        Self(hasher.finalize().into())
    }

    /// In hexadecimal.
    pub(crate) fn hex(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The beginning of it, enough to tell two versions of a file apart.
    pub(crate) fn short(&self) -> String {
        let mut hex = self.hex();
        hex.truncate(12);
        hex
    }

    /// Tells whether it is the one somebody named, whole or by its beginning.
    pub(crate) fn is(&self, named: &str) -> bool {
        Self::is_name(named) && self.hex().starts_with(&named.to_ascii_lowercase())
    }

    /// Tells whether a text can name one: enough of its digits that no other is meant.
    pub(crate) fn is_name(text: &str) -> bool {
        (12..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
    }
}

/// What a caller saw.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) digest: Digest,
    /// The text, where it is short.
    pub(crate) text: Option<Arc<str>>,
}

/// What each caller has read.
#[derive(Debug, Default)]
pub(super) struct Ledger(Mutex<Readings>);

#[derive(Debug, Default)]
struct Readings {
    seen: HashMap<(Arc<str>, FileKey), Seen>,
    /// The oldest first.
    order: VecDeque<(Arc<str>, FileKey)>,
    text_bytes: usize,
}

impl Ledger {
    /// Notes that a caller saw a file.
    pub(super) fn note(&self, caller: &str, key: FileKey, digest: Digest, text: Option<&str>) {
        let mut readings = self.readings();
        let text = text.filter(|text| text.len() <= TEXT).map(Arc::from);
        let entry = (Arc::from(caller), key);
        readings.put(entry, Seen { digest, text });
    }

    /// What a caller saw of a file last.
    pub(super) fn seen(&self, caller: &str, key: &FileKey) -> Option<Seen> {
        let entry = (Arc::from(caller), key.clone());
        self.readings().seen.get(&entry).cloned()
    }

    /// Forgets a file that is gone.
    pub(super) fn forget(&self, caller: &str, key: &FileKey) {
        let entry = (Arc::from(caller), key.clone());
        self.readings().remove(&entry);
    }

    fn readings(&self) -> MutexGuard<'_, Readings> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Readings {
    fn put(&mut self, entry: (Arc<str>, FileKey), seen: Seen) {
        self.remove(&entry);
        self.text_bytes += seen.text.as_ref().map_or(0, |text| text.len());
        self.order.push_back(entry.clone());
        self.seen.insert(entry, seen);
        while self.order.len() > READINGS || self.text_bytes > TEXTS {
            let Some(oldest) = self.order.pop_front() else {
                return;
            };
            if let Some(seen) = self.seen.remove(&oldest) {
                self.text_bytes -= seen.text.map_or(0, |text| text.len());
            }
        }
    }

    fn remove(&mut self, entry: &(Arc<str>, FileKey)) {
        if let Some(seen) = self.seen.remove(entry) {
            self.text_bytes -= seen.text.map_or(0, |text| text.len());
            // Mostly near the end: what is written was read just before.
            if let Some(index) = self.order.iter().rposition(|other| other == entry) {
                self.order.remove(index);
            }
        }
    }
}
