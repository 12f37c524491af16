//! Replacing all tools of one source in one step.
//!
//! A refresh takes time: a server is asked, files are read. Whoever starts one
//! takes a ticket first; when two overlap, the answer to the older question
//! arrives too late and is dropped.

use std::collections::HashMap;
use std::sync::Arc;

use toolsmith_core::AnyTool;

use super::{Change, Entry, Origin, Registry, RegistryError, Snapshot};

/// The newest refresh begun and the newest applied, per source.
#[derive(Debug, Default)]
pub(super) struct Generations {
    next: u64,
    applied: HashMap<String, u64>,
}

/// The right to replace a source's tools, unless somebody newer did.
#[derive(Debug)]
pub struct Ticket {
    source: String,
    generation: u64,
}

/// What became of a refresh.
#[derive(Debug)]
#[non_exhaustive]
pub enum Refreshed {
    /// The tools were replaced.
    Replaced {
        /// What is different now.
        change: Change,
        /// Tools that could not be registered; the others are in.
        refused: Vec<RegistryError>,
    },
    /// A newer refresh came first; nothing was changed.
    Stale,
}

impl Registry {
    /// Begins a refresh of a source's tools.
    pub fn begin_refresh(&self, source: &str) -> Ticket {
        let mut generations = self.write();
        generations.next += 1;
        Ticket {
            source: source.to_owned(),
            generation: generations.next,
        }
    }

    /// Replaces all tools of the ticket's source by these, in one step. The source
    /// keeps its place in the order of the registry.
    pub fn refresh(&self, ticket: &Ticket, tools: impl IntoIterator<Item = AnyTool>) -> Refreshed {
        let source = ticket.source.as_str();
        let (mut fresh, mut refused) = (Vec::new(), Vec::new());
        for tool in tools {
            match self.entry(tool, &Origin::source(source)) {
                Ok(entry) => fresh.push(Arc::new(entry)),
                Err(error) => refused.push(error),
            }
        }
        let mut generations = self.write();
        let applied = generations.applied.entry(source.to_owned()).or_default();
        if ticket.generation < *applied {
            return Refreshed::Stale;
        }
        *applied = ticket.generation;

        let before = self.snapshot.load();
        let next = rebuilt(&before, source, &fresh);
        let change = difference(&before, &next, source);
        self.swap(next, change.clone());
        Refreshed::Replaced { change, refused }
    }
}

impl Refreshed {
    pub(crate) fn into_refused(self) -> Vec<RegistryError> {
        match self {
            Self::Replaced { refused, .. } => refused,
            Self::Stale => Vec::new(),
        }
    }

    /// The tools that could not be registered, and why.
    pub fn refused(&self) -> &[RegistryError] {
        match self {
            Self::Replaced { refused, .. } => refused,
            Self::Stale => &[],
        }
    }
}

/// The snapshot with the source's entries exchanged where the first of them stood.
fn rebuilt(before: &Snapshot, source: &str, fresh: &[Arc<Entry>]) -> Snapshot {
    let is_other = |entry: &&Arc<Entry>| !entry.origin.is(source);
    let others: Vec<_> = before.entries().iter().filter(is_other).collect();
    let place = before
        .entries()
        .iter()
        .position(|entry| entry.origin.is(source))
        .unwrap_or(others.len());
    // Tools of other sources come first where names collide, offered ones too, so
    // that a source cannot take over a name by refreshing.
    let mut claimed = Snapshot::default();
    for other in &others {
        claimed.add(Arc::clone(other));
    }
    let mut next = Snapshot::default();
    for other in &others[..place] {
        next.add(Arc::clone(other));
    }
    for entry in fresh {
        if claimed.taken_by(entry).is_some() {
            next.put_aside(Arc::clone(entry));
        } else {
            next.add(Arc::clone(entry));
        }
    }
    for other in &others[place..] {
        next.add(Arc::clone(other));
    }
    // What was kept aside for a tool that is gone now takes its place.
    for waiting in before.aside().iter().filter(is_other) {
        next.add(Arc::clone(waiting));
    }
    next
}

fn difference(before: &Snapshot, after: &Snapshot, source: &str) -> Change {
    let of_source = |snapshot: &Snapshot| -> Vec<Arc<Entry>> {
        let entries = snapshot.entries().iter();
        entries.filter(|e| e.origin.is(source)).cloned().collect()
    };
    let mut change = Change::added(source, Vec::new());
    for entry in of_source(after) {
        let name = entry.definition.name.clone();
        match before.find(name.as_str()) {
            Some(old) if old.origin.is(source) => {
                if old.definition != entry.definition {
                    change.changed.push(name);
                }
            }
            _ => change.added.push(name),
        }
    }
    for entry in of_source(before) {
        let name = &entry.definition.name;
        if after
            .find(name.as_str())
            .is_none_or(|e| !e.origin.is(source))
        {
            change.removed.push(name.clone());
        }
    }
    change
}
