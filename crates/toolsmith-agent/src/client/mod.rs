//! Clients: models over HTTP.
//!
//! [`ModelName`] says which model, [`Endpoint`] where it is and with which key, and
//! [`HttpModel`] asks it. Requests and answers are the provider's own JSON; this module
//! adds what belongs to the way they are sent: the address, the key, the name of the
//! model, and what asks for a stream. What each provider wants of these is one row of
//! `table.rs`. Reading answers is the work of `toolsmith-provider`.
//!
//! ```
//! use toolsmith_agent::client::{Endpoint, HttpModel, HttpSettings, ModelName};
//!
//! let name: ModelName = "ollama/qwen3:8b".parse()?;
//! let endpoint = Endpoint::new(name.provider)?;
//! assert_eq!(endpoint.url(), "http://127.0.0.1:11434/");
//! let model = HttpModel::new(endpoint, name.model, HttpSettings::default())?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod endpoint;
mod failure;
mod form;
mod hush;
mod known;
mod later;
mod model;
mod name;
mod retry;
mod send;
mod settings;
mod table;
mod variables;

pub use self::endpoint::{Endpoint, EndpointError};
pub use self::known::{key_variables, providers};
pub use self::model::{HttpModel, HttpModelError};
pub use self::name::{ModelName, ModelNameError};
pub use self::settings::{HttpSettings, Retrying};
