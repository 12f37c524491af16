//! Where a client may go: public addresses, and origins that the user named.
//!
//! An origin is a scheme, a host and a port. It is permitted wherever its name leads,
//! because the user wrote it down; nothing a server or a model says adds one.

use std::net::IpAddr;

use url::{Host, Origin, Url};

use crate::address::why_not_public;
use crate::error::{Refused, origin};

/// Which addresses a client may reach.
#[derive(Clone, Debug)]
pub struct Reach {
    named: Vec<Origin>,
    loopback: bool,
}

impl Reach {
    /// Permits globally routable addresses, and no others.
    pub fn public() -> Self {
        Self {
            named: Vec::new(),
            loopback: false,
        }
    }

    /// Permits the scheme, host and port of a URL from the user's configuration as well.
    ///
    /// The URL's host is then permitted with this scheme and port only, unless it is
    /// named once more with others.
    ///
    /// # Errors
    /// When the text is no URL with http or https, or holds credentials.
    pub fn and_origin(mut self, url: &str) -> Result<Self, Refused> {
        self.named.push(well_formed(url)?.origin());
        Ok(self)
    }

    /// Permits this machine as well, at every port.
    ///
    /// For tests and for servers under development: whoever may name an address then
    /// reaches whatever else listens here.
    #[must_use]
    pub fn and_loopback(mut self) -> Self {
        self.loopback = true;
        self
    }

    /// Tells whether the user's configuration names the scheme, host and port of a URL,
    /// or this machine where it may be reached.
    pub fn names(&self, url: &str) -> bool {
        well_formed(url).is_ok_and(|url| {
            self.named.contains(&url.origin()) || (self.loopback && is_loopback(&url))
        })
    }

    /// Reads a URL and judges all that can be judged before its name is resolved.
    ///
    /// # Errors
    /// When the text is no URL, names another scheme than http and https, holds
    /// credentials, or leads where this reach does not.
    pub(crate) fn vet(&self, url: &str) -> Result<Url, Refused> {
        let url = well_formed(url)?;
        self.judge(&url)?;
        Ok(url)
    }

    /// Judges where a URL leads, as far as it can be told without resolving a name.
    pub(crate) fn judge(&self, url: &Url) -> Result<(), Refused> {
        if self.named.contains(&url.origin()) || (self.loopback && is_loopback(url)) {
            return Ok(());
        }
        match url.host() {
            Some(Host::Ipv4(address)) => judge_address(&address.to_string(), address.into()),
            Some(Host::Ipv6(address)) => judge_address(&address.to_string(), address.into()),
            Some(Host::Domain(name)) => self.judge_name(name, url),
            // http and https have a host, or are not read as a URL.
            None => Err(Refused::Scheme {
                scheme: url.scheme().to_owned(),
            }),
        }
    }

    /// Judges what a name was resolved to. One bad address spoils the answer.
    pub(crate) fn judge_answer(&self, name: &str, addresses: &[IpAddr]) -> Result<(), Refused> {
        if self.named_host(name).is_some() {
            return Ok(());
        }
        let permitted = |address: &IpAddr| self.loopback && address.is_loopback();
        addresses
            .iter()
            .filter(|address| !(is_localhost(name) && permitted(address)))
            .try_for_each(|address| judge_address(name, *address))
    }

    /// The resolver sees no port, so a named host is permitted at its named ports alone.
    fn judge_name(&self, name: &str, url: &Url) -> Result<(), Refused> {
        match self.named_host(name) {
            None => Ok(()),
            Some(named) => Err(Refused::Origin {
                origin: origin(url),
                named: named.ascii_serialization(),
            }),
        }
    }

    fn named_host(&self, name: &str) -> Option<&Origin> {
        let is_it = |origin: &&Origin| match origin {
            Origin::Tuple(_, Host::Domain(named), _) => named.eq_ignore_ascii_case(name),
            _ => false,
        };
        self.named.iter().find(is_it)
    }
}

/// Tells whether a URL is spelled as one of this machine: a name that merely resolves
/// to it is not.
fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => is_localhost(name),
        None => false,
    }
}

fn is_localhost(name: &str) -> bool {
    name.eq_ignore_ascii_case("localhost")
}

fn judge_address(host: &str, address: IpAddr) -> Result<(), Refused> {
    match why_not_public(address) {
        None => Ok(()),
        Some(class) => Err(Refused::Address {
            host: host.to_owned(),
            address,
            class,
        }),
    }
}

fn well_formed(text: &str) -> Result<Url, Refused> {
    let url = Url::parse(text).map_err(|reason| Refused::Url {
        url: showable(text),
        reason,
    })?;
    if !matches!(url.scheme(), "http" | "https") {
        let scheme = url.scheme().to_owned();
        return Err(Refused::Scheme { scheme });
    }
    if !url.username().is_empty() || url.password().is_some() {
        let origin = origin(&url);
        return Err(Refused::Credentials { origin });
    }
    Ok(url)
}

/// Returns the beginning of what is no URL, without what may be a password or a query.
fn showable(text: &str) -> String {
    let text = text.split(['?', '#']).next().unwrap_or_default();
    let text = text.rsplit('@').next().unwrap_or_default();
    text.chars().take(200).collect()
}
