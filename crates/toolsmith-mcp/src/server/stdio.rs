//! The server on standard input and output, or any other pair of streams.
//!
//! One message a line. What is wrong with a line is answered, never swallowed, and
//! nothing but messages is written. A client that does not read is not read from
//! either, once too many of its requests are unanswered.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::model::{ClientRequest, GetMeta, ProtocolVersion};
use rmcp::service::ServerInitializeError;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage, serve_server};
use rmcp::transport::Transport;
use rmcp::{RoleServer, ServerHandler};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::{Notify, mpsc};
use tokio::time::{Instant, sleep, timeout, timeout_at};
use toolsmith_core::CancellationToken;

use super::envelope::{self, Envelope, Rejected, Sort};
use super::handler::Connection;
use super::lanes::Lanes;
use super::{Life, Server};
use crate::wire::lines::{Line, LineReader, MESSAGE, at_once};

/// How many requests may be unanswered before no more are read.
const UNANSWERED: usize = 1024;

/// How many bytes the unanswered requests may have together, with the answers that wait to
/// be written, before no more are read.
const UNANSWERED_BYTES: usize = 48 << 20;

/// How many rejections may wait to be written.
const REJECTIONS: usize = 64;

/// How long calls may go on after the client has left or the server was told to
/// stop. What still runs then is cancelled, and answered as such.
const LAST_CALLS: Duration = Duration::from_secs(4);

/// How long a client may take for the last that is written to it.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// How long after that a client that takes nothing is left alone.
const PATIENCE: Duration = Duration::from_secs(4);

impl Server {
    /// Serves one client on standard input and output, until it leaves or the token
    /// is cancelled; calls in flight finish or are answered.
    pub async fn serve_stdio(&self, stop: CancellationToken) -> io::Result<()> {
        let (read, write) = rmcp::transport::stdio_pipes();
        self.serve_streams(read, write, stop).await
    }

    /// As [`Server::serve_stdio`], on any pair of streams.
    pub async fn serve_streams<R, W>(
        &self,
        read: R,
        write: W,
        stop: CancellationToken,
    ) -> io::Result<()>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let ended = CancellationToken::new();
        let write = Arc::new(tokio::sync::Mutex::new(write));
        let life = Life::default();
        let connection = Connection::new(Arc::clone(&self.shared), life.clone(), Lanes::default());
        let (rejections, mut rejected) = mpsc::channel::<Vec<u8>>(REJECTIONS);
        let mut rejector = tokio::spawn({
            let write = Arc::clone(&write);
            async move {
                while let Some(line) = rejected.recv().await {
                    if write_line(&write, line).await.is_err() {
                        return;
                    }
                }
            }
        });
        let transport = Lines {
            read: LineReader::new(read),
            begun: false,
            write,
            unanswered: Arc::default(),
            rejection: None,
            rejections,
            versions: connection.supported_protocol_versions().into_owned(),
            stop: stop.clone(),
            ended: ended.clone(),
            last: None,
        };
        let serving = async {
            match serve_server(connection, transport).await {
                Ok(running) => running.waiting().await.map(drop).map_err(io::Error::other),
                // A client that leaves before it says anything wanted nothing.
                Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
                Err(error) => Err(io::Error::other(error)),
            }
        };
        // When nothing more is read, calls have a little time left, and a client that
        // takes none of the answers a little more.
        let closing = async {
            tokio::select! {
                () = ended.cancelled() => {}
                () = stop.cancelled() => {}
            }
            life.draining.cancel();
            sleep(LAST_CALLS).await;
            life.closing.cancel();
            sleep(PATIENCE).await;
        };
        let served = tokio::select! {
            served = serving => served,
            () = closing => Ok(()),
        };
        life.draining.cancel();
        life.closing.cancel();
        // What was rejected last is told before the end, to whoever still reads.
        if timeout(LAST_WORDS, &mut rejector).await.is_err() {
            rejector.abort();
        }
        served
    }
}

