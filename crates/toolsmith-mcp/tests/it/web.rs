//! A client that writes HTTP by hand.

use std::net::SocketAddr;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use toolsmith_core::CancellationToken;
use toolsmith_mcp::server::Server;
use toolsmith_mcp::server::http::{HttpLimits, HttpOptions, Token};

use super::support::soon;

pub(crate) const TOKEN: &str = "a-token-of-this-very-test";

/// A server that listens.
pub(crate) struct Web {
    pub(crate) address: SocketAddr,
    pub(crate) stop: CancellationToken,
    pub(crate) running: JoinHandle<std::io::Result<()>>,
}

impl Web {
    /// Listens, for those who know the token.
    pub(crate) async fn start(server: &Server, limits: HttpLimits) -> Self {
        let mut options = HttpOptions::with_token(Token::new(TOKEN).unwrap());
        options.limits = limits;
        Self::with(server, options).await
    }

    /// Listens.
    pub(crate) async fn with(server: &Server, options: HttpOptions) -> Self {
        Self::on(Vec::new(), server, options).await
    }

    /// Listens, with the connections on these runtimes.
    pub(crate) async fn on(lanes: Vec<Handle>, server: &Server, options: HttpOptions) -> Self {
        let address = SocketAddr::from(([127, 0, 0, 1], 0));
        let http = server.listen_http(address, options).await.unwrap();
        let address = http.address().unwrap();
        let stop = CancellationToken::new();
        let until = stop.clone();
        let running = tokio::spawn(async move { http.run_on(&lanes, until).await });
        Self {
            address,
            stop,
            running,
        }
    }

    /// What every good request has: who it is for, and who may.
    pub(crate) fn good(&self) -> String {
        let port = self.address.port();
        format!("host: 127.0.0.1:{port}\r\nauthorization: Bearer {TOKEN}\r\n")
    }

    /// A good POST of a body with more headers.
    pub(crate) fn post(&self, headers: &str, body: &str) -> String {
        format!(
            "POST /mcp HTTP/1.1\r\n{}content-type: application/json\r\n\
             accept: application/json, text/event-stream\r\ncontent-length: {}\r\n{headers}\r\n{body}",
            self.good(),
            body.len(),
        )
    }

    /// A good POST of a stateless request, with the headers it must have.
    pub(crate) fn stateless(&self, message: &Value) -> String {
        let method = message["method"].as_str().unwrap();
        let mut headers = format!("mcp-protocol-version: 2026-07-28\r\nmcp-method: {method}\r\n");
        let params = &message["params"];
        if let Some(name) = params["name"].as_str().or(params["uri"].as_str()) {
            headers += &format!("mcp-name: {name}\r\n");
        }
        self.post(&headers, &message.to_string())
    }

    /// Sends a message within a session.
    pub(crate) async fn in_session(&self, session: &str, message: &Value) -> Reply {
        let headers = format!(
            "mcp-session-id: {session}\r\nmcp-protocol-version: 2025-11-25\r\nconnection: close\r\n"
        );
        self.raw(self.post(&headers, &message.to_string())).await
    }

    /// Opens a session.
    pub(crate) async fn open(&self, capabilities: Value) -> String {
        let hello = super::support::initialize("2025-11-25", capabilities);
        let request = self.post("connection: close\r\n", &hello.to_string());
        let reply = self.raw(request).await;
        assert_eq!(reply.status, 200, "{reply:?}");
        let session = reply.header("mcp-session-id").unwrap().to_owned();
        let told = super::support::note("notifications/initialized", serde_json::json!({}));
        assert_eq!(self.in_session(&session, &told).await.status, 202);
        session
    }

    /// Ends a session.
    pub(crate) async fn close(&self, session: &str) -> Reply {
        let headers = format!("mcp-session-id: {session}\r\nconnection: close\r\n");
        let request = format!("DELETE /mcp HTTP/1.1\r\n{}{headers}\r\n", self.good());
        self.raw(request).await
    }

    /// Gets a page, with the token.
    pub(crate) async fn get(&self, path: &str) -> Reply {
        let request = format!(
            "GET {path} HTTP/1.1\r\n{}connection: close\r\n\r\n",
            self.good()
        );
        self.raw(request).await
    }

    pub(crate) async fn connect(&self) -> TcpStream {
        soon(TcpStream::connect(self.address)).await.unwrap()
    }

    /// Writes bytes and reads one answer.
    pub(crate) async fn raw(&self, bytes: impl AsRef<[u8]>) -> Reply {
        let mut stream = self.connect().await;
        // A server may answer and leave before it has heard everything.
        let _ = soon(stream.write_all(bytes.as_ref())).await;
        Reply::read(&mut stream).await
    }

    /// Whether a good request is answered.
    pub(crate) async fn is_alive(&self) -> bool {
        let list = super::support::stateless("alive", "tools/list", serde_json::json!({}));
        let reply = self.raw(self.stateless(&list)).await;
        reply.status == 200 && reply.json()["result"]["tools"].is_array()
    }
}

/// An answer; status 0 where the connection ended without one.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Reply {
    /// Reads one answer.
    pub(crate) async fn read(stream: &mut TcpStream) -> Self {
        soon(Self::read_all(stream)).await
    }

    async fn read_all(stream: &mut TcpStream) -> Self {
        let mut bytes = Vec::new();
        let mut piece = [0; 16 << 10];
        loop {
            if let Some(reply) = Self::parse(&bytes) {
                return reply;
            }
            match stream.read(&mut piece).await {
                Ok(0) | Err(_) => return Self::cut(&bytes),
                Ok(read) => bytes.extend_from_slice(&piece[..read]),
            }
        }
    }

    /// An answer that is complete.
    fn parse(bytes: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(bytes);
        let (head, body) = text.split_once("\r\n\r\n")?;
        let mut reply = Self::of(head, body);
        if reply.header("transfer-encoding").is_some() {
            reply.body = unchunked(body)?;
            return Some(reply);
        }
        let length = reply.header("content-length");
        let length: usize = length.and_then(|length| length.parse().ok())?;
        (body.len() >= length).then_some(reply)
    }

    fn of(head: &str, body: &str) -> Self {
        let status = head
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        Self {
            status: status.unwrap_or_default(),
            head: head.to_owned(),
            body: body.to_owned(),
        }
    }

    /// What came before the end.
    fn cut(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        Self::of(head, body)
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    /// The last message of the body, be it JSON or events.
    pub(crate) fn json(&self) -> Value {
        if let Ok(value) = serde_json::from_str(&self.body) {
            return value;
        }
        let events = self.body.lines().rev();
        let mut data = events.filter_map(|line| line.strip_prefix("data:"));
        data.find_map(|data| serde_json::from_str(data.trim()).ok())
            .unwrap_or_default()
    }
}

/// A chunked body that is complete.
fn unchunked(mut body: &str) -> Option<String> {
    let mut whole = String::new();
    loop {
        let (size, rest) = body.split_once("\r\n")?;
        let size = usize::from_str_radix(size, 16).ok()?;
        if size == 0 {
            return Some(whole);
        }
        whole.push_str(rest.get(..size)?);
        body = rest.get(size + 2..)?;
    }
}
