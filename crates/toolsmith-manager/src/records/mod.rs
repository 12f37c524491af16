//! Records of calls in files: one line of JSON for each, kept by project.
//!
//! [`RecordFile`] is the recorder that writes them: each with one write before the call is
//! answered, so that whatever was answered is there even if the program is killed.
//! [`RecordReader`] reads them again, oldest first, across rotated files, and goes on
//! where it stopped; [`RecordFilter`] chooses among them and [`Summary`] counts them. What
//! a record holds is `toolsmith_core::record`'s.

mod append;
mod file;
mod filter;
mod place;
mod read;
mod summary;
mod tail;

pub use file::{RecordFile, RecordTerms};
pub use filter::RecordFilter;
pub use place::RecordPlace;
pub use read::{RecordReader, Skipped, Stored};
pub use summary::{Quantiles, Summary, ToolSummary};

/// The longest line that is written. Readers accept more, for what others wrote.
const MOST_LINE: usize = 16 << 10;
