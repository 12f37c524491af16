//! Where a file is written: the folder it really is in, as a handle, and its name.
//!
//! Links are followed step by step, so that it is their referent that is written and
//! not the link. Folders that are missing can be made on the way.

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::beneath::MOST_LINKS;
use super::place::outside;
use super::private::Use;
use super::{Place, Workspace};
use crate::refusal::{Reason, Refusal};

/// What handles of folders are opened with.
const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY);

/// A name in a folder, whether or not there is something of that name.
#[derive(Debug)]
pub(crate) struct Target {
    folder: OwnedFd,
    /// Where the folder is.
    at: Place,
    pub(crate) name: OsString,
    /// What is there now.
    pub(crate) stat: Option<Stat>,
    /// How a caller may be shown the path.
    pub(crate) shown: String,
    /// The folders that were made for it, outermost first, each in the one around it.
    made: Made,
}

/// What identifies a name in a folder, however the way there is spelled.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct FileKey {
    device: u64,
    folder: u64,
    name: OsString,
}

/// What becomes of folders that are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    Make,
    /// They are taken as made: for who only tells what would be.
    Foresee,
    Refuse,
}

/// Targets of one change. They go from the last to the first: folders that were made in
/// vain go before those they were made in.
#[derive(Debug, Default)]
pub(crate) struct Targets(pub(crate) Vec<Target>);

impl Drop for Targets {
    fn drop(&mut self) {
        while let Some(last) = self.0.pop() {
            drop(last);
        }
    }
}

impl Target {
    pub(crate) fn folder(&self) -> BorrowedFd<'_> {
        self.folder.as_fd()
    }

    /// Where the folder is.
    pub(crate) fn at(&self) -> &Place {
        &self.at
    }

    pub(crate) fn key(&self) -> Result<FileKey, Refusal> {
        let stat = rustix::fs::fstat(&self.folder)
            .map_err(|error| Refusal::system("look at", &self.shown, &error.into()))?;
        Ok(FileKey {
            device: stat.st_dev,
            folder: stat.st_ino,
            name: self.name.clone(),
        })
    }

    /// Whether folders were made for it.
    pub(crate) fn has_made_folders(&self) -> bool {
        !self.made.0.is_empty()
    }

    /// Another name in the same folder; a link of that name is refused.
    pub(crate) fn sibling(&self, ending: &str) -> Result<Self, Refusal> {
        let mut name = self.name.clone();
        name.push(ending);
        let shown = format!("{}{ending}", self.shown);
        let failed = |error: std::io::Error| Refusal::system("look at", &shown, &error);
        let stat = look(self.folder(), &name).map_err(|error| failed(error.into()))?;
        if let Some(stat) = &stat
            && FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile
        {
            let message = format!("{shown} is there, and is no regular file");
            return Err(Refusal::new(Reason::NotRegular, message).next("Remove it first"));
        }
        Ok(Self {
            folder: self.folder.try_clone().map_err(failed)?,
            at: self.at.clone(),
            name,
            stat,
            shown,
            made: Made::default(),
        })
    }

    /// Looks again at what is there.
    pub(crate) fn look(&mut self) -> Result<(), Refusal> {
        self.stat = look(self.folder(), &self.name)
            .map_err(|error| Refusal::system("look at", &self.shown, &error.into()))?;
        Ok(())
    }
}

/// Folders that were made for a file.
#[derive(Debug, Default)]
struct Made(Vec<(OwnedFd, OsString)>);

impl Drop for Made {
    /// Those made in vain go again; one that holds something stays.
    fn drop(&mut self) {
        for (around, name) in self.0.iter().rev() {
            let _ = rustix::fs::unlinkat(around, name, AtFlags::REMOVEDIR);
        }
    }
}

impl Workspace {
    /// Finds where a file is, or would be. What is there must be a regular file.
    pub(crate) fn target(&self, path: &str, missing: Missing) -> Result<Target, Refusal> {
        self.target_for(Use::Write, path, missing)
    }

    /// As [`Workspace::target`], for what is only read.
    pub(super) fn target_for(
        &self,
        usage: Use,
        path: &str,
        missing: Missing,
    ) -> Result<Target, Refusal> {
        let place = self.place(path)?;
        self.is_open_to(&place, usage, path)?;
        let target = self.follow(place, path, missing)?;
        let way = target.at.relative().join(&target.name);
        self.is_open_here(&target.at.at(&way), usage, path)?;
        match target
            .stat
            .map(|stat| FileType::from_raw_mode(stat.st_mode))
        {
            None | Some(FileType::RegularFile) => Ok(target),
            Some(FileType::Directory) => {
                let message = format!("{} is a folder, not a file", target.shown);
                Err(Refusal::new(Reason::IsDirectory, message).next("Name a file in it"))
            }
            Some(_) => {
                let message = format!("{} is no regular file", target.shown);
                Err(Refusal::new(Reason::NotRegular, message).next("Name a regular file"))
            }
        }
    }

    /// The folder and the name a place leads to, through all links.
    pub(super) fn named(&self, place: &Place) -> Option<(Place, OsString)> {
        let target = self.follow(place.clone(), "", Missing::Refuse).ok()?;
        Some((target.at.clone(), target.name.clone()))
    }

