//! A web server on this machine that answers as a test wants it to.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;

/// A request as it came.
pub(crate) struct Request {
    pub(crate) method: String,
    /// The path and the query.
    pub(crate) path: String,
    /// The first line and all headers.
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Request {
    /// All of it.
    pub(crate) fn whole(&self) -> String {
        format!("{}\n{}", self.head, self.body)
    }
}

/// What is answered.
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// Further headers, each with its line end.
    pub(crate) more: String,
    pub(crate) kind: &'static str,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(status: u16, body: &serde_json::Value) -> Self {
        Self {
            status,
            more: String::new(),
            kind: "application/json",
            body: body.to_string(),
        }
    }

    pub(crate) fn text(status: u16, body: impl Into<String>) -> Self {
        Self {
            status,
            more: String::new(),
            kind: "text/plain",
            body: body.into(),
        }
    }
}

/// Starts one; it lives as long as the test's process.
pub(crate) fn serve(answer: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let answer = Arc::new(answer);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let answer = Arc::clone(&answer);
            std::thread::spawn(move || one(stream, &*answer));
        }
    });
    address
}

/// Answers one request. Who goes away meanwhile is not missed.
fn one(stream: TcpStream, answer: &dyn Fn(&Request) -> Answer) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line.trim_end().is_empty() {
            break;
        }
        let lower = line.to_ascii_lowercase();
        if let Some(value) = lower.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let mut words = head.split(' ');
    let request = Request {
        method: words.next()?.to_owned(),
        path: words.next()?.to_owned(),
        body: String::from_utf8_lossy(&body).into_owned(),
        head,
    };
    let Answer {
        status,
        more,
        kind,
        body,
    } = answer(&request);
    let head = format!(
        "HTTP/1.1 {status} Said\r\n{more}Content-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    let mut stream = reader.into_inner();
    stream.write_all(format!("{head}{body}").as_bytes()).ok()
}
