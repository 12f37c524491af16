//! The tests of `toolsmith-core` that use it from outside, in one binary.

#![expect(clippy::unwrap_used, reason = "a test may stop where it stands")]

// A crate that depends on the core alone makes `::toolsmith` mean the core.
extern crate toolsmith_core as toolsmith;

mod attribute;
mod clean;
mod closed;
mod date;
mod declared;
mod describe;
mod duration;
mod error;
mod json;
mod moment;
mod name;
mod offer;
mod plan;
mod project;
mod returned;
mod schemas;
mod support;
mod ui;
