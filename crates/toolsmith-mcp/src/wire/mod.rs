//! Where the protocol's types end and ours begin.
//!
//! Everything here translates between `rmcp`'s model and core's, and decides
//! nothing else.

pub(crate) mod content;
pub(crate) mod lines;
pub(crate) mod log;
pub(crate) mod message;
pub(crate) mod outcome;
pub(crate) mod question;
pub(crate) mod structured;
pub(crate) mod tool;
