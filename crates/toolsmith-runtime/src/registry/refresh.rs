//! Replacing all tools of one source in one step.
//!
//! A refresh takes time: a server is asked, files are read. Whoever starts one
//! takes a ticket first; when two overlap, the answer to the older question
//! arrives too late and is dropped.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use toolsmith_core::AnyTool;

use super::pin::{Handed, Pin, Withheld};
use super::{Change, Entry, Origin, Registry, RegistryError, Snapshot};

/// The newest refresh begun and the newest applied, per source.
#[derive(Debug, Default)]
pub(super) struct Generations {
    next: u64,
    applied: HashMap<String, u64>,
    /// What each source handed out last, where pins are kept: approved, it is put in
    /// without asking the source again.
    handed: BTreeMap<String, Vec<Handed>>,
    /// Sources in the order in which their tools stand, whoever is asked or answers first.
    expected: Vec<String>,
}

impl Generations {
    /// Forgets that a tool was handed out: it was taken out, and must not come back when
    /// pins are compared again.
    pub(super) fn forget(&mut self, gone: &Arc<Entry>) {
        let Origin::Source(source) = &gone.origin else {
            return;
        };
        if let Some(handed) = self.handed.get_mut(&**source) {
            handed.retain(|each| each.entry.definition.name != gone.definition.name);
        }
    }
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
    /// Keeps a place for a source that has not told its tools yet: behind those expected
    /// before it, and before those expected after it, whichever of them is quicker.
    pub fn expect_source(&self, source: &str) {
        let mut generations = self.write();
        if !generations.expected.iter().any(|each| each == source) {
            generations.expected.push(source.to_owned());
        }
    }

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
    /// keeps its place in the order of the registry. Where the host keeps pins, what is
    /// not as it was pinned is withheld; the store is asked here, and may block.
    pub fn refresh(&self, ticket: &Ticket, tools: impl IntoIterator<Item = AnyTool>) -> Refreshed {
        let source = ticket.source.as_str();
        let (mut fresh, mut refused) = (Vec::new(), Vec::new());
        for tool in tools {
            match self.entry(tool, &Origin::source(source)) {
                Ok(entry) => fresh.push(Arc::new(entry)),
                Err(error) => refused.push(error),
            }
        }
        let change = match &self.pins {
            None => self.replace(ticket, &fresh, Vec::new(), Vec::new()),
            Some(pins) => {
                let _turn = pins.turn();
                // Whoever came too late must pin nothing.
                if self.is_stale(ticket) {
                    return Refreshed::Stale;
                }
                let handed = handed(fresh);
                let compared = pins.compare(source, &handed, self.snapshot.load().entries());
                self.replace(ticket, &compared.admitted, compared.withheld, handed)
            }
        };
        match change {
            Some(change) => Refreshed::Replaced { change, refused },
            None => Refreshed::Stale,
        }
    }

    /// Compares the tools of all sources with their pins again, which are others now. What
    /// was approved is released without asking its source again; what is no longer pinned
    /// is withheld. Tells whether anything is other than before.
    pub(crate) fn repin(&self) -> bool {
        let Some(pins) = &self.pins else {
            return false;
        };
        let _turn = pins.turn();
        let sources = self.write().handed.clone();
        let mut is_other = false;
        for (source, handed) in sources {
            let compared = pins.compare(&source, &handed, self.snapshot.load().entries());
            let writing = self.write();
            let before = self.snapshot.load();
            let origin = Origin::source(&source);
            let fresh: Vec<_> = (compared.admitted.iter())
                .filter_map(|entry| match before.same(&entry.tool, &origin) {
                    // It may have been made anew meanwhile, under other settings.
                    Some(known) => Some(Arc::clone(known)),
                    None => Some(Arc::new(self.entry(entry.tool.clone(), &origin).ok()?)),
                })
                .collect();
            let next = rebuilt(
                &before,
                &source,
                &fresh,
                compared.withheld,
                &writing.expected,
            );
            let change = difference(&before, &next, &source);
            let why = |snapshot: &Snapshot| -> Vec<_> {
                let withheld = snapshot.withheld().iter();
                withheld
                    .map(|each| (each.name.clone(), each.why.clone()))
                    .collect()
            };
            is_other |= !change.is_empty() || why(&before) != why(&next);
            self.swap(next, change);
        }
        is_other
    }

    fn is_stale(&self, ticket: &Ticket) -> bool {
        let generations = self.write();
        let applied = generations.applied.get(&ticket.source);
        applied.is_some_and(|applied| ticket.generation < *applied)
    }

    /// Puts a source's tools in; none where somebody newer did.
    fn replace(
        &self,
        ticket: &Ticket,
        fresh: &[Arc<Entry>],
        withheld: Vec<Arc<Withheld>>,
        handed: Vec<Handed>,
    ) -> Option<Change> {
        let source = ticket.source.as_str();
        let mut generations = self.write();
        let applied = generations.applied.entry(source.to_owned()).or_default();
        if ticket.generation < *applied {
            return None;
        }
        *applied = ticket.generation;
        self.no_longer_absent(source);
        match handed.is_empty() {
            true => drop(generations.handed.remove(source)),
            false => drop(generations.handed.insert(source.to_owned(), handed)),
        }
        let before = self.snapshot.load();
        let next = rebuilt(&before, source, fresh, withheld, &generations.expected);
        let change = difference(&before, &next, source);
        self.swap(next, change.clone());
        Some(change)
    }
}

/// Each tool with what its source said of it.
fn handed(entries: Vec<Arc<Entry>>) -> Vec<Handed> {
    let handed = entries.into_iter().map(|entry| {
        let pin = Arc::new(Pin::of(&entry.tool.definition()));
        Handed { entry, pin }
    });
    handed.collect()
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

/// The snapshot with the source's entries exchanged where the first of them stood, or put
/// where they are expected.
fn rebuilt(
    before: &Snapshot,
    source: &str,
    fresh: &[Arc<Entry>],
    withheld: Vec<Arc<Withheld>>,
    expected: &[String],
) -> Snapshot {
    let others = before
        .withheld()
        .iter()
        .filter(|each| each.source != source);
    let withheld = others.cloned().chain(withheld).collect();
    let is_other = |entry: &&Arc<Entry>| !entry.origin.is(source);
    let others: Vec<_> = before.entries().iter().filter(is_other).collect();
    let place = before
        .entries()
        .iter()
        .position(|entry| entry.origin.is(source))
        .or_else(|| {
            let later = expected.iter().skip_while(|each| *each != source).skip(1);
            let is_later = |entry: &&Arc<Entry>| later.clone().any(|it| entry.origin.is(it));
            others.iter().position(is_later)
        })
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
    next.withholding(withheld)
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
