//! Putting files back as they were, and clearing away what is left beside them: here
//! when something fails, and at the next start when the process ended.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use super::journal::{self, LeftBehind, Stage, Step, Version};
use super::target::look;
use super::{Place, Workspace};
use crate::writing::LARGEST;

/// The folder a file is in, and the one its contents are kept in meanwhile.
#[derive(Clone, Copy, Debug)]
pub(super) struct Folders<'f> {
    pub(super) file: BorrowedFd<'f>,
    pub(super) kept: BorrowedFd<'f>,
}

/// Whether a copy makes a file or is written over one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Onto {
    Fresh,
    There,
}

impl Workspace {
    /// Finishes or undoes what earlier processes left behind in these roots.
    pub(super) fn recover(&self, journals: &Path) {
        let Ok(kept) = File::open(journals) else {
            return;
        };
        for left in journal::left_behind(journals) {
            // Another workspace's stays for that, and what cannot be settled for later.
            if left.steps.iter().all(|step| self.is_ours(step)) && self.settle(&left, kept.as_fd())
            {
                drop(left.journal);
            } else {
                left.journal.leave();
            }
        }
    }

    fn is_ours(&self, step: &Step) -> bool {
        let mut roots = self.roots().iter().filter(|root| root.may_write);
        step.is_plain() && roots.any(|root| root.path() == step.root)
    }

    /// Tells whether everything is in order now.
    fn settle(&self, left: &LeftBehind, aside: BorrowedFd<'_>) -> bool {
        let mut is_settled = true;
        for step in left.steps.iter().rev() {
            let root = self
                .roots()
                .iter()
                .position(|root| root.path() == step.root);
            let Some(root) = root else { continue };
            let flags = OFlags::PATH | OFlags::DIRECTORY;
            let folder = match self.open_exactly(&Place::beneath(root, &step.folder), flags) {
                Ok((folder, _)) => folder,
                // With its folder everything in it is gone.
                Err(Errno::NOENT) => {
                    if step.aside {
                        clear(aside, step);
                    }
                    continue;
                }
                Err(_) => {
                    is_settled = false;
                    continue;
                }
            };
            let folders = Folders {
                file: folder.as_fd(),
                kept: if step.aside { aside } else { folder.as_fd() },
            };
            if left.stage == Stage::Replacing && undo(folders, step).is_err() {
                is_settled = false;
                continue;
            }
            clear(folders.kept, step);
        }
        is_settled
    }
}

/// Puts one file back as it was, unless it is not what was put there: then somebody has
/// changed it since.
pub(super) fn undo(folders: Folders<'_>, step: &Step) -> io::Result<()> {
    let (folder, name) = (folders.file, step.name.as_os_str());
    let there = look(folder, name)?;
    let is_put = there.as_ref().map(Version::of) == step.put;
    match (&step.old, &step.new) {
        (Some(old), Some(new)) if step.over => {
            let (old, new) = (old.as_os_str(), new.as_os_str());
            // Clearing away comes last: where it has begun, the file was put back.
            for name in [old, new] {
                if look(folders.kept, name)?.is_none() {
                    return Ok(());
                }
            }
            if is_torn(folders, name, old, new)? {
                copy(folders.kept, old, folder, name, Onto::There)?;
            }
        }
        (Some(old), Some(_)) if is_put => rustix::fs::renameat(folder, old, folder, name)?,
        // It was removed, and nothing has come since.
        (Some(old), None) if there.is_none() => {
            rustix::fs::renameat_with(folder, old, folder, name, RenameFlags::NOREPLACE)?;
        }
        (None, Some(_)) if !step.was_there && is_put => {
            rustix::fs::unlinkat(folder, name, AtFlags::empty())?;
        }
        _ => {}
    }
    Ok(())
}

/// Tells whether a file holds a beginning of the new content and then the old, which is
/// how far writing it over got; also where that is all of the one or the other.
fn is_torn(folders: Folders<'_>, name: &OsStr, old: &OsStr, new: &OsStr) -> io::Result<bool> {
    let read = |folder: BorrowedFd<'_>, name: &OsStr| -> io::Result<Vec<u8>> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(rustix::fs::openat(folder, name, flags, Mode::empty())?);
        let mut bytes = Vec::new();
        io::Read::read_to_end(&mut io::Read::take(file, 4 * LARGEST), &mut bytes)?;
        Ok(bytes)
    };
    let Folders { file, kept } = folders;
    let (there, old, new) = (read(file, name)?, read(kept, old)?, read(kept, new)?);
    let same = there.iter().zip(&new).take_while(|(a, b)| a == b).count();
    Ok(there == new || there[same..] == *old.get(same..).unwrap_or_default())
}

/// Removes what was kept of a file.
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
