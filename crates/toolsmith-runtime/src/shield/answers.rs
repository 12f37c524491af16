//! Answers that are kept: of tools that change nothing, where their binding says so.
//!
//! An answer is given again to the same caller for the same call of the same definition,
//! within its lifetime. Whatever may have changed what it tells of takes it out, and an
//! answer that was on its way meanwhile is not kept. Equal calls at one time run once.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sha2::{Digest, Sha256};
use tokio::sync::watch;
use tokio::time::Instant;
use toolsmith_core::plan::Access;
use toolsmith_core::{Block, Effect, Outcome, Source, json};

use crate::limits::Limits;
use crate::permit::PermittedCall;

/// The largest answer that is kept, as a part of all that may be.
const LARGEST_PART: usize = 8;

/// What tells calls apart: tool, definition, arguments and caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key([u8; 32]);

/// The answers of a toolbox. Cheap to clone; clones share.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answers(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    /// Whether anything was ever kept: until then nobody need be told of writes.
    in_use: AtomicBool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    kept: HashMap<Key, Kept>,
    /// Oldest first; one whose number is another's by now is no longer there.
    order: VecDeque<(Key, u64)>,
    bytes: usize,
    number: u64,
    /// Calls whose answers are on their way.
    flying: HashMap<Key, Flying>,
}

#[derive(Debug)]
struct Kept {
    outcome: Arc<Outcome>,
    since: Instant,
    until: Instant,
    bytes: usize,
    number: u64,
    about: About,
}

#[derive(Debug)]
struct Flying {
    number: u64,
    about: About,
    landed: watch::Receiver<Option<Arc<Outcome>>>,
}

/// What an answer tells of.
#[derive(Clone, Debug)]
struct About {
    source: Arc<str>,
    is_local: bool,
    paths: Vec<PathBuf>,
}

/// What there is for a call.
#[derive(Debug)]
pub(crate) enum Found {
    /// The answer, and how old it is.
    Answer(Arc<Outcome>, Duration),
    /// Somebody else is about to get it.
    Flying(watch::Receiver<Option<Arc<Outcome>>>),
    /// Nothing: whoever asked is to get it.
    Fetch(Fetching),
}

/// A call whose answer is to be kept. Dropped before it has one, others may try.
#[derive(Debug)]
pub(crate) struct Fetching {
    answers: Answers,
    key: Key,
    number: u64,
    landed: watch::Sender<Option<Arc<Outcome>>>,
}

/// A call that may change what answers tell of. They are taken out when it begins and
/// once more when it has ended.
#[derive(Debug)]
pub(crate) struct Forgetting {
    answers: Answers,
    of: Change,
}

/// What a call may change.
#[derive(Debug)]
struct Change {
    source: Arc<str>,
    everything_local: bool,
    paths: Vec<PathBuf>,
}

impl Key {
    pub(crate) fn of(call: &PermittedCall, caller: &str, agent: Option<&str>) -> Self {
        let mut hasher = Sha256::new();
        hasher.update(b"toolsmith answer 1\0");
        for part in [
            call.entry().definition.name.as_str(),
            caller,
            agent.unwrap_or_default(),
        ] {
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        hasher.update([u8::from(agent.is_some())]);
        hasher.update(call.digest().bytes());
        Self(hasher.finalize().into())
    }
}

impl Answers {
    /// Looks for the answer to a call.
    pub(crate) fn find(&self, key: Key, call: &PermittedCall) -> Found {
        self.0.in_use.store(true, Ordering::Release);
        let now = Instant::now();
        let mut state = self.state();
        if let Some(kept) = state.kept.get(&key) {
            if now < kept.until {
                return Found::Answer(Arc::clone(&kept.outcome), now - kept.since);
            }
            state.remove(key);
        }
        if let Some(flying) = state.flying.get(&key) {
            return Found::Flying(flying.landed.clone());
        }
        let (sender, landed) = watch::channel(None);
        state.number += 1;
        let number = state.number;
        let about = About::of(call);
        let flying = Flying {
            number,
            about,
            landed,
        };
        state.flying.insert(key, flying);
        Found::Fetch(Fetching {
            answers: self.clone(),
            key,
            number,
            landed: sender,
        })
    }

    /// Notes that a call is about to change something, if any answer could tell of it.
    pub(crate) fn forgetting(&self, call: &PermittedCall) -> Option<Forgetting> {
        if !self.0.in_use.load(Ordering::Acquire) || call.entry().definition.changes_nothing() {
            return None;
        }
        let of = Change::of(call);
        self.state().forget(&of);
        Some(Forgetting {
            answers: self.clone(),
            of,
        })
    }

