//! What is being written, so that the next start can finish or undo it.
//!
//! A journal is a file in a folder of the host's, locked for as long as its writer
//! lives. One that nobody holds was left behind: what was prepared is removed, and what
//! was half replaced or half written over is put back.
//! Format 1 is JSON; a journal of another format is left alone.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, Stat};
use serde::{Deserialize, Serialize};

use super::prepare::fresh_name;

const FORMAT: u32 = 1;

/// What the name of a journal ends with that is not whole yet.
const UNFINISHED: &str = "unfinished";

/// How often a journal is begun.
const TRIES: usize = 8;

/// The longest journal that is read.
const LONGEST: u64 = 4 << 20;

/// What is being written.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Entries {
    format: u32,
    pub(super) steps: Vec<Step>,
}

/// One file that is being replaced, made or removed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Step {
    /// The root, and the folder beneath it.
    pub(super) root: PathBuf,
    pub(super) folder: PathBuf,
    /// The file.
    pub(super) name: PathBuf,
    /// Its new content, if it has any.
    pub(super) new: Option<PathBuf>,
    /// Its old content under another name, if that is kept for putting it back.
    pub(super) old: Option<PathBuf>,
    /// Whether there was such a file before.
    pub(super) was_there: bool,
    /// Whether the new content is written over the old.
    pub(super) over: bool,
    /// Whether both are kept beside the journal, since they cannot be beside the file.
    #[serde(default)]
    pub(super) aside: bool,
    /// What identifies the new content once it has taken its place.
    pub(super) put: Option<Version>,
}

/// What changes whenever a file does: device, number, size and time of change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Version(u64, u64, i64, i64, u64);

impl Version {
    pub(super) fn of(stat: &Stat) -> Self {
        let time = (stat.st_mtime, stat.st_mtime_nsec);
        Self(stat.st_dev, stat.st_ino, stat.st_size, time.0, time.1)
    }
}

/// How far the writing is, which the name of a journal ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// New content is being written beside the old.
    Preparing,
    /// All of it is there, and is taking its place.
    Replacing,
    /// Everything has taken its place: what is left is to clear away.
    Done,
}

impl Stage {
    const fn word(self) -> &'static str {
        match self {
            Self::Preparing => "preparing",
            Self::Replacing => "replacing",
            Self::Done => "done",
        }
    }

    fn named(word: &str) -> Option<Self> {
        let all = [Self::Preparing, Self::Replacing, Self::Done];
        all.into_iter().find(|stage| stage.word() == word)
    }
}

/// Makes the folder of journals, which is its owner's alone.
pub(super) fn folder(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
}

/// A journal being kept. Dropped, it is gone: nothing is left to finish.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    locked: File,
}

impl Journal {
    /// Notes what is about to be done.
    pub(super) fn begin(folder: &Path, steps: &[Step], stage: Stage) -> io::Result<Self> {
        let mut tries = 0;
        loop {
            tries += 1;
            match Self::try_begin(folder, steps, stage) {
                // Another process took it for left behind before it was locked.
                Err(error) if error.kind() == io::ErrorKind::NotFound && tries < TRIES => {}
                begun => return begun,
            }
        }
    }

    fn try_begin(folder: &Path, steps: &[Step], stage: Stage) -> io::Result<Self> {
        self::folder(folder)?;
        // Under another name until it is locked and whole.
        let path = folder.join(fresh_name(UNFINISHED)?);
        let file = File::options()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)?;
        rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        let mut journal = Self { path, locked: file };
        let entries = Entries {
            format: FORMAT,
            steps: steps.to_vec(),
        };
        journal.locked.write_all(&serde_json::to_vec(&entries)?)?;
        journal.reach(stage)?;
        Ok(journal)
    }

    /// Leaves the file to others.
    pub(super) fn leave(mut self) {
        self.path = PathBuf::new();
    }

    /// Notes how far it is.
    pub(super) fn reach(&mut self, stage: Stage) -> io::Result<()> {
        let path = self.path.with_extension(stage.word());
        fs::rename(&self.path, &path)?;
        self.path = path;
        Ok(())
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        if !self.path.as_os_str().is_empty() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// A journal nobody holds any more.
#[derive(Debug)]
pub(super) struct LeftBehind {
    pub(super) steps: Vec<Step>,
    pub(super) stage: Stage,
    /// Removes the journal when it is dropped.
    pub(super) journal: Journal,
}

/// The journals that were left behind in a folder.
pub(super) fn left_behind(folder: &Path) -> Vec<LeftBehind> {
    let Ok(files) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = files.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths.into_iter().filter_map(|path| take(&path)).collect()
}

fn take(path: &Path) -> Option<LeftBehind> {
    let word = path.extension()?.to_str()?;
    let file = File::open(path).ok()?;
    // Whoever holds the lock still writes.
    rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).ok()?;
    if word == UNFINISHED {
        // It ended before anything else was written; or it is just beginning, and begins
        // again when it finds its file gone.
        let _ = fs::remove_file(path);
    }
    let stage = Stage::named(word)?;
    if file.metadata().ok()?.len() > LONGEST {
        return None;
    }
    let text = io::read_to_string(&file).ok()?;
    let steps = match serde_json::from_str::<Entries>(&text) {
        Ok(entries) if entries.format == FORMAT => entries.steps,
        _ => return None,
    };
    Some(LeftBehind {
        steps,
        stage,
        journal: Journal {
            path: path.to_owned(),
            locked: file,
        },
    })
}
