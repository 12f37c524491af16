//! The tools the user wrote down, and the settings they and all others are under.
//!
//! They come after what the host registered itself and before every source, so that
//! whoever writes a file can replace a tool that came with the program.

use std::sync::Arc;

use toolsmith_core::AnyTool;

use super::refresh::difference;
use super::{Change, Entry, FILES, Origin, Refreshed, Registry, Settings, Snapshot};

impl Registry {
    /// Replaces the tools the user wrote down by these, in one step. One that is the
    /// same as before keeps what was learned about it.
    pub(crate) fn refresh_files(
        &self,
        tools: impl IntoIterator<Item = (Arc<str>, AnyTool)>,
    ) -> Refreshed {
        let _writing = self.write();
        let before = self.snapshot.load();
        let (mut fresh, mut refused) = (Vec::new(), Vec::new());
        for (file, tool) in tools {
            let origin = Origin::File(file);
            if let Some(kept) = before.same(&tool, &origin) {
                fresh.push(Arc::clone(kept));
                continue;
            }
            match self.entry(tool, &origin) {
                Ok(entry) => fresh.push(Arc::new(entry)),
                Err(error) => refused.push(error),
            }
        }
        let next = rebuilt(&before, &fresh);
        let change = difference(&before, &next, FILES);
        self.swap(next, change.clone());
        Refreshed::Replaced { change, refused }
    }

    /// Puts all tools under other settings. Calls that are under way keep the old ones.
    pub(crate) fn change(&self, settings: Settings) {
        let _writing = self.write();
        if **self.settings.load() == settings {
            return;
        }
        self.settings.store(Arc::new(settings));
        let before = self.snapshot.load();
        let mut next = Snapshot::default();
        let mut change = Change::added("settings", Vec::new());
        for old in before.entries().iter().chain(before.aside()) {
            // What could be registered once can be registered again.
            let Ok(entry) = self.entry(old.tool.clone(), &old.origin) else {
                continue;
            };
            if entry.wire_name != old.wire_name || entry.binding != old.binding {
                change.changed.push(entry.definition.name.clone());
            }
            next.add(entry);
        }
        self.swap(next, change);
    }
}

/// What the host registered, then the files, then the others.
fn rebuilt(before: &Snapshot, fresh: &[Arc<Entry>]) -> Snapshot {
    let others = || before.entries().iter().chain(before.aside());
    let is_direct = |entry: &&Arc<Entry>| entry.origin == Origin::Direct;
    let is_source = |entry: &&Arc<Entry>| !is_direct(entry) && !entry.origin.is(FILES);
    let mut next = Snapshot::default();
    let all = others().filter(is_direct).chain(fresh);
    for entry in all.chain(others().filter(is_source)) {
        next.add(Arc::clone(entry));
    }
    next
}
