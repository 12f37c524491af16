//! Files are replaced, made and removed: all of them, or none.
//!
//! All new content is written beside the old first (`prepare`), then everything takes
//! its place. What fails on the way is undone here; what ends with the process is
//! finished or undone by the next start, from the journal.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags, Stat};
use rustix::io::Errno;

use super::Workspace;
use super::journal::{self, Journal, Stage, Step, Version};
use super::prepare::{self, Prepared, Way, fresh_name};
use super::target::Target;
use super::undo::{self, Folders, Onto};
use crate::refusal::{Reason, Refusal};

/// What is done to one file.
#[derive(Debug)]
pub(crate) enum Deed {
    /// It gets this content. A file that is made gets the mode and the owner of what it is
    /// like.
    Write {
        target: Target,
        content: Vec<u8>,
        like: Option<Stat>,
    },
    /// It is removed.
    Remove { target: Target },
}

impl Deed {
    pub(crate) fn target(&self) -> &Target {
        match self {
            Self::Write { target, .. } | Self::Remove { target } => target,
        }
    }
}

/// How a deed was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Done {
    /// A file was made, replaced or removed in one step.
    AtOnce,
    /// A file was written over, since other names lead to it, its owner could not be
    /// kept otherwise, or nothing can be put beside it.
    InPlace,
}

/// One deed on its way.
struct Job<'d> {
    target: &'d Target,
    step: Step,
    /// Where contents are kept, if not beside the file.
    aside: Option<File>,
    prepared: Option<Prepared>,
    is_one_of_many: bool,
    /// Whether what lies beside the file must stay, being all that is left of it.
    is_lost: bool,
}

impl Workspace {
    /// Does all of it, or nothing. The targets must be held.
    pub(crate) fn commit(&self, deeds: &[Deed]) -> Result<Vec<Done>, Refusal> {
        let mut jobs = Vec::new();
        for deed in deeds {
            let target = deed.target();
            self.may_write(target.at(), &target.shown)?;
            is_unchanged(target)?;
            prepare::check(target)?;
            jobs.push(self.job(deed, deeds.len() > 1)?);
        }
        let mut journal = match &self.options().state {
            Some(folder) => {
                let steps: Vec<Step> = jobs.iter().map(|job| job.step.clone()).collect();
                let journal = Journal::begin(folder, &steps, Stage::Preparing);
                Some(journal.map_err(|error| unnoted(&error))?)
            }
            None => None,
        };
        let mut jobs = Jobs(jobs);
        for (job, deed) in jobs.0.iter_mut().zip(deeds) {
            job.prepare(deed)?;
        }
        if let (Some(noted), Some(folder)) = (&mut journal, &self.options().state)
            && (jobs.0.len() > 1 || jobs.0.iter().any(Job::is_over))
        {
            // From here on the next start knows that all new content is whole.
            *noted = jobs.noted(folder)?;
        }
        if let Err(refusal) = jobs.replace() {
            if jobs.0.iter().any(|job| job.is_lost)
                && let Some(journal) = journal
            {
                journal.leave();
            }
            return Err(refusal);
        }
        if let Some(journal) = &mut journal {
            let _ = journal.reach(Stage::Done);
        }
        let done = jobs.0.iter().map(|job| match job.is_over() {
            true => Done::InPlace,
            false => Done::AtOnce,
        });
        let done = done.collect();
        for job in &jobs.0 {
            job.sync();
        }
        // The jobs clear away what they leave before the journal is gone.
        drop(jobs);
        drop(journal);
        Ok(done)
    }

