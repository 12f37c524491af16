//! Covers hidden paths with something that holds nothing and cannot be opened.
//!
//! A folder is covered by an empty one, a file by a device that belongs to nothing: to
//! open it is refused to everybody, root included.

use std::ffi::CStr;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{FileType, Mode as FileMode, mkdirat, mknodat};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, OpenTreeFlags, UnmountFlags, fsconfig_create,
    fsconfig_set_string, fsmount, fsopen, open_tree, unmount,
};

use super::mounts::{is_folder, is_missing, lay, place};
use super::{AtStage as _, Failure, sys};
use crate::sandbox::{Order, Stage};

const FOLDER: &CStr = c"folder";
const FILE: &CStr = c"file";
/// A place that always exists, where the covers are made before they are used.
const WORKSHOP: &CStr = c"/proc";

/// Covers the hidden paths of an order.
pub(super) fn hide(order: &Order, folder: &Path) -> Result<(), Failure> {
    let mut places = Vec::new();
    for (index, path) in order.hidden.iter().enumerate() {
        let failed = |errno| Failure::at(Stage::Hidden, errno, index);
        match place(folder, path) {
            Ok(handle) => {
                let is_folder = is_folder(&handle).map_err(failed)?;
                places.push((index, handle, is_folder));
            }
            // What this user cannot reach, his programs cannot either.
            Err(errno) if is_missing(errno) || errno == Errno::ACCESS => {}
            Err(errno) => return Err(failed(errno)),
        }
    }
    if places.is_empty() {
        return Ok(());
    }
    let kinds = places.iter().map(|(_, _, is_folder)| *is_folder);
    let covers = make(kinds).at(Stage::Hidden)?;
    for ((index, place, _), cover) in places.into_iter().zip(covers) {
        lay(&cover, &place).map_err(|errno| Failure::at(Stage::Hidden, errno, index))?;
    }
    Ok(())
}

/// Makes covers for folders and files.
fn make(kinds: impl Iterator<Item = bool>) -> Result<Vec<OwnedFd>, Errno> {
    let workshop = workshop()?;
    let covers = fill(&workshop, kinds);
    // The covers are copies, and keep what they show.
    unmount(WORKSHOP, UnmountFlags::DETACH)?;
    covers
}

/// Mounts an empty file system in memory: only what is mounted somewhere can be copied.
fn workshop() -> Result<OwnedFd, Errno> {
    let context = fsopen(c"tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(context.as_fd(), c"size", c"4k")?;
    fsconfig_set_string(context.as_fd(), c"nr_inodes", c"8")?;
    fsconfig_create(context.as_fd())?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID
        | MountAttrFlags::MOUNT_ATTR_NODEV
        | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    let mounted = fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes)?;
    let place = place(Path::new("/"), Path::new("proc"))?;
    lay(&mounted, &place)?;
    Ok(mounted)
}

fn fill(workshop: &OwnedFd, kinds: impl Iterator<Item = bool>) -> Result<Vec<OwnedFd>, Errno> {
    mkdirat(workshop, FOLDER, FileMode::empty())?;
    // A device with the number 0 may be made by everybody, and opened by nobody.
    let device = FileType::CharacterDevice;
    mknodat(workshop, FILE, device, FileMode::empty(), 0)?;
    kinds
        .map(|is_folder| {
            let name = if is_folder { FOLDER } else { FILE };
            let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
            let cover = open_tree(workshop, name, flags)?;
            sys::set_read_only(&cover, c"")?;
            Ok(cover)
        })
        .collect()
}
