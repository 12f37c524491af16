//! OAuth for upstreams over HTTP: being let in, and staying in.
//!
//! An [`Authorization`] says how: who we are, who consents, and where what was granted
//! is kept. A request that is answered 401 or `insufficient_scope` comes to the
//! `authorizer`, which finds the authorization server, gets a token from it and lets
//! the request be repeated, each within bounds. `rmcp` knows the protocol of finding,
//! registering and exchanging codes; the grants without a person are in `grants`.
//!
//! Every address an upstream or its metadata names goes through `web`, which reaches
//! public addresses over TLS and what the configuration names. A token is sent to the
//! upstream it was issued for and to nobody else. No token is logged here; `rmcp` logs
//! authorization codes at the level debug of the target `rmcp::transport::auth`, which
//! hosts keep out of their logs.

mod assertion;
mod authorizer;
mod credentials;
mod error;
mod grants;
mod options;
mod person;
mod web;

pub(super) use authorizer::{Authorizer, Gained, Refusal};
pub use credentials::{Credential, CredentialFile, Credentials};
pub use error::AuthorizeError;
pub use options::{Authorization, Consent, Enterprise, Grant, Proof, Registered, Secret};
pub use person::is_answer_to;