/// Messages by lines.
struct Lines<R, W> {
    read: LineReader<R>,
    /// Whether one of the two lifecycles began; notes and answers before that have no
    /// meaning, and a handshake after it has none either.
    begun: bool,
    write: Arc<tokio::sync::Mutex<W>>,
    unanswered: Arc<Unanswered>,
    /// A rejection that was not handed over yet.
    rejection: Option<Vec<u8>>,
    rejections: mpsc::Sender<Vec<u8>>,
    versions: Vec<ProtocolVersion>,
    stop: CancellationToken,
    ended: CancellationToken,
    /// When the last rejection must have found its place.
    last: Option<Instant>,
}

/// The requests that wait for answers.
#[derive(Debug, Default)]
struct Unanswered {
    requests: Mutex<Requests>,
    fewer: Notify,
}

/// Requests by their ids, and their sizes with those of their answers.
#[derive(Debug, Default)]
struct Requests {
    sizes: HashMap<Value, usize>,
    bytes: usize,
}

impl Unanswered {
    fn requests(&self) -> MutexGuard<'_, Requests> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a request; false where its id is in use.
    fn asked(&self, id: &Value, size: usize) -> bool {
        let mut requests = self.requests();
        if requests.sizes.contains_key(id) {
            return false;
        }
        requests.sizes.insert(id.clone(), size);
        requests.bytes += size;
        true
    }

    /// Notes how long an answer is that waits to be written.
    fn answering(&self, id: &Value, size: usize) {
        let mut requests = self.requests();
        if let Some(noted) = requests.sizes.get_mut(id) {
            *noted += size;
            requests.bytes += size;
        }
    }

    fn answered(&self, id: &Value) {
        let mut requests = self.requests();
        let size = requests.sizes.remove(id).unwrap_or_default();
        requests.bytes -= size;
        drop(requests);
        self.fewer.notify_one();
    }

    fn has_room(&self) -> bool {
        let requests = self.requests();
        requests.sizes.len() < UNANSWERED && requests.bytes < UNANSWERED_BYTES
    }

    async fn wait_for_room(&self) {
        while !self.has_room() {
            self.fewer.notified().await;
        }
    }
}

