//! Where the protocol's types end and ours begin.
//!
//! Everything here translates between `rmcp`'s model and core's, and decides
//! nothing else.

/// Under what name of `_meta` a caller's key for a call is passed on. The protocol has no
/// word of its own for it.
pub(crate) const IDEMPOTENCY_KEY: &str = "toolsmith/idempotencyKey";

pub(crate) mod content;
pub(crate) mod lines;
pub(crate) mod log;
pub(crate) mod message;
pub(crate) mod outcome;
pub(crate) mod question;
pub(crate) mod readable;
pub(crate) mod structured;
pub(crate) mod tool;
