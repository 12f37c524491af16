//! Files that are read again when they changed.
//!
//! [`Kept`] is one file: what it last said that was good stays in force until it says
//! something else that is. [`Folder`] is all files of a folder; one that cannot be used
//! stops no other.

mod folder;
mod kept;
mod stamp;

pub(crate) use folder::Folder;
pub(crate) use kept::{IfGone, Kept, News};
pub(crate) use stamp::Identity;
pub use stamp::Stamp;
