//! The tests of `toolsmith-net`, in one binary. All listeners are on loopback.

#![expect(clippy::unwrap_used, reason = "a test may stop where it stands")]

mod addresses;
mod client;
mod fetch;
mod hostile;
mod names;
mod redirects;
mod support;
