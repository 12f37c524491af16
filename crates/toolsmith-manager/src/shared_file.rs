//! A file of ours that several processes may write at once.
//!
//! Whoever writes holds the folder's lock, reads what is there, and puts a whole new file
//! in its place: readers need no lock and see all of the old or all of the new. The lock
//! is the folder's and not the file's, since the file is another one after each write.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// How often a lock that somebody holds is tried, and the pause between.
const TRIES: u32 = 500;
const PAUSE: Duration = Duration::from_millis(10);

/// Who may read a file that is new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Readers {
    /// Whoever the user lets read new files.
    AsUsual,
    /// The user alone.
    Owner,
}

/// The right to write in a folder, until it is dropped.
#[derive(Debug)]
pub(crate) struct FolderLock {
    /// Closed, it gives the lock back.
    _folder: File,
}

impl FolderLock {
    /// Waits for the right, for a while: whoever holds it writes one small file.
    pub(crate) fn wait(folder: &Path) -> io::Result<Self> {
        let folder = File::open(folder)?;
        for _ in 0..TRIES {
            match folder.try_lock() {
                Ok(()) => return Ok(Self { _folder: folder }),
                Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
        let message = "another process has been writing in its folder for too long";
        Err(io::Error::new(io::ErrorKind::TimedOut, message))
    }
}

/// Puts a whole new file in the place of a path.
pub(crate) fn replace(path: &Path, bytes: &[u8], readers: Readers) -> io::Result<()> {
    let (beside, mut file) = beside(path, readers)?;
    let written = (|| {
        file.write_all(bytes)?;
        if readers == Readers::AsUsual
            && let Ok(old) = fs::symlink_metadata(path)
            && old.is_file()
        {
            file.set_permissions(old.permissions())?;
        }
        // On disk before it has the name, so that a name never stands for half a file.
        file.sync_all()?;
        fs::rename(&beside, path)
    })();
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}

/// A new file in the same folder.
fn beside(path: &Path, readers: Readers) -> io::Result<(PathBuf, File)> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if readers == Readers::Owner {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    #[cfg(not(unix))]
    let _ = readers;
    // A name that is taken was left behind by a process of the same number.
    for _ in 0..100 {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let beside = format!(".{name}.{}-{number}", std::process::id());
        let beside = path.with_file_name(beside);
        match options.open(&beside) {
            Ok(file) => return Ok((beside, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}
