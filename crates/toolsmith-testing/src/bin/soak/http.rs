//! A client over HTTP/1.1: one request after another on a kept connection, some of which it leaves.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolsmith_testing::random::Random;

use crate::call::Sort;
use crate::server::Door;
use crate::tally::Tally;

const PATIENCE: Duration = Duration::from_secs(60);
const HANDSHAKE: &str = "2025-11-25";
const STATELESS: &str = "2026-07-28";

/// A client.
#[derive(Debug)]
pub(crate) struct Client {
    port: u16,
    token: String,
    connection: Option<BufReader<TcpStream>>,
    tally: Arc<Tally>,
    chance: Random,
    asked: u64,
}

/// What came back.
#[derive(Debug)]
struct Answer {
    session: Option<String>,
    body: String,
}

impl Client {
    pub(crate) fn begin(door: &Door, tally: &Arc<Tally>, number: u64) -> io::Result<Self> {
        let mut client = Self {
            port: door.port,
            token: door.token.clone(),
            connection: None,
            tally: Arc::clone(tally),
            chance: Random::new(number + 1),
            asked: number << 32,
        };
        let start = Instant::now();
        while let Err(error) = client.connected() {
            if start.elapsed() > PATIENCE {
                return Err(error);
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(client)
    }

    /// Opens sessions and leaves them without a word.
    pub(crate) fn abandon(&mut self, many: usize) -> io::Result<()> {
        for _ in 0..many {
            self.open()?;
        }
        Ok(())
    }

    /// Asks for one more thing, and waits for the answer or goes.
    pub(crate) fn step(&mut self) -> io::Result<()> {
        let sort = Sort::drawn(&mut self.chance);
        let (method, params) = sort.request(&mut self.chance);
        match sort {
            Sort::Session => self.session(),
            Sort::Cancelled => {
                self.tally.sent(sort);
                let bytes = self.request(STATELESS, None, method, params, Batch::No);
                self.connected()?.get_mut().write_all(&bytes)?;
                thread::sleep(Duration::from_millis(20));
                self.tally.abandoned(sort);
                self.leave();
                Ok(())
            }
            _ => {
                let batch = if sort == Sort::Batch {
                    Batch::Yes
                } else {
                    Batch::No
                };
                let bytes = self.request(STATELESS, None, method, params, batch);
                self.ask(sort, &bytes).map(drop)
            }
        }
    }

    /// A session with a call in it; half of them are ended.
    fn session(&mut self) -> io::Result<()> {
        let session = self.open()?;
        let (method, params) = Sort::Echo.request(&mut self.chance);
        let bytes = self.request(HANDSHAKE, Some(&session), method, params, Batch::No);
        self.ask(Sort::Echo, &bytes)?;
        if self.chance.below(2) == 0 {
            let mut head = self.head("DELETE", HANDSHAKE, Some(&session));
            head += "\r\n";
            self.ask(Sort::Session, head.as_bytes())?;
        }
        Ok(())
    }

    fn open(&mut self) -> io::Result<String> {
        let params = json!({
            "protocolVersion": HANDSHAKE, "capabilities": {},
            "clientInfo": { "name": "soak", "version": "1" },
        });
        let bytes = self.request(HANDSHAKE, None, "initialize", params, Batch::No);
        let answer = self.ask(Sort::Session, &bytes)?;
        let session = answer
            .session
            .ok_or_else(|| io::Error::other("no session began"))?;
        let note = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string();
        let head = self.head("POST", HANDSHAKE, Some(&session));
        self.ask(Sort::Session, &with_body(&head, &note))?;
        Ok(session)
    }

    fn ask(&mut self, sort: Sort, bytes: &[u8]) -> io::Result<Answer> {
        self.tally.sent(sort);
        let start = Instant::now();
        // A server may close a connection that is idle; what was sent then was not read.
        let mut answer = self.exchange(bytes);
        if answer.is_err() && start.elapsed() < Duration::from_secs(1) {
            self.leave();
            answer = self.exchange(bytes);
        }
        let answer = answer?;
        self.tally.answered(sort, start.elapsed(), &answer.body);
        Ok(answer)
    }

    fn exchange(&mut self, bytes: &[u8]) -> io::Result<Answer> {
        let connection = self.connected()?;
        connection.get_mut().write_all(bytes)?;
        let (mut length, mut chunked, mut session) = (0, false, None);
        let mut line = String::new();
        connection.read_line(&mut line)?;
        if line.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        loop {
            line.clear();
            connection.read_line(&mut line)?;
            let Some((name, value)) = line.split_once(':') else {
                break;
            };
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.trim().parse().map_err(io::Error::other)?,
                "transfer-encoding" => chunked = true,
                "mcp-session-id" => session = Some(value.trim().to_owned()),
                _ => {}
            }
        }
        let mut body = Vec::new();
        if chunked {
            loop {
                line.clear();
                connection.read_line(&mut line)?;
                let size = usize::from_str_radix(line.trim(), 16).map_err(io::Error::other)?;
                let mut chunk = vec![0; size + 2];
                connection.read_exact(&mut chunk)?;
                if size == 0 {
                    break;
                }
                body.extend_from_slice(&chunk[..size]);
            }
        } else {
            body.resize(length, 0);
            connection.read_exact(&mut body)?;
        }
        let body = String::from_utf8_lossy(&body).into_owned();
        Ok(Answer { session, body })
    }

    fn connected(&mut self) -> io::Result<&mut BufReader<TcpStream>> {
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => {
                let stream = TcpStream::connect(("127.0.0.1", self.port))?;
                stream.set_nodelay(true)?;
                stream.set_read_timeout(Some(PATIENCE))?;
                BufReader::new(stream)
            }
        };
        Ok(self.connection.insert(connection))
    }

    /// Goes without a word.
    fn leave(&mut self) {
        if let Some(connection) = self.connection.take() {
            let _ = connection.get_ref().shutdown(Shutdown::Both);
        }
    }

    fn request(
        &mut self,
        version: &str,
        session: Option<&str>,
        method: &str,
        mut params: Value,
        batch: Batch,
    ) -> Vec<u8> {
        self.asked += 1;
        let mut head = self.head("POST", version, session);
        if version == STATELESS {
            head += &format!("Mcp-Method: {method}\r\n");
            if let Some(name) = params["name"].as_str() {
                head += &format!("Mcp-Name: {name}\r\n");
            }
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": version,
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": { "name": "soak", "version": "1" },
            });
        }
        let message =
            json!({ "jsonrpc": "2.0", "id": self.asked, "method": method, "params": params });
        let body = match batch {
            Batch::Yes => json!([message, message]).to_string(),
            Batch::No => message.to_string(),
        };
        with_body(&head, &body)
    }

    fn head(&self, method: &str, version: &str, session: Option<&str>) -> String {
        let mut head = format!(
            "{method} /mcp HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\nAccept: application/json, text/event-stream\r\nMCP-Protocol-Version: {version}\r\n",
            self.port, self.token,
        );
        if let Some(session) = session {
            head += &format!("Mcp-Session-Id: {session}\r\n");
        }
        head
    }
}

/// Whether several messages are sent as one, which nobody takes any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Batch {
    Yes,
    No,
}

fn with_body(head: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("{head}Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}")
        .into_bytes()
}
