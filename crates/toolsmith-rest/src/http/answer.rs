//! Reads an answer, within bounds, as what its type says it is.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use encoding_rs::{Encoding, UTF_8};
use serde_json::{Map, Value};
use toolsmith_core::json::{self, JsonError};
use toolsmith_core::{Block, ToolError};
use toolsmith_net::read_body;

use super::failure;
use super::hush::Hush;
use super::service::Answer;
use super::weight::{self, MAX_WEIGHT};
use crate::form::ResponseKind;

/// How long an answer may be; of one that has no end no more is read.
pub(crate) const MAX_BYTES: usize = 8 << 20;

/// How large an image or a sound may be that is handed on.
const MAX_MEDIA: usize = 4 << 20;

/// What an answer holds.
#[derive(Debug)]
pub(crate) enum Content {
    /// Nothing.
    Nothing,
    /// JSON.
    Json(Value),
    /// Text.
    Text(String),
    /// An image or a sound.
    Media(Block),
}

/// An answer that was read. Whoever tells it scrubs it first; whoever follows its links
/// does so before, because a secret in one of them belongs there.
pub(crate) struct Read {
    pub(crate) status: u16,
    pub(crate) content: Content,
    /// How many bytes it had.
    pub(crate) bytes: usize,
    /// About how many it takes now that it is read.
    pub(crate) weight: usize,
    /// What was odd about it.
    pub(crate) note: Option<String>,
    /// What must not be told of it.
    pub(crate) hush: Hush,
}

impl Content {
    /// Takes out what must not be told. Of JSON it is taken out of the values: in its
    /// text a secret may be written with escapes.
    pub(crate) fn scrub(&mut self, hush: &Hush) {
        match self {
            Self::Json(value) => hush.scrub_value(value),
            Self::Text(text) => {
                if let Cow::Owned(clean) = hush.scrub(text) {
                    *text = clean;
                }
            }
            Self::Nothing | Self::Media(_) => {}
        }
    }
}

/// Reads an answer of at most `limit` bytes.
///
/// # Errors
/// When it is longer, breaks off, or is not what it should be.
pub(crate) async fn read(
    answer: Answer,
    kind: Option<ResponseKind>,
    limit: usize,
) -> Result<Read, ToolError> {
    let status = answer.response.status().as_u16();
    let media_type = MediaType::read(answer.header("content-type").unwrap_or_default());
    let line = answer.line.clone();
    if let Some(encoding) = failure::encoding(&answer.response)
        && status != 204
    {
        let message = format!(
            "{line}: the answer is compressed ({}), which was not asked for",
            failure::excerpt(&answer.hush.scrub(encoding))
        );
        return Err(ToolError::failed(message));
    }
    let hush = answer.hush;
    let line = Told {
        line: &line,
        hush: &hush,
    };
    let bytes = read_body(answer.response, limit).await;
    let bytes = bytes.map_err(|error| failure::body(line.line, error, &hush))?;
    let length = bytes.len();
    let mut weight = length;
    let mut note = None;
    let content = if bytes.iter().all(u8::is_ascii_whitespace) {
        Content::Nothing
    } else if media_type.is_media() && kind.is_none() {
        media(&line, &media_type, &bytes)?
    } else {
        let text = media_type.decode(&bytes, kind);
        let (text, garbled) = text.ok_or_else(|| binary(&line, &media_type, length))?;
        if garbled {
            let message = "some characters of the answer could not be read";
            note = Some(message.to_owned());
        }
        if media_type.is_json(kind, &text) {
            weight = weight::of_json(&text);
            if weight > MAX_WEIGHT {
                let message = "the answer has more values than can be read at once; ask for less";
                return Err(line.failed(message, "", ""));
            }
            Content::Json(parse(&line, &media_type, &text, limit)?)
        } else {
            Content::Text(text)
        }
    };
    Ok(Read {
        status,
        content,
        bytes: length,
        weight,
        note,
        hush,
    })
}

/// Reads an answer as a value that may be told: JSON, a text, or nothing.
///
/// # Errors
/// When it is something else, or cannot be read.
pub(crate) async fn value_of(answer: Answer) -> Result<Option<Value>, ToolError> {
    let mut read = read(answer, None, MAX_BYTES).await?;
    read.content.scrub(&read.hush);
    match read.content {
        Content::Nothing => Ok(None),
        Content::Json(value) => Ok(Some(value)),
        Content::Text(text) => Ok(Some(text.into())),
        Content::Media(_) => Err(ToolError::failed("the answer is neither JSON nor text")),
    }
}

/// The headers of an answer that has nothing else.
pub(crate) fn headers(answer: &Answer) -> Value {
    let mut headers = Map::new();
    for (name, value) in answer.response.headers() {
        // What a server gives to be shown again is a secret of its own.
        if name != "set-cookie"
            && let Ok(text) = value.to_str()
        {
            headers.insert(
                name.as_str().to_owned(),
                failure::excerpt(&answer.hush.scrub(text)).into(),
            );
        }
    }
    Value::Object(headers)
}

