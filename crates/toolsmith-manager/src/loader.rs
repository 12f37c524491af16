//! How configuration files are read: a trait, so that a host can keep them
//! elsewhere.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use crate::files::Stamp;
use crate::yaml::{self, MAX_LARGE_BYTES, YamlError};

/// Loads configuration files. Implemented by [`FileLoader`], and by hosts that keep
/// their configuration in a database or in memory.
pub trait ConfigLoader: Send + Sync {
    /// The content of a file; none if there is no such file.
    fn load(&self, path: &Path) -> Result<Option<Vec<u8>>, YamlError>;

    /// What a file looks like without being read, by which it is told whether it
    /// changed. Where a loader cannot tell, the file is read to find out.
    fn look(&self, path: &Path) -> Option<Stamp> {
        let _ = path;
        None
    }

    /// The YAML files of a folder, by name; none if there is no such folder. A loader
    /// that has no folders need not say so.
    fn list(&self, folder: &Path) -> Result<Vec<PathBuf>, YamlError> {
        let _ = folder;
        Ok(Vec::new())
    }

    /// The other files of a folder, by name: what may be scripts.
    fn list_others(&self, folder: &Path) -> Result<Vec<PathBuf>, YamlError> {
        let _ = folder;
        Ok(Vec::new())
    }

    /// Whether a path stands for the file at that path, which a program in a sandbox may
    /// have made. A loader whose paths stand for something else says no.
    fn reads_files(&self) -> bool {
        true
    }
}

/// How many files of one folder are read.
const MOST_FILES: usize = 5000;

/// Loads from the file system: regular files only, within the size limit.
#[derive(Clone, Copy, Debug, Default)]
pub struct FileLoader;

impl ConfigLoader for FileLoader {
    fn load(&self, path: &Path) -> Result<Option<Vec<u8>>, YamlError> {
        let name = path.display().to_string();
        Ok(load_regular(path, &name, MAX_LARGE_BYTES)?.map(|(_, bytes)| bytes))
    }

    fn look(&self, path: &Path) -> Option<Stamp> {
        Some(Stamp::look(path))
    }

    fn list(&self, folder: &Path) -> Result<Vec<PathBuf>, YamlError> {
        list(folder, is_yaml)
    }

    fn list_others(&self, folder: &Path) -> Result<Vec<PathBuf>, YamlError> {
        list(folder, |path| !is_yaml(path) && path.is_file())
    }
}

fn is_yaml(path: &Path) -> bool {
    let end = path.extension();
    end.is_some_and(|end| end == "yaml" || end == "yml")
}

/// The files of a folder that are wanted, by name.
fn list(folder: &Path, wanted: impl Fn(&Path) -> bool) -> Result<Vec<PathBuf>, YamlError> {
    let name = folder.display().to_string();
    let failed = |error: std::io::Error| {
        let message = format!("it cannot be read: {error}");
        YamlError::whole(name.clone(), message)
    };
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(error)),
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(failed)?.path();
        let file_name = path.file_name().unwrap_or_default().as_encoded_bytes();
        // What begins with a dot is an editor's, or left behind on purpose.
        let is_aside = file_name.starts_with(b".") || file_name.ends_with(b"~");
        if !is_aside && wanted(&path) {
            files.push(path);
        }
        if files.len() > MOST_FILES {
            let message = format!("it holds more than {MOST_FILES} files");
            return Err(YamlError::whole(name, message));
        }
    }
    files.sort();
    Ok(files)
}

/// The bytes of a regular file within the size limit, and what the file was like before
/// they were read; none if there is no such file. It waits for nobody: what is no regular
/// file is not opened, or, where it takes the file's place meanwhile, not waited for.
pub(crate) fn load_regular(
    path: &Path,
    name: &str,
    most: usize,
) -> Result<Option<(Metadata, Vec<u8>)>, YamlError> {
    let Some((metadata, file)) = open_regular(path, name, most)? else {
        return Ok(None);
    };
    let mut bytes = Vec::new();
    // It may have grown, or have no size at all as in /proc. One byte more than allowed
    // is read, so that too large is told from full.
    let limit = most as u64 + 1;
    let read = file.take(limit).read_to_end(&mut bytes);
    read.map_err(|error| unreadable(name, &error))?;
    Ok(Some((metadata, bytes)))
}

/// A regular file within the size limit, and what it is like; none if there is no such
/// file. It is opened as [`load_regular`] says.
pub(crate) fn open_regular(
    path: &Path,
    name: &str,
    most: usize,
) -> Result<Option<(Metadata, File)>, YamlError> {
    let failed = |error: std::io::Error| unreadable(name, &error);
    // Looked at before it is opened: to open a device can do something.
    match std::fs::metadata(path) {
        Ok(metadata) => check_regular(&metadata, name, most)?,
        // Whoever put it there wants something to count, and would not learn that nothing does.
        Err(error) if error.kind() == ErrorKind::NotFound && path.is_symlink() => {
            let message = "it is a link that leads nowhere; mend or remove it";
            return Err(YamlError::whole(name.to_owned(), message));
        }
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    }
    let mut options = OpenOptions::new();
    options.read(true);
    // To open a FIFO would wait for a writer.
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt;

        let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
        options.custom_flags(flags.bits().cast_signed());
    }
    let file = match options.open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    let metadata = file.metadata().map_err(failed)?;
    check_regular(&metadata, name, most)?;
    Ok(Some((metadata, file)))
}

fn unreadable(name: &str, error: &std::io::Error) -> YamlError {
    YamlError::whole(name, format!("it cannot be read: {error}"))
}

fn check_regular(metadata: &Metadata, name: &str, most: usize) -> Result<(), YamlError> {
    let message = if metadata.is_dir() {
        "it is a folder".to_owned()
    } else if !metadata.is_file() {
        "it is no regular file".to_owned()
    } else if metadata.len() > most as u64 {
        yaml::too_large(most)
    } else {
        return Ok(());
    };
    Err(YamlError::whole(name, message))
}
