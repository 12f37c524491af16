//! The loop between a model and its tools, from outside.

#![expect(clippy::unwrap_used, reason = "a test that unwraps in vain has failed")]

mod client_answers;
mod client_broken;
mod client_endpoints;
mod client_errors;
mod client_retries;
mod client_support;
mod conversation;
mod limits;
mod run;
mod support;
mod task;