    fn job<'d>(&self, deed: &'d Deed, is_one_of_many: bool) -> Result<Job<'d>, Refusal> {
        let target = deed.target();
        let failed = |error: io::Error| Refusal::system("write", &target.shown, &error);
        let name = |end: &str| fresh_name(end).map(PathBuf::from).map_err(failed);
        let was_there = target.stat.is_some();
        let new = match deed {
            Deed::Write { .. } => Some(name("new")?),
            Deed::Remove { .. } => None,
        };
        let old = match was_there {
            true => Some(name("old")?),
            false => None,
        };
        let aside = match deed {
            Deed::Write { .. } if was_there && prepare::is_fixed(target) => {
                Some(self.aside(target)?)
            }
            _ => None,
        };
        Ok(Job {
            target,
            step: Step {
                root: self.roots()[target.at().root()].path().to_owned(),
                folder: target.at().relative().to_owned(),
                name: PathBuf::from(&target.name),
                new,
                old,
                was_there,
                over: false,
                aside: aside.is_some(),
                put: None,
            },
            aside,
            prepared: None,
            is_one_of_many,
            is_lost: false,
        })
    }
}

impl Workspace {
    /// The folder of the journals, for what cannot be beside its file.
    fn aside(&self, target: &Target) -> Result<File, Refusal> {
        let Some(folder) = &self.options().state else {
            let message = format!("nothing can be put beside {}", target.shown);
            return Err(Refusal::new(Reason::Denied, message)
                .next("Ask the user to make its folder writable"));
        };
        journal::folder(folder)
            .and_then(|()| File::open(folder))
            .map_err(|error| Refusal::system("keep the old", &target.shown, &error))
    }
}

/// Deeds on their way; what they leave beside the files is removed with them.
struct Jobs<'d>(Vec<Job<'d>>);

impl Jobs<'_> {
    /// A journal that knows which files are written over, and that all is prepared.
    fn noted(&self, folder: &Path) -> Result<Journal, Refusal> {
        let steps: Vec<Step> = self.0.iter().map(|job| job.step.clone()).collect();
        Journal::begin(folder, &steps, Stage::Replacing).map_err(|error| unnoted(&error))
    }

    /// Puts everything in its place; what fails puts everything back.
    fn replace(&mut self) -> Result<(), Refusal> {
        for index in 0..self.0.len() {
            let Err(mut refusal) = self.0[index].replace() else {
                continue;
            };
            // The one that failed has changed nothing, unless it was being written over.
            let tried = index + usize::from(self.0[index].is_over());
            for done in self.0[..tried].iter_mut().rev() {
                if undo::undo(done.folders(), &done.step).is_err() {
                    done.is_lost = true;
                    refusal.message += &format!(
                        "; {} could not be put back, its old content is beside it",
                        done.target.shown
                    );
                }
            }
            return Err(refusal);
        }
        Ok(())
    }
}

impl Drop for Jobs<'_> {
    fn drop(&mut self) {
        for job in self.0.iter().filter(|job| !job.is_lost) {
            undo::clear(job.folders().kept, &job.step);
        }
    }
}

