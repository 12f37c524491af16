//! Arranges what a child sees of the file system, in a mount namespace of its own.
//!
//! Everything becomes read-only, then the writable folders are laid over themselves as
//! they were, the protected paths over themselves read-only, and the hidden ones are
//! covered. Everything is opened once and mounted by its handle.
//!
//! A mount point cannot be renamed or removed. So each folder between a writable one and
//! a protected or hidden path becomes one too: otherwise it could be moved away, and
//! another put in its place, or read where nothing covers it.

use std::collections::BTreeMap;
use std::ffi::CStr;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode as FileMode, OFlags, fstat, open, readlinkat, statat};
use rustix::io::Errno;
use rustix::mount::{
    MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, mount, mount_change,
    move_mount, open_tree,
};

use super::{AtStage as _, Failure, cover, limits, sys};
use crate::sandbox::{Findings, Mode, Order, Stage};

const HERE: &CStr = c"";
/// How much a child may keep in shared memory.
const SHARED_MEMORY: &CStr = c"mode=1777,size=64m,nr_inodes=4096";

const TERMINALS: &CStr = c"/dev/pts";
const NEW_TERMINALS: &CStr = c"newinstance,ptmxmode=0666,mode=0620";

/// Arranges the mounts; `folder` is what relative paths are taken from.
pub(super) fn arrange(
    order: &Order,
    folder: &Path,
    findings: &mut Findings,
) -> Result<(), Failure> {
    let everything = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change(c"/", everything).at(Stage::Mounts)?;
    // A container that hides parts of its own /proc cannot have a new one.
    findings.has_own_proc = fresh(c"proc", c"/proc", None).is_ok();
    if findings.has_own_proc {
        limits::bound_numbers(&order.limits);
    }
    let mut writable = Vec::new();
    if order.mode == Mode::Full {
        writable.push(PathBuf::from("/"));
    } else {
        let kept = keep_writable(order, folder, findings)?;
        sys::set_read_only(CWD, c"/").at(Stage::Mounts)?;
        for (index, target, tree) in kept {
            let failed = |errno| Failure::at(Stage::Writable, errno, index);
            // The handle still shows the folder beneath an outer one that is in place by now.
            let place = reopen(&target).map_err(failed)?;
            lay(&tree, &place).map_err(failed)?;
            writable.push(target);
        }
        // Where there is none, nobody misses it.
        let _ = fresh(c"tmpfs", c"/dev/shm", Some(SHARED_MEMORY));
        findings.has_own_terminals = own_terminals().is_ok();
    }
    protect(order, folder, &writable, findings)?;
    cover::hide(order, folder)
}

/// Opens a path without reading what is there; links are followed.
pub(super) fn place(folder: &Path, path: &Path) -> Result<OwnedFd, Errno> {
    reopen(&folder.join(path))
}

/// Returns where an open file really is.
pub(super) fn real_path(file: impl AsFd) -> Result<PathBuf, Errno> {
    use std::os::fd::AsRawFd as _;

    let link = format!("/proc/self/fd/{}", file.as_fd().as_raw_fd());
    let path = readlinkat(CWD, link, Vec::new())?;
    Ok(PathBuf::from(std::ffi::OsString::from_vec(
        path.into_bytes(),
    )))
}

/// Tells whether a path leads nowhere.
pub(super) fn is_missing(errno: Errno) -> bool {
    matches!(errno, Errno::NOENT | Errno::NOTDIR)
}

/// Copies the mounts at and beneath a place, not attached to anything yet.
pub(super) fn copy(place: impl AsFd) -> Result<OwnedFd, Errno> {
    // The type has no name for this flag of the call.
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_EMPTY_PATH
        | OpenTreeFlags::AT_RECURSIVE;
    open_tree(place, HERE, flags)
}

/// Lays a tree of mounts over a place.
pub(super) fn lay(tree: impl AsFd, place: impl AsFd) -> Result<(), Errno> {
    let by_handle =
        MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    move_mount(tree, HERE, place, HERE, by_handle)
}

fn reopen(path: &Path) -> Result<OwnedFd, Errno> {
    open(path, OFlags::PATH | OFlags::CLOEXEC, FileMode::empty())
}

fn fresh(kind: &CStr, place: &CStr, options: Option<&CStr>) -> Result<(), Errno> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount(kind, place, kind, flags, options)
}

/// Makes terminals that nobody else has: into those of the user one could type for him.
fn own_terminals() -> Result<(), Errno> {
    let flags = MountFlags::NOSUID | MountFlags::NOEXEC;
    mount(c"devpts", TERMINALS, c"devpts", flags, Some(NEW_TERMINALS))?;
    let maker = copy(reopen(Path::new("/dev/pts/ptmx"))?)?;
    lay(maker, reopen(Path::new("/dev/ptmx"))?)
}

