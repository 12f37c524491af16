//! Schemas of a document as JSON Schema 2020-12, small enough for a tool.
//!
//! [`Pool`] converts each schema once, however often it is referred to (`convert`). A
//! tool takes what it can reach of them, nearest first, as far as its limits allow
//! (`gather`), with `weigh` telling what a validator would make of it.

mod convert;
mod gather;
mod keywords;
mod patterns;
mod plain;
mod pool;
mod weigh;

pub(super) use gather::Cut;
pub(super) use plain::{Field, plain_object};
pub(super) use pool::{Piece, Pool, Side};
