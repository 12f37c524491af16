//! The tests of `toolsmith-rest`, in one binary.

#![expect(clippy::unwrap_used, reason = "a test may stop where it stands")]

mod command;
mod command_end;
mod command_injection;
mod script;
