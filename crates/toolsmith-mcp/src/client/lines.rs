//! A child's standard streams: one message a line.
//!
//! What a child writes is not trusted: lines are bounded, and what is no message is
//! counted and left out. A child that does not know `server/discover` and says
//! nothing at all is answered for after a while, so that nobody waits for it. Should its own
//! answer come after all, it is left out: that question has been answered.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{ClientRequest, ErrorCode, ErrorData, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::wire;
use crate::wire::lines::{Line, LineReader, MESSAGE, at_once};

/// How many lines of garbage a child may write before it is given up.
const GARBAGE: usize = 10_000;

/// A pair of streams to a child.
pub(super) struct Lines<R, W> {
    read: LineReader<R>,
    garbage: usize,
    write: Arc<Mutex<Option<W>>>,
    /// A question for the era that nobody answered yet, and until when that may be; for
    /// ever where that is further away than clocks go.
    probe: Option<(RequestId, Option<Instant>)>,
    /// The question that was answered for the child.
    given_up: Option<RequestId>,
    patience: Duration,
}

impl<R: AsyncRead + Unpin, W> Lines<R, W> {
    /// `patience` is how long a child may take to say which era it is of.
    pub(super) fn new(read: R, write: W, patience: Duration) -> Self {
        Self {
            read: LineReader::new(read),
            garbage: 0,
            write: Arc::new(Mutex::new(Some(write))),
            probe: None,
            given_up: None,
            patience,
        }
    }

    fn message(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        let line = self.read.take();
        let message = wire::message::read(&line, MESSAGE);
        self.read.reuse(line);
        message
    }

    /// When a silent child is answered for.
    async fn silence(probe: Option<Instant>) {
        match probe {
            Some(until) => tokio::time::sleep_until(until).await,
            None => std::future::pending().await,
        }
    }
}

impl<R, W> Transport<RoleClient> for Lines<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        if let JsonRpcMessage::Request(request) = &message
            && matches!(request.request, ClientRequest::DiscoverRequest(_))
        {
            self.probe = Some((
                request.id.clone(),
                Instant::now().checked_add(self.patience),
            ));
        }
        let write = Arc::clone(&self.write);
        let line = serde_json::to_vec(&message);
        at_once(async move {
            let mut line = line?;
            line.push(b'\n');
            let mut write = write.lock().await;
            let Some(write) = write.as_mut() else {
                return Err(io::ErrorKind::NotConnected.into());
            };
            write.write_all(&line).await?;
            write.flush().await
        })
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let until = self.probe.as_ref().and_then(|(_, until)| *until);
            let message = tokio::select! {
                line = self.read.next() => match line {
                    Line::Whole => self.message(),
                    Line::TooLong { first, last } => wire::message::too_long(&first, &last, MESSAGE),
                    Line::End => return None,
                },
                () = Self::silence(until) => {
                    let (id, _) = self.probe.take()?;
                    self.given_up = Some(id.clone());
                    let message = "nobody answered; the server is taken to be of the other era";
                    let error = ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None);
                    return Some(JsonRpcMessage::error(error, Some(id)));
                }
            };
            match message {
                Some(message) => {
                    self.garbage = 0;
                    let answers = match &message {
                        JsonRpcMessage::Response(response) => Some(&response.id),
                        JsonRpcMessage::Error(error) => error.id.as_ref(),
                        _ => None,
                    };
                    if answers.is_some() && answers == self.given_up.as_ref() {
                        self.given_up = None;
                        continue;
                    }
                    if answers.is_some() && answers == self.probe.as_ref().map(|(id, _)| id) {
                        self.probe = None;
                    }
                    return Some(message);
                }
                None => {
                    self.garbage += 1;
                    if self.garbage > GARBAGE {
                        tracing::warn!(target: "toolsmith::mcp", "an upstream writes nothing but garbage");
                        return None;
                    }
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        // Dropping the stream is how a child is asked to leave.
        self.write.lock().await.take();
        Ok(())
    }
}