    fn follow(&self, mut place: Place, path: &str, missing: Missing) -> Result<Target, Refusal> {
        let failed = |error: std::io::Error| match Errno::from_io_error(&error) {
            Some(Errno::XDEV) => outside(path.as_ref()),
            _ => Refusal::system("reach", path, &error),
        };
        for _ in 0..MOST_LINKS {
            let (folder, name) = split(place.relative()).ok_or_else(|| {
                let message = format!("{path} names a folder, not a file");
                Refusal::new(Reason::IsDirectory, message).next("Name a file in it")
            })?;
            let mut name = name.to_owned();
            let mut made = Made::default();
            let folder = place.at(folder);
            let (folder, at) = match self.open_at(&folder, FOLDER) {
                Err(error)
                    if missing != Missing::Refuse
                        && Errno::from_io_error(&error) == Some(Errno::NOENT) =>
                {
                    let (there, at, names) = self.last_there(&folder, path)?;
                    if missing == Missing::Make {
                        make_folders(there, at, &names, path, &mut made)?
                    } else {
                        name = names.iter().chain([&name]).collect::<PathBuf>().into();
                        (there, at)
                    }
                }
                opened => opened.map_err(failed)?,
            };
            let (name, stat) = spelled(folder.as_fd(), name).map_err(|e| failed(e.into()))?;
            if let Some(stat) = stat
                && FileType::from_raw_mode(stat.st_mode) == FileType::Symlink
            {
                let link = rustix::fs::readlinkat(&folder, &name, Vec::new())
                    .map_err(|error| failed(error.into()))?;
                let link = PathBuf::from(OsString::from_vec(link.into_bytes()));
                place = self
                    .linked(&at, &link)
                    .ok_or_else(|| outside(path.as_ref()))?;
                continue;
            }
            let shown = self.shown(&at.at(&at.relative().join(&name)));
            return Ok(Target {
                folder,
                at,
                name,
                stat,
                shown,
                made,
            });
        }
        Err(failed(Errno::LOOP.into()))
    }

    /// Refuses to write where it may only be read.
    pub(super) fn may_write(&self, place: &Place, path: &str) -> Result<(), Refusal> {
        if self.roots()[place.root()].may_write {
            return Ok(());
        }
        let message = format!("{path} can only be read");
        Err(Refusal::new(Reason::Denied, message).next("Write within the workspace"))
    }

    /// The last folder on the way to a place that is there, and the names of those that are
    /// missing after it. Refused where none may be made there.
    fn last_there(
        &self,
        place: &Place,
        path: &str,
    ) -> Result<(OwnedFd, Place, Vec<OsString>), Refusal> {
        let failed = |error: std::io::Error| unmade(path, &error);
        let steps: Vec<Component<'_>> = place.relative().components().collect();
        let mut there = steps.len();
        let (folder, at) = loop {
            there = there
                .checked_sub(1)
                .ok_or_else(|| failed(Errno::NOENT.into()))?;
            let beginning: PathBuf = steps[..there].iter().collect();
            match self.open_at(&place.at(&beginning), FOLDER) {
                Err(error) if Errno::from_io_error(&error) == Some(Errno::NOENT) => {}
                opened => break opened.map_err(failed)?,
            }
        };
        self.may_write(&at, path)?;
        let names = steps[there..].iter().map(|step| match step {
            Component::Normal(name) => Some((*name).to_owned()),
            _ => None,
        });
        let names: Option<Vec<OsString>> = names.collect();
        let names = names.ok_or_else(|| failed(Errno::NOENT.into()))?;
        Ok((folder, at, names))
    }
}

/// Makes folders in one that is there, each in the one before.
fn make_folders(
    there: OwnedFd,
    at: Place,
    names: &[OsString],
    path: &str,
    made: &mut Made,
) -> Result<(OwnedFd, Place), Refusal> {
    let failed = |error: std::io::Error| unmade(path, &error);
    let (mut folder, mut at) = (there, at);
    for name in names {
        at = at.at(&at.relative().join(name));
        match rustix::fs::mkdirat(&folder, name, Mode::from_raw_mode(0o777)) {
            Ok(()) => {
                let around = folder.try_clone().map_err(failed)?;
                made.0.push((around, name.clone()));
            }
            // Somebody else made it meanwhile; a link of that name is not followed.
            Err(Errno::EXIST) => {}
            Err(error) => return Err(failed(error.into())),
        }
        let flags = FOLDER | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        folder = rustix::fs::openat(&folder, name, flags, Mode::empty())
            .map_err(|error| failed(error.into()))?;
    }
    Ok((folder, at))
}

fn unmade(path: &str, error: &std::io::Error) -> Refusal {
    Refusal::system("make the folders of", path, error)
}

/// The folder and the name of a path; none where it ends in no name.
fn split(path: &Path) -> Option<(&Path, &OsStr)> {
    // A slash at the end asks for a folder, which `components` forgets.
    if path.as_os_str().as_bytes().ends_with(b"/") {
        return None;
    }
    match path.components().next_back()? {
        Component::Normal(name) => Some((path.parent()?, name)),
        _ => None,
    }
}

pub(super) fn look(folder: BorrowedFd<'_>, name: &OsStr) -> rustix::io::Result<Option<Stat>> {
    // Folders on the way are only foreseen, and a link may have come in their place.
    if name.as_bytes().contains(&b'/') {
        return Ok(None);
    }
    match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(stat)),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The name as it is spelled in the folder, and what is there.
fn spelled(folder: BorrowedFd<'_>, name: OsString) -> rustix::io::Result<(OsString, Option<Stat>)> {
    if let Some(stat) = look(folder, &name)? {
        return Ok((name, Some(stat)));
    }
    for other in super::place::spellings(Path::new(&name)) {
        if let Some(stat) = look(folder, other.as_os_str())? {
            return Ok((other.into_os_string(), Some(stat)));
        }
    }
    Ok((name, None))
}
