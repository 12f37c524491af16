//! How the sources of a program that serves are doing, for other programs of the same user.
//!
//! Circuits and queues live in the process that makes the calls. Each such process has a
//! folder of its own beneath the project's, with a lock that it holds for as long as it
//! lives and a file that is put there anew when something changed. Whoever reads takes a
//! folder whose lock is free for one left behind, and removes it.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use toolsmith_runtime::shield::SourceStatus;

use crate::root::digest_of;
use crate::shared_file::{Readers, replace};
use crate::spill::private_folder;

/// The form the file has.
const VERSION: u32 = 1;
const LOCK: &str = "lock";
const STATUS: &str = "sources.json";
/// How many programs that serve one project are looked at.
const MOST_PROGRAMS: usize = 64;
/// How much of a file is read.
const MOST_BYTES: u64 = 4 << 20;

/// Where the programs that serve one project tell of themselves.
#[derive(Clone, Debug)]
pub struct ServingPlace {
    folder: PathBuf,
}

/// A program that serves, and tells how its sources are doing until it is dropped.
#[derive(Debug)]
pub struct Serving {
    folder: PathBuf,
    process: u32,
    told: Option<Vec<SourceStatus>>,
    /// Closed, it says that the program has ended.
    _lock: File,
}

/// What a program that serves has told.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Served {
    /// The form it is told in.
    v: u32,
    /// The number of its process.
    pub process: u32,
    /// How its sources are doing.
    pub sources: Vec<SourceStatus>,
}

impl ServingPlace {
    /// The place for the project in this folder, beneath a folder for those of all.
    pub fn of_root(all: impl AsRef<Path>, root: &Path) -> Self {
        let folder = all.as_ref().join(digest_of(&crate::root::settled(root)));
        Self { folder }
    }

    /// Begins to tell, in the name of this process.
    ///
    /// # Errors
    /// When the folder cannot be made or written.
    pub fn begin(&self) -> io::Result<Serving> {
        private_folder(&self.folder)?;
        let process = std::process::id();
        let folder = self.own_folder(process)?;
        // It has its name only when it is held, so that nobody takes it for left behind.
        let unnamed = folder.join("lock.new");
        let lock = File::create(&unnamed)?;
        lock.try_lock()?;
        fs::rename(unnamed, folder.join(LOCK))?;
        Ok(Serving {
            folder,
            process,
            told: None,
            _lock: lock,
        })
    }

    /// A folder that nobody has; processes in other containers may have the same number.
    fn own_folder(&self, process: u32) -> io::Result<PathBuf> {
        for number in 0..MOST_PROGRAMS {
            let folder = self.folder.join(format!("{process}-{number}"));
            match fs::create_dir(&folder) {
                Ok(()) => return Ok(folder),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// What the programs tell that serve the project now, by the number of their process.
    pub fn served(&self) -> Vec<Served> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let folders = entries.map(|entry| entry.path()).take(MOST_PROGRAMS);
        let mut served: Vec<Served> = folders.filter_map(|folder| read(&folder)).collect();
        served.sort_by_key(|each| each.process);
        served
    }
}

impl Serving {
    /// Tells how the sources are doing, if that changed.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn tell(&mut self, sources: Vec<SourceStatus>) -> io::Result<()> {
        if self.told.as_ref() == Some(&sources) {
            return Ok(());
        }
        let served = Served {
            v: VERSION,
            process: self.process,
            sources,
        };
        let bytes = serde_json::to_vec(&served)?;
        replace(&self.folder.join(STATUS), &bytes, Readers::Owner)?;
        self.told = Some(served.sources);
        Ok(())
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// What is told in a folder; a folder that nobody holds is removed, and tells nothing.
fn read(folder: &Path) -> Option<Served> {
    let lock = File::open(folder.join(LOCK)).ok()?;
    if lock.try_lock_shared().is_ok() {
        let _ = fs::remove_dir_all(folder);
        return None;
    }
    let file = File::open(folder.join(STATUS)).ok()?;
    let mut bytes = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
    let served: Served = serde_json::from_slice(&bytes).ok()?;
    (served.v == VERSION).then_some(served)
}