impl Job<'_> {
    fn is_over(&self) -> bool {
        self.step.over
    }

    fn folders(&self) -> Folders<'_> {
        let file = self.target.folder();
        let kept = self.aside.as_ref().map_or(file, |aside| aside.as_fd());
        Folders { file, kept }
    }

    /// Writes what is new, and keeps what is old, beside the file.
    fn prepare(&mut self, deed: &Deed) -> Result<(), Refusal> {
        let target = self.target;
        if let (Deed::Write { content, like, .. }, Some(new)) = (deed, &self.step.new) {
            let (kept, name) = (self.folders().kept, OsString::from(new));
            let prepared = prepare::prepare(target, kept, name, content, like.as_ref())?;
            self.step.over = prepared.way == Way::Copy || self.aside.is_some();
            self.step.put = Some(prepared.version);
            self.prepared = Some(prepared);
        }
        if !self.step.over && !self.is_one_of_many {
            self.step.old = None;
        }
        if let Some(old) = &self.step.old {
            let Folders { file, kept } = self.folders();
            let (name, old) = (&target.name, old.as_os_str());
            let copied = || undo::copy(file, name, kept, old, Onto::Fresh);
            let is_kept = if self.step.over {
                copied()
            } else {
                rustix::fs::linkat(file, name, kept, old, AtFlags::empty()).or_else(|_| copied())
            };
            is_kept.map_err(|error| Refusal::system("keep the old", &target.shown, &error))?;
        }
        Ok(())
    }

    fn replace(&self) -> Result<(), Refusal> {
        let (target, folder) = (self.target, self.target.folder());
        let failed = |error: io::Error| match Errno::from_io_error(&error) {
            Some(Errno::EXIST) => changed(&target.shown),
            _ => Refusal::system("write", &target.shown, &error),
        };
        let Some(prepared) = &self.prepared else {
            is_unchanged(target)?;
            let removed = rustix::fs::unlinkat(folder, &target.name, AtFlags::empty());
            return removed.map_err(|error| failed(error.into()));
        };
        let done: io::Result<()> = if self.step.over {
            is_unchanged(target)?;
            let kept = self.folders().kept;
            undo::copy(kept, &prepared.name, folder, &target.name, Onto::There)
        } else if self.step.was_there {
            is_unchanged(target)?;
            rustix::fs::renameat(folder, &prepared.name, folder, &target.name).map_err(Into::into)
        } else {
            make(folder, &prepared.name, &target.name).map_err(Into::into)
        };
        done.map_err(failed)
    }

    /// Sees that the folder itself reaches the disk.
    fn sync(&self) {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        if let Ok(folder) = rustix::fs::openat(self.target.folder(), ".", flags, Mode::empty()) {
            let _ = rustix::fs::fsync(folder);
        }
    }
}

/// Gives new content a name nothing has yet.
fn make(folder: BorrowedFd<'_>, new: &OsString, name: &OsString) -> rustix::io::Result<()> {
    match rustix::fs::linkat(folder, new, folder, name, AtFlags::empty()) {
        // Not every file system knows links.
        Err(Errno::PERM | Errno::OPNOTSUPP | Errno::NOSYS | Errno::MLINK) => {
            let flags = RenameFlags::NOREPLACE;
            rustix::fs::renameat_with(folder, new, folder, name, flags)
        }
        made => made,
    }
}

/// Refuses a target that is not as it was when it was looked at.
fn is_unchanged(target: &Target) -> Result<(), Refusal> {
    let now = match rustix::fs::statat(target.folder(), &target.name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Some(stat),
        Err(Errno::NOENT) => None,
        Err(error) => return Err(Refusal::system("look at", &target.shown, &error.into())),
    };
    let same = match (&now, &target.stat) {
        (None, None) => true,
        (Some(now), Some(then)) => Version::of(now) == Version::of(then),
        _ => false,
    };
    if same {
        Ok(())
    } else {
        Err(changed(&target.shown))
    }
}

/// Without notes a crash would leave what nobody clears away.
fn unnoted(error: &io::Error) -> Refusal {
    let refusal = Refusal::system(
        "write to",
        "the folder this program keeps its state in",
        error,
    );
    refusal.next("Ask the user to make that folder writable, or to name another (XDG_STATE_HOME)")
}

fn changed(shown: &str) -> Refusal {
    let message = format!("{shown} changed while it was about to be written");
    Refusal::new(Reason::Stale, message).next("Read it again, then repeat the change")
}

impl Step {
    /// Whether the names it notes are a name within a folder and names of ours.
    pub(super) fn is_plain(&self) -> bool {
        let name = self.name.as_os_str().as_bytes();
        let is_name = !name.contains(&b'/') && !matches!(name, b"" | b"." | b"..");
        let is_ours = |name: &Option<PathBuf>, end: &str| match name {
            Some(name) => prepare::is_fresh_name(name.as_os_str(), end),
            None => true,
        };
        is_name && is_ours(&self.new, "new") && is_ours(&self.old, "old")
    }
}
