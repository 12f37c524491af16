//! A job's own folder for temporary files, which goes when the job does.
//!
//! What a program leaves in there may be nested deeper than a stack or a table of open
//! files bears, so it is taken apart from above: what lies in a folder is moved up, then
//! the folder is removed.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// A folder that is removed when it is dropped.
#[derive(Debug)]
pub(crate) struct Temporary {
    path: PathBuf,
}

impl Temporary {
    /// Makes a folder nobody else may enter, under a name nobody can guess.
    pub(crate) fn new(parent: &Path) -> io::Result<Self> {
        let mut bytes = [0; 12];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        let name: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let path = parent.join(format!("toolsmith-{name}"));
        fs::DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Self { path })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Temporary {
    /// Blocks for as long as it takes; dropped where that harms nobody.
    fn drop(&mut self) {
        if let Err(error) = remove(&self.path) {
            tracing::debug!(target: "toolsmith::host", "a temporary folder stays: {error}");
        }
    }
}

fn remove(top: &Path) -> io::Result<()> {
    let mut moved = 0_u64;
    loop {
        let mut is_flat = true;
        open_up(top);
        for entry in fs::read_dir(top)? {
            let entry = entry?;
            let path = entry.path();
            if !entry.file_type()?.is_dir() {
                fs::remove_file(&path)?;
                continue;
            }
            open_up(&path);
            for inner in fs::read_dir(&path)? {
                let inner = inner?;
                if !inner.file_type()?.is_dir() {
                    fs::remove_file(inner.path())?;
                    continue;
                }
                // A folder can only be moved by who may write it.
                open_up(&inner.path());
                is_flat = false;
                // A program may have left something of that name.
                let to = loop {
                    moved += 1;
                    let to = top.join(format!(".toolsmith-moved-{moved}"));
                    if fs::symlink_metadata(&to).is_err() {
                        break to;
                    }
                };
                fs::rename(inner.path(), to)?;
            }
            fs::remove_dir(&path)?;
        }
        if is_flat {
            return fs::remove_dir(top);
        }
    }
}

/// What took itself the right to be removed gets it back.
fn open_up(folder: &Path) {
    let _ = fs::set_permissions(folder, fs::Permissions::from_mode(0o700));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_in_it_goes_with_it() {
        let parent = tempfile::tempdir().unwrap();
        let outside = parent.path().join("outside");
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("stays"), "x").unwrap();
        let temporary = Temporary::new(parent.path()).unwrap();
        let path = temporary.path().to_owned();
        std::os::unix::fs::symlink(&outside, path.join("link")).unwrap();
        let mut deep = path.clone();
        for _ in 0..300 {
            deep.push("d");
            fs::create_dir(&deep).unwrap();
            fs::write(deep.join("file"), "x").unwrap();
        }
        for number in 1..5 {
            fs::create_dir_all(path.join(format!(".toolsmith-moved-{number}/x/y"))).unwrap();
        }
        fs::create_dir(path.join("shut")).unwrap();
        fs::create_dir(path.join("shut/in")).unwrap();
        fs::set_permissions(path.join("shut"), fs::Permissions::from_mode(0o000)).unwrap();
        drop(temporary);
        assert!(!path.exists());
        assert!(outside.join("stays").exists());
    }
}
