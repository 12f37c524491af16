//! Reads patches in the `*** Begin Patch` envelope, and applies their hunks to a text.
//!
//! [`parse`] knows the envelope, [`apply`] knows one file's hunks and its text. Paths
//! are handed on as they were written, and whether all files of a patch are changed or
//! none is the caller's to keep.

mod apply;
mod miss;
mod parse;
mod seek;

pub use apply::{Patched, apply};
pub use miss::{HunkMiss, Missing};
pub use parse::{PatchError, parse};

/// What a patch does to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileChange {
    /// Writes a file, new or not.
    Add {
        /// Its path.
        path: String,
        /// What is in it, with `\n` after each line.
        content: String,
    },
    /// Removes a file.
    Delete {
        /// Its path.
        path: String,
    },
    /// Changes a file.
    Update {
        /// Its path.
        path: String,
        /// Where it is moved to, if it is.
        move_to: Option<String>,
        /// What changes, in order. Empty only if it is moved.
        hunks: Vec<Hunk>,
    },
}

impl FileChange {
    /// The path of the file, before it is moved.
    pub fn path(&self) -> &str {
        match self {
            Self::Add { path, .. } | Self::Delete { path } | Self::Update { path, .. } => path,
        }
    }
}

/// A change in one place of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hunk {
    /// The line of the patch it starts at, counted from 1.
    pub line: usize,
    /// Lines that come before the place, each somewhere after the one before it.
    pub context: Vec<String>,
    /// The lines of the place.
    pub lines: Vec<HunkLine>,
    /// Whether the place is at the end of the file.
    pub at_end: bool,
}

/// A line of a hunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HunkLine {
    /// It is there and stays.
    Keep(String),
    /// It is there and goes.
    Remove(String),
    /// It comes.
    Add(String),
}

/// How strictly lines were matched, the strictest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Fit {
    /// As they are.
    Exact,
    /// But for whitespace at their ends.
    TrailingWhitespace,
    /// But for whitespace at both ends.
    Trimmed,
    /// That, and but for quotes, dashes, spaces and accents that look the same.
    Unicode,
}

impl Fit {
    /// The stable word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::TrailingWhitespace => "trailing_whitespace",
            Self::Trimmed => "trimmed",
            Self::Unicode => "unicode",
        }
    }
}
