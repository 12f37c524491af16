//! OpenAPI documents as tools: one for each operation.
//!
//! [`read()`] takes a document's bytes, [`import()`] makes an [`Entry`] of it, and
//! [`to_yaml()`] writes that as a file a person can read and change. All of it is pure:
//! documents are fetched and files are written by the caller, and requests are sent by
//! whatever the entry is made into.
//!
//! A document is written by somebody else. Every operation in it becomes a tool or is
//! listed with the reason why not; references are followed once each and within the
//! document only; and a tool's schema has a size, however large what it refers to is.
//!
//! ```
//! use toolsmith_rest::openapi::{self, Options, ReadLimits};
//!
//! let text = r#"
//! openapi: 3.1.0
//! info: { title: Pets, version: "1" }
//! servers: [{ url: "https://pets.example/v1" }]
//! paths:
//!   /pets/{id}:
//!     get:
//!       operationId: showPet
//!       summary: Shows the pet of a number.
//!       parameters:
//!         - { name: id, in: path, required: true, schema: { type: integer } }
//!       responses: {}
//! "#;
//! let document = openapi::read(text.as_bytes(), &ReadLimits::default())?;
//! let imported = openapi::import(&document, &Options::default())?;
//! let tool = &imported.entry.tools[0].value;
//! assert_eq!(tool.name.as_ref().map(|name| name.value.as_str()), Some("show_pet"));
//! # Ok::<(), openapi::OpenApiError>(())
//! ```

mod arguments;
mod body;
mod import;
mod live;
mod naming;
mod notes;
mod operation;
mod options;
mod outline;
mod parameters;
mod read;
mod refer;
mod response;
mod schema;
mod security;
mod servers;
mod text;
mod variables;
mod words;
mod yaml;

pub use import::{Imported, LeftOut, import};
pub use live::{FetchError, LiveDocument, fetch, import_over};
pub use options::{Filter, Options};
pub use read::{Document, OpenApiError, ReadLimits, read};
pub use yaml::to_yaml;

#[cfg(doc)]
use crate::form::Entry;
