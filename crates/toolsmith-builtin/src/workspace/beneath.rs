//! Opening beneath a folder's handle, and never outside of it.
//!
//! The kernel does it in one step, `openat2`, and no race can lead out. Where it does
//! not know that call, the path is walked here, each step from a handle and none of
//! them through a link the kernel would follow: as safe, and slower.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{FileType, Mode, OFlags, ResolveFlags};
use rustix::io::{Errno, Result};

use super::Root;

/// How many links one path may lead through, as in the kernel.
pub(super) const MOST_LINKS: usize = 40;

/// How often the kernel may say that something was renamed meanwhile.
const MOST_TRIES: usize = 32;

/// Whether links may be followed, within the folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Links {
    Follow,
    Refuse,
}

/// Set where the kernel was found not to know `openat2`.
static UNKNOWN: AtomicBool = AtomicBool::new(false);

/// What was opened, and the way there without links.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) handle: OwnedFd,
    pub(super) root: usize,
    pub(super) relative: PathBuf,
}

/// Opens `path` beneath `folder` by the kernel; nothing where it cannot say. What leads
/// out of it, or is absolute, is `EXDEV`.
pub(super) fn at_once(
    folder: BorrowedFd<'_>,
    path: &Path,
    flags: OFlags,
    links: Links,
) -> Option<Result<OwnedFd>> {
    if UNKNOWN.load(Ordering::Relaxed) {
        return None;
    }
    let path = if path.as_os_str().is_empty() {
        Path::new(".")
    } else {
        path
    };
    let flags = flags | OFlags::CLOEXEC;
    let mut resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    if links == Links::Refuse {
        resolve |= ResolveFlags::NO_SYMLINKS;
    }
    for _ in 0..MOST_TRIES {
        match rustix::fs::openat2(folder, path, flags, Mode::empty(), resolve) {
            // Something was renamed while `..` was looked up.
            Err(Errno::AGAIN) => {}
            Err(Errno::NOSYS) => {
                UNKNOWN.store(true, Ordering::Relaxed);
                return None;
            }
            // Some sandboxes forbid what they do not know.
            Err(Errno::PERM) => return None,
            opened => return Some(opened),
        }
    }
    None
}

/// Walks a path from handle to handle. An absolute link is followed where it leads into
/// one of the roots; `which` tells the root an absolute path begins with.
pub(super) fn one_by_one(
    roots: &[Root],
    mut root: usize,
    path: &Path,
    flags: OFlags,
    links: Links,
    which: &dyn Fn(&Path) -> Option<(usize, PathBuf)>,
) -> Result<Found> {
    let step = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let flags = flags | OFlags::CLOEXEC;
    let mut to_go: VecDeque<OsString> = VecDeque::new();
    prepend(&mut to_go, path)?;
    // The folders entered so far: what `..` leads back to. Never above the root.
    let mut entered: Vec<(OwnedFd, OsString)> = Vec::new();
    let mut followed = 0;
    while let Some(name) = to_go.pop_front() {
        if name == "." {
            // What comes before it is a folder, or it would not have been entered.
            continue;
        }
        if name == ".." {
            if entered.pop().is_none() {
                return Err(Errno::XDEV);
            }
            continue;
        }
        let here = entered
            .last()
            .map_or(roots[root].as_fd(), |(folder, _)| folder.as_fd());
        let next = rustix::fs::openat(here, &name, step, Mode::empty())?;
        match FileType::from_raw_mode(rustix::fs::fstat(&next)?.st_mode) {
            FileType::Symlink => {
                followed += 1;
                if links == Links::Refuse || followed > MOST_LINKS {
                    return Err(Errno::LOOP);
                }
                let link = rustix::fs::readlinkat(&next, "", Vec::new())?;
                let mut link = PathBuf::from(OsString::from_vec(link.into_bytes()));
                if link.is_absolute() {
                    (root, link) = which(&link).ok_or(Errno::XDEV)?;
                    entered.clear();
                }
                prepend(&mut to_go, &link)?;
            }
            FileType::Directory => entered.push((next, name)),
            _ if to_go.is_empty() => {
                // The same name again, this time for what it is wanted for: a link put
                // in its place meanwhile is not followed.
                let flags = flags | OFlags::NOFOLLOW;
                return Ok(Found {
                    handle: rustix::fs::openat(here, &name, flags, Mode::empty())?,
                    root,
                    relative: way(&entered).join(name),
                });
            }
            _ => return Err(Errno::NOTDIR),
        }
    }
    let here = entered
        .last()
        .map_or(roots[root].as_fd(), |(folder, _)| folder.as_fd());
    Ok(Found {
        handle: rustix::fs::openat(here, ".", flags, Mode::empty())?,
        root,
        relative: way(&entered),
    })
}

fn way(entered: &[(OwnedFd, OsString)]) -> PathBuf {
    entered.iter().map(|(_, name)| name).collect()
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
    if to_go.is_empty() && path.as_os_str().as_bytes().ends_with(b"/") {
        to_go.push_front(OsString::from("."));
    }
    for name in steps.into_iter().rev() {
        to_go.push_front(name.to_owned());
    }
    Ok(())
}
