//! Short runs of the fuzzers, and what they need.

mod fuzz;
#[path = "../../../../fuzz/src/lib.rs"]
pub mod properties;
