//! What a program writes, from its bytes to what a model reads of it.
//!
//! `screen` makes plain lines of what is meant for a terminal, `capture` keeps the
//! beginning and the end of them, `keep` streams all of it to a file, and `excerpt` picks
//! what an answer shows. Nothing here knows of processes.

mod capture;
mod excerpt;
mod keep;
mod screen;

pub(crate) use capture::{Capture, HEAD};
pub(crate) use excerpt::{Excerpt, View};
pub(crate) use keep::{Keeper, KeptFile, Writing};
pub(crate) use screen::Screen;
