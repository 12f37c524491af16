//! What a tool author implements against.
//!
//! A tool is defined once ([`ToolDef`]), written as one function or one small
//! `impl` ([`Tool`]), and answers with an [`Outcome`]. This crate holds those
//! types and nothing that runs them: no network, no files, no terminal, no
//! environment and no clock. The runtime, `toolsmith-runtime`, takes a call from
//! here through validation and permission to its reply.
//!
//! ```
//! use toolsmith_core as toolsmith;
//! use toolsmith::tool;
//!
//! /// Adds two numbers.
//! #[tool(crate = "toolsmith_core", kind = "think")]
//! async fn add(a: f64, b: f64) -> f64 {
//!     a + b
//! }
//!
//! assert_eq!(add::tool().definition().description.short, "Adds two numbers.");
//! ```
//!
//! The modules come in the order in which a call meets them.

// What a tool is.

pub mod name;

pub mod schema;

pub mod definition;

mod describe;

pub mod binding;

// What a tool author writes.

pub mod tool;

pub mod context;

pub mod declared;

// What happens to a call.

pub mod offer;

pub mod call;

pub mod plan;

pub mod outcome;

pub mod error;

pub mod reply;

pub mod project;

// What watches and keeps.

pub mod event;

pub mod record;

pub mod trace;

pub mod store;

// What reads and writes text.

pub mod clean;
mod command_line;

pub mod date;

pub mod duration;

pub mod json;

pub mod moment;

pub mod rate;

pub mod reference;

#[doc(hidden)]
#[path = "support.rs"]
pub mod __private;

pub use tokio_util::sync::CancellationToken;
pub use toolsmith_macros::tool;

pub use binding::{Binding, Exposure};
pub use call::{Arguments, RawCall};
pub use command_line::{CommandLine, Commands, PlannedCommand};
pub use context::{Progress, ToolContext};
pub use definition::{
    Consent, Description, Detail, Effect, Example, Hints, Kind, Meta, Source, ToolDeclaration,
    ToolDef,
};
pub use error::{ErrorKind, ToolError};
pub use name::{CallId, ToolName, ToolRef};
pub use offer::Offer;
pub use outcome::{Block, Outcome};
pub use plan::{Confirm, Plan, Touch};
pub use reply::Reply;
pub use schema::Schema;
pub use tool::{AnyTool, BlockingTool, Tool, ToolSource};
