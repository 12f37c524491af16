//! A loader that leaves out what appeared while programs ran.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Appeared;
use crate::files::Stamp;
use crate::loader::ConfigLoader;
use crate::yaml::YamlError;

/// Another loader, for which what is withheld is not there.
pub(crate) struct Withholding {
    inner: Arc<dyn ConfigLoader>,
    appeared: Appeared,
}

impl Withholding {
    pub(crate) fn new(inner: Arc<dyn ConfigLoader>, appeared: Appeared) -> Self {
        Self { inner, appeared }
    }
}

/// Whether something is withheld is asked after it was read: before a program can make
/// anything, it is noted that it could.
impl ConfigLoader for Withholding {
    fn load(&self, path: &Path) -> Result<Option<Vec<u8>>, YamlError> {
        match self.inner.load(path) {
            Ok(None) => Ok(None),
            // What is wrong with it is nobody's concern either.
            _ if self.appeared.withholds(path) => Ok(None),
            loaded => loaded,
        }
    }

    fn look(&self, path: &Path) -> Option<Stamp> {
        // Nothing is known of it, so that it is read as soon as it is accepted.
        match self.appeared.was_withheld(path) {
            true => None,
            false => self.inner.look(path),
        }
    }

    fn list(&self, folder: &Path) -> Result<Vec<PathBuf>, YamlError> {
        let listed = self.inner.list(folder);
        match self.appeared.withholds(folder) {
            true => Ok(Vec::new()),
            false => listed,
        }
    }

    fn list_others(&self, folder: &Path) -> Result<Vec<PathBuf>, YamlError> {
        let listed = self.inner.list_others(folder);
        match self.appeared.withholds(folder) {
            true => Ok(Vec::new()),
            false => listed,
        }
    }
}