impl<R: AsyncRead + Send + Unpin, W: AsyncWrite + Send + Unpin + 'static> Lines<R, W> {
    /// Hands a rejection to whoever writes them. It stays until there is room: this
    /// future may be dropped between two polls.
    async fn hand_over_rejection(&mut self) {
        if self.rejection.is_some()
            && let Ok(room) = self.rejections.reserve().await
            && let Some(rejection) = self.rejection.take()
        {
            room.send(rejection);
        }
    }

    /// The next message, or what is wrong with it; none for a line that says nothing.
    fn read_line(&mut self) -> Option<Result<RxJsonRpcMessage<RoleServer>, Rejected>> {
        let line = self.read.take();
        let read = if line.iter().all(u8::is_ascii_whitespace) {
            None
        } else {
            envelope::open(&line, MESSAGE)
                .map(|envelope| self.accept(envelope, line.len()))
                .transpose()
        };
        self.read.reuse(line);
        read.map(|read| read.and_then(|accepted| accepted))
    }

    fn accept(
        &mut self,
        envelope: Envelope,
        size: usize,
    ) -> Option<Result<RxJsonRpcMessage<RoleServer>, Rejected>> {
        let Envelope { message, sort } = envelope;
        match &sort {
            Sort::Request(id) => {
                if self.begun && message["method"] == "initialize" {
                    let message = "this connection has begun already";
                    return Some(Err(Rejected::invalid(message, id.clone())));
                }
                if !self.unanswered.asked(id, size) {
                    let message = "a request with this id is still unanswered";
                    return Some(Err(Rejected::invalid(message, id.clone())));
                }
            }
            _ if !self.begun => return None,
            Sort::Notification { .. } | Sort::Response => {}
        }
        match serde_json::from_value(message) {
            Ok(message) => {
                self.begun = self.begun || begins(&message, &self.versions);
                // A request that was given up is never answered.
                if let Sort::Notification { cancels: Some(id) } = &sort {
                    self.unanswered.answered(id);
                }
                Some(Ok(message))
            }
            // Answers and notes of a form nobody knows answer and note nothing.
            Err(error) => {
                tracing::debug!(target: "toolsmith::mcp", "a message was not understood: {error}");
                let Sort::Request(id) = sort else { return None };
                self.unanswered.answered(&id);
                Some(Err(Rejected::invalid("the message was not understood", id)))
            }
        }
    }
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let (write, unanswered) = (Arc::clone(&self.write), Arc::clone(&self.unanswered));
        let answers = match &message {
            TxJsonRpcMessage::<RoleServer>::Response(response) => Some(&response.id),
            TxJsonRpcMessage::<RoleServer>::Error(error) => error.id.as_ref(),
            _ => None,
        };
        let answers = answers.and_then(|id| serde_json::to_value(id).ok());
        let line = serde_json::to_vec(&message);
        if let (Some(id), Ok(line)) = (&answers, &line) {
            unanswered.answering(id, line.len());
        }
        at_once(async move {
            let sent = match line {
                Ok(line) => write_line(&write, line).await,
                Err(error) => Err(error.into()),
            };
            if let Some(id) = answers {
                unanswered.answered(&id);
            }
            sent
        })
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        let (stop, unanswered) = (self.stop.clone(), Arc::clone(&self.unanswered));
        loop {
            let line = tokio::select! {
                biased;
                () = stop.cancelled() => Line::End,
                line = async {
                    self.hand_over_rejection().await;
                    unanswered.wait_for_room().await;
                    self.read.next().await
                } => line,
            };
            let rejected = match line {
                Line::End => {
                    self.ended.cancel();
                    // This may be given up and asked for again.
                    let last = *self.last.get_or_insert_with(|| Instant::now() + LAST_WORDS);
                    let _ = timeout_at(last, self.hand_over_rejection()).await;
                    return None;
                }
                Line::TooLong { .. } => {
                    let message = format!("a message may have at most {MESSAGE} bytes");
                    Rejected::invalid(message, Value::Null)
                }
                Line::Whole => match self.read_line() {
                    None => continue,
                    Some(Ok(message)) => return Some(message),
                    Some(Err(rejected)) => rejected,
                },
            };
            self.rejection = Some(rejected.to_value().to_string().into_bytes());
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.ended.cancel();
        let flushed = timeout(LAST_WORDS, async { self.write.lock().await.flush().await });
        flushed.await.unwrap_or_else(|late| Err(late.into()))
    }
}

/// Tells whether a message begins one of the lifecycles, as `rmcp` sees it: a
/// handshake, or a request that says all a request without one must say. It gives
/// the connection up at anything else that is not a request.
fn begins(message: &RxJsonRpcMessage<RoleServer>, versions: &[ProtocolVersion]) -> bool {
    let RxJsonRpcMessage::<RoleServer>::Request(request) = message else {
        return false;
    };
    match &request.request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        request => {
            let meta = request.get_meta();
            let stateless = ProtocolVersion::V_2026_07_28;
            meta.missing_required_keys(&stateless).is_empty()
                && (meta.protocol_version()).is_some_and(|version| versions.contains(&version))
        }
    }
}

/// Writes one message whole; the bytes of two never mix.
async fn write_line<W: AsyncWrite + Unpin>(
    write: &tokio::sync::Mutex<W>,
    mut line: Vec<u8>,
) -> io::Result<()> {
    line.push(b'\n');
    let mut write = write.lock().await;
    write.write_all(&line).await?;
    write.flush().await
}
