//! What a fetch that came to nothing is told as: its kind, how far it came, what to do.

use serde_json::{Map, Value, json};
use toolsmith_core::{ErrorKind, ToolError};
use toolsmith_net::{ClientError, Facts, FetchError, FetchErrorKind, RefusedKind};

/// What a failed fetch is told as. `shows_urls` is false where addresses may hold secrets.
pub(crate) fn failed(error: &FetchError, shows_urls: bool) -> ToolError {
    let (kind, reason, next) = match error.kind {
        FetchErrorKind::Refused(
            RefusedKind::Url | RefusedKind::Scheme | RefusedKind::Credentials,
        ) => (
            ErrorKind::InvalidParameters,
            "BAD_ARGUMENT",
            "Correct the URL",
        ),
        FetchErrorKind::Refused(RefusedKind::Redirect) => (
            ErrorKind::PermissionDenied,
            "DENIED",
            "Ask for the URL it leads to, if that is public and meant",
        ),
        FetchErrorKind::Refused(_) => (
            ErrorKind::PermissionDenied,
            "DENIED",
            "Use a public address, or ask the user to add the host to web.allow_hosts, with its port unless that is the usual one",
        ),
        FetchErrorKind::Redirects => (
            ErrorKind::Failed,
            "TOO_MANY_REDIRECTS",
            "Raise max_redirects, or ask for the last URL itself",
        ),
        FetchErrorKind::TimedOut => (
            ErrorKind::Timeout,
            "TIMED_OUT",
            "Try again with a longer timeout, or ask for less",
        ),
        FetchErrorKind::NoRoom => (
            ErrorKind::Exhausted,
            "NO_ROOM",
            "Try again when fewer long answers are read at once",
        ),
        FetchErrorKind::Head | FetchErrorKind::Encoding => (
            ErrorKind::Failed,
            "BAD_ANSWER",
            "The server's answer cannot be used, and asking again gives the same; use another source",
        ),
        _ => (
            ErrorKind::Network,
            "NETWORK",
            "Check the host's name and try again later",
        ),
    };
    let mut details = Map::new();
    details.insert("reason".to_owned(), reason.into());
    details.insert("next".to_owned(), next.into());
    add_facts(&mut details, &error.facts, shows_urls);
    let mut message = format!("{error}");
    if let Some(status) = error.facts.status {
        let received = error.facts.received;
        message.push_str(&format!(
            " (after status {status} and {received} bytes of its body)"
        ));
    }
    ToolError::new(kind, format!("{message}. {next}.")).with_details(Value::Object(details))
}

/// A client that could not be made.
pub(crate) fn client_failed(error: &ClientError) -> ToolError {
    ToolError::internal(error.to_string())
}

fn add_facts(details: &mut Map<String, Value>, facts: &Facts, shows_urls: bool) {
    if let Some(status) = facts.status {
        details.insert("status".to_owned(), status.into());
        details.insert("received_bytes".to_owned(), facts.received.into());
    }
    if !facts.hops.is_empty() && shows_urls {
        let hops = facts
            .hops
            .iter()
            .map(|hop| json!({"status": hop.status, "to": hop.to}));
        details.insert("redirect_chain".to_owned(), hops.collect());
    }
}
