//! MCP in both directions.
//!
//! [`server`] serves a toolbox, with resources and prompts beside it, to any MCP
//! client. Both protocol eras are spoken on every connection: the stateless one
//! of 2026-07-28, and the versions with a handshake before it. [`client`] makes
//! every MCP server a source of tools, whichever era it speaks. Both together are a
//! gateway.
//!
//! `rmcp` carries the wire and is named in this crate alone; what hosts see are
//! Toolsmith's own types.

pub mod client;
pub mod server;

mod wire;

/// A future on the heap, as object-safe traits return it.
pub type BoxFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;