    /// Forgets everything: the terms are others.
    pub(crate) fn empty(&self) {
        let mut state = self.state();
        let State {
            kept,
            order,
            bytes,
            flying,
            ..
        } = &mut *state;
        kept.clear();
        order.clear();
        flying.clear();
        *bytes = 0;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Fetching {
    /// Hands the answer to whoever waits for it, and keeps it if it is a good one.
    pub(crate) fn landed(self, outcome: Outcome, lifetime: Duration, limits: &Limits) -> Outcome {
        if is_too_deep(&outcome) {
            // It cannot be handed to several without a copy, and a copy would recurse.
            return outcome;
        }
        let bytes = size(&outcome);
        let is_kept = outcome.is_success() && bytes <= limits.cache_bytes / LARGEST_PART;
        let outcome = Arc::new(outcome);
        {
            let now = Instant::now();
            let mut state = self.answers.state();
            let flying = state.flying.remove(&self.key);
            // One that was taken off meanwhile told of what is no longer so.
            if let Some(flying) = flying {
                if flying.number != self.number {
                    state.flying.insert(self.key, flying);
                } else if is_kept {
                    let kept = Kept {
                        outcome: Arc::clone(&outcome),
                        since: now,
                        until: now + lifetime,
                        bytes,
                        number: self.number,
                        about: flying.about,
                    };
                    state.keep(self.key, kept, limits);
                }
            }
        }
        self.landed.send_replace(Some(Arc::clone(&outcome)));
        drop(self);
        Arc::unwrap_or_clone(outcome)
    }
}

impl Drop for Fetching {
    fn drop(&mut self) {
        let mut state = self.answers.state();
        if state
            .flying
            .get(&self.key)
            .is_some_and(|it| it.number == self.number)
        {
            state.flying.remove(&self.key);
        }
    }
}

impl Drop for Forgetting {
    fn drop(&mut self) {
        self.answers.state().forget(&self.of);
    }
}

impl State {
    fn keep(&mut self, key: Key, kept: Kept, limits: &Limits) {
        self.remove(key);
        self.bytes += kept.bytes;
        self.order.push_back((key, kept.number));
        self.kept.insert(key, kept);
        while self.bytes > limits.cache_bytes || self.kept.len() > limits.cache_entries {
            let Some((oldest, number)) = self.order.pop_front() else {
                return;
            };
            if self.kept.get(&oldest).is_some_and(|it| it.number == number) {
                self.remove(oldest);
            }
        }
        // What was taken out otherwise leaves its mark in the order.
        if self.order.len() > 2 * limits.cache_entries.max(16) {
            let kept = &self.kept;
            let is_there =
                |(key, number): &(Key, u64)| kept.get(key).is_some_and(|it| it.number == *number);
            self.order.retain(is_there);
        }
    }

    fn remove(&mut self, key: Key) {
        if let Some(gone) = self.kept.remove(&key) {
            self.bytes -= gone.bytes;
        }
    }

    fn forget(&mut self, change: &Change) {
        let mut bytes = 0;
        self.kept.retain(|_, kept| {
            let stays = !change.concerns(&kept.about);
            bytes += if stays { kept.bytes } else { 0 };
            stays
        });
        self.bytes = bytes;
        self.flying
            .retain(|_, flying| !change.concerns(&flying.about));
    }
}

impl About {
    fn of(call: &PermittedCall) -> Self {
        let entry = call.entry();
        let touches = call.plan().touches.iter();
        Self {
            source: Arc::clone(&entry.source.name),
            is_local: matches!(entry.definition.source, Source::Builtin | Source::Native),
            paths: touches.map(|touch| touch.path.clone()).collect(),
        }
    }
}

impl Change {
    fn of(call: &PermittedCall) -> Self {
        let entry = call.entry();
        let touches = call.plan().touches.iter();
        let written = touches.filter(|touch| touch.access != Access::Read);
        let paths: Vec<PathBuf> = written.map(|touch| touch.path.clone()).collect();
        Self {
            source: Arc::clone(&entry.source.name),
            // What a program does, and what a tool does that does not say where, may be
            // anything here.
            everything_local: match entry.definition.effect {
                Effect::Execute => true,
                Effect::Write => paths.is_empty(),
                // A server of another's may run on this machine.
                Effect::Network => matches!(entry.definition.source, Source::Mcp { .. }),
                Effect::Read => false,
            },
            paths,
        }
    }

    fn concerns(&self, about: &About) -> bool {
        let overlap = |a: &Path, b: &Path| a.starts_with(b) || b.starts_with(a);
        let touches = |path: &PathBuf| about.paths.iter().any(|each| overlap(each, path));
        let is_its_own = self.source == about.source && (!about.is_local || about.paths.is_empty());
        is_its_own || (self.everything_local && about.is_local) || self.paths.iter().any(touches)
    }
}

fn is_too_deep(outcome: &Outcome) -> bool {
    let details = outcome
        .error
        .as_ref()
        .and_then(|error| error.details.as_ref());
    let values = outcome.value.iter().chain(details);
    let mut values = values.chain(outcome.metadata.values());
    values.any(|value| json::depth_exceeds(value, json::MAX_DEPTH))
}

/// About how many bytes an outcome takes.
fn size(outcome: &Outcome) -> usize {
    let value = outcome.value.as_ref().map_or(0, json::size);
    let blocks = outcome.content.iter().map(|block| match block {
        Block::Text { text } => text.len(),
        Block::Image { data, .. } | Block::Audio { data, .. } => data.len(),
        other => serde_json::to_string(other).map_or(usize::MAX / 4, |text| text.len()),
    });
    let texts = [&outcome.display, &outcome.message, &outcome.instruction];
    let texts = texts.into_iter().flatten().map(String::len);
    let metadata = outcome.metadata.values().map(json::size);
    let parts = blocks.chain(texts).chain(metadata);
    parts.fold(value + 256, usize::saturating_add)
}
