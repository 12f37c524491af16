//! The headers of a call: which a caller may set, and what is shown of an answer's.

use std::collections::BTreeMap;

use toolsmith_net::{HeaderMap, HeaderName, HeaderValue};

use crate::refusal::{Reason, Refusal};

/// What belongs to the connection and not to the caller: with these a request could be
/// made into two, or be sent to another host of the same server.
const OURS: [&str; 14] = [
    "accept-encoding",
    "connection",
    "content-length",
    "expect",
    "host",
    "http2-settings",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// How many headers a call has at most, and how long they are together.
const MOST: usize = 64;
const MOST_BYTES: usize = 32 << 10;

/// How much of an answer's headers is shown.
const SHOWN_BYTES: usize = 8 << 10;

/// Reads headers as they may be sent.
pub(crate) fn checked(given: &BTreeMap<String, String>) -> Result<HeaderMap, Refusal> {
    let bytes: usize = given
        .iter()
        .map(|(name, value)| name.len() + value.len())
        .sum();
    if given.len() > MOST || bytes > MOST_BYTES {
        let message =
            format!("the headers are more than {MOST}, or longer than {MOST_BYTES} bytes together");
        return Err(
            Refusal::new(Reason::BadArgument, message).next("Send fewer or shorter headers")
        );
    }
    let mut headers = HeaderMap::new();
    for (name, value) in given {
        let shown: String = name.escape_debug().take(80).collect();
        let read = HeaderName::from_bytes(name.as_bytes()).map_err(|_| {
            Refusal::new(
                Reason::BadArgument,
                format!("`{shown}` is no name of a header"),
            )
            .next("Use letters, digits and `-` in names of headers")
        })?;
        if OURS.contains(&read.as_str()) {
            let message = format!("the header `{read}` belongs to the connection");
            return Err(Refusal::new(Reason::BadArgument, message)
                .next("Leave it out; it is set as needed"));
        }
        let value = HeaderValue::from_bytes(value.as_bytes()).map_err(|_| {
            let message = format!(
                "the value of the header `{read}` holds a line break or another control character"
            );
            Refusal::new(Reason::BadArgument, message).next("Write it on one line")
        })?;
        headers.append(read, value);
    }
    Ok(headers)
}

/// The headers of an answer as a caller is shown them, without cookies: nothing keeps
/// them, and they are somebody's session.
pub(crate) fn shown(headers: &HeaderMap) -> BTreeMap<String, String> {
    let mut shown: BTreeMap<String, String> = BTreeMap::new();
    let mut bytes = 0;
    for (name, value) in headers {
        if matches!(name.as_str(), "set-cookie" | "set-cookie2") {
            continue;
        }
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        bytes += name.as_str().len() + value.len();
        if bytes > SHOWN_BYTES {
            break;
        }
        let entry = shown.entry(name.as_str().to_owned());
        entry
            .and_modify(|known| *known = format!("{known}, {value}"))
            .or_insert(value);
    }
    shown
}
