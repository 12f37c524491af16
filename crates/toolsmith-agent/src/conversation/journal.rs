//! Where a conversation is kept while it grows.

use super::Entry;

/// Keeps the entries of one conversation, in order. Implemented by hosts: in a file, in
/// memory, elsewhere.
///
/// An entry that was appended must still be there when the program is killed right
/// afterwards, and a torn one must be told from a whole one: no call is made before the
/// answer that asks for it is kept, so that none is ever made twice.
pub trait Journal: Send + Sync {
    /// Keeps an entry. It may be called from several threads.
    ///
    /// # Errors
    /// When it could not be kept; the run then ends.
    fn append(&self, entry: &Entry) -> Result<(), JournalError>;
}

/// Why an entry could not be kept.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("could not keep the conversation: {0}")]
pub struct JournalError(pub String);
