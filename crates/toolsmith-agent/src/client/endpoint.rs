//! Where a model is and what it wants to be shown: address, key and headers.
//!
//! An endpoint is made from a configuration, or from the variables that the providers' own
//! packages read ([`Endpoint::usual`]). A key belongs to the server it was given for: it is
//! forgotten when the address changes to another.

use std::fmt;

use secrecy::{ExposeSecret, SecretString};
use toolsmith_core::reference::Lookup;
use toolsmith_provider::Provider;
use url::{Host, Url};

use super::table::{self, KeyHeader, Row};
use super::variables;

/// Where a model is reached, and with which key. `Debug` shows neither keys nor headers.
#[derive(Clone)]
pub struct Endpoint {
    pub(super) row: &'static Row,
    pub(super) url: Url,
    pub(super) key: Option<Key>,
    pub(super) headers: Vec<(String, SecretString)>,
}

/// A key, the header it is shown in, and where it is from.
#[derive(Clone)]
pub(super) struct Key {
    pub(super) secret: SecretString,
    pub(super) header: KeyHeader,
    /// The variable it was read from; none where a configuration brought it.
    pub(super) variable: Option<&'static str>,
}

/// Why there is no endpoint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EndpointError {
    /// There is no client for the provider.
    #[error("models of {0} cannot be reached from here; those that can are {known}", known = table::known())]
    WithoutClient(Provider),
    /// The key is missing.
    #[error("models of {provider} need a key: set {}", variables.join(" or "))]
    MissingKey {
        /// Whose key.
        provider: Provider,
        /// The variables one of which may hold it.
        variables: Vec<&'static str>,
    },
    /// The address cannot be used.
    #[error(
        "{source_name} is no address of a model: {reason}; write it as http://host:port/path or https://host/path"
    )]
    Url {
        /// The variable it was read from, or "the URL".
        source_name: String,
        /// What is wrong with it.
        reason: String,
    },
}

impl Endpoint {
    /// A provider at its usual address, without a key.
    ///
    /// # Errors
    /// When there is no client for it.
    pub fn new(provider: Provider) -> Result<Self, EndpointError> {
        let row = table::row(provider).ok_or(EndpointError::WithoutClient(provider))?;
        Ok(Self {
            row,
            url: read_url("the URL", row.url)?,
            key: None,
            headers: Vec::new(),
        })
    }

    /// A provider as the variables of its own packages have it: `OPENAI_API_KEY` and
    /// `OPENAI_BASE_URL`, `ANTHROPIC_API_KEY`, `GEMINI_API_KEY`, `OLLAMA_HOST` and so on.
    ///
    /// A server on this machine needs no key. `openai-compatible` is
    /// `http://127.0.0.1:8000/v1` unless `OPENAI_BASE_URL` says otherwise, and
    /// `OPENAI_API_KEY` is shown to it only then: a key is not for whatever happens to
    /// listen at a usual port.
    ///
    /// # Errors
    /// When there is no client for it, its key is not set, or its address is none.
    pub fn usual(provider: Provider, lookup: &dyn Lookup) -> Result<Self, EndpointError> {
        let mut endpoint = Self::new(provider)?;
        let named = variables::url(endpoint.row, lookup)?;
        let is_named = named.is_some();
        endpoint.url = named.unwrap_or(endpoint.url);
        if is_named || endpoint.row.needs_key {
            endpoint = endpoint.with_usual_key(lookup);
        }
        let may_lack = !endpoint.row.needs_key || is_loopback(&endpoint.url);
        if endpoint.key.is_none() && !may_lack {
            return Err(EndpointError::MissingKey {
                provider,
                variables: variables::of_keys(endpoint.row),
            });
        }
        Ok(endpoint)
    }

    /// The same at another address. Its key and its headers are forgotten where that is
    /// another server.
    ///
    /// # Errors
    /// When the text is no URL with http or https, or holds a password, a query or a
    /// fragment.
    pub fn with_url(mut self, url: &str) -> Result<Self, EndpointError> {
        let url = read_url("the URL", url)?;
        if url.origin() != self.url.origin() {
            self.key = None;
            self.headers.clear();
        }
        self.url = url;
        Ok(self)
    }

    /// Shows a key in the provider's own header.
    #[must_use]
    pub fn with_key(mut self, key: SecretString) -> Self {
        self.key = Some(Key {
            secret: key,
            header: self.row.key_header,
            variable: None,
        });
        self
    }

    /// Shows a token as `Authorization: Bearer`, whoever the provider is.
    #[must_use]
    pub fn with_bearer(mut self, token: SecretString) -> Self {
        self.key = Some(Key {
            secret: token,
            header: KeyHeader::Bearer,
            variable: None,
        });
        self
    }

    /// Shows the key that is in the provider's own variables, if one is.
    #[must_use]
    pub fn with_usual_key(mut self, lookup: &dyn Lookup) -> Self {
        self.key = variables::key(self.row, lookup).or(self.key);
        self
    }

    /// Sends a header with each request, in place of one of the same name that would be
    /// sent otherwise.
    #[must_use]
    pub fn with_header(mut self, name: impl Into<String>, value: SecretString) -> Self {
        self.headers.push((name.into(), value));
        self
    }

    /// Whose models are there.
    pub fn provider(&self) -> Provider {
        self.row.provider
    }

    /// The address beneath which requests are sent.
    pub fn url(&self) -> &str {
        self.url.as_str()
    }

    /// Tells whether it has a key to show.
    pub fn has_key(&self) -> bool {
        self.key.is_some()
    }

    /// Scheme, host and port: what errors tell of the address.
    pub(super) fn origin(&self) -> String {
        self.url.origin().ascii_serialization()
    }

    /// What is never told.
    pub(super) fn secrets(&self) -> Vec<SecretString> {
        let key = self.key.iter().map(|key| key.secret.clone());
        let headers = self.headers.iter().map(|(_, value)| value.clone());
        key.chain(headers)
            .filter(|secret| !secret.expose_secret().is_empty())
            .collect()
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("Endpoint")
            .field("provider", &self.row.provider)
            .field("url", &self.url.as_str())
            .field("has_key", &self.has_key())
            .field("headers", &names)
            .finish()
    }
}

/// Reads an address. What is wrong with it is told without repeating it: it may hold a
/// password.
pub(super) fn read_url(source_name: &str, text: &str) -> Result<Url, EndpointError> {
    let refuse = |reason: &str| EndpointError::Url {
        source_name: source_name.to_owned(),
        reason: reason.to_owned(),
    };
    let url = Url::parse(text.trim()).map_err(|error| refuse(&error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(refuse("its scheme is neither http nor https"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(refuse(
            "it holds a user name or a password; keys are sent as a header",
        ));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(refuse("it has a query or a fragment"));
    }
    Ok(url)
}

/// Tells whether an address is spelled as one of this machine.
fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name.eq_ignore_ascii_case("localhost"),
        None => false,
    }
}
