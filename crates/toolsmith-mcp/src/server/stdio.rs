//! The server on standard input and output, or any other pair of streams.
//!
//! One message a line. What is wrong with a line is answered, never swallowed, and
//! nothing but messages is written. A client that does not read is not read from
//! either, once too many of its requests are unanswered.

use std::collections::HashSet;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::service::ServerInitializeError;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage, serve_server};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{Notify, mpsc};
use toolsmith_core::CancellationToken;

use super::Server;
use super::envelope::{self, Envelope, Rejected, Sort};
use super::handler::Connection;

/// How many bytes one message may have.
const MESSAGE: usize = 16 << 20;

/// How many requests may be unanswered before no more are read.
const UNANSWERED: usize = 2048;

/// How many rejections may wait to be written.
const REJECTIONS: usize = 64;

/// How long calls may go on after the client has left or the server was told to
/// stop. What still runs then is cancelled, and answered as such.
const LAST_CALLS: Duration = Duration::from_secs(4);

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
        let (rejections, mut rejected) = mpsc::channel::<Vec<u8>>(REJECTIONS);
        let rejector = tokio::spawn({
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
            read: BufReader::with_capacity(64 << 10, read),
            line: Vec::new(),
            too_long: false,
            begun: false,
            write,
            unanswered: Arc::default(),
            rejection: None,
            rejections,
            stop: stop.clone(),
            ended: ended.clone(),
        };
        // When nothing more is read, calls have a little time left.
        let (closing, read_no_more) = (self.shared.closing.clone(), ended.clone());
        let closer = tokio::spawn(async move {
            read_no_more.cancelled().await;
            tokio::time::sleep(LAST_CALLS).await;
            closing.cancel();
        });
        let connection = Connection::new(Arc::clone(&self.shared));
        let served = match serve_server(connection, transport).await {
            Ok(running) => {
                running.waiting().await.map_err(io::Error::other)?;
                Ok(())
            }
            // A client that leaves before it says anything wanted nothing.
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(io::Error::other(error)),
        };
        closer.abort();
        // What was rejected last is told before the end, to whoever still reads.
        let _ = tokio::time::timeout(Duration::from_secs(1), rejector).await;
        served
    }
}

/// Messages by lines.
struct Lines<R, W> {
    read: BufReader<R>,
    line: Vec<u8>,
    /// Whether what is being read belongs to a line that is too long already.
    too_long: bool,
    /// Whether a request was seen; what comes before the first has no meaning.
    begun: bool,
    write: Arc<tokio::sync::Mutex<W>>,
    unanswered: Arc<Unanswered>,
    /// A rejection that was not handed over yet.
    rejection: Option<Vec<u8>>,
    rejections: mpsc::Sender<Vec<u8>>,
    stop: CancellationToken,
    ended: CancellationToken,
}

/// The requests that wait for answers.
#[derive(Debug, Default)]
struct Unanswered {
    ids: Mutex<HashSet<Value>>,
    fewer: Notify,
}

impl Unanswered {
    fn ids(&self) -> MutexGuard<'_, HashSet<Value>> {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answered(&self, id: &Value) {
        self.ids().remove(id);
        self.fewer.notify_one();
    }

    async fn wait_for_room(&self) {
        while self.ids().len() >= UNANSWERED {
            self.fewer.notified().await;
        }
    }
}

/// What came of reading a line.
enum Line {
    Whole,
    TooLong,
    End,
}

impl<R: AsyncRead + Send + Unpin, W: AsyncWrite + Send + Unpin + 'static> Lines<R, W> {
    /// Reads a line. It may be given up at any point and goes on where it was.
    async fn next_line(&mut self) -> Line {
        loop {
            let available = match self.read.fill_buf().await {
                // The last line need not end.
                Ok([]) if self.too_long => {
                    self.too_long = false;
                    return Line::TooLong;
                }
                Ok([]) if !self.line.is_empty() => return Line::Whole,
                Ok([]) | Err(_) => return Line::End,
                Ok(available) => available,
            };
            let end = available.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(available.len(), |end| end + 1);
            if !self.too_long {
                self.line
                    .extend_from_slice(&available[..end.unwrap_or(taken)]);
                self.too_long = self.line.len() > MESSAGE;
            }
            self.read.consume(taken);
            if self.too_long {
                self.line = Vec::new();
            }
            if end.is_some() {
                return if std::mem::take(&mut self.too_long) {
                    Line::TooLong
                } else {
                    Line::Whole
                };
            }
        }
    }

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
        let line = std::mem::take(&mut self.line);
        let read = if line.iter().all(u8::is_ascii_whitespace) {
            None
        } else {
            envelope::open(&line, MESSAGE)
                .map(|envelope| self.accept(envelope))
                .transpose()
        };
        // The buffer is kept, unless somebody once sent a large one.
        self.line = line;
        self.line.clear();
        self.line.shrink_to(64 << 10);
        read.map(|read| read.and_then(|accepted| accepted))
    }

    fn accept(
        &mut self,
        envelope: Envelope,
    ) -> Option<Result<RxJsonRpcMessage<RoleServer>, Rejected>> {
        let Envelope { message, sort } = envelope;
        match &sort {
            Sort::Request(id) => {
                if !self.unanswered.ids().insert(id.clone()) {
                    let message = "a request with this id is still unanswered";
                    return Some(Err(Rejected::invalid(message, id.clone())));
                }
                self.begun = true;
            }
            _ if !self.begun => return None,
            // A request that was given up is never answered.
            Sort::Notification { cancels: Some(id) } => self.unanswered.answered(id),
            Sort::Notification { .. } | Sort::Response => {}
        }
        match serde_json::from_value(message) {
            Ok(message) => Some(Ok(message)),
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
        async move {
            let sent = async { write_line(&write, line?).await };
            let sent = sent.await;
            if let Some(id) = answers {
                unanswered.answered(&id);
            }
            sent
        }
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
                    self.next_line().await
                } => line,
            };
            let rejected = match line {
                Line::End => {
                    self.hand_over_rejection().await;
                    self.ended.cancel();
                    return None;
                }
                Line::TooLong => {
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
        self.write.lock().await.flush().await
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
