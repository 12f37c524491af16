//! The client over HTTP/1.1: one request at a time on each of many kept connections.

use std::io;
use std::time::{Duration, Instant};

use futures_util::future::try_join_all;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use crate::message::{Era, INITIALIZED, Request, is_answer};

/// How long a server may take to listen, and how long an answer may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// A client of a server on this machine.
#[derive(Debug)]
pub(crate) struct Http {
    port: u16,
    session: Option<String>,
    connections: Vec<Connection>,
}

impl Http {
    /// A client that says nothing yet. It waits until the server listens.
    pub(crate) async fn new(port: u16) -> io::Result<Self> {
        let first = connect(port).await?;
        Ok(Self {
            port,
            session: None,
            connections: vec![first],
        })
    }

    /// Does what comes before the first request of an era.
    pub(crate) async fn begin(&mut self, era: Era) -> io::Result<()> {
        self.session = None;
        if era == Era::Handshake {
            let answer = self.ask(&Request::initialize()).await?;
            self.session = answer.session;
            let head = self.head("POST", Era::Handshake);
            let bytes = with_body(&head, INITIALIZED.as_bytes());
            self.exchange(&bytes).await?;
        }
        Ok(())
    }

    /// Ends the session; only the server knows whether it has one.
    pub(crate) async fn end(&mut self) -> io::Result<u16> {
        let mut head = self.head("DELETE", Era::Handshake);
        head.push_str("\r\n");
        let answer = self.exchange(head.as_bytes()).await?;
        self.session = None;
        Ok(answer.status)
    }

    /// Sends a request and waits for its answer.
    pub(crate) async fn ask(&mut self, request: &Request) -> io::Result<Answer> {
        let bytes = self.bytes(request, 0);
        let answer = self.exchange(&bytes).await?;
        checked(request, &answer)?;
        Ok(answer)
    }

    /// Leaves the connections there were, which servers close when they are idle, and
    /// opens new ones.
    pub(crate) async fn reconnect(&mut self, many: usize) -> io::Result<()> {
        self.connections.clear();
        self.have(many).await
    }

    /// Keeps as many requests in flight for a while as there are connections; returns
    /// how many were answered.
    pub(crate) async fn keep_asking(
        &mut self,
        request: &Request,
        during: Duration,
    ) -> io::Result<u64> {
        let end = Instant::now() + during;
        let bytes: Vec<Vec<u8>> = (1..=self.connections.len() as u64)
            .map(|id| self.bytes(request, id))
            .collect();
        let asking = self
            .connections
            .iter_mut()
            .zip(&bytes)
            .map(async |(connection, bytes)| {
                let mut answered = 0;
                loop {
                    let answer = connection.exchange(bytes).await?;
                    checked(request, &answer)?;
                    answered += 1;
                    if Instant::now() >= end {
                        return Ok::<u64, io::Error>(answered);
                    }
                }
            });
        let all = timeout(during + PATIENCE, try_join_all(asking)).await;
        Ok(all??.into_iter().sum())
    }

    /// Sends so many requests at once, each on a connection of its own; returns how
    /// many were answered.
    pub(crate) async fn ask_at_once(
        &mut self,
        request: &Request,
        many: usize,
    ) -> io::Result<usize> {
        self.have(many).await?;
        let bytes: Vec<Vec<u8>> = (1..=many as u64)
            .map(|id| self.bytes(request, id))
            .collect();
        let asking = self
            .connections
            .iter_mut()
            .zip(&bytes)
            .map(async |(connection, bytes)| {
                let answer = connection.exchange(bytes).await?;
                checked(request, &answer)
            });
        let all = timeout(PATIENCE, try_join_all(asking)).await;
        Ok(all??.len())
    }

    /// Opens connections until there are so many.
    pub(crate) async fn have(&mut self, many: usize) -> io::Result<()> {
        while self.connections.len() < many {
            self.connections.push(connect(self.port).await?);
        }
        Ok(())
    }

    async fn exchange(&mut self, bytes: &[u8]) -> io::Result<Answer> {
        let connection = &mut self.connections[0];
        timeout(PATIENCE, connection.exchange(bytes)).await?
    }

