//! Everything a host reads from files, replaced in one step: the tools the user wrote
//! down, those that come with the program, and the settings all tools are under.
//!
//! What the user wrote comes after what the host registered itself and before every
//! source, so that whoever writes a file can replace a tool that came with the program.

use std::sync::Arc;

use toolsmith_core::{AnyTool, ToolName};

use super::{Change, Entry, FILES, Origin, Refreshed, Registry, RegistryError, Settings, Snapshot};

/// Tools that were read from files, each with the file it stands in.
type FileTools = Vec<(Arc<str>, AnyTool)>;

/// Tools of sources, each with all it has.
type SourceTools = Vec<(String, Vec<AnyTool>)>;

impl Registry {
    /// Replaces the tools the user wrote down and those of some sources, under these
    /// settings; tools of other sources stay. One that is the same as before keeps what
    /// was learned about it.
    pub(crate) fn reload(
        &self,
        settings: Option<Settings>,
        files: FileTools,
        loaded: SourceTools,
    ) -> Refreshed {
        let _writing = self.write();
        let other = settings.filter(|settings| **self.settings.load() != *settings);
        let is_other = other.is_some();
        if let Some(other) = other {
            self.settings.store(Arc::new(other));
        }
        let before = self.snapshot.load();
        let mut making = Making {
            registry: self,
            before: &before,
            keeps: !is_other,
            next: Snapshot::default(),
            refused: Vec::new(),
        };
        let is_loaded = |origin: &Origin| loaded.iter().any(|(source, _)| origin.is(source));
        let all = || before.entries().iter().chain(before.aside());
        for old in all().filter(|old| old.origin == Origin::Direct) {
            making.take(old.tool.clone(), old.origin.clone());
        }
        for (file, tool) in files {
            making.take(tool, Origin::File(file));
        }
        let is_left =
            |origin: &Origin| *origin != Origin::Direct && !origin.is(FILES) && !is_loaded(origin);
        let left: Vec<_> = all().filter(|old| is_left(&old.origin)).collect();
        for (source, tools) in loaded {
            for tool in tools {
                making.take(tool, Origin::source(&source));
            }
        }
        for old in left {
            making.take(old.tool.clone(), old.origin.clone());
        }
        let Making { next, refused, .. } = making;
        let next = next.withholding(before.withheld().to_vec());
        let change = difference(&before, &next);
        self.swap(next, change.clone());
        Refreshed::Replaced { change, refused }
    }
}

/// A snapshot that is being made.
struct Making<'a> {
    registry: &'a Registry,
    before: &'a Snapshot,
    /// Whether entries can be kept as they are.
    keeps: bool,
    next: Snapshot,
    refused: Vec<RegistryError>,
}

impl Making<'_> {
    fn take(&mut self, tool: AnyTool, origin: Origin) {
        let kept = self.before.same(&tool, &origin).filter(|_| self.keeps);
        let entry = match kept {
            Some(kept) => Ok(Arc::clone(kept)),
            None => self.registry.entry(tool, &origin).map(Arc::new),
        };
        match entry {
            Ok(entry) => drop(self.next.add(entry)),
            Err(error) => self.refused.push(match origin {
                Origin::File(file) => RegistryError::InFile {
                    file: file.to_string(),
                    error: Box::new(error),
                },
                Origin::Direct | Origin::Source(_) => error,
            }),
        }
    }
}

/// What is different, whichever source it is of.
fn difference(before: &Snapshot, after: &Snapshot) -> Change {
    let mut change = Change::added(FILES, Vec::new());
    let name = |entry: &Entry| -> ToolName { entry.definition.name.clone() };
    for entry in after.entries() {
        match before.find(entry.definition.name.as_str()) {
            None => change.added.push(name(entry)),
            Some(old) => {
                let is_same = Arc::ptr_eq(old, entry)
                    || (old.definition == entry.definition
                        && old.wire_name == entry.wire_name
                        && old.binding == entry.binding);
                if !is_same {
                    change.changed.push(name(entry));
                }
            }
        }
    }
    for entry in before.entries() {
        if after.find(entry.definition.name.as_str()).is_none() {
            change.removed.push(name(entry));
        }
    }
    change
}
