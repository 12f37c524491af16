//! One state of the registry, never changed once it is in force.

use std::collections::HashMap;
use std::sync::Arc;

use toolsmith_core::{AnyTool, Source, ToolName};

use super::pin::Pin;
use super::{Entry, Origin, Shadowed, Why, Withheld};

#[derive(Clone, Debug, Default)]
pub(super) struct Snapshot {
    entries: Vec<Arc<Entry>>,
    by_name: HashMap<ToolName, Arc<Entry>>,
    by_wire_name: HashMap<String, Arc<Entry>>,
    by_id: HashMap<String, Arc<Entry>>,
    /// Entries whose names others have. They take their place when those go.
    aside: Vec<Arc<Entry>>,
    /// Tools of sources that are not as they were pinned.
    withheld: Vec<Arc<Withheld>>,
}

impl Snapshot {
    /// Adds an entry at the end, or keeps it aside where its name is taken. Tells
    /// whether it is in.
    pub(super) fn add(&mut self, entry: impl Into<Arc<Entry>>) -> bool {
        let entry = entry.into();
        if self.taken_by(&entry).is_some() {
            self.aside.push(entry);
            return false;
        }
        let definition = &entry.definition;
        self.by_name
            .insert(definition.name.clone(), Arc::clone(&entry));
        self.by_wire_name
            .insert(entry.wire_name.clone(), Arc::clone(&entry));
        // Ids come from whoever wrote the tool and need not be unique; the first
        // stays, as with names.
        self.by_id
            .entry(definition.meta.id.clone())
            .or_insert_with(|| Arc::clone(&entry));
        self.entries.push(entry);
        true
    }

    /// Keeps an entry aside although its name may be free so far.
    pub(super) fn put_aside(&mut self, entry: Arc<Entry>) {
        self.aside.push(entry);
    }

    /// The entry that has another's name: the bare one, or the one it would be
    /// offered by.
    pub(super) fn taken_by(&self, entry: &Entry) -> Option<&Arc<Entry>> {
        self.by_name
            .get(&entry.definition.name)
            .or_else(|| self.by_wire_name.get(&entry.wire_name))
    }

    pub(super) fn entries(&self) -> &[Arc<Entry>] {
        &self.entries
    }

    pub(super) fn aside(&self) -> &[Arc<Entry>] {
        &self.aside
    }

    pub(super) fn withheld(&self) -> &[Arc<Withheld>] {
        &self.withheld
    }

    /// The snapshot with other tools withheld.
    pub(super) fn withholding(mut self, withheld: Vec<Arc<Withheld>>) -> Self {
        self.withheld = withheld;
        self
    }

    /// Tools of sources that are kept aside, as withheld ones.
    pub(super) fn shadowing(&self) -> impl Iterator<Item = Arc<Withheld>> {
        self.aside.iter().filter_map(|entry| {
            let Origin::Source(source) = &entry.origin else {
                return None;
            };
            if entry.definition.source == Source::Builtin {
                return None;
            }
            Some(Arc::new(Withheld {
                name: entry.definition.name.clone(),
                source: source.to_string(),
                why: Why::Shadowing {
                    by: self.taken_by(entry)?.origin.to_string(),
                },
                now: Arc::new(Pin::of(&entry.tool.definition())),
                pinned: None,
                definition: Arc::clone(&entry.definition),
            }))
        })
    }

    /// What is kept aside, and because of whom.
    pub(super) fn shadowed(&self) -> Vec<Shadowed> {
        let shadowed = |entry: &Arc<Entry>| {
            Some(Shadowed {
                name: entry.definition.name.clone(),
                origin: entry.origin.to_string(),
                by: self.taken_by(entry)?.origin.to_string(),
            })
        };
        self.aside.iter().filter_map(shadowed).collect()
    }

    pub(super) fn find(&self, name: &str) -> Option<&Arc<Entry>> {
        self.by_name.get(name)
    }

    /// Offered names come first, so that with a prefix in force no tool can be
    /// mistaken for another that happens to be called like its offered name.
    pub(super) fn find_called(&self, name: &str) -> Option<&Arc<Entry>> {
        self.by_wire_name.get(name).or_else(|| self.find(name))
    }

    pub(super) fn find_id(&self, id: &str) -> Option<&Arc<Entry>> {
        self.by_id.get(id)
    }

    /// The entry made of this very tool, from the same place.
    pub(super) fn same(&self, tool: &AnyTool, origin: &Origin) -> Option<&Arc<Entry>> {
        let is_it = |entry: &&Arc<Entry>| entry.tool.is_same_as(tool) && entry.origin == *origin;
        let named = self.by_name.get(&tool.definition().name);
        named
            .filter(is_it)
            .or_else(|| self.aside.iter().find(is_it))
    }

    /// The snapshot without one entry.
    pub(super) fn without(&self, gone: &Arc<Entry>) -> Self {
        let mut next = Self::default().withholding(self.withheld.clone());
        for entry in self.entries.iter().chain(&self.aside) {
            if !Arc::ptr_eq(entry, gone) {
                next.add(Arc::clone(entry));
            }
        }
        next
    }
}
