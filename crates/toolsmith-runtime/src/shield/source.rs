//! What is kept about one source of tools, over all its tools and their changes.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwap;
use serde::{Deserialize, Serialize};
use toolsmith_core::ToolName;

use super::budget::Budget;
use super::circuit::{Circuit, CircuitState};
use super::limits::Allowance;
use super::queue::Queue;
use super::settings::{InForce, Settled};

/// How many tools of a source are counted each by itself.
const MOST_TOOLS: usize = 20_000;

/// A source, as its guards see it.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) name: Arc<str>,
    pub(crate) in_force: ArcSwap<InForce>,
    pub(crate) circuit: Circuit,
    pub(crate) queue: Queue,
    pub(crate) allowance: Allowance,
    /// Of its tools, also of those it does not list now.
    tools: Mutex<HashMap<ToolName, Arc<Allowance>>>,
    pub(crate) budget: Budget,
    pub(crate) counts: Counts,
}

/// What happened at a source.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) repeated: AtomicU64,
    pub(crate) spared: AtomicU64,
    pub(crate) turned_away: AtomicU64,
}

/// How a source is doing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SourceStatus {
    /// What it is called.
    pub name: String,
    /// Whether its calls are let through.
    pub circuit: CircuitState,
    /// How many calls it has now, where they are counted.
    pub running: usize,
    /// How many wait for their turn.
    pub waiting: usize,
    /// How many calls were made again.
    pub repeated: u64,
    /// How many were spared it while its circuit was open.
    pub spared: u64,
    /// How many found no room, or came too fast.
    pub turned_away: u64,
}

/// Tells how the sources of a toolbox are doing, without keeping the toolbox. Cheap to
/// clone.
#[derive(Clone, Debug)]
pub struct SourceWatch(Arc<Sources>);

impl SourceWatch {
    pub(crate) fn new(sources: &Arc<Sources>) -> Self {
        Self(Arc::clone(sources))
    }

    /// How they are doing now, by name.
    pub fn status(&self) -> Vec<SourceStatus> {
        self.0.status()
    }
}

/// All sources there are, by name.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    settled: ArcSwap<Settled>,
    known: Mutex<HashMap<Arc<str>, Arc<Source>>>,
}

impl Sources {
    pub(crate) fn new(settled: Settled) -> Self {
        Self {
            settled: ArcSwap::from_pointee(settled),
            known: Mutex::default(),
        }
    }

    /// Puts other settings into force, also for sources that are known.
    pub(crate) fn settle(&self, settled: Settled) {
        let mut known = self.known();
        // Those that no tool has any more are not coming back with what they did.
        known.retain(|_, source| Arc::strong_count(source) > 1);
        for source in known.values() {
            source.in_force.store(Arc::new(settled.of(&source.name)));
        }
        self.settled.store(Arc::new(settled));
    }

    /// The source of a name, which stays the same one while it has tools.
    pub(crate) fn of(&self, name: &str) -> Arc<Source> {
        let mut known = self.known();
        if let Some(source) = known.get(name) {
            return Arc::clone(source);
        }
        let name: Arc<str> = name.into();
        let in_force = self.settled.load().of(&name);
        let source = Arc::new(Source {
            name: Arc::clone(&name),
            in_force: ArcSwap::from_pointee(in_force),
            circuit: Circuit::default(),
            queue: Queue::default(),
            allowance: Allowance::default(),
            tools: Mutex::default(),
            budget: Budget::default(),
            counts: Counts::default(),
        });
        known.insert(name, Arc::clone(&source));
        source
    }

    /// The source of a name, if it is known.
    pub(crate) fn find(&self, name: &str) -> Option<Arc<Source>> {
        self.known().get(name).cloned()
    }

    /// How they are doing, by name.
    pub(crate) fn status(&self) -> Vec<SourceStatus> {
        let mut all: Vec<SourceStatus> = self.known().values().map(|each| each.status()).collect();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all
    }

    fn known(&self) -> MutexGuard<'_, HashMap<Arc<str>, Arc<Source>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Source {
    /// What one of its tools has left. A tool that was not listed for a while does not
    /// begin to count anew; of more names than are kept, the others share one.
    pub(crate) fn allowance_of(&self, tool: &ToolName) -> Arc<Allowance> {
        let mut tools = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
        if tools.len() >= MOST_TOOLS && !tools.contains_key(tool) {
            let shared = tools.values().next().map(Arc::clone);
            return shared.unwrap_or_default();
        }
        Arc::clone(tools.entry(tool.clone()).or_default())
    }

    pub(crate) fn status(&self) -> SourceStatus {
        let (running, waiting) = self.queue.load();
        let count = |count: &AtomicU64| count.load(Ordering::Relaxed);
        SourceStatus {
            name: self.name.to_string(),
            circuit: self.circuit.now(),
            running,
            waiting,
            repeated: count(&self.counts.repeated),
            spared: count(&self.counts.spared),
            turned_away: count(&self.counts.turned_away),
        }
    }
}

impl Counts {
    pub(crate) fn count(count: &AtomicU64) {
        count.fetch_add(1, Ordering::Relaxed);
    }
}
