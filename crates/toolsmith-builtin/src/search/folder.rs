//! Folders that are open while a tree is walked, and the way that led to each.
//!
//! A folder is opened from the handle of the one it is in and never through a link, so
//! nothing that is exchanged meanwhile leads out of where the walk began. How many are
//! open is counted: a walk keeps few, however deep or wide the tree is.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir, ResolveFlags};
use rustix::io::Errno;

/// How deep a walk goes. Ways hold on to each other, and are let go of on the stack.
const MOST_LEVELS: usize = 4096;

/// How long a way may be, in bytes.
const LONGEST_WAY: usize = 16 << 10;

/// How much of a way is handed to the kernel at once; it takes no more than 4096 bytes.
const LONGEST_STRIDE: usize = 3000;

/// How many names of one folder are held at once.
const MOST_NAMES: usize = 1 << 16;

/// How often opening is tried again when too many files are open.
const PATIENCE: usize = 50;

/// What an entry of a folder is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Folder,
    Link,
    /// A pipe, a socket or a device.
    Other,
}

impl From<FileType> for Kind {
    fn from(kind: FileType) -> Self {
        match kind {
            FileType::RegularFile => Self::File,
            FileType::Directory => Self::Folder,
            FileType::Symlink => Self::Link,
            _ => Self::Other,
        }
    }
}

/// One step on the way to a folder. Its path is only put together where it is needed.
#[derive(Debug)]
pub(super) struct Step {
    before: Option<Arc<Step>>,
    name: Box<[u8]>,
    /// How many steps led here; none to where the walk began.
    pub(super) level: usize,
    /// How many bytes the whole way has, each step with a slash after it.
    length: usize,
}

impl Step {
    /// Where a walk begins.
    pub(super) fn first() -> Arc<Self> {
        Arc::new(Self {
            before: None,
            name: Box::default(),
            level: 0,
            length: 0,
        })
    }

    /// The step into a folder; none where that would be too deep.
    pub(super) fn enter(self: &Arc<Self>, name: &[u8]) -> Option<Arc<Self>> {
        let (level, length) = (self.level + 1, self.length + name.len() + 1);
        (level <= MOST_LEVELS && length <= LONGEST_WAY).then(|| {
            Arc::new(Self {
                before: Some(Arc::clone(self)),
                name: name.into(),
                level,
                length,
            })
        })
    }

    /// Adds the whole way to a path, with a slash at its end.
    pub(super) fn write(&self, path: &mut Vec<u8>) {
        let base = path.len();
        path.resize(base + self.length, b'/');
        let mut end = base + self.length;
        let mut here = Some(self);
        while let Some(step) = here.filter(|step| step.before.is_some()) {
            let start = end - 1 - step.name.len();
            path[start..end - 1].copy_from_slice(&step.name);
            end = start;
            here = step.before.as_deref();
        }
    }
}

/// A folder that is open. It is closed when nothing in it is left to do.
#[derive(Debug)]
pub(super) struct Folder {
    handle: OwnedFd,
    pub(super) step: Arc<Step>,
    open: Arc<AtomicUsize>,
}

impl Folder {
    pub(super) fn new(handle: OwnedFd, step: Arc<Step>, open: &Arc<AtomicUsize>) -> Arc<Self> {
        open.fetch_add(1, Ordering::Relaxed);
        Arc::new(Self {
            handle,
            step,
            open: Arc::clone(open),
        })
    }

    /// Opens a folder that is in this one.
    pub(super) fn enter(&self, step: Arc<Step>) -> rustix::io::Result<Arc<Self>> {
        let handle = open_folder(self.handle.as_fd(), &step.name)?;
        Ok(Self::new(handle, step, &self.open))
    }

    /// Opens a folder anew, by the whole way from where the walk began, where `self` is.
    pub(super) fn reopen(&self, step: Arc<Step>) -> rustix::io::Result<Arc<Self>> {
        let mut way = Vec::new();
        step.write(&mut way);
        let handle = open_way(self.handle.as_fd(), &way)?;
        Ok(Self::new(handle, step, &self.open))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        self.open.fetch_sub(1, Ordering::Relaxed);
    }
}

impl AsFd for Folder {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }
}

/// The names in a folder, held in one piece of memory that is used again and again.
#[derive(Debug, Default)]
pub(super) struct Listing {
    names: Vec<u8>,
    entries: Vec<(usize, usize, Kind)>,
}

/// Whether all of a folder was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Read {
    All,
    Some,
}

