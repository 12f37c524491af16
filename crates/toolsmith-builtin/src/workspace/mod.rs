//! The folders a model may see, held as handles.
//!
//! A path a model gave is never compared with another, but opened beneath the handle of
//! a root (`beneath`), so that neither links nor a folder that is exchanged meanwhile
//! lead out. `place` finds the root a path means. Only regular files are opened.

mod beneath;
mod open;
mod place;

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{Mode, OFlags};

pub(crate) use beneath::Links;
pub(crate) use open::{OpenDirectory, OpenFile, Opened};
pub(crate) use place::Place;

/// The folders a model may see. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Workspace(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    roots: Vec<Root>,
    options: WorkspaceOptions,
}

/// What a host says about a workspace.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct WorkspaceOptions {
    /// What `~` means.
    pub home: Option<PathBuf>,
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
}

impl Root {
    fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let named = std::path::absolute(path)?;
        let path = named.canonicalize()?;
        let handle = rustix::fs::open(&path, flags, Mode::empty())?;
        Ok(Self {
            named,
            path,
            handle,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
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
        Ok(Self(Arc::new(Inner {
            roots: opened,
            options,
        })))
    }

    pub(crate) fn roots(&self) -> &[Root] {
        &self.0.roots
    }

    fn options(&self) -> &WorkspaceOptions {
        &self.0.options
    }
}
