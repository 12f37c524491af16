//! How configuration files are read: a trait, so that a host can keep them
//! elsewhere.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::yaml::{MAX_BYTES, YamlError};

/// Loads configuration files. Implemented by [`FileLoader`], and by hosts that keep
/// their configuration in a database or in memory.
pub trait ConfigLoader: Send + Sync {
    /// The content of a file; none if there is no such file.
    fn load(&self, path: &Path) -> Result<Option<Vec<u8>>, YamlError>;

    /// The YAML files of a folder, by name; none if there is no such folder. A loader
    /// that has no folders need not say so.
    fn list(&self, folder: &Path) -> Result<Vec<PathBuf>, YamlError> {
        let _ = folder;
        Ok(Vec::new())
    }
}

/// How many files of one folder are read.
const MOST_FILES: usize = 1000;

/// Loads from the file system: regular files only, within the size limit.
#[derive(Clone, Copy, Debug, Default)]
pub struct FileLoader;

impl ConfigLoader for FileLoader {
    fn load(&self, path: &Path) -> Result<Option<Vec<u8>>, YamlError> {
        let name = path.display().to_string();
        let failed = |error: std::io::Error| {
            let message = format!("it cannot be read: {error}");
            YamlError::whole(name.clone(), message)
        };
        // Looked at before it is opened: opening a FIFO would wait for a writer.
        let metadata = match std::fs::metadata(path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        if !metadata.is_file() {
            let what = if metadata.is_dir() {
                "a folder"
            } else {
                "no regular file"
            };
            return Err(YamlError::whole(name, format!("it is {what}")));
        }
        let mut bytes = Vec::new();
        let file = File::open(path).map_err(failed)?;
        // One byte more than allowed is read, so that too large is told from full.
        let limit = MAX_BYTES as u64 + 1;
        file.take(limit).read_to_end(&mut bytes).map_err(failed)?;
        Ok(Some(bytes))
    }

    fn list(&self, folder: &Path) -> Result<Vec<PathBuf>, YamlError> {
        let name = folder.display().to_string();
        let failed = |error: std::io::Error| {
            let message = format!("it cannot be read: {error}");
            YamlError::whole(name.clone(), message)
        };
        let entries = match std::fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed(error)),
        };
        let mut files = Vec::new();
        for entry in entries {
            let path = entry.map_err(failed)?.path();
            let is_yaml = path
                .extension()
                .is_some_and(|end| end == "yaml" || end == "yml");
            let file_name = path.file_name().unwrap_or_default();
            // What begins with a dot is an editor's, or left behind on purpose.
            if is_yaml && !file_name.as_encoded_bytes().starts_with(b".") {
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
}
