//! Notes in files: what programs could make or replace, and what was there before.
//!
//! A note is whole or absent, and never changed. Its lock is held for as long as the programs
//! run. One whose lock is free is of programs that have ended, or of a process that was
//! killed while they ran: what is there and was not before was made meanwhile. One that has
//! nothing such is removed by whoever finds it.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use super::Before;
use crate::root::digest_of;
use crate::spill::private_folder;

/// The form a note has.
const VERSION: u32 = 1;
/// How many notes are looked at, and how much of one is read.
const MOST_NOTES: usize = 1000;
const MOST_BYTES: u64 = 1 << 20;
/// What the name of a note ends in; until it is whole, it has another.
const ENDING: &str = "json";

/// The notes of one project.
#[derive(Debug)]
pub(super) struct Notes {
    folder: PathBuf,
}

/// A note that is held; dropped, it is gone.
#[derive(Debug)]
pub(super) struct Note {
    path: PathBuf,
    /// Closed, it gives the lock back.
    _lock: File,
}

#[derive(Debug, Serialize, Deserialize)]
struct Form {
    v: u32,
    paths: Before,
}

impl Notes {
    pub(super) fn of_root(all: &Path, settled: &Path) -> Self {
        let folder = all.join(digest_of(settled));
        Self { folder }
    }

    /// Writes a note, and holds it.
    pub(super) fn hold(&self, paths: &Before) -> io::Result<Note> {
        let (path, lock) = self.put(paths)?;
        Ok(Note { path, _lock: lock })
    }

    /// Writes a note that stays until a person accepts what it names, or removes that.
    pub(super) fn settle(&self, paths: &Before) -> io::Result<()> {
        self.put(paths).map(drop)
    }

    /// Puts a note there, locked for as long as the file is open.
    fn put(&self, paths: &Before) -> io::Result<(PathBuf, File)> {
        private_folder(&self.folder)?;
        let (unnamed, mut file) = self.fresh()?;
        let path = unnamed.with_extension(ENDING);
        let named = (|| {
            // Held before it has its name, so that nobody takes it for left behind.
            file.try_lock()?;
            file.write_all(&form(paths)?)?;
            fs::rename(&unnamed, &path)
        })();
        if let Err(error) = named {
            let _ = fs::remove_file(&unnamed);
            return Err(error);
        }
        Ok((path, file))
    }

    /// A file that nobody has; processes in other containers may have the same number.
    fn fresh(&self) -> io::Result<(PathBuf, File)> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);

        for _ in 0..MOST_NOTES {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let name = format!("{}-{number}", std::process::id());
            let path = self.folder.join(name);
            // The name it will have must be free as well.
            if path.with_extension(ENDING).exists() {
                continue;
            }
            let mut options = File::options();
            options.read(true).write(true).create_new(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            match options.open(&path) {
                Ok(file) => return Ok((path, file)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// All paths that count as not there: what was made, and what programs that run can make.
    pub(super) fn withheld(
        &self,
        is_made: impl Fn(&Path, &Option<String>) -> bool,
    ) -> Vec<PathBuf> {
        let mut withheld = Vec::new();
        for note in self.names() {
            let Some((form, is_held)) = read(&note) else {
                continue;
            };
            let known = withheld.len();
            let paths = form.paths.into_iter().filter(|(path, before)| {
                // It may be there for a moment, and gone by now.
                (is_held && before.is_none()) || is_made(path, before)
            });
            withheld.extend(paths.map(|(path, _)| path));
            if withheld.len() == known && !is_held {
                let _ = fs::remove_file(note);
            }
        }
        withheld
    }

    /// Removes the notes that nobody holds.
    pub(super) fn forget(&self) -> io::Result<()> {
        for path in self.names() {
            if let Some((_, false)) = read(&path) {
                fs::remove_file(path)?;
            }
        }
        Ok(())
    }

    fn names(&self) -> impl Iterator<Item = PathBuf> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let paths = entries.map(|entry| entry.path()).take(MOST_NOTES);
        paths.filter(|path| path.extension().is_some_and(|end| end == ENDING))
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

fn form(paths: &Before) -> io::Result<Vec<u8>> {
    // One that is no Unicode cannot be written; no file of a project has such a name.
    let mut paths = paths.clone();
    paths.retain(|path, _| path.to_str().is_some());
    let form = Form { v: VERSION, paths };
    Ok(serde_json::to_vec(&form)?)
}

/// What a note says, and whether somebody holds it.
fn read(path: &Path) -> Option<(Form, bool)> {
    let file = File::open(path).ok()?;
    let is_held = matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock));
    let mut bytes = Vec::new();
    (&file).take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
    let form: Form = serde_json::from_slice(&bytes).ok()?;
    (form.v == VERSION).then_some((form, is_held))
}
