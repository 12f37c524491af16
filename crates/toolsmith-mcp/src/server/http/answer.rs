//! Answers, and how long the requests they belong to are in flight.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};
use serde::Deserialize;
use serde::de::IgnoredAny;
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
    /// The room its body takes, and the session it belongs to, which does not give
    /// way meanwhile.
    kept: Option<(Option<OwnedSemaphorePermit>, Option<InUse>)>,
}

impl Flight {
    pub(super) fn begin(counts: &Counts) -> Self {
        let flights = Arc::clone(&counts.in_flight);
        flights.fetch_add(1, Ordering::AcqRel);
        Self {
            flights,
            kept: None,
        }
    }

    /// Keeps room taken and a session in use until the end.
    pub(super) fn keep(&mut self, room: Option<OwnedSemaphorePermit>, session: Option<InUse>) {
        self.kept = Some((room, session));
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

/// How long an answer may take and still be one message.
const MOMENT: Duration = Duration::from_millis(40);

/// How often the tasks of this thread have their turn before the moment is measured. An
/// answer that is on its way comes within a few; a timer would wake the thread once more
/// for each of them.
const TURNS: usize = 16;

/// How many events a stream may begin with that is one message: that, and its name.
const EVENTS: usize = 4;

/// Waits a moment for the end of a stream. Where all there is to say is one message,
/// it is said as plain JSON: half the work for both sides, and no client needs to
/// read a stream for it. Anything else is streamed as it comes.
pub(super) async fn whole(answer: Answer) -> Answer {
    let stream = HeaderValue::from_static("text/event-stream");
    if answer.headers().get(CONTENT_TYPE) != Some(&stream) {
        return answer;
    }
    let (mut parts, mut body) = answer.into_parts();
    let mut said = VecDeque::new();
    let mut turns = TURNS;
    let has_ended = {
        let mut moment = std::pin::pin!(tokio::time::sleep(MOMENT));
        poll_fn(|context| {
            loop {
                match Pin::new(&mut body).poll_frame(context) {
                    Poll::Ready(Some(Ok(frame))) => {
                        said.push_back(frame);
                        // One message takes fewer, and a flood is not gathered.
                        if said.len() > EVENTS {
                            return Poll::Ready(false);
                        }
                    }
                    Poll::Ready(Some(Err(never))) => match never {},
                    Poll::Ready(None) => return Poll::Ready(true),
                    // A message that is not the last is not kept back.
                    Poll::Pending if messages(&said) > 0 => return Poll::Ready(false),
                    Poll::Pending if turns > 0 => {
                        turns -= 1;
                        context.waker().wake_by_ref();
                        return Poll::Pending;
                    }
                    Poll::Pending => return moment.as_mut().poll(context).map(|()| false),
                }
            }
        })
        .await
    };
    if has_ended && let Some(message) = only_message(&said).filter(is_answer) {
        let kind = HeaderValue::from_static("application/json");
        parts.headers.insert(CONTENT_TYPE, kind);
        return Response::from_parts(parts, Full::new(message).boxed());
    }
    let rest = (!has_ended).then_some(body);
    Response::from_parts(parts, BoxBody::new(Begun { said, rest }))
}

/// How many of the events of a stream are messages. `rmcp` makes every event a frame.
fn messages(said: &VecDeque<Frame<Bytes>>) -> usize {
    let is_message = |frame: &&Frame<Bytes>| message(frame).is_some();
    said.iter().filter(is_message).count()
}

/// The message of an event, if it has one: the first event of a stream only gives it
/// a name.
fn message(event: &Frame<Bytes>) -> Option<Bytes> {
    let event = event.data_ref()?;
    let data = event.strip_prefix(b"data: ")?;
    let end = data.iter().position(|byte| *byte == b'\n')?;
    let data = &data[..end];
    data.starts_with(b"{").then(|| event.slice_ref(data))
}

/// The one message of a stream that has no other, and no event that is not
/// understood.
fn only_message(said: &VecDeque<Frame<Bytes>>) -> Option<Bytes> {
    let is_name = |event: &Bytes| event.starts_with(b"data: \n");
    let mut only = None;
    for frame in said {
        match message(frame) {
            Some(message) if only.is_none() => only = Some(message),
            None if frame.data_ref().is_some_and(is_name) => {}
            _ => return None,
        }
    }
    only
}

/// Tells whether a message is an answer. A stream that was cut off may end with
/// something else.
fn is_answer(message: &Bytes) -> bool {
    #[derive(Deserialize)]
    struct Head {
        method: Option<IgnoredAny>,
    }
    serde_json::from_slice(message).is_ok_and(|head: Head| head.method.is_none())
}

/// A stream of which some was read already.
struct Begun {
    said: VecDeque<Frame<Bytes>>,
    rest: Option<BoxBody<Bytes, Infallible>>,
}

impl Body for Begun {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if let Some(frame) = self.said.pop_front() {
            return Poll::Ready(Some(Ok(frame)));
        }
        match &mut self.rest {
            Some(rest) => Pin::new(rest).poll_frame(context),
            None => Poll::Ready(None),
        }
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
