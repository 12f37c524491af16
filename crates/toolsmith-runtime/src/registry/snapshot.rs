//! One state of the registry, never changed once it is in force.

use std::collections::HashMap;
use std::sync::Arc;

use toolsmith_core::ToolName;

use super::{Entry, Shadowed};

#[derive(Clone, Debug, Default)]
pub(super) struct Snapshot {
    entries: Vec<Arc<Entry>>,
    by_name: HashMap<ToolName, Arc<Entry>>,
    by_wire_name: HashMap<String, Arc<Entry>>,
    by_id: HashMap<String, Arc<Entry>>,
    pub(super) shadowed: Vec<Shadowed>,
}

impl Snapshot {
    /// Adds an entry at the end, or tells which one has its name already: the bare
    /// name, or the one it would be offered by.
    pub(super) fn add(&mut self, entry: impl Into<Arc<Entry>>) -> Option<Shadowed> {
        let entry = entry.into();
        let name = &entry.definition.name;
        let taken = self.by_name.get(name);
        if let Some(first) = taken.or_else(|| self.by_wire_name.get(&entry.wire_name)) {
            return Some(Shadowed {
                name: name.clone(),
                origin: entry.origin.to_string(),
                by: first.origin.to_string(),
            });
        }
        self.by_name.insert(name.clone(), Arc::clone(&entry));
        self.by_wire_name
            .insert(entry.wire_name.clone(), Arc::clone(&entry));
        // Ids come from whoever wrote the tool and need not be unique; the first
        // stays, as with names.
        self.by_id
            .entry(entry.definition.meta.id.clone())
            .or_insert_with(|| Arc::clone(&entry));
        self.entries.push(entry);
        None
    }

    pub(super) fn entries(&self) -> &[Arc<Entry>] {
        &self.entries
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

    /// Keeps some of the entries, in their order.
    pub(super) fn retain(&mut self, keep: impl Fn(&Arc<Entry>) -> bool) {
        let entries = std::mem::take(&mut self.entries);
        self.by_name.clear();
        self.by_wire_name.clear();
        self.by_id.clear();
        for entry in entries {
            if keep(&entry) {
                self.add(entry);
            }
        }
    }
}
