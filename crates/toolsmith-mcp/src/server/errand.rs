//! A request being worked on: a future, what it tells, and what it asks.
//!
//! With a handshake the client is asked while the work goes on. Without one the
//! question is the result, and the work waits, parked under a name nobody can
//! guess, until the client comes back with answers.

use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use rmcp::RoleServer;
use rmcp::model::{
    ClientResult, ErrorData, InputRequest, InputRequests, InputRequiredResult, InputResponses,
    ServerRequest,
};
use rmcp::service::{Peer, RequestContext};
use serde_json::Value;
use tokio::sync::mpsc;
use toolsmith_core::CancellationToken;
use toolsmith_core::reply::{Inquiry, Response};

use super::Life;
use super::ask::{Asked, Desk, Window};
use super::client::{Client, Era};
use super::notes::{Note, Teller};
use super::parked::{Parked, Unfinished};
use crate::{BoxFuture, wire};

/// Work on behalf of one request, or of several that belong together.
pub(super) struct Errand<T> {
    pub(super) work: BoxFuture<'static, T>,
    pub(super) asked: Window,
    /// None where the client wants no notes.
    pub(super) notes: Option<mpsc::Receiver<Note>>,
    pub(super) desk: Desk,
    pub(super) cancellation: CancellationToken,
}

/// How far a request got.
pub(super) enum Attended<T> {
    /// The work is done.
    Done(T),
    /// Something must be answered first.
    Asks(InputRequiredResult),
    /// It takes longer than the client was to wait.
    Slow(Box<Errand<T>>),
}

impl<T: Send + 'static> Errand<T> {
    /// Sees to the errand until it is done, must wait for answers, or takes longer
    /// than the patience there is.
    pub(super) async fn attend(
        mut self,
        context: &RequestContext<RoleServer>,
        client: &Client,
        life: &Life,
        parked: &Parked<T>,
        subject: &Value,
        patience: Option<Duration>,
    ) -> Attended<T> {
        let mut slow = std::pin::pin!(waited(patience));
        let mut teller = Teller::new(context.peer.clone(), client, life);
        let mut asking = FuturesUnordered::new();
        let mut telling = self.notes.is_some();
        loop {
            tokio::select! {
                // The end first: a tool that talks without pause holds nothing up. What
                // it told before the end is told before the result.
                biased;
                done = &mut self.work => {
                    while let Some(Ok(note)) = self.notes.as_mut().map(mpsc::Receiver::try_recv) {
                        teller.tell(note).await;
                    }
                    return Attended::Done(done);
                }
                () = context.ct.cancelled(), if !self.cancellation.is_cancelled() => {
                    self.cancellation.cancel();
                }
                asked = self.asked.next() => match client.era {
                    Era::Handshake => asking.push(ask_client(context.peer.clone(), asked, life.clone())),
                    Era::Stateless => {
                        match requests(&asked.inquiries) {
                            Some(requests) => {
                                let unfinished = Unfinished { errand: self, asked, subject: subject.clone() };
                                return Attended::Asks(parked.park(unfinished, requests));
                            }
                            // The protocol cannot carry it; dropping it says so.
                            None => drop(asked),
                        }
                    }
                },
                note = next_note(&mut self.notes), if telling => match note {
                    Some(note) => teller.tell(note).await,
                    None => telling = false,
                },
                Some(()) = asking.next(), if !asking.is_empty() => {}
                () = &mut slow, if !self.cancellation.is_cancelled() => {
                    return Attended::Slow(Box::new(self));
                }
            }
        }
    }
}

/// The next note; none when there are no more.
pub(super) async fn next_note(notes: &mut Option<mpsc::Receiver<Note>>) -> Option<Note> {
    notes.as_mut()?.recv().await
}

impl<T: Send + 'static> Unfinished<T> {
    /// Takes the answers a client came back with. What is not answered, or not
    /// answered well, is asked again.
    #[expect(
        clippy::result_large_err,
        reason = "both are the answer, and neither goes far"
    )]
    pub(super) fn answered(
        mut self,
        mut responses: InputResponses,
        parked: &Parked<T>,
    ) -> Result<Errand<T>, InputRequiredResult> {
        let given: Vec<Option<Response>> = self
            .asked
            .inquiries
            .iter()
            .map(|inquiry| {
                let sent = responses.remove(&inquiry.key)?;
                wire::question::answer(&inquiry.question, sent)
            })
            .collect();
        let Some(given) = given.into_iter().collect::<Option<Vec<Response>>>() else {
            let requests = requests(&self.asked.inquiries).unwrap_or_default();
            return Err(parked.park(self, requests));
        };
        let (answer, _) = tokio::sync::oneshot::channel();
        let waiting = std::mem::replace(&mut self.asked.answer, answer);
        // A call that no longer waits has timed out; its result says so.
        let _ = waiting.send(given);
        Ok(self.errand)
    }
}

/// Over after a time, or never.
async fn waited(patience: Option<Duration>) {
    match patience {
        Some(patience) => tokio::time::sleep(patience).await,
        None => std::future::pending().await,
    }
}

/// The questions as the protocol words them; none where it has no words for one.
pub(super) fn requests(inquiries: &[Inquiry]) -> Option<InputRequests> {
    inquiries
        .iter()
        .zip(0..)
        .map(|(inquiry, number)| {
            let request = wire::question::to_wire(&inquiry.question, number)?;
            Some((inquiry.key.clone(), request))
        })
        .collect()
}

/// Asks a client that is connected.
async fn ask_client(peer: Peer<RoleServer>, asked: Asked, life: Life) {
    let Asked { inquiries, answer } = asked;
    let each = inquiries.iter().zip(0..).map(|(inquiry, number)| {
        let (peer, draining) = (&peer, &life.draining);
        async move {
            let request = wire::question::to_wire(&inquiry.question, number)?;
            let sent = tokio::select! {
                sent = ask_one(peer, request) => sent?,
                // Nothing more is read, so no answer can come.
                () = draining.cancelled() => return None,
            };
            wire::question::answer(&inquiry.question, sent)
        }
    });
    let given = futures_util::future::join_all(each).await;
    let given = given
        .into_iter()
        .map(|response| response.unwrap_or(Response::Unavailable))
        .collect();
    let _ = answer.send(given);
}

/// One question to a connected client; the time it may take is the asking call's.
async fn ask_one(peer: &Peer<RoleServer>, request: InputRequest) -> Option<Value> {
    let request = match request {
        InputRequest::Elicitation(request) => ServerRequest::ElicitRequest(request),
        InputRequest::CreateMessage(request) => ServerRequest::CreateMessageRequest(request),
        InputRequest::ListRoots(request) => ServerRequest::ListRootsRequest(request),
        _ => return None,
    };
    match peer.send_request(request).await {
        Ok(ClientResult::ElicitResult(result)) => serde_json::to_value(result).ok(),
        Ok(ClientResult::CreateMessageResult(result)) => serde_json::to_value(result).ok(),
        Ok(ClientResult::ListRootsResult(result)) => serde_json::to_value(result).ok(),
        Ok(_) => None,
        Err(error) => {
            tracing::debug!(target: "toolsmith::mcp", "the client did not answer: {error}");
            None
        }
    }
}

/// The error for a client that lacks what a question needs.
pub(super) fn lacking(desk: &Desk) -> Option<ErrorData> {
    desk.missing()
        .map(ErrorData::missing_required_client_capability)
}

/// How long parked work waits for its client.
pub(super) const PATIENCE: Duration = Duration::from_secs(15 * 60);
