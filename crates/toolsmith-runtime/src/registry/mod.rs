//! Register: which tools there are.
//!
//! Readers take a snapshot and hold no lock; writers build the next snapshot
//! whole and swap it in. Tools go in and never come out: what `get` returns is the
//! definition, and only the execute stage reaches the tool behind it.

mod absent;
mod check;
mod entry;
mod files;
mod imported;
mod measure;
pub mod pin;
mod query;
mod refresh;
mod snapshot;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwap;
use globset::GlobMatcher;
use serde::Serialize;
use tokio::sync::broadcast;
use toolsmith_core::{AnyTool, Binding, ToolDef, ToolName};

use crate::tape::Recording;
use absent::Absent;
pub use check::{RegistryError, SchemaFault};
pub(crate) use entry::{Entry, Origin};
pub(crate) use measure::{Measure, measure};
use pin::{PinStore, Pinning, Why, Withheld};
pub use query::Statistics;
pub(crate) use query::{by_likeness, nearest};
pub use refresh::{Refreshed, Ticket};
use snapshot::Snapshot;

use crate::offer::wire_name;
use crate::shield::Sources;

/// How many changes a subscriber may lag behind before it must look anew.
const CHANGES_KEPT: usize = 64;

/// The origin of tools that were registered one by one.
pub(crate) const DIRECT: &str = "direct";

/// The source of tools the user wrote down. No server can be called that.
pub(crate) const FILES: &str = "the user's files";

/// The tools of a toolbox.
#[derive(Debug)]
pub struct Registry {
    snapshot: ArcSwap<Snapshot>,
    /// Sources that have not told their tools.
    absent: ArcSwap<Vec<Absent>>,
    writing: Mutex<refresh::Generations>,
    settings: ArcSwap<Settings>,
    changes: broadcast::Sender<Change>,
    version: AtomicU64,
    sources: Arc<Sources>,
    /// What tools of sources are compared with, where the host keeps pins.
    pins: Option<Pinning>,
    /// The tape every tool is noted on.
    recording: Option<Arc<Recording>>,
}

/// What configuration says about the tools to come.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Settings {
    /// The prefix of offered names; empty for none.
    pub(crate) prefix: String,
    /// In the order they are laid on.
    pub(crate) bindings: Vec<BindingOverlay>,
    /// How many threads one blocking tool may hold.
    pub(crate) threads_per_tool: usize,
}

impl Settings {
    /// The name a tool is offered by that has no binding of its own.
    pub(crate) fn offered_name(&self, definition: &ToolDef) -> String {
        let binding = self.over(Binding::default(), &definition.name);
        self.wire_name(&binding, &definition.name)
    }

    /// A tool's own binding with those of the host laid over it.
    fn over(&self, mut binding: Binding, name: &ToolName) -> Binding {
        for overlay in &self.bindings {
            if overlay.pattern.is_match(name.as_str()) {
                binding = overlay.binding.clone().over(binding);
            }
        }
        binding
    }

    fn wire_name(&self, binding: &Binding, name: &ToolName) -> String {
        wire_name(binding.prefix.as_deref().unwrap_or(&self.prefix), name)
    }
}

/// A binding laid over the default bindings of the tools a pattern names.
#[derive(Debug)]
pub(crate) struct BindingOverlay {
    pub(crate) pattern: GlobMatcher,
    pub(crate) binding: Binding,
}

impl PartialEq for BindingOverlay {
    fn eq(&self, other: &Self) -> bool {
        self.pattern.glob() == other.pattern.glob() && self.binding == other.binding
    }
}

/// Something about the registered tools changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Change {
    /// Where the tools come from.
    pub source: String,
    /// The names that are new.
    pub added: Vec<ToolName>,
    /// The names that are gone.
    pub removed: Vec<ToolName>,
    /// The names whose definition is another one now.
    pub changed: Vec<ToolName>,
}

/// A tool that is not used because another has its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Shadowed {
    /// The name both have.
    pub name: ToolName,
    /// Where the unused one comes from.
    pub origin: String,
    /// Where the one in use comes from.
    pub by: String,
}

impl Registry {
    pub(crate) fn new(
        settings: Settings,
        sources: Sources,
        pins: Option<Arc<dyn PinStore>>,
        recording: Option<Arc<Recording>>,
    ) -> Self {
        Self {
            sources: Arc::new(sources),
            snapshot: ArcSwap::default(),
            absent: ArcSwap::default(),
            writing: Mutex::default(),
            settings: ArcSwap::from_pointee(settings),
            changes: broadcast::channel(CHANGES_KEPT).0,
            version: AtomicU64::new(0),
            pins: pins.map(Pinning::new),
            recording,
        }
    }

    /// Registers one tool. A name that is taken is an error.
    pub fn register(&self, tool: AnyTool) -> Result<(), RegistryError> {
        self.register_all([tool])
    }

    /// Registers several tools: all of them, or on the first error none.
    pub fn register_all(
        &self,
        tools: impl IntoIterator<Item = AnyTool>,
    ) -> Result<(), RegistryError> {
        let entries = tools
            .into_iter()
            .map(|tool| self.entry(tool, &Origin::Direct))
            .collect::<Result<Vec<_>, _>>()?;
        let _writing = self.write();
        let mut next = Snapshot::clone(&self.snapshot.load());
        let added = entries.iter().map(|e| e.definition.name.clone()).collect();
        for entry in entries {
            if let Some(taken) = next.taken_by(&entry) {
                return Err(RegistryError::Duplicate {
                    name: entry.definition.name.clone(),
                    by: taken.origin.to_string(),
                });
            }
            next.add(entry);
        }
        self.swap(next, Change::added(DIRECT, added));
        Ok(())
    }

