//! The guarded HTTP client: it reaches public addresses and what the configuration names.
//!
//! A [`Reach`] says where a [`Client`] may go. A name is resolved once, every address of
//! the answer is judged ([`is_public`]), and the connection goes to an address that was
//! judged. Addresses written into a URL are judged when a connection is about to be
//! made, whoever uses the client. Redirects stay at their origin; a [`Fetcher`] follows
//! others too, hop by hop, each judged like a first request.
//!
//! ```
//! use toolsmith_net::{Client, ClientLimits, Method, Reach, RefusedKind};
//!
//! let client = Client::new(Reach::public(), ClientLimits::default())?;
//! let refused = client.request(Method::GET, "http://0x7f.1/").unwrap_err();
//! assert_eq!(refused.kind(), RefusedKind::Address);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! No proxy is taken from the environment and no cookie is kept. A [`Client`] decompresses
//! nothing; a [`Fetcher`] does, within bounds, and all bodies it reads share one [`Room`].
//! This is the only crate that names reqwest.

mod address;
mod body;
mod client;
mod decode;
mod error;
mod fetch;
mod fetch_error;
mod gate;
mod later;
mod names;
mod reach;
mod room;
mod tls;

pub use address::is_public;
pub use body::{BodyError, read_body};
pub use client::{Client, ClientError, ClientLimits};
pub use error::{Refused, RefusedKind};
pub use fetch::{Fetch, Fetched, Fetcher, Hop, Redirects};
pub use fetch_error::{Facts, FetchError, FetchErrorKind};
pub use later::{retry_after, retry_after_millis};
pub use names::{Lookup, Names, SystemNames};
pub use reach::Reach;
pub use room::{Held, Room};

/// The client that [`Client::into_inner`] returns, for libraries that ask for it by type.
pub type HttpClient = reqwest::Client;
pub use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
pub use reqwest::{Error as HttpError, Method, RequestBuilder, Response, StatusCode};
