//! Opening files and folders for reading. Pipes, devices and sockets are refused
//! without waiting for anybody at their other end.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{FileType, OFlags, Stat};

use super::place::outside;
use super::private::Use;
use super::{Place, Workspace};
use crate::refusal::{Reason, Refusal};

/// A regular file that is open for reading.
#[derive(Debug)]
pub(crate) struct OpenFile {
    pub(crate) file: File,
    pub(crate) stat: Stat,
    /// How a caller may be shown the path.
    pub(crate) shown: String,
}

/// A folder that is open for listing.
#[derive(Debug)]
pub(crate) struct OpenDirectory {
    pub(crate) handle: OwnedFd,
    /// Where it was found.
    pub(crate) place: Place,
    /// How a caller may be shown the path.
    pub(crate) shown: String,
}

impl AsFd for OpenDirectory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }
}

/// What a path leads to.
#[derive(Debug)]
pub(crate) enum Opened {
    File(OpenFile),
    Directory(OpenDirectory),
}

impl Workspace {
    /// Opens a regular file.
    pub(crate) fn open_file(&self, path: &str) -> Result<OpenFile, Refusal> {
        match self.open_any(path)? {
            Opened::File(file) => Ok(file),
            Opened::Directory(folder) => {
                let message = format!("{} is a folder, not a file", folder.shown);
                Err(Refusal::new(Reason::IsDirectory, message)
                    .next("List it with list_directory, or name a file in it"))
            }
        }
    }

    /// Opens a folder.
    pub(crate) fn open_directory(&self, path: &str) -> Result<OpenDirectory, Refusal> {
        match self.open_any(path)? {
            Opened::Directory(folder) => Ok(folder),
            Opened::File(file) => {
                let message = format!("{} is a file, not a folder", file.shown);
                Err(Refusal::new(Reason::NotDirectory, message)
                    .next("Name the folder it is in, or read it"))
            }
        }
    }

    /// Opens a regular file or a folder.
    pub(crate) fn open_any(&self, path: &str) -> Result<Opened, Refusal> {
        self.open_place(&self.place(path)?, path)
    }

    /// Opens what is at a place that was named by `path`.
    pub(crate) fn open_place(&self, place: &Place, path: &str) -> Result<Opened, Refusal> {
        self.is_open_to(place, Use::Read, path)?;
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
        let (handle, place) = self.open_at(place, flags).map_err(|error| {
            let refusal = Refusal::system("open", path, &error);
            match refusal.reason {
                Reason::OutsideRoot => outside(path.as_ref()),
                _ => refusal,
            }
        })?;
        self.is_open_here(&place, Use::Read, path)?;
        let shown = self.shown(&place);
        let stat = rustix::fs::fstat(&handle)
            .map_err(|error| Refusal::system("look at", &shown, &error.into()))?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Ok(Opened::File(OpenFile {
                file: File::from(handle),
                stat,
                shown,
            })),
            FileType::Directory => Ok(Opened::Directory(OpenDirectory {
                handle,
                place,
                shown,
            })),
            other => {
                let what = match other {
                    FileType::Fifo => "a pipe",
                    FileType::Socket => "a socket",
                    FileType::CharacterDevice | FileType::BlockDevice => "a device",
                    _ => "something else",
                };
                let message = format!("{shown} is no regular file but {what}");
                Err(Refusal::new(Reason::NotRegular, message).next("Name a regular file"))
            }
        }
    }
}
