//! Tools from files: APIs over HTTP, and local commands.
//!
//! An [`Entry`](form::Entry) is what a file says about one tool, or about several that
//! share an address. [`make()`] turns it into tools: `http/` sends requests, `command/`
//! starts programs, and `execute/` asks a server which tools it has. [`openapi`] writes
//! entries from a document that describes an API.
//!
//! Whatever a model wrote stays in its place: a segment of a path, a value of a query or
//! a header, a value in JSON, one argument of a program. Files are read by the caller;
//! secrets are looked up through the [`Lookup`](toolsmith_core::reference::Lookup) it
//! hands over.

mod command;
mod execute;
pub mod form;
mod http;
mod make;
pub mod openapi;
pub mod probe;
mod sort;

pub use command::script;
pub use execute::RemoteTools;
pub use http::Pace;
pub use make::{Made, Problem, Surroundings, make};
