//! Answers, and how long the requests they belong to are in flight.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};
use serde_json::Value;
use tokio::sync::OwnedSemaphorePermit;

use super::metrics::Counts;
use super::sessions::InUse;

/// What a client gets.
pub(super) type Answer = Response<BoxBody<Bytes, Infallible>>;

/// A short text.
pub(super) fn plain(status: StatusCode, text: impl Into<Bytes>) -> Answer {
    let mut answer = Response::new(Full::new(text.into()).boxed());
    *answer.status_mut() = status;
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    answer.headers_mut().insert(CONTENT_TYPE, kind);
    answer
}

/// A JSON value.
pub(super) fn json(status: StatusCode, value: &Value) -> Answer {
    let mut answer = plain(status, value.to_string());
    let kind = HeaderValue::from_static("application/json");
    answer.headers_mut().insert(CONTENT_TYPE, kind);
    answer
}

/// A request that is being answered, until the last byte of the answer is taken.
pub(super) struct Flight {
    flights: Arc<AtomicUsize>,
    room: Option<OwnedSemaphorePermit>,
    /// The session it belongs to, which does not give way meanwhile.
    _session: Option<InUse>,
}

impl Flight {
    pub(super) fn begin(counts: &Counts, session: Option<InUse>) -> Self {
        let flights = Arc::clone(&counts.in_flight);
        flights.fetch_add(1, Ordering::AcqRel);
        Self {
            flights,
            room: None,
            _session: session,
        }
    }

    /// Keeps room taken until the end.
    pub(super) fn occupy(&mut self, room: Option<OwnedSemaphorePermit>) {
        self.room = room;
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        self.flights.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The answer, which keeps its request in flight.
pub(super) fn held(answer: Answer, flight: Option<Flight>) -> Answer {
    match flight {
        Some(flight) => answer.map(|body| {
            BoxBody::new(Held {
                body,
                _flight: flight,
            })
        }),
        None => answer,
    }
}

struct Held {
    body: BoxBody<Bytes, Infallible>,
    _flight: Flight,
}

impl Body for Held {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
