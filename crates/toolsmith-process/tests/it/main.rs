//! The tests of `toolsmith-process`, in one binary.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test may stop where it stands")]

mod environment;
mod errors;
mod exit;
#[cfg(target_os = "linux")]
mod sandbox;
mod separation;
mod stderr;
mod support;
#[cfg(target_os = "linux")]
mod tree;
