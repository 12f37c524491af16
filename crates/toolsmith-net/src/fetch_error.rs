//! Why a fetch came to nothing, and how far it came.

use crate::error::RefusedKind;
use crate::fetch::Hop;

/// Why a [`Fetcher`](crate::Fetcher) has no answer. The message names no query.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct FetchError {
    /// What kind of failure it is.
    pub kind: FetchErrorKind,
    /// What went wrong, in words.
    pub message: String,
    /// How far it came.
    pub facts: Facts,
}

/// What a [`FetchError`] is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FetchErrorKind {
    /// The guard refused the URL, an address or a redirect.
    Refused(RefusedKind),
    /// There are more redirects than are followed.
    Redirects,
    /// The time was over.
    TimedOut,
    /// The time was over while other bodies had all the room there is.
    NoRoom,
    /// The connection failed.
    Network,
    /// The answer's head is too long, or is not HTTP.
    Head,
    /// The answer is not encoded as it says, or unpacks to far too much.
    Encoding,
}

/// What is known of a fetch, whether it came to an answer or not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Facts {
    /// The redirects that were followed.
    pub hops: Vec<Hop>,
    /// The last URL that was asked for.
    pub final_url: String,
    /// The last status that came.
    pub status: Option<u16>,
    /// How many bytes of the last body came, as they were sent.
    pub received: u64,
}
