//! Answers that are kept for a while, so that reading on does not ask again.
//!
//! Each caller has its own: what one may see with its headers is none of another's
//! business. Bounded in number and bytes; the oldest go first.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use toolsmith_net::{Fetched, HeaderMap};

/// For how long an answer is given again.
pub(crate) const LIFETIME: Duration = Duration::from_secs(15 * 60);

/// How many answers are kept, and how many bytes they have together.
const MOST: usize = 64;
const MOST_BYTES: usize = 32 << 20;

/// What an answer is an answer to.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    caller: String,
    url: String,
    headers: Vec<(String, Vec<u8>)>,
    redirects: Option<usize>,
}

impl Key {
    /// What a caller asks for, and how many redirects it follows if any.
    pub(crate) fn new(
        caller: &str,
        url: &str,
        headers: &HeaderMap,
        redirects: Option<usize>,
    ) -> Self {
        let mut headers: Vec<(String, Vec<u8>)> = (headers.iter())
            .map(|(name, value)| (name.as_str().to_owned(), value.as_bytes().to_vec()))
            .collect();
        headers.sort();
        Self {
            caller: caller.to_owned(),
            url: url.to_owned(),
            headers,
            redirects,
        }
    }
}

/// Kept answers.
#[derive(Default)]
pub(crate) struct Cache {
    kept: HashMap<Key, (Instant, Arc<Fetched>)>,
    order: VecDeque<Key>,
    bytes: usize,
}

impl Cache {
    /// An answer that is still good, and how old it is.
    pub(crate) fn get(&mut self, key: &Key) -> Option<(Duration, Arc<Fetched>)> {
        let (since, fetched) = self.kept.get(key)?;
        let age = since.elapsed();
        if age < LIFETIME {
            return Some((age, Arc::clone(fetched)));
        }
        self.remove(&key.clone());
        None
    }

    /// Keeps an answer, if it may be kept.
    pub(crate) fn put(&mut self, key: Key, fetched: &Arc<Fetched>) {
        let size = size(fetched);
        if !may_keep(fetched) || size > MOST_BYTES / 2 {
            return;
        }
        self.remove(&key);
        self.bytes += size;
        self.order.push_back(key.clone());
        self.kept.insert(key, (Instant::now(), Arc::clone(fetched)));
        while self.kept.len() > MOST || self.bytes > MOST_BYTES {
            let Some(oldest) = self.order.front().cloned() else {
                break;
            };
            self.remove(&oldest);
        }
    }

    fn remove(&mut self, key: &Key) {
        if let Some((_, fetched)) = self.kept.remove(key) {
            self.bytes -= size(&fetched);
            self.order.retain(|each| each != key);
        }
    }
}

/// What an answer takes, its headers roughly.
fn size(fetched: &Fetched) -> usize {
    fetched.body.len() + 4096
}

/// Only what succeeded, and what its server lets be kept.
fn may_keep(fetched: &Fetched) -> bool {
    let control = fetched.headers.get_all("cache-control").iter();
    let mut control = control.filter_map(|value| value.to_str().ok());
    let is_forbidden = control.any(|value| value.to_ascii_lowercase().contains("no-store"));
    fetched.status.is_success() && !is_forbidden
}
