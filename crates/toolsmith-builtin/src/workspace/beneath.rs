//! Opening beneath a folder's handle, and never outside of it.
//!
//! The kernel does it in one step, `openat2`, and no race can lead out. Where it does
//! not know that call, the path is walked here, each step from a handle and none of
//! them through a link the kernel would follow: as safe, and slower.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::{Errno, Result};

/// How many links one path may lead through, as in the kernel.
const MOST_LINKS: usize = 40;

/// How often the kernel may say that something was renamed meanwhile.
const MOST_TRIES: usize = 32;

/// Whether links may be followed, within the folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Links {
    Follow,
    Refuse,
}

/// How a path is walked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Steps {
    /// By the kernel, if it can.
    AtOnce,
    /// Here.
    OneByOne,
}

/// Set where the kernel was found not to know `openat2`.
static UNKNOWN: AtomicBool = AtomicBool::new(false);

/// Opens `path` beneath `folder`. What leads out of it, or is absolute, is `EXDEV`.
pub(super) fn open(
    folder: BorrowedFd<'_>,
    path: &Path,
    flags: OFlags,
    links: Links,
    steps: Steps,
) -> Result<OwnedFd> {
    let flags = flags | OFlags::CLOEXEC;
    let path = if path.as_os_str().is_empty() {
        Path::new(".")
    } else {
        path
    };
    if steps == Steps::AtOnce
        && !UNKNOWN.load(Ordering::Relaxed)
        && let Some(opened) = at_once(folder, path, flags, links)
    {
        return opened;
    }
    one_by_one(folder, path, flags, links)
}

/// Nothing where the kernel cannot say.
fn at_once(
    folder: BorrowedFd<'_>,
    path: &Path,
    flags: OFlags,
    links: Links,
) -> Option<Result<OwnedFd>> {
    let mut resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    if links == Links::Refuse {
        resolve |= ResolveFlags::NO_SYMLINKS;
    }
    for _ in 0..MOST_TRIES {
        match rustix::fs::openat2(folder, path, flags, Mode::empty(), resolve) {
            // Something was renamed while `..` was looked up.
            Err(Errno::AGAIN) => {}
            // Some sandboxes forbid what they do not know.
            Err(Errno::NOSYS) => {
                UNKNOWN.store(true, Ordering::Relaxed);
                return None;
            }
            Err(Errno::PERM) => return None,
            opened => return Some(opened),
        }
    }
    None
}

/// Walks the path from handle to handle.
fn one_by_one(
    folder: BorrowedFd<'_>,
    path: &Path,
    flags: OFlags,
    links: Links,
) -> Result<OwnedFd> {
    let step = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut to_go: VecDeque<OsString> = VecDeque::new();
    prepend(&mut to_go, path)?;
    // The folders entered so far: what `..` leads back to. Never above the first.
    let mut entered: Vec<OwnedFd> = Vec::new();
    let mut followed = 0;
    while let Some(name) = to_go.pop_front() {
        let here = entered.last().map_or(folder, AsFd::as_fd);
        if name == ".." {
            if entered.pop().is_none() {
                return Err(Errno::XDEV);
            }
            continue;
        }
        let next = rustix::fs::openat(here, &name, step, Mode::empty())?;
        match FileType::from_raw_mode(rustix::fs::fstat(&next)?.st_mode) {
            FileType::Symlink => {
                followed += 1;
                if links == Links::Refuse || followed > MOST_LINKS {
                    return Err(Errno::LOOP);
                }
                let target = rustix::fs::readlinkat(&next, "", Vec::new())?;
                prepend(&mut to_go, Path::new(&OsString::from_vec(target.into_bytes())))?;
            }
            FileType::Directory => entered.push(next),
            _ if to_go.is_empty() => {
                // The same name again, this time for what it is wanted for: a link put
                // in its place meanwhile is not followed.
                return rustix::fs::openat(here, &name, flags | OFlags::NOFOLLOW, Mode::empty());
            }
            _ => return Err(Errno::NOTDIR),
        }
    }
    let here = entered.last().map_or(folder, AsFd::as_fd);
    rustix::fs::openat(here, ".", flags, Mode::empty())
}

/// Puts the steps of a path before those that are left.
fn prepend(to_go: &mut VecDeque<OsString>, path: &Path) -> Result<()> {
    let mut steps: Vec<&OsStr> = Vec::new();
    for component in path.components() {
        match component {
            Component::RootDir | Component::Prefix(_) => return Err(Errno::XDEV),
            Component::CurDir => {}
            Component::ParentDir => steps.push(OsStr::new("..")),
            Component::Normal(name) => steps.push(name),
        }
    }
    // `components` forgets a slash at the end, which asks for a folder.
    let bytes = path.as_os_str().as_bytes();
    if bytes.is_empty() {
        return Err(Errno::NOENT);
    }
    if bytes.ends_with(b"/") && !to_go.is_empty() {
        // The steps that follow ask for a folder anyway.
    }
    for name in steps.into_iter().rev() {
        to_go.push_front(name.to_owned());
    }
    Ok(())
}

/// Whether something is a symbolic link, seen from its folder.
pub(super) fn is_link(folder: BorrowedFd<'_>, name: &OsStr) -> Result<bool> {
    let found = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(FileType::from_raw_mode(found.st_mode) == FileType::Symlink)
}