    /// Loads tools of which each may fail or be shadowed without harm to the
    /// others: the first of a name stays, the others are listed by
    /// [`Registry::shadowed`]. Returns what could not be registered, and why.
    pub fn load(
        &self,
        origin: &str,
        tools: impl IntoIterator<Item = AnyTool>,
    ) -> Vec<RegistryError> {
        let mut errors = Vec::new();
        let _writing = self.write();
        let mut next = Snapshot::clone(&self.snapshot.load());
        let mut added = Vec::new();
        for tool in tools {
            match self.entry(tool, &Origin::source(origin)) {
                Ok(entry) => {
                    let name = entry.definition.name.clone();
                    if next.add(entry) {
                        added.push(name);
                    }
                }
                Err(error) => errors.push(error),
            }
        }
        self.swap(next, Change::added(origin, added));
        errors
    }

    /// Takes a tool out; tells whether it was there. Calls of it that are already
    /// running go on, and a tool it shadowed takes its place.
    pub fn unregister(&self, name: &str) -> bool {
        let mut generations = self.write();
        let before = self.snapshot.load();
        let Some(entry) = before.find(name).cloned() else {
            return false;
        };
        generations.forget(&entry);
        let next = before.without(&entry);
        let change = Change {
            source: entry.origin.to_string(),
            added: Vec::new(),
            removed: vec![entry.definition.name.clone()],
            changed: Vec::new(),
        };
        self.swap(next, change);
        true
    }

    /// Tells of every change from now on.
    pub fn subscribe(&self) -> broadcast::Receiver<Change> {
        self.changes.subscribe()
    }

    /// Counts the changes so far: whoever keeps something made from the tools can
    /// tell cheaply whether it is still true.
    pub fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// The tools that are not used because others have their names.
    pub fn shadowed(&self) -> Vec<Shadowed> {
        self.snapshot.load().shadowed()
    }

    pub(crate) fn sources(&self) -> &Arc<Sources> {
        &self.sources
    }

    /// The tools that are not used since nobody approved them as they are: those that are
    /// not as they were pinned, and those of sources whose names others have.
    pub fn withheld(&self) -> Vec<Arc<Withheld>> {
        let snapshot = self.snapshot.load();
        let mut withheld = snapshot.withheld().to_vec();
        if self.pins.is_some() {
            withheld.extend(snapshot.shadowing());
        }
        withheld
    }

    pub(crate) fn has_pins(&self) -> bool {
        self.pins.is_some()
    }

    /// How many tools of a source are not as they were pinned.
    pub(crate) fn withheld_of(&self, source: &str) -> usize {
        let snapshot = self.snapshot.load();
        let withheld = snapshot.withheld().iter();
        withheld.filter(|each| each.source == source).count()
    }

    /// The tools that are not as they were pinned.
    pub(crate) fn unapproved(&self) -> Vec<Arc<Withheld>> {
        self.snapshot.load().withheld().to_vec()
    }

    /// Tells whether a tool that is withheld was called by this name, offered or bare.
    pub(crate) fn withheld_called(&self, name: &str) -> Option<Arc<Withheld>> {
        let settings = self.settings.load();
        let snapshot = self.snapshot.load();
        let is_it = |withheld: &&Arc<Withheld>| {
            withheld.name == name || settings.offered_name(&withheld.definition) == name
        };
        snapshot.withheld().iter().find(is_it).cloned()
    }

    pub(crate) fn find(&self, name: &str) -> Option<Arc<Entry>> {
        self.snapshot.load().find(name).cloned()
    }

    /// Finds a tool by the name it was called by, offered or bare.
    pub(crate) fn find_called(&self, name: &str) -> Option<Arc<Entry>> {
        self.snapshot.load().find_called(name).cloned()
    }

    /// The tool's own code tells its definition, and may panic doing so.
    fn entry(&self, tool: AnyTool, origin: &Origin) -> Result<Entry, RegistryError> {
        let made = catch_unwind(AssertUnwindSafe(|| {
            Entry::new(tool, origin, &self.settings.load(), &self.sources)
        }));
        made.unwrap_or_else(|_| {
            let origin = origin.to_string();
            Err(RegistryError::Panicked { origin })
        })
    }

    /// The lock is held only while a snapshot is built, by code that cannot leave
    /// it half done, so a poisoned one is as good as new.
    fn write(&self) -> MutexGuard<'_, refresh::Generations> {
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn swap(&self, next: Snapshot, change: Change) {
        if let Some(recording) = &self.recording {
            next.entries()
                .iter()
                .for_each(|entry| recording.registered(entry));
        }
        self.snapshot.store(Arc::new(next));
        self.version.fetch_add(1, Ordering::Release);
        if !change.is_empty() {
            // Nobody listening is no error.
            let _ = self.changes.send(change);
        }
    }
}

impl Change {
    fn added(source: &str, added: Vec<ToolName>) -> Self {
        Self {
            source: source.to_owned(),
            added,
            removed: Vec::new(),
            changed: Vec::new(),
        }
    }

    fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.changed.is_empty()
    }
}
