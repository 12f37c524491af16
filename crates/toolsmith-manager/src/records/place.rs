//! Where the records of a project are: a folder of its own beneath the user's, and the
//! names in it.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use serde_json::json;

use crate::root::{digest_of, settled};
use crate::spill::private_folder;

/// The file that is written to.
const CURRENT: &str = "calls.jsonl";
/// Held by whoever rotates.
const LOCK: &str = "lock";
/// Tells whose records these are, since a digest does not.
const PROJECT: &str = "project.json";
/// How many rotated files are looked for.
const MOST_FILES: usize = 1000;

/// The folder with the records of one project.
#[derive(Clone, Debug)]
pub struct RecordPlace {
    all: PathBuf,
    folder: PathBuf,
    root: PathBuf,
}

impl RecordPlace {
    /// The records of the project in this folder, beneath a folder for those of all.
    pub fn of_root(all: impl Into<PathBuf>, root: &Path) -> Self {
        // One folder has one log, by whatever way it is reached.
        let root = settled(root);
        let all = all.into();
        Self {
            folder: all.join(digest_of(&root)),
            all,
            root,
        }
    }

    /// The folder the records are in.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The folder of the project they are of.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The file that is written to.
    pub fn current(&self) -> PathBuf {
        self.folder.join(CURRENT)
    }

    /// The file that was written to before, the younger the lower its number.
    pub(super) fn rotated(&self, number: usize) -> PathBuf {
        self.folder.join(format!("calls.{number}.jsonl"))
    }

    pub(super) fn lock(&self) -> PathBuf {
        self.folder.join(LOCK)
    }

    /// The numbers of the rotated files there are, the youngest first.
    pub(super) fn numbers(&self) -> io::Result<Vec<usize>> {
        let mut numbers = Vec::new();
        for entry in fs::read_dir(&self.folder)?.take(4 * MOST_FILES) {
            let name = entry?.file_name();
            let number = name.to_str().and_then(|name| {
                let digits = name.strip_prefix("calls.")?.strip_suffix(".jsonl")?;
                // Written as rotation writes it; any other file is none of ours.
                let is_ours = digits.bytes().all(|digit| digit.is_ascii_digit());
                let is_ours = is_ours && !digits.starts_with('0');
                digits.parse::<usize>().ok().filter(|_| is_ours)
            });
            numbers.extend(number);
        }
        numbers.sort_unstable();
        numbers.truncate(MOST_FILES);
        Ok(numbers)
    }

    /// Every file there is, the oldest first.
    pub(super) fn files(&self) -> io::Result<Vec<PathBuf>> {
        let numbers = match self.numbers() {
            Ok(numbers) => numbers,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let rotated = numbers.into_iter().rev();
        let mut files: Vec<PathBuf> = rotated.map(|number| self.rotated(number)).collect();
        files.push(self.current());
        Ok(files)
    }

    /// Makes the folders, for their owner alone, and tells in them whose they are.
    pub(super) fn make(&self) -> io::Result<()> {
        private_folder(&self.all)?;
        private_folder(&self.folder)?;
        let project = self.folder.join(PROJECT);
        if !project.exists() {
            // Records are worth more than a word on whose they are.
            let _ = self.tell_whose(&project);
        }
        Ok(())
    }

    fn tell_whose(&self, project: &Path) -> io::Result<()> {
        static TOLD: AtomicU64 = AtomicU64::new(0);

        // Beside it first, so that nobody finds half of it; several may be at it at once.
        let number = TOLD.fetch_add(1, Ordering::Relaxed);
        let fresh = format!("{PROJECT}.{}.{number}", std::process::id());
        let fresh = self.folder.join(fresh);
        let text = json!({ "v": 1, "root": self.root.to_string_lossy() });
        let mut file =
            private(OpenOptions::new().write(true).create(true).truncate(true)).open(&fresh)?;
        writeln!(file, "{text}")?;
        fs::rename(fresh, project)
    }
}

/// Opens a file for its owner alone, and waits for nobody: what is no regular file, or is
/// a link to one, is refused.
pub(super) fn open_own(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let file = private(options).open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;

        if metadata.permissions().mode() & 0o077 != 0 {
            file.set_permissions(fs::Permissions::from_mode(0o600))?;
        }
    }
    Ok(file)
}

/// Opens a file to read it, in the same way; none if there is no such file.
pub(super) fn open_to_read(path: &Path) -> io::Result<Option<File>> {
    let mut options = OpenOptions::new();
    options.read(true);
    flagged(&mut options);
    match options.open(path) {
        Ok(file) if file.metadata()?.is_file() => Ok(Some(file)),
        Ok(_) => Err(io::Error::other("it is no regular file")),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Which file this is, whatever it is called by now. The number a system gives a file goes
/// to another one when it is removed, so when it was made is a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileId {
    number: (u64, u64),
    made: Option<SystemTime>,
}

impl FileId {
    pub(super) fn of(metadata: &Metadata) -> Self {
        #[cfg(unix)]
        let number = {
            use std::os::unix::fs::MetadataExt;

            (metadata.dev(), metadata.ino())
        };
        #[cfg(not(unix))]
        let number = (0, 0);
        Self {
            number,
            made: metadata.created().ok(),
        }
    }
}

/// Tells whether nobody can find the file any more.
pub(super) fn is_removed(metadata: &Metadata) -> bool {
    #[cfg(unix)]
    return std::os::unix::fs::MetadataExt::nlink(metadata) == 0;
    #[cfg(not(unix))]
    {
        let _ = metadata;
        false
    }
}

fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    flagged(options)
}

/// To open a FIFO would wait for somebody; a link may lead anywhere.
fn flagged(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt;

        let flags = OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW;
        options.custom_flags(flags.bits().cast_signed());
    }
    options
}
