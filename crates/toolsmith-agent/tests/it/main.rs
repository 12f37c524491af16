//! The loop between a model and its tools, from outside.

#![expect(clippy::unwrap_used, reason = "a test that unwraps in vain has failed")]

mod conversation;
mod limits;
mod run;
mod support;
mod task;
