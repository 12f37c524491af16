//! Large outputs in files: readable by their owner only, kept for a week, and no more
//! of them than a disk can bear.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use sha2::{Digest as _, Sha256};
use toolsmith_core::store::{Spill, SpillError, SpillStore, Spilled};

/// How long a file is kept.
const KEPT: Duration = Duration::from_secs(7 * 24 * 3600);
/// How many bytes one output may take on disk.
const MAX_BYTES: usize = 64 << 20;
/// How many bytes all of them may take; the oldest make room.
const MAX_TOTAL_BYTES: u64 = 512 << 20;

/// Keeps large outputs as files in one folder.
#[derive(Clone, Debug)]
pub struct FileSpills {
    folder: PathBuf,
    /// The folder whose files are kept within bounds: it itself, or the one above.
    all: PathBuf,
    written: Arc<AtomicU64>,
}

impl FileSpills {
    /// Keeps them in this folder, which is made when it is first needed.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        let folder = folder.into();
        Self {
            all: folder.clone(),
            folder,
            written: Arc::default(),
        }
    }

    /// Keeps them in a folder within this one that is for the tools of these roots alone:
    /// what they may read again is theirs, and not that of other projects.
    pub fn of_roots(all: impl Into<PathBuf>, roots: &[&Path]) -> Self {
        let mut hasher = Sha256::new();
        for root in roots {
            let root = std::path::absolute(root).unwrap_or_else(|_| root.to_path_buf());
            hasher.update(root.as_os_str().as_encoded_bytes());
            hasher.update([0]);
        }
        let digest = hasher.finalize();
        let name: String = digest[..16].iter().map(|b| format!("{b:02x}")).collect();
        let all = all.into();
        Self {
            folder: all.join(name),
            all,
            written: Arc::default(),
        }
    }

    /// Makes a file for an output that is written while it comes, readable by its owner
    /// only. Old ones make room for it as for others.
    ///
    /// # Errors
    /// When the system does not make it.
    pub fn create(&self, stem: &str) -> std::io::Result<(PathBuf, fs::File)> {
        let number = self.written.fetch_add(1, Ordering::Relaxed);
        let stem = format!("{stem}-{}-{number}", std::process::id());
        create(&self.folder, &self.all, &stem)
    }

    /// The folder they are in.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

impl SpillStore for FileSpills {
    fn keep<'a>(
        &'a self,
        spill: Spill<'a>,
    ) -> Pin<Box<dyn Future<Output = Result<Spilled, SpillError>> + Send + 'a>> {
        let name: String = spill
            .call
            .as_str()
            .chars()
            .filter(|c| c.is_ascii_alphanumeric() || *c == '-')
            .take(40)
            .collect();
        let number = self.written.fetch_add(1, Ordering::Relaxed);
        let stem = format!("{}-{name}-{}-{number}", spill.tool, std::process::id());
        let (folder, all, shown) = (self.folder.clone(), self.all.clone(), spill.shown);
        let length = spill.text.len();
        let end = spill.text.floor_char_boundary(length.min(MAX_BYTES));
        let text = spill.text[..end].to_owned();
        Box::pin(async move {
            let writing = tokio::task::spawn_blocking(move || write(&folder, &all, &stem, &text));
            let (path, bytes) = writing
                .await
                .map_err(|error| SpillError(error.to_string()))?
                .map_err(|error| SpillError(error.to_string()))?;
            let path = path.display().to_string();
            let what = if end < length {
                format!("the first {end} of {length} bytes are in")
            } else {
                "the whole is in".to_owned()
            };
            let quoted = quoted(&path);
            let read_on = format!(
                "{what} {quoted}; read on with: tail -c +{} {quoted}",
                shown + 1
            );
            Ok(Spilled::new(path, bytes, read_on))
        })
    }
}

/// A path as a shell takes it for one word.
fn quoted(path: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,:@%".contains(c);
    if path.chars().all(is_plain) {
        return Cow::Borrowed(path);
    }
    Cow::Owned(format!("'{}'", path.replace('\'', r"'\''")))
}

fn write(folder: &Path, all: &Path, stem: &str, text: &str) -> std::io::Result<(PathBuf, u64)> {
    let (path, mut file) = create(folder, all, stem)?;
    if let Err(error) = file.write_all(text.as_bytes()) {
        // Half an output would be taken for a whole one.
        let _ = fs::remove_file(&path);
        return Err(error);
    }
    Ok((path, text.len() as u64))
}

fn create(folder: &Path, all: &Path, stem: &str) -> std::io::Result<(PathBuf, fs::File)> {
    private_folder(all)?;
    private_folder(folder)?;
    // A name that exists already belongs to another run with the same process id.
    for attempt in 0..100 {
        let path = folder.join(format!("{stem}-{attempt}.txt"));
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        match options.open(&path) {
            Ok(file) => {
                forget_old(all, &path);
                return Ok((path, file));
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(std::io::ErrorKind::AlreadyExists.into())
}

pub(crate) fn private_folder(folder: &Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)?;
    // One that was there already may be open to others.
    #[cfg(unix)]
    fs::set_permissions(folder, std::os::unix::fs::PermissionsExt::from_mode(0o700))?;
    Ok(())
}

/// Tells whether a file is named as outputs are: it begins with a name, and ends in the number
/// of a process, of an output and of an attempt. Whatever else somebody keeps there stays.
fn is_ours(name: &OsStr) -> bool {
    let stem = name.to_str().and_then(|name| name.strip_suffix(".txt"));
    // Written as numbers are, and not as in dates.
    let is_number = |part: &str| {
        let is_plain = part == "0" || !part.starts_with('0');
        is_plain && !part.is_empty() && part.bytes().all(|it| it.is_ascii_digit())
    };
    stem.is_some_and(|stem| {
        let mut parts = stem.rsplitn(4, '-');
        let ends = parts
            .by_ref()
            .take(3)
            .filter(|part| is_number(part))
            .count()
            == 3;
        ends && parts.next().is_some()
    })
}

/// Removes files older than a week, and the oldest of the others while there are too
/// many bytes of them. What was written just now tells the time, so no clock is
/// needed, and a file system with another idea of it is consistent.
fn forget_old(folder: &Path, fresh: &Path) {
    let modified = |path: &Path| fs::symlink_metadata(path).and_then(|m| m.modified()).ok();
    let Some(now) = modified(fresh) else {
        return;
    };
    let mut kept: Vec<(SystemTime, PathBuf, u64)> = Vec::new();
    let is_folder = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    let listed = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten();
    let (folders, mut files): (Vec<_>, Vec<_>) = listed(folder).partition(is_folder);
    // Those of all roots; the folders stay, since whoever works in them holds them open.
    files.extend(folders.iter().flat_map(|each| listed(&each.path())));
    for entry in files {
        if !is_ours(&entry.file_name()) {
            continue;
        }
        let Ok(metadata) = entry.metadata() else {
            continue;
        };
        let (Ok(then), path) = (metadata.modified(), entry.path()) else {
            continue;
        };
        if now.duration_since(then).is_ok_and(|age| age > KEPT) {
            let _ = fs::remove_file(path);
        } else if metadata.is_file() {
            kept.push((then, path, metadata.len()));
        }
    }
    kept.sort();
    let mut total: u64 = kept.iter().map(|(_, _, bytes)| bytes).sum();
    for (_, path, bytes) in kept {
        if total <= MAX_TOTAL_BYTES {
            return;
        }
        // A reply is about to name this one.
        if path != fresh && fs::remove_file(path).is_ok() {
            total -= bytes;
        }
    }
}
