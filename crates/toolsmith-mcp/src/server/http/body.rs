//! Bodies: how large, how slow, and whether they hold a message.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Incoming};
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderValue};
use hyper::{HeaderMap, Method, Request, StatusCode};
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::HttpLimits;
use super::answer::{Answer, json, plain};
use crate::server::envelope::{self, Envelope, Sort};

/// Bodies are counted in pieces of this size.
const PIECE: usize = 4 << 10;

/// Reads bodies, within the bounds of each and of all.
#[derive(Debug)]
pub(super) struct Bodies {
    limit: usize,
    time: Duration,
    room: Arc<Semaphore>,
}

/// A request whose body was read and is a message.
pub(super) struct Checked {
    pub(super) request: Request<Full<Bytes>>,
    /// The id it wants an answer to; null where it wants none.
    pub(super) id: Value,
    /// Whether it opens a session.
    pub(super) opens: bool,
    /// The part of the room for all bodies it takes, until it is answered.
    pub(super) room: Option<OwnedSemaphorePermit>,
}

impl Bodies {
    pub(super) fn new(limits: &HttpLimits) -> Self {
        Self {
            limit: limits.body_bytes,
            time: limits.body_time,
            room: Arc::new(Semaphore::new(limits.all_bodies_bytes / PIECE)),
        }
    }

    /// Reads and checks the body of a request.
    pub(super) async fn check(&self, request: Request<Incoming>) -> Result<Checked, Answer> {
        let (mut parts, body) = request.into_parts();
        if parts.method != Method::POST {
            let request = Request::from_parts(parts, Full::default());
            return Ok(Checked {
                request,
                id: Value::Null,
                opens: false,
                room: None,
            });
        }
        is_json(&parts.headers)?;
        let read = tokio::time::timeout(self.time, self.read(body)).await;
        let (bytes, room) =
            read.map_err(|_| plain(StatusCode::REQUEST_TIMEOUT, "the body took too long\n"))??;
        let envelope = envelope::glance(&bytes, self.limit)
            .map_err(|rejected| json(StatusCode::BAD_REQUEST, &rejected.to_value()))?;
        let Envelope { message, sort } = envelope;
        let id = match sort {
            Sort::Request(id) => id,
            Sort::Notification { .. } | Sort::Response => Value::Null,
        };
        // Spelled in the one way `rmcp` reads.
        let kind = HeaderValue::from_static("application/json");
        parts.headers.insert(CONTENT_TYPE, kind);
        let opens = message
            .get("method")
            .is_some_and(|method| method == "initialize");
        let request = Request::from_parts(parts, Full::new(bytes));
        Ok(Checked {
            request,
            id,
            opens,
            room,
        })
    }

    async fn read(
        &self,
        mut body: Incoming,
    ) -> Result<(Bytes, Option<OwnedSemaphorePermit>), Answer> {
        let too_large = || {
            let text = format!("a body may have at most {} bytes\n", self.limit);
            plain(StatusCode::PAYLOAD_TOO_LARGE, text)
        };
        if body.size_hint().lower() > self.limit as u64 {
            return Err(too_large());
        }
        let mut bytes = BytesMut::new();
        let mut room: Option<OwnedSemaphorePermit> = None;
        while let Some(frame) = body.frame().await {
            let frame =
                frame.map_err(|_| plain(StatusCode::BAD_REQUEST, "the body broke off\n"))?;
            let Ok(data) = frame.into_data() else {
                continue;
            };
            if data.len() > self.limit - bytes.len() {
                return Err(too_large());
            }
            bytes.extend_from_slice(&data);
            let has = room.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
            let needs = bytes.len() / PIECE;
            if needs > has {
                let more = u32::try_from(needs - has).unwrap_or(u32::MAX);
                let more = Arc::clone(&self.room).try_acquire_many_owned(more);
                let more = more.map_err(|_| busy())?;
                match &mut room {
                    Some(room) => room.merge(more),
                    None => room = Some(more),
                }
            }
        }
        Ok((bytes.freeze(), room))
    }
}

fn busy() -> Answer {
    plain(
        StatusCode::SERVICE_UNAVAILABLE,
        "too many large requests at once; try again\n",
    )
}

fn is_json(headers: &HeaderMap) -> Result<(), Answer> {
    let unsupported = |text: &'static str| plain(StatusCode::UNSUPPORTED_MEDIA_TYPE, text);
    if headers.contains_key(CONTENT_ENCODING) {
        return Err(unsupported("the body must not be encoded\n"));
    }
    let kind = headers
        .get(CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok());
    let kind = kind
        .and_then(|kind| kind.split(';').next())
        .unwrap_or_default();
    if kind.trim().eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    Err(unsupported("the body must be application/json\n"))
}
