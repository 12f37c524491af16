//! Records of calls in files: one line of JSON for each, kept by project.
//!
//! [`RecordFile`] is the recorder that writes them: each with one write before the call is
//! answered, so that whatever was answered is there even if the program is killed.
//! [`RecordReader`] reads them again, oldest first, across rotated files, and goes on
//! where it stopped. What a record holds is `toolsmith_core::record`'s.

mod append;
mod file;
mod place;
mod read;
mod tail;

pub use file::{RecordFile, RecordTerms};
pub use place::RecordPlace;
pub use read::{RecordReader, Skipped, Stored};

/// The longest line that is written. Readers accept more, for what others wrote.
const MOST_LINE: usize = 16 << 10;
