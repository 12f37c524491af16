//! Asks a person before a call changes the files that decide what may run.
//!
//! Whoever can write them can add a tool, start a program, or take a rule away, and a
//! running server sees it at once. So a tool that writes files may not be the one that
//! does, in any mode, unless somebody says yes.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arc_swap::ArcSwap;
use toolsmith_core::plan::Access;
use toolsmith_runtime::permit::{Decision, Guard, GuardError, Judgement, Subject, Verdict};

use crate::native::NATIVE_FOLDER;
use crate::overlays::{DESCRIPTIONS_FILE, EXAMPLES_FILE};
use crate::pins::LOCK_FILE;
use crate::servers::{MCP_FOLDER, MCP_JSON};
use crate::sets::{AGENTS_FOLDER, SETS_FOLDER};
use crate::setup::CONFIG_FILE;

/// The folder with switches for the tools that come with the program, and with scripts.
pub(crate) const BUILTIN_FOLDER: &str = "tools/builtin";

/// Files of the root that count.
const FILES: [&str; 5] = [
    CONFIG_FILE,
    LOCK_FILE,
    MCP_JSON,
    DESCRIPTIONS_FILE,
    EXAMPLES_FILE,
];

/// Folders whose YAML counts, and one in which everything does.
const FOLDERS: [&str; 4] = [NATIVE_FOLDER, MCP_FOLDER, SETS_FOLDER, AGENTS_FOLDER];

/// The files of a project that decide what may run.
pub(crate) struct OwnFiles {
    root: PathBuf,
    further: Further,
}

/// Files elsewhere that count too: a configuration that was named, documents.
pub(crate) type Further = Arc<ArcSwap<Vec<PathBuf>>>;

impl OwnFiles {
    pub(crate) fn new(root: PathBuf, further: Further) -> Self {
        Self { root, further }
    }

    /// Tells whether a path is one of them, whatever links lead there.
    fn holds(&self, path: &Path) -> bool {
        let end = settled(path);
        // Both what the path says and what it leads to: a link may be replaced or followed.
        self.names(&settled_parent(path)) || self.names(&end) || self.leads_to(&end)
    }

    /// Tells whether one of them is a link to a path: what is changed there is changed here.
    fn leads_to(&self, path: &Path) -> bool {
        let files = FILES.iter().map(|file| self.root.join(file));
        let folders = FOLDERS.iter().chain([&BUILTIN_FOLDER]);
        let entries = folders.flat_map(|folder| fs::read_dir(self.root.join(folder)));
        let entries = entries.flatten().flatten().map(|entry| entry.path());
        files
            .chain(entries)
            .filter(|own| own.is_symlink() && self.names(&settled_parent(own)))
            .any(|link| settled(&link) == path)
    }

    fn names(&self, path: &Path) -> bool {
        let root = settled(&self.root);
        let is_further = |file: &PathBuf| settled(file) == path;
        if self.further.load().iter().any(is_further) {
            return true;
        }
        if FILES.iter().any(|file| root.join(file) == path) {
            return true;
        }
        let ends = path.extension().and_then(OsStr::to_str);
        let is_yaml = matches!(ends, Some("yaml" | "yml"));
        let is_in = |folder: &str| path.parent() == Some(&settled(&root.join(folder)));
        is_in(BUILTIN_FOLDER) || (is_yaml && FOLDERS.iter().any(|folder| is_in(folder)))
    }
}

impl Guard for OwnFiles {
    fn name(&self) -> &str {
        "own files"
    }

    async fn judge(&self, subject: &Subject<'_>) -> Result<Judgement, GuardError> {
        let mut touches = subject.plan.touches.iter();
        let changed = touches.find(|touch| touch.access != Access::Read && self.holds(&touch.path));
        let Some(changed) = changed else {
            return Ok(Judgement::NoOpinion);
        };
        let reason = format!(
            "{} decides what may run, and is changed only when a person says so",
            changed.path.display()
        );
        let by = "guard of the project's own files";
        Ok(Judgement::Decided(Decision::new(Verdict::Ask, by, reason)))
    }
}

/// A path without links, as far as it exists; the rest as it is written.
#[expect(
    clippy::disallowed_methods,
    reason = "nothing is opened by it: what it leads to now decides whether a person is asked"
)]
pub(crate) fn settled(path: &Path) -> PathBuf {
    if let Ok(whole) = path.canonicalize() {
        return whole;
    }
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) if parent != Path::new("") => settled(parent).join(name),
        _ => std::path::absolute(path).unwrap_or_else(|_| path.to_owned()),
    }
}

/// The same, with the last name as it is written.
fn settled_parent(path: &Path) -> PathBuf {
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => settled(parent).join(name),
        _ => settled(path),
    }
}
