//! Bytes as text: encodings, lines, and what is no text at all.
//!
//! `encoding` finds out how a file was written and writes it that way again; `shape`
//! tells of its lines; `kind` tells text from other things.

mod encoding;
mod kind;
mod shape;

pub(crate) use encoding::{Confidence, Encoding};
pub(crate) use kind::{FileKind, kind_of};
pub(crate) use shape::{Eol, Shape};

/// How much of the beginning of a file is looked at to tell what it is.
pub(crate) const HEAD: usize = 64 << 10;
