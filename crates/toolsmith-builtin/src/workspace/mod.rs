//! The folders a model may see, held as handles.
//!
//! A path a model gave is never compared with another, but opened beneath the handle of
//! a root (`beneath`), so that neither links nor a folder that is exchanged meanwhile
//! lead out. `place` finds the root a path means. Only regular files are opened.

mod beneath;
mod commit;
mod journal;
mod ledger;
mod locks;
mod open;
mod place;
mod prepare;
mod private;
mod target;
mod undo;

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{Mode, OFlags};

use crate::refusal::Refusal;

pub(crate) use commit::{Deed, Done};
pub(crate) use ledger::{Digest, Seen};
pub(crate) use locks::Held;
pub(crate) use open::{OpenDirectory, OpenFile, Opened};
pub(crate) use place::Place;
pub(crate) use target::{FileKey, Missing, Target, Targets};

/// The folders a model may see. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Workspace(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    roots: Vec<Root>,
    options: WorkspaceOptions,
    /// What nobody may see, where it lies in a root.
    private: Vec<PathBuf>,
    ledger: ledger::Ledger,
    locks: locks::Locks,
}

/// What a host says about a workspace.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct WorkspaceOptions {
    /// What `~` means.
    pub home: Option<PathBuf>,
    /// Folders that may be read as well, but not written or searched unless they are named
    /// by their whole path. One that is not there is left out.
    pub readable: Vec<PathBuf>,
    /// Folders of the host's own nobody may see, even where they lie in a root; what is
    /// `readable` in them may be read.
    pub private: Vec<PathBuf>,
    /// Files and folders, as seen from a root, that decide what programs and tools do. Who
    /// may write may not thereby do more: a person is asked before one is changed, unless
    /// everything is allowed or a rule names it.
    pub deciding: Vec<PathBuf>,
    /// A folder of the host's own for notes on what is being written. With it nothing
    /// is left half done when the process ends; without it a file that was not finished
    /// may stay beside the one it was to replace.
    pub state: Option<PathBuf>,
    /// Lets a caller overwrite what it has not read; for callers that make one call.
    pub unread_writes: bool,
    /// Resolves paths step by step even where the kernel could do it at once; for
    /// systems that claim to know `openat2` and do not, and for tests.
    pub step_by_step: bool,
}

impl WorkspaceOptions {
    /// Sets what `~` means.
    #[must_use]
    pub fn with_home(mut self, home: Option<PathBuf>) -> Self {
        self.home = home;
        self
    }

    /// Adds a folder that may be read, but not written.
    #[must_use]
    pub fn with_readable(mut self, folder: Option<PathBuf>) -> Self {
        self.readable.extend(folder);
        self
    }

    /// Adds a folder nobody may see.
    #[must_use]
    pub fn with_private(mut self, folder: Option<PathBuf>) -> Self {
        self.private.extend(folder);
        self
    }

    /// Adds what decides about programs and tools.
    #[must_use]
    pub fn with_deciding(mut self, paths: impl IntoIterator<Item = PathBuf>) -> Self {
        self.deciding.extend(paths);
        self
    }

    /// Sets where notes on what is being written are kept.
    #[must_use]
    pub fn with_state(mut self, state: Option<PathBuf>) -> Self {
        self.state = state;
        self
    }

    /// Lets callers overwrite what they have not read.
    #[must_use]
    pub fn with_unread_writes(mut self) -> Self {
        self.unread_writes = true;
        self
    }

    /// Resolves paths step by step.
    #[must_use]
    pub fn step_by_step(mut self) -> Self {
        self.step_by_step = true;
        self
    }
}

/// Why a workspace could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkspaceError {
    /// No root was named.
    #[error("a workspace needs a folder")]
    Empty,
    /// A root is no folder, or cannot be opened.
    #[error("cannot open the folder {}", path.display())]
    Root {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// A folder that may be seen.
#[derive(Debug)]
pub(crate) struct Root {
    /// As the host named it, made absolute; what absolute paths may begin with.
    named: PathBuf,
    /// Without links.
    path: PathBuf,
    handle: OwnedFd,
    pub(crate) may_write: bool,
}

impl Root {
    fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let named = std::path::absolute(path)?;
        #[expect(
            clippy::disallowed_methods,
            reason = "the host's own path, opened as it is"
        )]
        let path = named.canonicalize()?;
        let handle = rustix::fs::open(&path, flags, Mode::empty())?;
        Ok(Self {
            named,
            path,
            handle,
            may_write: true,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn named(&self) -> &Path {
        &self.named
    }
}

impl AsFd for Root {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }
}

impl Workspace {
    /// A workspace of these folders. Relative paths mean the first.
    pub fn open(
        roots: impl IntoIterator<Item = impl AsRef<Path>>,
        options: WorkspaceOptions,
    ) -> Result<Self, WorkspaceError> {
        let mut opened = Vec::new();
        for path in roots {
            let path = path.as_ref();
            let root = Root::open(path).map_err(|source| WorkspaceError::Root {
                path: path.to_owned(),
                source,
            })?;
            opened.push(root);
        }
        if opened.is_empty() {
            return Err(WorkspaceError::Empty);
        }
        for path in &options.readable {
            if let Ok(mut root) = Root::open(path) {
                root.may_write = false;
                opened.push(root);
            }
        }
        let private = options.private.iter();
        let private = private.filter_map(|path| private::without_links(path).ok());
        let lies_within = |path: &PathBuf| opened.iter().any(|root| path.starts_with(&root.path));
        let private = private.filter(lies_within).collect();
        let workspace = Self(Arc::new(Inner {
            private,
            roots: opened,
            options,
            ledger: ledger::Ledger::default(),
            locks: locks::Locks::default(),
        }));
        if let Some(state) = &workspace.options().state {
            workspace.recover(state);
        }
        Ok(workspace)
    }

    /// Keeps other calls from writing these files.
    pub(crate) fn hold(
        &self,
        targets: &[&Target],
        is_cancelled: impl Fn() -> bool,
    ) -> Result<Held<'_>, Refusal> {
        let keys = targets.iter().map(|target| target.key());
        let keys: Result<Vec<FileKey>, Refusal> = keys.collect();
        self.0.locks.hold(keys?, is_cancelled)
    }

    /// Notes that a caller saw the content of a file.
    pub(crate) fn note_seen(&self, caller: &str, key: FileKey, digest: Digest, text: Option<&str>) {
        self.0.ledger.note(caller, key, digest, text);
    }

    /// Notes that a caller saw the file at a path that was opened.
    pub(crate) fn saw(
        &self,
        caller: &str,
        shown: &str,
        digest: Digest,
        text: Option<&str>,
    ) -> Result<(), Refusal> {
        let target = self.target_for(private::Use::Read, shown, Missing::Refuse)?;
        let key = target.key()?;
        self.note_seen(caller, key, digest, text);
        Ok(())
    }

    /// What a caller saw of a file last.
    pub(crate) fn seen(&self, caller: &str, key: &FileKey) -> Option<Seen> {
        self.0.ledger.seen(caller, key)
    }

    /// Forgets that a caller saw a file, which is gone.
    pub(crate) fn forget(&self, caller: &str, key: &FileKey) {
        self.0.ledger.forget(caller, key);
    }

    /// Whether a caller may overwrite what it has not read.
    pub(crate) fn takes_unread_writes(&self) -> bool {
        self.options().unread_writes
    }

    pub(crate) fn roots(&self) -> &[Root] {
        &self.0.roots
    }

    fn options(&self) -> &WorkspaceOptions {
        &self.0.options
    }
}