impl Listing {
    pub(super) fn iter(&self) -> impl Iterator<Item = (&[u8], Kind)> {
        let entries = self.entries.iter();
        entries.map(|&(start, end, kind)| (&self.names[start..end], kind))
    }

    fn push(&mut self, name: &[u8], kind: Kind) {
        let start = self.names.len();
        self.names.extend_from_slice(name);
        self.entries.push((start, self.names.len(), kind));
    }

    /// Reads the next names from a folder, in place of those that were here.
    pub(super) fn fill<F: AsFd>(
        &mut self,
        raw: &mut RawDir<'_, F>,
        folder: BorrowedFd<'_>,
    ) -> io::Result<Read> {
        self.names.clear();
        self.entries.clear();
        while let Some(entry) = raw.next() {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if matches!(name, b"." | b"..") {
                continue;
            }
            let kind = match entry.file_type() {
                // Some file systems do not say.
                FileType::Unknown => {
                    match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
                        Ok(found) => FileType::from_raw_mode(found.st_mode).into(),
                        // It is gone already.
                        Err(_) => continue,
                    }
                }
                known => known.into(),
            };
            self.push(name, kind);
            if self.entries.len() == MOST_NAMES {
                return Ok(Read::Some);
            }
        }
        Ok(Read::All)
    }
}

/// What the kernel writes a folder's entries into.
pub(super) fn entry_buffer() -> Box<[MaybeUninit<u8>]> {
    Box::new_uninit_slice(32 << 10)
}

/// Opens a regular file for reading, without following a link or waiting for anybody.
pub(crate) fn open_file(folder: BorrowedFd<'_>, name: &[u8]) -> rustix::io::Result<OwnedFd> {
    let flags =
        OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    patiently(|| rustix::fs::openat(folder, name, flags, Mode::empty()))
}

/// Opens a folder for listing, without following a link.
pub(super) fn open_folder(folder: BorrowedFd<'_>, name: &[u8]) -> rustix::io::Result<OwnedFd> {
    let flags =
        OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    patiently(|| rustix::fs::openat(folder, name, flags, Mode::empty()))
}

/// Opens a folder that many steps lead to, none of them through a link.
fn open_way(from: BorrowedFd<'_>, way: &[u8]) -> rustix::io::Result<OwnedFd> {
    let flags =
        OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let mut here = open_folder(from, b".")?;
    let mut rest = way.strip_suffix(b"/").unwrap_or(way);
    while !rest.is_empty() {
        let stride = stride(rest);
        let at_once = rustix::fs::openat2(&here, &rest[..stride], flags, Mode::empty(), resolve);
        here = match at_once {
            Ok(handle) => handle,
            // Not every kernel and sandbox knows the call.
            Err(Errno::NOSYS | Errno::PERM | Errno::AGAIN) => {
                for name in rest[..stride].split(|byte| *byte == b'/') {
                    here = open_folder(here.as_fd(), name)?;
                }
                here
            }
            Err(error) => return Err(error),
        };
        rest = rest.get(stride + 1..).unwrap_or_default();
    }
    Ok(here)
}

/// How many bytes of a way are whole steps and not too many at once.
fn stride(way: &[u8]) -> usize {
    if way.len() <= LONGEST_STRIDE {
        return way.len();
    }
    let last = way[..LONGEST_STRIDE].iter().rposition(|byte| *byte == b'/');
    last.unwrap_or(way.len())
}

/// Tries again for a while when too many files are open: other calls close theirs.
fn patiently<T>(open: impl Fn() -> rustix::io::Result<T>) -> rustix::io::Result<T> {
    for _ in 0..PATIENCE {
        match open() {
            Err(Errno::MFILE | Errno::NFILE) => std::thread::sleep(Duration::from_millis(2)),
            Err(Errno::INTR) => {}
            opened => return opened,
        }
    }
    open()
}

/// Opens a regular file by its path from a folder, none of its steps through a link.
pub(crate) fn open_beneath(from: BorrowedFd<'_>, path: &[u8]) -> rustix::io::Result<std::fs::File> {
    let file = match path.iter().rposition(|byte| *byte == b'/') {
        Some(slash) => open_file(open_way(from, &path[..slash])?.as_fd(), &path[slash + 1..])?,
        None => open_file(from, path)?,
    };
    match FileType::from_raw_mode(rustix::fs::fstat(&file)?.st_mode) {
        FileType::RegularFile => Ok(file.into()),
        _ => Err(Errno::NXIO),
    }
}
