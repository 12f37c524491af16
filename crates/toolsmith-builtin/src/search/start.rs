//! Where a walk begins, and what of the rules above holds there.

use std::ffi::OsStr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use toolsmith_core::ToolContext;

use super::folder::{self, Kind};
use super::naming;
use super::rules::{Present, Rules};
use super::walk::GIT;
use crate::missing;
use crate::refusal::{Reason, Refusal};
use crate::workspace::{OpenDirectory, Opened, Workspace};

/// A folder a walk begins in.
#[derive(Debug)]
pub(crate) struct Start {
    handle: OwnedFd,
    /// The way from the root of the workspace, with a slash at its end unless empty.
    pub(super) base: Vec<u8>,
    /// The ways from the root to what nobody may see.
    pub(super) private: Vec<Vec<u8>>,
    /// The rules of the folders above.
    pub(super) rules: Option<Arc<Rules>>,
    /// How a caller is shown it.
    pub(crate) shown: String,
    /// Whether it is shown as it is.
    is_exact: bool,
    workspace: Workspace,
}

impl Start {
    /// Opens the folder a path means.
    pub(crate) fn open(
        workspace: &Workspace,
        path: &str,
        context: &ToolContext,
    ) -> Result<Self, Refusal> {
        let folder = missing::open_directory(workspace, path, context)?;
        Self::at(workspace, folder)
    }

    /// Opens a folder of which only what it holds itself is looked at, which may be that of
    /// git too.
    pub(crate) fn open_one_level(
        workspace: &Workspace,
        path: &str,
        context: &ToolContext,
    ) -> Result<Self, Refusal> {
        let folder = missing::open_directory(workspace, path, context)?;
        Ok(Self::anywhere(workspace, folder))
    }

    /// Begins in the workspace itself.
    pub(crate) fn in_workspace(workspace: &Workspace) -> Result<Self, Refusal> {
        Self::at(workspace, workspace.open_directory(".")?)
    }

    /// Begins in a folder that is open.
    pub(crate) fn at(workspace: &Workspace, folder: OpenDirectory) -> Result<Self, Refusal> {
        let start = Self::anywhere(workspace, folder);
        if start
            .base
            .split(|byte| *byte == b'/')
            .any(|name| name == GIT)
        {
            let message = format!(
                "{} belongs to git, whose inner files are not searched",
                start.shown
            );
            return Err(Refusal::new(Reason::BadArgument, message)
                .next("List it with list_directory, read a file by its path, or ask git itself"));
        }
        Ok(start)
    }

    fn anywhere(workspace: &Workspace, folder: OpenDirectory) -> Self {
        let root = &workspace.roots()[folder.place.root()];
        let from_root = way(folder.as_fd(), root.path(), folder.place.relative());
        let has_climbed = folder
            .place
            .relative()
            .components()
            .any(|step| step == Component::ParentDir);
        let shown = match (has_climbed, folder.place.root()) {
            (true, 0) if from_root.as_os_str().is_empty() => ".".to_owned(),
            (true, 0) => not_home(from_root.to_string_lossy().into_owned()),
            _ => folder.shown,
        };
        let rules = rules_above(root.as_fd(), &from_root);
        let mut base = from_root.into_os_string().into_encoded_bytes();
        if !base.is_empty() {
            base.push(b'/');
        }
        Self {
            handle: folder.handle,
            base,
            private: workspace.private_beneath(folder.place.root()),
            rules,
            is_exact: naming::is_exact(shown.as_bytes()),
            shown: naming::one_line(shown.as_bytes()),
            workspace: workspace.clone(),
        }
    }

    /// The path of something beneath, as a caller is shown it: on one line.
    pub(crate) fn show(&self, relative: &[u8]) -> String {
        let relative = naming::one_line(relative);
        match self.shown.as_str() {
            "." => not_home(relative),
            shown if shown.ends_with('/') => format!("{shown}{relative}"),
            shown => format!("{shown}/{relative}"),
        }
    }

    /// Whether a link leads to a regular file a caller may see.
    pub(super) fn leads_to_file(&self, relative: &[u8]) -> bool {
        self.is_exact(relative)
            && matches!(
                self.workspace.open_any(&self.show(relative)),
                Ok(Opened::File(_))
            )
    }

    /// Whether the path that is shown is the path, and can be given back.
    pub(crate) fn is_exact(&self, relative: &[u8]) -> bool {
        self.is_exact && naming::is_exact(relative)
    }
}

/// A path that does not mean somebody's home when it is given back.
fn not_home(path: String) -> String {
    match path.starts_with('~') {
        true => format!("./{path}"),
        false => path,
    }
}

impl AsFd for Start {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }
}

/// The way from the root to an open folder without links, as far as it can be known. It
/// only finds rules: nothing is opened by it that could lead out.
fn way(folder: BorrowedFd<'_>, root: &Path, asked: &Path) -> PathBuf {
    let real = std::fs::read_link(format!("/proc/self/fd/{}", folder.as_raw_fd()));
    if let Some(way) = real
        .ok()
        .as_deref()
        .and_then(|path| path.strip_prefix(root).ok())
    {
        return way.to_owned();
    }
    let mut way = PathBuf::new();
    for step in asked.components() {
        match step {
            Component::Normal(name) => way.push(name),
            Component::ParentDir => {
                way.pop();
            }
            _ => {}
        }
    }
    way
}

/// The rules of all folders above one. Where they hide it, it was asked for by name, and
/// they say nothing of what is in it.
fn rules_above(root: BorrowedFd<'_>, way: &Path) -> Option<Arc<Rules>> {
    let mut rules = None;
    let mut here = folder::open_folder(root, b".").ok()?;
    let mut path = Vec::new();
    for name in way.iter().map(OsStr::as_bytes) {
        rules = Rules::load(rules, here.as_fd(), path.len(), Present::UNKNOWN);
        path.extend_from_slice(name);
        if rules
            .as_ref()
            .is_some_and(|rules| rules.hide(&path, Kind::Folder))
        {
            rules = None;
        }
        path.push(b'/');
        here = folder::open_folder(here.as_fd(), name).ok()?;
    }
    rules
}
