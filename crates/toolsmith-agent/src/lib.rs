//! A model and its tools: the loop between the two.
//!
//! An [`Agent`] offers the tools of a toolbox to a model, makes the calls the model asks
//! for, tells it what came of them, and goes on until there is an answer or a limit is
//! reached. Every call goes through [`Toolbox`](toolsmith_runtime::Toolbox) like anybody
//! else's: validated, permitted, bounded and recorded.
//!
//! ```text
//! Conversation ─ request ─▶ turn ─▶ (model) ─▶ answer ─▶ calls ─▶ (toolbox) ─▶ results ─┐
//!       └───────────────────────────────── journal ◀─────────────────────────────────┘
//! ```
//!
//! The modules come in the order in which a question meets them.

// Where models are reached.

pub mod client;

// What was said so far, and how it is kept.

pub mod conversation;

// One turn: what is sent, what comes back, what is done about it.

mod budget;
mod calls;
mod repeats;
mod turn;

// All of them, until there is an answer.

pub mod agent;
pub mod event;
pub mod limits;
pub mod report;

// Work that is given to others.

pub mod task;

pub use agent::Agent;
pub use conversation::{Conversation, Journal};
pub use event::{AgentEvent, Observer};
pub use limits::{AgentLimits, Limit, Price};
pub use report::{End, Report};
