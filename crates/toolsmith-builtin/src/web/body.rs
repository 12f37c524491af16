//! What an answer's body is, and its text where it is one.

use serde_json::Value;
use toolsmith_net::Fetched;

use super::charset;
use crate::text::{FileKind, HEAD, kind_of};

/// The largest image that is shown.
const LARGEST_IMAGE: usize = 5 << 20;

/// The longest JSON that is read as a value, which takes many times its length.
const LONGEST_JSON: usize = 2 << 20;

/// A body that was read for what it is.
#[derive(Clone, Debug)]
pub(crate) struct Body {
    pub(crate) kind: Kind,
    /// The header's own word for it, in lower case and without parameters.
    pub(crate) media_type: String,
    /// The encoding of its text.
    pub(crate) charset: Option<&'static str>,
}

/// What a body is.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Empty,
    Html(String),
    /// JSON, as it was sent and as a value.
    Json(String, Value),
    Text(String),
    /// An image that can be shown, and its type.
    Image(&'static str),
    /// Anything else, and its type.
    Binary(String),
}

/// Tells what a body is: by its bytes where they tell, else by its header.
pub(crate) fn read_body(fetched: &Fetched) -> Body {
    let header = fetched.headers.get("content-type");
    let header = header
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let media_type = header
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase();
    let bytes = &fetched.body[..];
    let mut body = Body {
        kind: Kind::Empty,
        media_type,
        charset: None,
    };
    if bytes.is_empty() {
        return body;
    }
    let media_type = body.media_type.as_str();
    let is_told_text =
        media_type.starts_with("text/") || is_markup(media_type) || is_json(media_type);
    match kind_of(&bytes[..bytes.len().min(HEAD)]) {
        FileKind::Image(mime) if bytes.len() <= LARGEST_IMAGE && !fetched.is_cut => {
            body.kind = Kind::Image(mime);
            return body;
        }
        FileKind::Image(mime) => {
            body.kind = Kind::Binary(mime.to_owned());
            return body;
        }
        // A text in an old encoding may look like anything.
        FileKind::Binary(found) if !is_told_text || bytes[..bytes.len().min(HEAD)].contains(&0) => {
            let is_wide = is_told_text
                && charset::parameter(header, "charset")
                    .is_some_and(|name| name.starts_with("utf-16"));
            if !is_wide {
                let told = if media_type.is_empty() {
                    found
                } else {
                    media_type
                };
                body.kind = Kind::Binary(told.to_owned());
                return body;
            }
        }
        FileKind::Binary(_) | FileKind::Text => {}
    }
    let (text, charset) = charset::decode(bytes, header, !is_json(media_type));
    body.charset = Some(charset);
    let is_json =
        is_json(media_type) || (media_type.is_empty() && text.trim_start().starts_with(['{', '[']));
    body.kind = if is_json {
        let value = match text.len() <= LONGEST_JSON {
            true => serde_json::from_str(&text).ok(),
            false => None,
        };
        match value {
            Some(value) => Kind::Json(text, value),
            None => Kind::Text(text),
        }
    } else if is_html(media_type) || (media_type.is_empty() && looks_like_html(&text)) {
        Kind::Html(text)
    } else {
        Kind::Text(text)
    };
    body
}

fn is_html(media_type: &str) -> bool {
    matches!(media_type, "text/html" | "application/xhtml+xml")
}

fn is_json(media_type: &str) -> bool {
    matches!(media_type, "application/json" | "text/json") || media_type.ends_with("+json")
}

fn is_markup(media_type: &str) -> bool {
    is_html(media_type) || media_type.ends_with("/xml") || media_type.ends_with("+xml")
}

fn looks_like_html(text: &str) -> bool {
    let head = text.trim_start();
    let head = &head[..head.floor_char_boundary(20)];
    let head = head.to_ascii_lowercase();
    head.starts_with("<!doctype html") || head.starts_with("<html")
}
