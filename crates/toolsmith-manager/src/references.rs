//! What references in the user's files stand for: an environment the host hands over,
//! and small files beneath the root.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use toolsmith_core::reference::Lookup;

use crate::loader::load_regular;

/// How large a file with a secret may be.
const MOST: usize = 64 << 10;

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
        read_secret(&self.root.join(path))
    }
}

impl fmt::Debug for References {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("References")
            .field("root", &self.root)
            .finish_non_exhaustive()
    }
}

/// Reads a small file, and waits for nobody while it does.
fn read_secret(path: &Path) -> Result<String, String> {
    let read = load_regular(path, "", MOST).map_err(|error| error.message)?;
    let (_, bytes) = read.ok_or("there is no such file")?;
    if bytes.len() > MOST {
        return Err("it is larger than 64 kB".to_owned());
    }
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())
}