/// A writable folder: which of the order's, where it is, and its mounts as they were.
type Kept = (usize, PathBuf, OwnedFd);

/// Copies the writable folders while they are writable, the outer ones first.
fn keep_writable(
    order: &Order,
    folder: &Path,
    findings: &mut Findings,
) -> Result<Vec<Kept>, Failure> {
    let mut kept = BTreeMap::new();
    for (index, path) in order.writable.iter().enumerate() {
        let failed = |errno| Failure::at(Stage::Writable, errno, index);
        let handle = match place(folder, path) {
            Ok(handle) => handle,
            Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS) => {
                findings.missing_writable.add(index);
                continue;
            }
            Err(errno) => return Err(failed(errno)),
        };
        let real = real_path(&handle).map_err(failed)?;
        let tree = copy(&handle).map_err(failed)?;
        kept.entry(real).or_insert((index, tree));
    }
    // Sorted by path, a folder comes before what it holds.
    let kept = kept.into_iter();
    Ok(kept
        .map(|(real, (index, tree))| (index, real, tree))
        .collect())
}

/// Lays the protected paths over themselves read-only.
fn protect(
    order: &Order,
    folder: &Path,
    writable: &[PathBuf],
    findings: &mut Findings,
) -> Result<(), Failure> {
    // What is laid over itself, the outer ones first: read-only, or as it is.
    let mut places: BTreeMap<PathBuf, Option<usize>> = BTreeMap::new();
    for (index, path) in order.protected.iter().enumerate() {
        let failed = |errno| Failure::at(Stage::Protected, errno, index);
        let path = folder.join(path);
        if is_link(&path) {
            findings.linked_protected.add(index);
        }
        let handle = match reopen(&path) {
            Ok(handle) => handle,
            Err(errno) if is_missing(errno) => {
                findings.missing_protected.add(index);
                continue;
            }
            Err(errno) => return Err(failed(errno)),
        };
        let real = real_path(&handle).map_err(failed)?;
        let Some(above) = between(writable, &real) else {
            continue;
        };
        for above in above {
            places.entry(above).or_insert(None);
        }
        places.insert(real, Some(index));
    }
    // Nor may a folder on the way to a hidden path be moved away, and read elsewhere.
    for (index, path) in order.hidden.iter().enumerate() {
        let failed = |errno| Failure::at(Stage::Hidden, errno, index);
        let handle = match place(folder, path) {
            Ok(handle) => handle,
            Err(errno) if is_missing(errno) || errno == Errno::ACCESS => continue,
            Err(errno) => return Err(failed(errno)),
        };
        let real = real_path(&handle).map_err(failed)?;
        for above in between(writable, &real).into_iter().flatten() {
            places.entry(above).or_insert(None);
        }
    }
    for (path, index) in places {
        let failed = |errno| Failure::at(Stage::Protected, errno, index.unwrap_or_default());
        let handle = reopen(&path).map_err(failed)?;
        let tree = copy(&handle).map_err(failed)?;
        if index.is_some() {
            sys::set_read_only(&tree, HERE).map_err(failed)?;
        }
        lay(&tree, &handle).map_err(failed)?;
    }
    Ok(())
}

fn is_link(path: &Path) -> bool {
    let stat = statat(CWD, path, rustix::fs::AtFlags::SYMLINK_NOFOLLOW);
    stat.is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink)
}

/// Returns the folders between a path and the innermost of the writable ones that hold it;
/// nothing for a path that cannot be written anyway.
fn between(writable: &[PathBuf], path: &Path) -> Option<Vec<PathBuf>> {
    let outer = innermost(writable, path)?;
    let above = path.ancestors().skip(1);
    // The path may be the writable folder itself, and then nothing lies between.
    let above = above.take_while(|above| *above != outer && above.starts_with(outer));
    Some(above.map(Path::to_path_buf).collect())
}

/// Returns the innermost of the folders that hold the path.
fn innermost<'a>(folders: &'a [PathBuf], path: &Path) -> Option<&'a Path> {
    let holding = folders.iter().filter(|folder| path.starts_with(folder));
    holding
        .max_by_key(|folder| folder.as_os_str().len())
        .map(PathBuf::as_path)
}

/// Tells whether an open file is a folder.
pub(super) fn is_folder(file: impl AsFd) -> Result<bool, Errno> {
    Ok(FileType::from_raw_mode(fstat(file)?.st_mode) == FileType::Directory)
}
