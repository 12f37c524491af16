//! Addresses and keys in the variables of the providers' own packages.
//!
//! A variable that is empty or blank counts as not set, as those packages have it.

use secrecy::SecretString;
use toolsmith_core::reference::Lookup;
use toolsmith_provider::Provider;
use url::Url;

use super::endpoint::{EndpointError, Key, read_url};
use super::table::{ANTHROPIC_TOKEN, KeyHeader, Row};

/// The address a provider's variables name, if they name one.
pub(super) fn url(row: &Row, lookup: &dyn Lookup) -> Result<Option<Url>, EndpointError> {
    let Some((name, text)) = first(row.url_variables, lookup) else {
        return Ok(None);
    };
    let text = match row.provider {
        Provider::Ollama => ollama_host(&text),
        _ => text,
    };
    read_url(name, &text).map(Some)
}

/// The key a provider's variables hold, if they hold one.
pub(super) fn key(row: &Row, lookup: &dyn Lookup) -> Option<Key> {
    let found = |variables, header| {
        let (name, secret) = first(variables, lookup)?;
        Some(Key {
            secret: SecretString::from(secret),
            header,
            variable: Some(name),
        })
    };
    found(row.key_variables, row.key_header).or_else(|| match row.provider {
        Provider::Anthropic => found(&[ANTHROPIC_TOKEN], KeyHeader::Bearer),
        _ => None,
    })
}

/// The variables one of which may hold a key.
pub(super) fn of_keys(row: &Row) -> Vec<&'static str> {
    let mut variables = row.key_variables.to_vec();
    if row.provider == Provider::Anthropic {
        variables.push(ANTHROPIC_TOKEN);
    }
    variables
}

fn first(variables: &[&'static str], lookup: &dyn Lookup) -> Option<(&'static str, String)> {
    variables.iter().find_map(|name| {
        let value = lookup.variable(name)?;
        let value = value.trim();
        (!value.is_empty()).then(|| (*name, value.to_owned()))
    })
}

/// What `OLLAMA_HOST` means as a URL: a port, a host or a scheme alone is enough.
///
/// It tells the server where to listen, too, so it may say "everywhere": that is not where
/// one connects to, and stands for this machine.
fn ollama_host(text: &str) -> String {
    let text = text.trim_matches(['"', '\'', ' ']);
    let (scheme, rest, usual_port) = match text.split_once("://") {
        Some(("http", rest)) => ("http", rest, ":80"),
        Some(("https", rest)) => ("https", rest, ":443"),
        // Not ours to guess: it is refused by its scheme.
        Some(_) => return text.to_owned(),
        None => ("http", text, ":11434"),
    };
    let (authority, path) = match rest.find('/') {
        Some(at) => rest.split_at(at),
        None => (rest, ""),
    };
    // An address of the sixth version has colons of its own; bare, it has no port.
    let (host, port) = match authority.rfind(':') {
        Some(_) if authority.parse::<std::net::Ipv6Addr>().is_ok() => {
            (format!("[{authority}]"), "")
        }
        Some(at) if !authority[at..].contains(']') => {
            (authority[..at].to_owned(), &authority[at..])
        }
        _ => (authority.to_owned(), ""),
    };
    let host = match host.as_str() {
        "" | "0.0.0.0" => "127.0.0.1",
        "[::]" | "[::0]" => "[::1]",
        host => host,
    };
    let port = if port.len() > 1 { port } else { usual_port };
    format!("{scheme}://{host}{port}{path}")
}