/// A media type, as a header names it.
struct MediaType {
    /// In small letters; empty where nothing was said.
    name: String,
    charset: Option<&'static Encoding>,
}

impl MediaType {
    fn read(header: &str) -> Self {
        let mut parts = header.split(';');
        let name = parts.next().unwrap_or_default().trim().to_ascii_lowercase();
        let charset = parts.find_map(|part| {
            let (key, value) = part.split_once('=')?;
            let is_charset = key.trim().eq_ignore_ascii_case("charset");
            is_charset.then(|| value.trim().trim_matches('"'))
        });
        Self {
            name,
            charset: charset.and_then(|label| Encoding::for_label(label.as_bytes())),
        }
    }

    fn is_media(&self) -> bool {
        (self.name.starts_with("image/") && self.name != "image/svg+xml")
            || self.name.starts_with("audio/")
    }

    fn says_json(&self) -> bool {
        self.name == "application/json" || self.name == "text/json" || self.name.ends_with("+json")
    }

    fn is_json(&self, kind: Option<ResponseKind>, text: &str) -> bool {
        match kind {
            Some(ResponseKind::Json) => true,
            Some(ResponseKind::Text) => false,
            None if self.name.is_empty() => text.trim_start().starts_with(['{', '[']),
            None => self.says_json(),
        }
    }

    fn says_text(&self) -> bool {
        const TEXTS: &[&str] = &[
            "application/ecmascript",
            "application/javascript",
            "application/jsonl",
            "application/sql",
            "application/toml",
            "application/x-ndjson",
            "application/x-www-form-urlencoded",
            "application/x-yaml",
            "application/xml",
            "application/yaml",
        ];
        self.name.starts_with("text/")
            || self.name.ends_with("+xml")
            || self.name.ends_with("+yaml")
            || TEXTS.contains(&self.name.as_str())
    }

    /// The text, and whether something in it could not be read; none where it is no text.
    fn decode(&self, bytes: &[u8], kind: Option<ResponseKind>) -> Option<(String, bool)> {
        let is_sure = kind.is_some() || self.says_json() || self.says_text();
        if !is_sure && (str::from_utf8(bytes).is_err() || bytes.contains(&0)) {
            return None;
        }
        let (text, _, garbled) = self.charset.unwrap_or(UTF_8).decode(bytes);
        Some((text.into_owned(), garbled))
    }
}

/// What an error begins with, and what none may tell.
struct Told<'t> {
    line: &'t str,
    hush: &'t Hush,
}

impl Told<'_> {
    /// An error. What it shows of the answer is hushed before it is cut: half a secret
    /// is found by nobody afterwards.
    fn failed(&self, before: &str, shown: &str, after: &str) -> ToolError {
        let (line, shown) = (self.line, failure::excerpt(&self.hush.scrub(shown)));
        ToolError::failed(format!("{line}: {before}{shown}{after}"))
    }
}

fn media(line: &Told<'_>, media_type: &MediaType, bytes: &[u8]) -> Result<Content, ToolError> {
    if bytes.len() > MAX_MEDIA {
        return Err(binary(line, media_type, bytes.len()));
    }
    let (data, mime_type) = (STANDARD.encode(bytes), media_type.name.clone());
    Ok(Content::Media(if mime_type.starts_with("audio/") {
        Block::Audio { data, mime_type }
    } else {
        Block::Image { data, mime_type }
    }))
}

fn binary(line: &Told<'_>, media_type: &MediaType, bytes: usize) -> ToolError {
    let name = match media_type.name.as_str() {
        "" => "of no type",
        name => name,
    };
    let before = format!("the answer is {bytes} bytes of ");
    line.failed(&before, name, ", which cannot be shown")
}

fn parse(
    line: &Told<'_>,
    media_type: &MediaType,
    text: &str,
    limit: usize,
) -> Result<Value, ToolError> {
    // A character read as another may take more room than it had.
    json::parse(text.as_bytes(), limit.saturating_mul(3)).map_err(|error| match &error {
        JsonError::Malformed(error) if error.is_eof() => {
            let bytes = text.len();
            let message = format!("the JSON ends in the middle, after {bytes} bytes");
            line.failed(&message, "", "")
        }
        error if media_type.says_json() => {
            line.failed("the answer is no JSON we accept: ", &error.to_string(), "")
        }
        _ if media_type.name.is_empty() => {
            line.failed("the answer is something else, not JSON: ", text, "")
        }
        _ => {
            let name = failure::excerpt(&line.hush.scrub(&media_type.name));
            line.failed(&format!("the answer is {name}, not JSON: "), text, "")
        }
    })
}
