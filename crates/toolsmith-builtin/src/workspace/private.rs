//! What nobody may see though it lies in a root: tokens, credentials and notes of the
//! host itself, where somebody works in a folder that holds them.

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::{Place, Workspace};
use crate::refusal::{Reason, Refusal};

/// What is to be done with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    Read,
    Write,
}

impl Workspace {
    /// Whether something private lies in a root at all; only then it costs anything.
    pub(super) fn has_private(&self) -> bool {
        !self.0.private.is_empty()
    }

    /// Refuses what is private, whether or not it is there. By the way without links, as it
    /// is now: what was opened after that is asked about once more.
    pub(super) fn is_open_to(&self, place: &Place, usage: Use, path: &str) -> Result<(), Refusal> {
        match self.has_private() {
            true => self.is_open(&self.whole(place), usage, path),
            false => Ok(()),
        }
    }

    /// Refuses what is private, of a place that was opened: no links lead there, since
    /// it is walked to where something is private.
    pub(super) fn is_open_here(
        &self,
        place: &Place,
        usage: Use,
        path: &str,
    ) -> Result<(), Refusal> {
        let root = self.roots()[place.root()].path();
        self.is_open(&root.join(place.relative()), usage, path)
    }

    fn is_open(&self, whole: &Path, usage: Use, path: &str) -> Result<(), Refusal> {
        let is_private = self
            .0
            .private
            .iter()
            .any(|private| whole.starts_with(private));
        let mut readable = self.roots().iter().filter(|root| !root.may_write);
        let may_read = usage == Use::Read && readable.any(|root| whole.starts_with(root.path()));
        if !is_private || may_read {
            return Ok(());
        }
        let message = format!("{path} belongs to Toolsmith itself");
        Err(Refusal::new(Reason::Denied, message).next("Leave it alone"))
    }

    /// The ways from a root to what is private in it.
    pub(crate) fn private_beneath(&self, root: usize) -> Vec<Vec<u8>> {
        let root = &self.roots()[root];
        let ways = self.0.private.iter();
        let ways = ways.filter_map(|private| private.strip_prefix(root.path()).ok());
        ways.map(|way| way.as_os_str().as_bytes().to_vec())
            .collect()
    }
}

/// A path of the host's without links. Of what is not there yet, the way to the last folder
/// that is: what is made there later is as private.
#[expect(
    clippy::disallowed_methods,
    reason = "the host's own path, which nothing is opened by"
)]
pub(super) fn without_links(path: &Path) -> io::Result<PathBuf> {
    let named = std::path::absolute(path)?;
    for there in named.ancestors() {
        if let (Ok(real), Ok(rest)) = (there.canonicalize(), named.strip_prefix(there)) {
            return Ok(real.iter().chain(rest).collect());
        }
    }
    Ok(named)
}
