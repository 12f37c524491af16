//! What holds for every input: one file a property, each with `check`, which panics where it does not hold.
//!
//! Two drivers use these files and nothing else does: `fuzz_targets/*.rs` hand them what
//! libFuzzer finds, and `crates/toolsmith-testing/tests/it/fuzz` hands them the seeds and
//! what it makes of them, so that every run of the tests is a short run of the fuzzers.
//! Whatever is checked is reached through public APIs.

pub mod arguments;
mod ground;
pub mod json_rpc;
pub mod patch;
pub mod paths;
pub mod policy;
pub mod repair;
pub mod shell_line;
pub mod stream;
pub mod text;
pub mod urls;
pub mod yaml;
