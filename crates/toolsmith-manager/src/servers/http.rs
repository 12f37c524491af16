//! What a URL and a header may be.

use url::{ParseError, Url};

/// Why a URL or a header cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// Not a URL at all.
    #[error("it is no URL: {0}")]
    NoUrl(String),
    /// A scheme other than http and https.
    #[error("a server is reached by http:// or https://, not by {0}://")]
    Scheme(String),
    /// A name or a password before the host: it would stand in logs.
    #[error("a URL with a user name or password in it is not accepted; use headers or mcp_api_key")]
    Userinfo,
    /// A `#fragment`, which no server is ever sent.
    #[error("the part from `#` on is never sent to a server; leave it out")]
    Fragment,
    /// Not a name of a header.
    #[error("{0:?} is no name of a header")]
    HeaderName(String),
    /// A header that the connection itself sets.
    #[error("the header `{0}` is set by the connection itself")]
    Reserved(String),
    /// A line break or another control character in a header's value.
    #[error("the value of a header holds a line break or another control character")]
    HeaderValue,
}

/// Checks the URL of a server.
pub fn check_url(text: &str) -> Result<(), HttpError> {
    // The parser drops line breaks and surrounding blanks in silence.
    if text.contains(|c: char| c.is_control() || c == ' ') {
        return Err(HttpError::NoUrl(
            "it holds blanks or control characters".to_owned(),
        ));
    }
    let url = Url::parse(text).map_err(|error| match error {
        ParseError::RelativeUrlWithoutBase => {
            HttpError::NoUrl("it begins with neither http:// nor https://".to_owned())
        }
        error => HttpError::NoUrl(error.to_string()),
    })?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(HttpError::Scheme(url.scheme().to_owned()));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(HttpError::Userinfo);
    }
    if url.fragment().is_some() {
        return Err(HttpError::Fragment);
    }
    Ok(())
}

/// What sets the frame of a request; a second one makes two readers see two requests.
const RESERVED: [&str; 6] = [
    "connection",
    "content-length",
    "content-type",
    "host",
    "te",
    "transfer-encoding",
];

/// Checks the name of a header.
pub(super) fn check_header_name(name: &str) -> Result<(), HttpError> {
    let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    if name.is_empty() || name.len() > 256 || !name.chars().all(is_token) {
        return Err(HttpError::HeaderName(name.chars().take(60).collect()));
    }
    if RESERVED.contains(&name.to_ascii_lowercase().as_str()) {
        return Err(HttpError::Reserved(name.to_owned()));
    }
    Ok(())
}

/// Checks the value of a header, or a part of it.
pub(super) fn check_header_value(value: &str) -> Result<(), HttpError> {
    if value.contains(|c: char| c.is_control() && c != '\t') {
        return Err(HttpError::HeaderValue);
    }
    Ok(())
}

/// Checks a whole header.
pub(crate) fn check_header(name: &str, value: &str) -> Result<(), HttpError> {
    check_header_name(name)?;
    check_header_value(value)
}
