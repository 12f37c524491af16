//! Putting files back as they were, and clearing away what is left beside them: here
//! when something fails, and at the next start when the process ended.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use rustix::fs::{AtFlags, Mode, OFlags, Stat};

use super::journal::{self, LeftBehind, Stage, Step};
use super::{Place, Workspace};

/// Whether a copy makes a file or is written over one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Onto {
    Fresh,
    There,
}

impl Workspace {
    /// Finishes or undoes what earlier processes left behind in these roots.
    pub(super) fn recover(&self, journals: &Path) {
        for left in journal::left_behind(journals) {
            if left.steps.iter().all(|step| self.is_ours(step)) {
                self.settle(&left);
                drop(left.journal);
            } else {
                // Another workspace's: it stays for that.
                left.journal.leave();
            }
        }
    }

    fn is_ours(&self, step: &Step) -> bool {
        step.is_plain() && self.roots().iter().any(|root| root.path() == step.root)
    }

    fn settle(&self, left: &LeftBehind) {
        let is_single = left.steps.len() == 1;
        for step in left.steps.iter().rev() {
            let root = self
                .roots()
                .iter()
                .position(|root| root.path() == step.root);
            let Some(root) = root else { continue };
            let flags = OFlags::PATH | OFlags::DIRECTORY;
            let folder = self.open_exactly(&Place::without_links(root, &step.folder), flags);
            let Ok((folder, _)) = folder else { continue };
            let folder = folder.as_fd();
            match left.stage {
                Stage::Replacing if is_single && step.over => {
                    if let Some(new) = &step.new {
                        let _ = copy(
                            folder,
                            new.as_os_str(),
                            folder,
                            step.name.as_os_str(),
                            Onto::There,
                        );
                    }
                }
                Stage::Replacing => undo(folder, step),
                Stage::Preparing | Stage::Done => {}
            }
            clear(folder, step);
        }
    }
}

/// Puts one file back as it was.
pub(super) fn undo(folder: BorrowedFd<'_>, step: &Step) {
    let name = step.name.as_os_str();
    match (&step.old, &step.new) {
        (Some(old), _) if step.over => {
            let _ = copy(folder, old.as_os_str(), folder, name, Onto::There);
        }
        (Some(old), _) => {
            // Nothing happens where both are the same file still.
            let _ = rustix::fs::renameat(folder, old, folder, name);
        }
        (None, Some(new)) if !step.was_there => {
            // Only what is ours: the file that has both names.
            let (Some(ours), Some(there)) = (look(folder, new.as_os_str()), look(folder, name))
            else {
                return;
            };
            if (ours.st_dev, ours.st_ino) == (there.st_dev, there.st_ino) {
                let _ = rustix::fs::unlinkat(folder, name, AtFlags::empty());
            }
        }
        _ => {}
    }
}

/// Removes what was left beside a file.
pub(super) fn clear(folder: BorrowedFd<'_>, step: &Step) {
    for name in [&step.new, &step.old].into_iter().flatten() {
        let _ = rustix::fs::unlinkat(folder, name, AtFlags::empty());
    }
}

/// Copies the content of one file to another.
pub(super) fn copy(
    from_folder: BorrowedFd<'_>,
    from: &OsStr,
    to_folder: BorrowedFd<'_>,
    to: &OsStr,
    onto: Onto,
) -> io::Result<()> {
    let common = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let flags = OFlags::RDONLY | common;
    let mut source = File::from(rustix::fs::openat(from_folder, from, flags, Mode::empty())?);
    let flags = OFlags::WRONLY | common;
    let flags = match onto {
        Onto::Fresh => flags | OFlags::CREATE | OFlags::EXCL,
        Onto::There => flags,
    };
    let mode = Mode::from_raw_mode(0o600);
    let mut target = File::from(rustix::fs::openat(to_folder, to, flags, mode)?);
    let length = io::copy(&mut source, &mut target)?;
    target.set_len(length)?;
    target.sync_data()
}

fn look(folder: BorrowedFd<'_>, name: &OsStr) -> Option<Stat> {
    rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()
}
