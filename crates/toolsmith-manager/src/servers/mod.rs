//! Upstream MCP servers as files describe them: types, reading, references.
//!
//! Servers stand under `servers:` in `toolsmith.yaml`, one a file in
//! `tools/mcp/*.yaml`, and in the `.mcp.json` that other clients use. They count
//! in that order; of two with one name the first stays. Nothing is started here,
//! and no secret is looked up before [`ServerEntry::resolve`]. Whoever starts what a
//! `.mcp.json` describes runs what came with the folder: that is to be asked first.
//!
//! ```yaml
//! servers:
//!   git:
//!     command: uvx mcp-server-git
//!     env: { GIT_TOKEN: "${env:GIT_TOKEN}" }
//!     allow: ["git_*"]
//!   search:
//!     url: https://search.example.com/mcp
//!     mcp_api_key: ${file:secrets/search}
//!     timeout: 30s
//! ```

mod entry;
mod filter;
mod form;
mod http;
mod mcp_json;
mod name;
mod read;
mod resolve;
mod word;

pub use entry::{ApiKey, Origin, Protocol, ServerEntry, Transport};
pub(crate) use entry::{bare, in_header};
pub use filter::ToolFilter;
pub use http::{HttpError, check_url};
pub use name::{NameError, ServerName};
pub use read::{Loaded, MCP_FOLDER, MCP_JSON};
pub use resolve::{ResolveError, ResolveErrorKind, ResolvedServer, ResolvedTransport};
pub use toolsmith_core::reference::{Place, Template, TemplateError};
pub use toolsmith_rest::form::sounds_secret;
pub use word::ServerWordError;

pub(crate) use form::servers;
pub(crate) use http::check_header;
pub(crate) use mcp_json::McpJson;
pub(crate) use read::{mcp_json, one};
