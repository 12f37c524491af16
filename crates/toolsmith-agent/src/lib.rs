//! A model and its tools.
//!
//! The modules come in the order in which a question meets them.

pub mod client;