    fn bytes(&self, request: &Request, id: u64) -> Vec<u8> {
        let mut head = self.head("POST", request.era);
        if request.era == Era::Stateless {
            head.push_str(&format!("Mcp-Method: {}\r\n", request.method));
            if let Some(name) = &request.name {
                head.push_str(&format!("Mcp-Name: {name}\r\n"));
            }
        }
        let mut body = Vec::new();
        request.write(id, &mut body);
        with_body(&head, &body)
    }

    fn head(&self, method: &str, era: Era) -> String {
        let mut head = format!(
            "{method} /mcp HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAccept: application/json, text/event-stream\r\nMCP-Protocol-Version: {}\r\n",
            self.port,
            era.version(),
        );
        if let Some(session) = &self.session {
            head.push_str(&format!("Mcp-Session-Id: {session}\r\n"));
        }
        head
    }
}

fn with_body(head: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!("{head}Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n");
    [head.as_bytes(), body].concat()
}

fn checked(request: &Request, answer: &Answer) -> io::Result<()> {
    if is_answer(request, &answer.body)? {
        return Ok(());
    }
    let text = format!(
        "{} was answered with status {}",
        request.method, answer.status
    );
    Err(io::Error::other(text))
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    session: Option<String>,
    body: Vec<u8>,
}

#[derive(Debug)]
struct Connection {
    stream: TcpStream,
    /// What was read and not used yet.
    input: Vec<u8>,
}

async fn connect(port: u16) -> io::Result<Connection> {
    let start = Instant::now();
    let stream = loop {
        match TcpStream::connect(("127.0.0.1", port)).await {
            Ok(stream) => break stream,
            Err(error) if start.elapsed() > PATIENCE => return Err(error),
            Err(_) => sleep(Duration::from_millis(5)).await,
        }
    };
    stream.set_nodelay(true)?;
    let input = Vec::with_capacity(16 << 10);
    Ok(Connection { stream, input })
}

impl Connection {
    /// Sends a request and reads the whole answer.
    async fn exchange(&mut self, request: &[u8]) -> io::Result<Answer> {
        self.stream.write_all(request).await?;
        let end = self.find(b"\r\n\r\n").await? + 4;
        let head: Vec<u8> = self.input.drain(..end).collect();
        let head = String::from_utf8_lossy(&head);
        let header = |name: &str| {
            let lines = head.lines().filter_map(|line| line.split_once(':'));
            let mut found = lines.filter(|(key, _)| key.eq_ignore_ascii_case(name));
            found.next().map(|(_, value)| value.trim().to_owned())
        };
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok());
        let body = match header("content-length") {
            Some(length) => self.take(length.parse().map_err(io::Error::other)?).await?,
            None if header("transfer-encoding").is_some() => self.chunks().await?,
            None => Vec::new(),
        };
        Ok(Answer {
            status: status.ok_or_else(|| io::Error::other("the answer has no status"))?,
            session: header("mcp-session-id"),
            body,
        })
    }

    async fn chunks(&mut self) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let end = self.find(b"\r\n").await?;
            let size = String::from_utf8_lossy(&self.input[..end]).into_owned();
            let size = usize::from_str_radix(size.trim(), 16).map_err(io::Error::other)?;
            self.input.drain(..end + 2);
            let chunk = self.take(size + 2).await?;
            if size == 0 {
                return Ok(body);
            }
            body.extend_from_slice(&chunk[..size]);
        }
    }

    /// Where a mark begins, once it was read.
    async fn find(&mut self, mark: &[u8]) -> io::Result<usize> {
        loop {
            let found = self.input.windows(mark.len()).position(|at| at == mark);
            match found {
                Some(at) => return Ok(at),
                None => self.read().await?,
            }
        }
    }

    async fn take(&mut self, bytes: usize) -> io::Result<Vec<u8>> {
        while self.input.len() < bytes {
            self.read().await?;
        }
        Ok(self.input.drain(..bytes).collect())
    }

    async fn read(&mut self) -> io::Result<()> {
        match self.stream.read_buf(&mut self.input).await? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }
}
