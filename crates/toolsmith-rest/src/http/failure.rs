//! What a failed request is told as: its kind, and a little of what the server said.
//!
//! Never the query, never a secret.

use toolsmith_core::clean::clean;
use toolsmith_core::{ErrorKind, ToolError};
use toolsmith_net::{BodyError, HttpError, Refused, Response, retry_after};

use super::hush::Hush;

/// How much of an answer is told.
const EXCERPT: usize = 500;

/// How much of an answer is read for that.
const READ: usize = 16 << 10;

/// The kind of a status that is no success.
pub(crate) fn kind_of(status: u16) -> ErrorKind {
    match status {
        401 | 403 | 407 => ErrorKind::PermissionDenied,
        408 | 504 => ErrorKind::Timeout,
        429 => ErrorKind::Exhausted,
        503 => ErrorKind::Unavailable,
        // Whether it did something before it failed is not known.
        500.. => ErrorKind::Network,
        _ => ErrorKind::Failed,
    }
}

/// What a status that is no success is told as.
pub(crate) async fn status(line: &str, response: Response, hush: &Hush) -> ToolError {
    let status = response.status();
    let header = |name| response.headers().get(name)?.to_str().ok();
    let later = header("retry-after");
    let after = later.and_then(|later| retry_after(later, header("date")));
    let later = later.map(|later| excerpt(&hush.scrub(later)));
    let told = excerpt(&hush.scrub(&beginning(response).await));
    let mut message = format!("{} answered {status}", hush.scrub(line));
    if let Some(later) = later {
        message.push_str(&format!(" (retry after: {later})"));
    }
    if !told.is_empty() {
        message.push_str(": ");
        message.push_str(&told);
    }
    let details = serde_json::json!({ "status": status.as_u16() });
    let error = ToolError::new(kind_of(status.as_u16()), message).with_details(details);
    match after {
        Some(after) => error.with_retry_after(after),
        None => error,
    }
}

/// What a request that got no answer is told as.
pub(crate) fn transport(line: &str, error: HttpError, hush: &Hush) -> ToolError {
    if let Some(refused) = Refused::find(&error) {
        let message = hush.scrub(&refused.to_string()).into_owned();
        return ToolError::new(ErrorKind::PermissionDenied, message);
    }
    let kind = if error.is_timeout() {
        ErrorKind::Timeout
    } else {
        ErrorKind::Network
    };
    // An address may hold a key, so it is not told.
    let mut told = ToolError::caused(kind, error.without_url());
    told.message = hush
        .scrub(&format!("{line}: {}", told.message))
        .into_owned();
    told
}

/// What an answer that broke off, or had no end, is told as.
pub(crate) fn body(line: &str, error: BodyError, hush: &Hush) -> ToolError {
    match error {
        BodyError::TooLong { .. } => ToolError::failed(format!("{}: {error}", hush.scrub(line))),
        BodyError::Interrupted(error) => {
            let mut told = transport(line, error, hush);
            told.message = format!("the answer broke off: {}", told.message);
            told
        }
        other => ToolError::failed(other.to_string()),
    }
}

/// The beginning of a text on one line, without what hides or steers.
pub(crate) fn excerpt(text: &str) -> String {
    let text = clean(text);
    let mut excerpt = String::new();
    for word in text.split_whitespace() {
        if !excerpt.is_empty() {
            excerpt.push(' ');
        }
        excerpt.push_str(word);
        if excerpt.len() > EXCERPT {
            let end = excerpt.floor_char_boundary(EXCERPT);
            excerpt.truncate(end);
            excerpt.push('…');
            break;
        }
    }
    excerpt
}

/// How an answer is compressed, if it is: nothing here asks for that or undoes it.
pub(crate) fn encoding(response: &Response) -> Option<&str> {
    let named = response.headers().get_all("content-encoding").iter();
    let mut named = named.map(|value| value.to_str().unwrap_or("in an unknown way").trim());
    named.find(|name| !name.is_empty() && !name.eq_ignore_ascii_case("identity"))
}

/// The beginning of an answer that is a text; what breaks off is told as far as it came.
async fn beginning(mut response: Response) -> String {
    let kind = response.headers().get("content-type");
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let is_media = ["image/", "audio/", "video/", "font/"]
        .iter()
        .any(|media| kind.trim_start().to_ascii_lowercase().starts_with(media));
    if is_media || encoding(&response).is_some() {
        return String::new();
    }
    let mut bytes = Vec::new();
    while bytes.len() < READ
        && let Ok(Some(chunk)) = response.chunk().await
    {
        bytes.extend_from_slice(&chunk);
    }
    bytes.truncate(READ);
    if bytes.contains(&0) {
        return String::new();
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
