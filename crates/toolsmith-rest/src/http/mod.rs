//! APIs over HTTP.
//!
//! An entry is checked and turned into a pattern once (`make`). A call fills the pattern
//! with arguments (`request`), sends it (`service`), reads the answer (`answer`) and
//! returns the part that the file asks for (`shape`). What connects, and to where, is
//! the guarded client's to say.

// From an entry to a tool.
mod address;
mod auth;
mod fill;
mod make;
mod place;
mod shared;
mod template;
mod tool;
mod written;

// From arguments to a request.
mod body;
mod encode;
mod pairs;
mod request;

// From a request to an answer.
mod hush;
mod oauth;
mod pace;
mod service;

// From an answer to an outcome.
mod answer;
mod failure;
mod pages;
mod shape;
mod weight;

pub(crate) use answer::value_of;
pub(crate) use body::Body;
pub(crate) use failure::excerpt;
pub(crate) use fill::{Filler, Gathered};
pub(crate) use make::add;
pub use pace::Pace;
pub(crate) use place::{is_reserved, is_token};
pub(crate) use request::Prepared;
pub(crate) use service::Service;
pub(crate) use shared::Shared;
pub(crate) use tool::{given_up, unavailable};
