//! What nobody may see though it lies in a root: tokens, credentials and notes of the
//! host itself, where somebody works in a folder that holds them.

use std::os::unix::ffi::OsStrExt;

use super::{Place, Workspace};
use crate::refusal::{Reason, Refusal};

/// What is to be done with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    Read,
    Write,
}

impl Workspace {
    /// Refuses what is private. By the way without links: that costs a second walk, and
    /// only where something private lies in a root at all.
    pub(super) fn is_open_to(&self, place: &Place, usage: Use, path: &str) -> Result<(), Refusal> {
        if self.0.private.is_empty() {
            return Ok(());
        }
        let whole = self.whole(place);
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
