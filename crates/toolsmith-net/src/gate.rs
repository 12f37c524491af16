//! A gate in front of every connection, whoever makes the request.
//!
//! The resolver is not asked about an address written into a URL, and it never learns
//! the port. The one hook that sees scheme, host and port of each connection is the
//! choice of a proxy. So a target out of reach is "proxied" to a name that cannot
//! exist, and the resolver, asked for that name, refuses the target which the name spells.

use std::sync::Arc;

use reqwest::Proxy;
use url::Url;

use crate::reach::Reach;

/// A name that no resolver knows (RFC 6761), below which refused targets are sent.
const NOWHERE: &str = "refused.invalid";

/// Lets through what the reach permits.
pub(crate) fn gate(reach: Arc<Reach>) -> Proxy {
    Proxy::custom(move |target| match reach.judge(target) {
        Ok(()) => None,
        Err(_) => Some(detour(target)),
    })
}

/// Returns the target that a name below [`NOWHERE`] spells, if it is such a name.
pub(crate) fn refused_target(name: &str) -> Option<String> {
    let spelled = name.strip_suffix(NOWHERE)?.strip_suffix('.')?;
    let bytes: Option<Vec<u8>> = spelled
        .split('.')
        .flat_map(|label| label.as_bytes().chunks(2))
        .map(|pair| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok())
        .collect();
    String::from_utf8(bytes?).ok()
}

fn detour(target: &Url) -> String {
    let labels: Vec<String> = target
        .as_str()
        .as_bytes()
        .chunks(30)
        .map(|chunk| chunk.iter().map(|byte| format!("{byte:02x}")).collect())
        .collect();
    format!("http://{}.{NOWHERE}", labels.join("."))
}
