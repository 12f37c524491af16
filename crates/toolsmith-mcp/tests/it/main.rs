//! The server as its clients see it: first the words, then what they mean, then
//! the roads they come by, and at last very many of them.

#![expect(clippy::unwrap_used, reason = "a test that unwraps in vain has failed")]
#![expect(
    clippy::needless_pass_by_value,
    reason = "messages are written where they are sent"
)]

mod support;

mod web;

mod protocol;

mod envelopes;

mod eras;

mod lifecycle;

mod streams;

mod listing;

mod calls;

mod changes;

mod beside;

mod approval;

mod questions;

mod tasks;

mod http_admission;

mod http_wire;

mod http_life;

mod token;

mod views;

mod load;

mod gateway;

mod gateway_beside;

mod traces;

#[cfg(target_os = "linux")]
mod upstream;

#[cfg(target_os = "linux")]
mod pins;

mod upstream_http;

mod authorize;
