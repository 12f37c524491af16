//! The model's side of a call.
//!
//! Between the tools of an [`Offer`](toolsmith_core::Offer) and a model stands the format
//! of whoever serves the model. This crate writes and reads those formats: JSON in, JSON
//! out, no network and no clock.
//!
//! ```text
//! Offer ─ declare ─▶ request ─▶ (model) ─▶ parse · stream · text ─▶ Answer ─▶ (toolbox) ─▶ render ─▶ messages
//!            └─ Dictionary: what was renamed and reshaped, and the way back ──┘
//! ```
//!
//! The modules come in the order in which a call meets them.

// Whom a model is reached through, and how it is asked for calls.

pub mod ask;
pub mod capability;
pub mod client;
pub mod formatter;
pub mod provider;
pub mod strategy;

// What a model is told.

pub mod declare;
pub mod dictionary;
mod instruct;
pub mod judge;
pub mod lower;
mod names;
mod rules;

// What a model says.

pub mod answer;
mod arguments;
pub mod parse;
pub mod repair;
pub mod stream;
pub mod text;
mod textual;
pub mod usage;

// What it is told of what came of it.

pub mod render;
pub mod script;

// All of it, for tools that were declared.

mod exchange;

pub use answer::{Answer, ParsedCall, Stop};
pub use ask::{AskError, Asked, ask};
pub use capability::Support;
pub use client::ModelClient;
pub use declare::{Declared, FormatError, Options, ToolChoice, declare, declare_as_text};
pub use dictionary::Dictionary;
pub use formatter::{Formatter, ToolFormatter};
pub use instruct::instruct;
pub use parse::{ParseError, ProviderError};
pub use provider::Provider;
pub use strategy::{OutputStrategy, StrategyError, Way};
pub use stream::{Delta, Stream};
pub use usage::Usage;
