//! New content beside the old: written whole, with the mode, owner and attributes of
//! the file it is to replace, before anything is replaced.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::{
    Access, AtFlags, Gid, Mode, OFlags, Stat, StatxAttributes, StatxFlags, Uid, XattrFlags,
};
use rustix::io::Errno;

use super::journal::Version;
use super::target::Target;
use crate::refusal::{Reason, Refusal};

/// What the names of files that are not finished begin with.
pub(super) const PREFIX: &str = ".toolsmith-";

/// The largest attribute that is copied.
const ATTRIBUTE: usize = 64 << 10;

/// How new content takes the place of the old.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// By its name, in one step.
    Rename,
    /// By writing it over the old: the file has other names, its owner could not be kept
    /// otherwise, or there is no room beside it.
    Copy,
}

/// New content that is written and waits to take its place.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) name: OsString,
    pub(super) way: Way,
    pub(super) version: Version,
}

/// A name nobody else uses.
pub(super) fn fresh_name(end: &str) -> io::Result<OsString> {
    let mut random = [0_u8; 10];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    let random: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("{PREFIX}{random}.{end}").into())
}

/// Tells whether a name is one of ours.
pub(super) fn is_fresh_name(name: &OsStr, end: &str) -> bool {
    let random = name.to_str().and_then(|name| {
        let random = name.strip_prefix(PREFIX)?.strip_suffix(end)?;
        random.strip_suffix('.')
    });
    random.is_some_and(|random| {
        random.len() == 20 && random.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

/// Refuses what must not be replaced.
pub(super) fn check(target: &Target) -> Result<(), Refusal> {
    let Some(stat) = &target.stat else {
        return Ok(());
    };
    let denied = |why: &str| {
        let message = format!("{} {why}", target.shown);
        Refusal::new(Reason::Denied, message).next("Ask the user to make it writable")
    };
    // The folder would let it be replaced, but its mode says what is wanted.
    if stat.st_mode & 0o222 == 0 {
        return Err(denied("can only be read"));
    }
    let access = rustix::fs::accessat(
        target.folder(),
        &target.name,
        Access::WRITE_OK,
        AtFlags::EACCESS,
    );
    match access {
        Err(Errno::ACCESS | Errno::PERM | Errno::ROFS) => Err(denied("may not be written")),
        _ => Ok(()),
    }
}

/// Tells whether a file can only be written in place: nothing can be put beside it, or
/// something is mounted there, which no other file can be named like.
pub(super) fn is_fixed(target: &Target) -> bool {
    let folder = target.folder();
    let beside = rustix::fs::accessat(folder, ".", Access::WRITE_OK, AtFlags::EACCESS);
    let flags = AtFlags::SYMLINK_NOFOLLOW;
    let is_mounted = rustix::fs::statx(folder, &target.name, flags, StatxFlags::empty())
        .is_ok_and(|file| file.stx_attributes.contains(StatxAttributes::MOUNT_ROOT));
    is_mounted || matches!(beside, Err(Errno::ACCESS | Errno::PERM | Errno::ROFS))
}

/// Writes content into a folder, for its target. What is not finished is the caller's to
/// remove.
pub(super) fn prepare(
    target: &Target,
    folder: BorrowedFd<'_>,
    name: OsString,
    content: &[u8],
    like: Option<&Stat>,
) -> Result<Prepared, Refusal> {
    let failed = |error: io::Error| Refusal::system("write", &target.shown, &error);
    let old = target.stat.as_ref().or(like);
    // Only its owner may see what is not finished; a new file has the usual mode.
    let mode = Mode::from_raw_mode(if old.is_some() { 0o600 } else { 0o666 });
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file =
        rustix::fs::openat(folder, &name, flags, mode).map_err(|error| failed(error.into()))?;
    let mut file = File::from(file);
    file.write_all(content).map_err(failed)?;
    let mut way = Way::Rename;
    if let Some(old) = old {
        let keeps_owner = keeps_owner(&file, old);
        if target.stat.is_some() && (old.st_nlink > 1 || !keeps_owner) {
            way = Way::Copy;
        }
        let mode = Mode::from_raw_mode(old.st_mode & 0o7777);
        rustix::fs::fchmod(&file, mode).map_err(|error| failed(error.into()))?;
        copy_attributes(target, &file);
    }
    file.sync_data().map_err(failed)?;
    let stat = rustix::fs::fstat(&file).map_err(|error| failed(error.into()))?;
    let version = Version::of(&stat);
    Ok(Prepared { name, way, version })
}

/// Gives a file the owner of another; false where that is not permitted.
fn keeps_owner(file: &File, old: &Stat) -> bool {
    let Ok(new) = rustix::fs::fstat(file) else {
        return false;
    };
    if (new.st_uid, new.st_gid) == (old.st_uid, old.st_gid) {
        return true;
    }
    let owner = (Uid::from_raw(old.st_uid), Gid::from_raw(old.st_gid));
    rustix::fs::fchown(file, Some(owner.0), Some(owner.1)).is_ok()
}

/// Copies extended attributes as far as they can be.
fn copy_attributes(target: &Target, file: &File) {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let old = rustix::fs::openat(target.folder(), &target.name, flags, Mode::empty());
    let Ok(old) = old else { return };
    let mut names = vec![0_u8; ATTRIBUTE];
    let Ok(length) = rustix::fs::flistxattr(&old, &mut names[..]) else {
        return;
    };
    let mut value = vec![0_u8; ATTRIBUTE];
    for name in names[..length].split(|byte| *byte == 0) {
        if name.is_empty() {
            continue;
        }
        if let Ok(length) = rustix::fs::fgetxattr(old.as_fd(), name, &mut value[..]) {
            let _ = rustix::fs::fsetxattr(file, name, &value[..length], XattrFlags::empty());
        }
    }
}
