//! One door between a model and every tool it may use.
//!
//! Three nouns carry everything:
//!
//! - a **tool** is a function with a definition a model can read;
//! - a **toolbox** holds tools and is the one door to them: a call that comes out at
//!   the other end was resolved, validated, planned, permitted, bounded and recorded;
//! - an **outcome** is what came of a call, for the model, the person and the program.
//!
//! ```
//! use serde_json::json;
//! use toolsmith::prelude::*;
//!
//! /// Adds two numbers and returns the sum.
//! #[tool(effect = "read")]
//! async fn add(
//!     /// The first number.
//!     a: f64,
//!     /// The second number.
//!     b: f64,
//! ) -> f64 {
//!     a + b
//! }
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let toolbox = Toolbox::new([add::tool()])?;
//! let call = RawCall::new("add", json!({"a": 2, "b": 3}));
//! let outcome = toolbox.run(call, &Caller::new("me")).await.into_outcome();
//! assert_eq!(outcome.value, Some(json!(5.0)));
//! # Ok(())
//! # }
//! ```
//!
//! # Where to look
//!
//! | to | see |
//! |---|---|
//! | define a tool | [`macro@tool`], [`ToolDef`], [`Tool`] |
//! | call it | [`Toolbox::run`], [`Toolbox::run_all`], [`Caller`] |
//! | decide what may run | [`permit::Policy`], [`permit::Guard`], [`permit::Approver`] |
//! | hear what happens | [`event::Recorder`], [`event::MetricsCollector`] |
//! | read a result | [`Outcome`], [`project`] |
//! | let a model use the tools | `agent::Agent`, `agent::client::HttpModel` |
//! | serve the tools to MCP clients | `mcp::server::Server` |
//! | record calls and play them again | [`tape::Recording`], [`tape::Replay`] |
//!
//! # Features
//!
//! `runtime` (default) brings the life of a call; without it the crate only defines
//! tools. `provider` declares tools to models and reads their answers. `agent` asks
//! models over HTTP and makes the calls they ask for. `mcp` serves toolboxes to MCP clients
//! and makes MCP servers sources of tools. `manager` builds toolboxes from files.

pub use toolsmith_core::*;

#[doc(hidden)]
pub use toolsmith_core::__private;

#[cfg(feature = "runtime")]
pub use toolsmith_runtime::{
    BuildError, Caller, Explanation, Inquirer, Limits, Order, Selection, Toolbox, ToolboxBuilder,
    permit, record, registry, shape, tape, validate,
};

#[cfg(feature = "provider")]
pub use toolsmith_provider as provider;

#[cfg(feature = "agent")]
pub use toolsmith_agent as agent;

#[cfg(feature = "mcp")]
pub use toolsmith_mcp as mcp;

#[cfg(feature = "manager")]
pub use toolsmith_manager as manager;

/// The names a first tool needs.
pub mod prelude {
    pub use toolsmith_core::{
        AnyTool, ErrorKind, Outcome, Plan, RawCall, Reply, ToolContext, ToolError, Touch, tool,
    };

    #[cfg(feature = "runtime")]
    pub use toolsmith_runtime::{Caller, Toolbox};
}

/// The pages of the documents whose code must compile; the tests of the binary see to it that
/// no page with code is missing.
#[cfg(doctest)]
mod pages {
    macro_rules! page {
        ($name:ident, $file:literal) => {
            #[doc = include_str!(concat!("../../../docs/", $file))]
            mod $name {}
        };
    }

    page!(agents, "agents.md");
    page!(models, "models.md");
    page!(record_and_replay, "record-and-replay.md");
    page!(records, "records.md");
    page!(sandbox, "sandbox.md");
    #[cfg(target_os = "linux")]
    page!(shell, "shell.md");
}
