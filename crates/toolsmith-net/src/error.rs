//! Why a request was refused before anything was sent.
//!
//! A refusal made while connecting travels inside the client's own error;
//! [`Refused::find`] takes it out again. No message repeats a query or a password.

use std::error::Error;
use std::net::IpAddr;

use url::Url;

/// Why the guard refused, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// The text is no URL.
    #[error("read {url:?} as a URL: {reason}; write it as http://host/path or https://host/path")]
    Url {
        /// The text, up to where a secret may begin.
        url: String,
        /// What is wrong with it.
        reason: url::ParseError,
    },
    /// The scheme is neither http nor https.
    #[error("reach a URL with the scheme {scheme:?}; only http and https are supported")]
    Scheme {
        /// The scheme.
        scheme: String,
    },
    /// The URL holds a user name or a password.
    #[error(
        "reach {origin}: the URL holds a user name or a password; send credentials as a header"
    )]
    Credentials {
        /// Scheme, host and port of the URL.
        origin: String,
    },
    /// The address is not public, and the configuration does not name it.
    #[error(
        "reach {host}: {address} is {class}, not public; if it is meant, name this server's URL in the configuration"
    )]
    Address {
        /// The host as it was asked for.
        host: String,
        /// The address it stands for.
        address: IpAddr,
        /// What kind of address it is.
        class: &'static str,
    },
    /// The configuration names this host, with another scheme or port.
    #[error(
        "reach {origin}: the configuration names {named}, not this scheme and port; name this one too"
    )]
    Origin {
        /// Scheme, host and port that were asked for.
        origin: String,
        /// What the configuration names.
        named: String,
    },
    /// A server answered with a redirect that is not followed.
    #[error(
        "follow the redirect from {from} to {to}: {reason}; ask for that URL itself if it is meant"
    )]
    Redirect {
        /// Scheme, host and port of the server that redirects.
        from: String,
        /// Where it wanted to go, without the query.
        to: String,
        /// Why not.
        reason: String,
    },
}

/// What a [`Refused`] is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RefusedKind {
    /// The text is no URL.
    Url,
    /// The scheme is not supported.
    Scheme,
    /// The URL holds credentials.
    Credentials,
    /// The address is not public.
    Address,
    /// Another scheme or port of this host is configured.
    Origin,
    /// The redirect is not followed.
    Redirect,
}

impl Refused {
    /// Returns what the refusal is about.
    pub fn kind(&self) -> RefusedKind {
        match self {
            Self::Url { .. } => RefusedKind::Url,
            Self::Scheme { .. } => RefusedKind::Scheme,
            Self::Credentials { .. } => RefusedKind::Credentials,
            Self::Address { .. } => RefusedKind::Address,
            Self::Origin { .. } => RefusedKind::Origin,
            Self::Redirect { .. } => RefusedKind::Redirect,
        }
    }

    /// Returns the refusal that caused an error, if one did.
    pub fn find<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a Self> {
        let mut next = Some(error);
        while let Some(error) = next {
            if let Some(refused) = error.downcast_ref() {
                return Some(refused);
            }
            next = error.source();
        }
        None
    }
}

/// Returns scheme, host and port of a URL: what may be shown of it.
pub(crate) fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}
