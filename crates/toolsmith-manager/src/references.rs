//! What references in the user's files stand for: an environment the host hands over,
//! and small files beneath the root.

use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use toolsmith_core::reference::Lookup;

/// How large a file with a secret may be.
const MOST: u64 = 64 << 10;

/// An environment, and a folder relative files are seen from. Cheap to clone.
#[derive(Clone)]
pub struct References {
    environment: Arc<[(OsString, OsString)]>,
    root: PathBuf,
}

impl References {
    /// References into this environment and to files seen from `root`.
    pub fn new(environment: &[(OsString, OsString)], root: &Path) -> Self {
        Self {
            environment: environment.into(),
            root: root.to_owned(),
        }
    }

    /// The environment, as it was handed over.
    pub fn environment(&self) -> &[(OsString, OsString)] {
        &self.environment
    }

    /// The folder relative files are seen from.
    pub fn root(&self) -> &Path {
        &self.root
    }
}

impl Lookup for References {
    fn variable(&self, name: &str) -> Option<String> {
        let found = self.environment.iter().find(|(each, _)| each == name);
        found.and_then(|(_, value)| value.to_str().map(str::to_owned))
    }

    fn file(&self, path: &str) -> Result<String, String> {
        read_secret(&self.root.join(path)).map_err(|error| error.to_string())
    }
}

impl fmt::Debug for References {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("References")
            .field("root", &self.root)
            .finish_non_exhaustive()
    }
}

fn read_secret(path: &Path) -> std::io::Result<String> {
    let refused = |why: &str| Err(std::io::Error::other(why.to_owned()));
    // Looked at before it is opened: opening a FIFO would wait for a writer.
    if !std::fs::metadata(path)?.is_file() {
        return refused("it is no regular file");
    }
    let mut text = String::new();
    File::open(path)?.take(MOST + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MOST {
        return refused("it is larger than 64 kB");
    }
    Ok(text)
}
