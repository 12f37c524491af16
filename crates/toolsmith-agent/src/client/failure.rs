//! What a request that failed is told as: its kind, what to check, whether another try may
//! help, and a little of what the server said, without keys.

use std::error::Error;
use std::time::Duration;

use toolsmith_core::ErrorKind;
use toolsmith_core::clean::clean;
use toolsmith_net::{HeaderMap, HttpError, Refused, StatusCode};
use toolsmith_provider::client::ModelError;
use toolsmith_provider::parse::parse;
use toolsmith_provider::{Dictionary, ParseError, ProviderError};

use super::endpoint::Endpoint;
use super::hush::Hush;
use super::later;
use super::variables;

/// How many characters of a server's own words are told.
const EXCERPT: usize = 500;

/// A failed try.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) error: ModelError,
    /// Whether the same request may succeed a little later.
    pub(super) may_pass: bool,
}

impl Failure {
    fn passing(error: ModelError) -> Self {
        Self {
            error,
            may_pass: true,
        }
    }

    fn for_good(error: ModelError) -> Self {
        Self {
            error,
            may_pass: false,
        }
    }
}

/// Nothing came in time. It is not tried again: a model that thinks for ten minutes would
/// think for another ten, and each time is paid for.
pub(super) fn no_first_byte(endpoint: &Endpoint, limit: Duration) -> Failure {
    let message = format!(
        "{} answered nothing within {limit:?}; allow more time, or ask for less",
        endpoint.origin()
    );
    Failure::for_good(ModelError::of(ErrorKind::Timeout, message))
}

/// The guard of the network said no.
pub(super) fn refused(refused: &Refused) -> Failure {
    let error = ModelError::of(ErrorKind::PermissionDenied, refused.to_string());
    Failure::for_good(error.with_cause(refused.clone()))
}

/// A connection was not made, or broke before an answer came.
pub(super) fn transport(endpoint: &Endpoint, error: HttpError) -> Failure {
    let origin = endpoint.origin();
    // The address is told once, and without its path.
    let error = error.without_url();
    if let Some(refused) = Refused::find(&error) {
        return self::refused(refused);
    }
    let reason = innermost(&error);
    let message = match error.is_connect() {
        true => format!("no connection to {origin}: {reason}; is the server running there?"),
        false => format!("the connection to {origin} broke before it answered: {reason}"),
    };
    Failure::passing(ModelError::of(ErrorKind::Network, message).with_cause(error))
}

/// A status that is no success: the body to hand on where the caller's parser can tell
/// more from it, or what it is told as.
pub(super) fn status(
    endpoint: &Endpoint,
    hush: &Hush,
    status: StatusCode,
    headers: &HeaderMap,
    body: Vec<u8>,
) -> Result<Vec<u8>, Failure> {
    let body = hush.body(body);
    let told = provider_error(endpoint, &body);
    if told.as_ref().is_some_and(|error| error.refuses_tools) {
        return Ok(body);
    }
    let kind = match status.as_u16() {
        401 | 403 | 407 => ErrorKind::PermissionDenied,
        408 | 409 | 425 | 500.. => ErrorKind::Unavailable,
        429 => ErrorKind::Exhausted,
        400..=499 if told.is_some() => return Ok(body),
        _ => ErrorKind::Failed,
    };
    let retry_after = later::asked_for(headers);
    let mut message = format!("{} answered {status}", endpoint.origin());
    let words = match &told {
        Some(error) => shortened(&error.message),
        None => shortened(&String::from_utf8_lossy(&body)),
    };
    if !words.is_empty() {
        message.push_str(&format!(": {words}"));
    }
    if let Some(advice) = advice(endpoint, status) {
        message.push_str(&format!("; {advice}"));
    }
    if let Some(wait) = retry_after {
        message.push_str(&format!("; come back in {} s", wait.as_secs_f64().ceil()));
    }
    let error = ModelError::of(kind, message).with_retry_after(retry_after);
    let may_pass = match headers.get("x-should-retry").map(|word| word.as_bytes()) {
        Some(b"false") => false,
        Some(b"true") => true,
        // What is used up does not come back by waiting.
        _ if told.is_some_and(|error| is_used_up(&error)) => false,
        _ => matches!(kind, ErrorKind::Unavailable | ErrorKind::Exhausted),
    };
    Err(Failure { error, may_pass })
}

/// What the provider itself reports, where the body is its JSON.
fn provider_error(endpoint: &Endpoint, body: &[u8]) -> Option<ProviderError> {
    match parse(endpoint.provider(), body, &Dictionary::default()) {
        Err(ParseError::Provider(error)) => Some(error),
        _ => None,
    }
}

fn is_used_up(error: &ProviderError) -> bool {
    let is_it = |word: &Option<String>| word.as_deref() == Some("insufficient_quota");
    is_it(&error.code) || is_it(&error.kind)
}

/// What whoever set the endpoint up should look at.
fn advice(endpoint: &Endpoint, status: StatusCode) -> Option<String> {
    match status.as_u16() {
        401 | 403 => Some(match &endpoint.key {
            Some(key) => match key.variable {
                Some(variable) => format!("check the key in {variable}"),
                None => "check the configured key".to_owned(),
            },
            None => {
                let variables = variables::of_keys(endpoint.row).join(" or ");
                format!("it was asked without a key: set {variables}")
            }
        }),
        404 | 405 => Some(format!("is {} the right address?", endpoint.url())),
        300..=399 => Some("redirects are not followed: name the address itself".to_owned()),
        _ => None,
    }
}

/// The beginning of what somebody else wrote, in one line.
fn shortened(text: &str) -> String {
    let end = text.floor_char_boundary(EXCERPT * 4);
    let words: Vec<String> = clean(&text[..end])
        .split_whitespace()
        .map(str::to_owned)
        .collect();
    words.join(" ").chars().take(EXCERPT).collect()
}

/// The reason at the bottom of an error: those above it say that there is one.
fn innermost(error: &dyn Error) -> String {
    let mut error = error;
    while let Some(beneath) = error.source() {
        error = beneath;
    }
    error.to_string()
}
