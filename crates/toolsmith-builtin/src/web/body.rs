//! What an answer's body is, and its text where it is one.

use toolsmith_net::Fetched;

use super::{charset, json};
use crate::text::{FileKind, HEAD, kind_of};

/// The largest image that is shown.
const LARGEST_IMAGE: usize = 5 << 20;

/// The longest JSON that is read as such.
const LONGEST_JSON: usize = 2 << 20;

/// The longest name of a type.
const LONGEST_TYPE: usize = 100;

/// A body that was read for what it is.
#[derive(Clone, Debug)]
pub(crate) struct Body {
    pub(crate) kind: Kind,
    /// The header's own word for it, in lower case, without parameters, and bounded.
    pub(crate) media_type: String,
    /// The encoding of its text.
    pub(crate) charset: Option<&'static str>,
}

/// What a body is.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Empty,
    Html(String),
    /// JSON, as it was sent.
    Json(String),
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
    // A type is one word; what follows a blank is somebody's sentence.
    let media_type = header.split(';').next().unwrap_or_default();
    let media_type = media_type.split_whitespace().next().unwrap_or_default();
    let media_type: String = media_type.chars().take(LONGEST_TYPE).collect();
    let media_type = media_type.to_ascii_lowercase();
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
        FileKind::Binary(found) => {
            let head = &bytes[..bytes.len().min(HEAD)];
            let zeros = head.iter().filter(|byte| **byte == 0).count();
            let may_have = match charset::parameter(header, "charset") {
                Some(name) if name.starts_with("utf-16") => head.len(),
                // Who names a charset means a text, and a few slips do not change that.
                Some(_) => (head.len() / 100).max(1),
                None => 0,
            };
            if !is_told_text || zeros > may_have {
                let told = if media_type.is_empty() {
                    found
                } else {
                    media_type
                };
                body.kind = Kind::Binary(told.to_owned());
                return body;
            }
        }
        FileKind::Text => {}
    }
    let (text, charset) = charset::decode(bytes, header, !is_json(media_type));
    body.charset = Some(charset);
    let is_json =
        is_json(media_type) || (media_type.is_empty() && text.trim_start().starts_with(['{', '[']));
    body.kind = if is_json {
        match text.len() <= LONGEST_JSON && json::is_json(&text) {
            true => Kind::Json(text),
            false => Kind::Text(text),
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
