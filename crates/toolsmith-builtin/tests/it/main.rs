//! The tests of `toolsmith-builtin` that use it from outside, in one binary.

#![expect(clippy::unwrap_used, reason = "a test may stop where it stands")]

mod edit_property;
mod ladder;
mod patch;
