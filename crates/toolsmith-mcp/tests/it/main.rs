//! The server as its clients see it: first the words, then what they mean, then
//! the roads they come by, and at last very many of them.

#![expect(clippy::unwrap_used, reason = "a test that unwraps in vain has failed")]

mod support;

mod protocol;

mod eras;

mod streams;

mod listing;

mod calls;

mod changes;

mod beside;

mod approval;

mod questions;

mod authorize;
