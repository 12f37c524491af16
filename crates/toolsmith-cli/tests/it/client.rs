//! A client of `toolsmith serve`, over standard streams and over HTTP. It waits for what
//! it is told, for a generous while, and never for time to pass.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::User;

/// After this something is wrong.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// A server that runs, and what it says to people.
struct Served {
    child: Child,
    said: Arc<Mutex<String>>,
}

impl Served {
    fn start(user: &User, words: &[&str]) -> Self {
        let mut child = user.command(words).stdin(Stdio::piped()).spawn().unwrap();
        let said = Arc::new(Mutex::new(String::new()));
        let (lines, told) = (
            BufReader::new(child.stderr.take().unwrap()),
            Arc::clone(&said),
        );
        std::thread::spawn(move || {
            for line in lines.lines().map_while(Result::ok) {
                *told.lock().unwrap() += &(line + "\n");
            }
        });
        Self { child, said }
    }

    fn said(&self) -> String {
        self.said.lock().unwrap().clone()
    }

    /// Waits until it says something, and gives the line.
    #[track_caller]
    fn wait_for(&self, text: &str) -> String {
        let begin = Instant::now();
        loop {
            let said = self.said();
            if let Some(line) = said.lines().find(|line| line.contains(text)) {
                return line.to_owned();
            }
            assert!(begin.elapsed() < LONG, "it never said {text:?} but {said}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A client over standard streams, after its handshake.
pub(crate) struct Client {
    served: Served,
    stdin: Option<ChildStdin>,
    messages: Receiver<Value>,
    next: u64,
    /// How often it was told that the list of tools is another.
    changes: usize,
    /// Everything it was sent.
    pub(crate) received: String,
}

impl Client {
    pub(crate) fn start(user: &User, words: &[&str]) -> Self {
        let mut served = Served::start(user, &[&["serve", "--stdio"], words].concat());
        let (tell, messages) = channel();
        let lines = BufReader::new(served.child.stdout.take().unwrap()).lines();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let message = serde_json::from_str(&line).unwrap_or(Value::String(line));
                if tell.send(message).is_err() {
                    break;
                }
            }
        });
        let stdin = served.child.stdin.take();
        let mut client = Self {
            served,
            stdin,
            messages,
            next: 0,
            changes: 0,
            received: String::new(),
        };
        client.request("initialize", &hello());
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    fn send(&mut self, message: &Value) {
        let stdin = self.stdin.as_mut().unwrap();
        writeln!(stdin, "{message}").unwrap();
    }

    #[track_caller]
    fn next(&mut self, wanted: &str) -> Value {
        match self.messages.recv_timeout(LONG) {
            Ok(message) => {
                self.received += &format!("{message}\n");
                if message["method"] == "notifications/tools/list_changed" {
                    self.changes += 1;
                }
                message
            }
            Err(error) => panic!("{error} while waiting for {wanted}: {}", self.served.said()),
        }
    }

    /// The answer to a request: its result, or its error.
    #[track_caller]
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> Value {
        self.next += 1;
        let id = self.next;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let message = self.next(method);
            if message["id"] == id {
                return match message.get("result") {
                    Some(result) => result.clone(),
                    None => message["error"].clone(),
                };
            }
        }
    }

    /// The tools that are listed.
    #[track_caller]
    pub(crate) fn tools(&mut self) -> Vec<Value> {
        self.request("tools/list", &json!({}))["tools"]
            .as_array()
            .unwrap()
            .clone()
    }

    #[track_caller]
    pub(crate) fn names(&mut self) -> Vec<String> {
        names(&self.tools())
    }

    #[track_caller]
    pub(crate) fn call(&mut self, name: &str, arguments: &Value) -> Value {
        self.request(
            "tools/call",
            &json!({ "name": name, "arguments": arguments }),
        )
    }

    /// Waits until the list of tools is as wanted, and was said to be another since.
    #[track_caller]
    pub(crate) fn until_tools(&mut self, wanted: impl Fn(&[Value]) -> bool) -> Vec<Value> {
        loop {
            while self.changes == 0 {
                self.next("notifications/tools/list_changed");
            }
            self.changes = 0;
            let tools = self.tools();
            if wanted(&tools) {
                return tools;
            }
        }
    }

    #[track_caller]
    pub(crate) fn wait_for(&self, text: &str) {
        self.served.wait_for(text);
    }

    /// Ends it; what it said to people.
    pub(crate) fn end(mut self) -> String {
        self.stdin = None;
        self.served.child.wait().unwrap();
        while let Ok(message) = self.messages.recv_timeout(LONG) {
            self.received += &format!("{message}\n");
        }
        self.served.said()
    }
}

/// A server over HTTP.
pub(crate) struct Web {
    served: Served,
    address: String,
}

/// What came back.
pub(crate) struct Page {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Page {
    /// The one message in it, as JSON or as an event.
    #[track_caller]
    pub(crate) fn message(&self) -> Value {
        let data = self
            .body
            .lines()
            .filter_map(|line| line.strip_prefix("data:"));
        let mut texts = data.chain(std::iter::once(self.body.as_str()));
        let messages = texts.find_map(|text| serde_json::from_str(text.trim()).ok());
        messages.unwrap_or_else(|| panic!("no message in {:?}", self.body))
    }
}

impl Web {
    pub(crate) fn start(user: &User, words: &[&str]) -> Self {
        let serve = ["serve", "--http", "127.0.0.1:0", "--no-auth"];
        let served = Served::start(user, &[&serve, words].concat());
        let line = served.wait_for("listening on http://");
        let address = line.split("http://").nth(1).unwrap();
        let address = address.split('/').next().unwrap().to_owned();
        Self { served, address }
    }

    pub(crate) fn said(&self) -> String {
        self.served.said()
    }

    /// Makes a request; `more` are headers with their line ends.
    pub(crate) fn post(&self, path: &str, more: &str, message: &Value) -> Page {
        let body = message.to_string();
        let mut stream = self.connect();
        write!(
            stream,
            "POST {path} HTTP/1.1\r\nHost: {}\r\nAccept: application/json, text/event-stream\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n{more}\r\n{body}",
            self.address,
            body.len()
        )
        .unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let answer = String::from_utf8(answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        let is_chunked = head
            .to_ascii_lowercase()
            .contains("transfer-encoding: chunked");
        Page {
            status: head.split(' ').nth(1).unwrap().parse().unwrap(),
            head: head.to_owned(),
            body: if is_chunked {
                whole(body)
            } else {
                body.to_owned()
            },
        }
    }

    /// Shakes hands at a path.
    #[track_caller]
    pub(crate) fn session(&self, path: &str) -> Session<'_> {
        let message =
            json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello() });
        let page = self.post(path, "", &message);
        assert_eq!(page.status, 200, "{path}: {}", page.body);
        let lines = page.head.lines();
        let mut ids = lines.filter_map(|line| {
            let (name, value) = line.split_once(": ")?;
            name.eq_ignore_ascii_case("mcp-session-id")
                .then(|| value.to_owned())
        });
        let id = ids.next().unwrap();
        let more = format!("Mcp-Session-Id: {id}\r\nMcp-Protocol-Version: 2025-11-25\r\n");
        let session = Session {
            web: self,
            path: path.to_owned(),
            more,
        };
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(self.post(path, &session.more, &initialized).status, 202);
        session
    }

    /// The status of a handshake at a path.
    pub(crate) fn status(&self, path: &str) -> u16 {
        let message =
            json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello() });
        self.post(path, "", &message).status
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        stream
    }
}

/// A client over HTTP, after its handshake.
pub(crate) struct Session<'w> {
    web: &'w Web,
    path: String,
    more: String,
}

impl Session<'_> {
    #[track_caller]
    pub(crate) fn request(&self, method: &str, params: &Value) -> Value {
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let message = self.web.post(&self.path, &self.more, &message).message();
        match message.get("result") {
            Some(result) => result.clone(),
            None => message["error"].clone(),
        }
    }

    #[track_caller]
    pub(crate) fn names(&self) -> Vec<String> {
        names(
            self.request("tools/list", &json!({}))["tools"]
                .as_array()
                .unwrap(),
        )
    }

    #[track_caller]
    pub(crate) fn call(&self, name: &str, arguments: &Value) -> Value {
        self.request(
            "tools/call",
            &json!({ "name": name, "arguments": arguments }),
        )
    }

    /// Opens the stream of what the server says unasked.
    pub(crate) fn listen(&self) -> Listening {
        let mut stream = self.web.connect();
        write!(
            stream,
            "GET {} HTTP/1.1\r\nHost: {}\r\nAccept: text/event-stream\r\n{}\r\n",
            self.path, self.web.address, self.more
        )
        .unwrap();
        let mut lines = BufReader::new(stream).lines();
        let first = lines.next().unwrap().unwrap();
        assert!(first.contains(" 200 "), "{first}");
        Listening(Box::new(lines.map_while(Result::ok)))
    }
}

/// The lines of a stream.
pub(crate) struct Listening(Box<dyn Iterator<Item = String>>);

impl Listening {
    /// Waits until the list of tools is said to be another.
    #[track_caller]
    pub(crate) fn tools_changed(&mut self) {
        let found = self
            .0
            .find(|line| line.contains("notifications/tools/list_changed"));
        assert!(found.is_some(), "nothing was said of a change");
    }
}

/// Waits until something is so, however often it must be looked at.
#[track_caller]
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < LONG, "it never came to this: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn hello() -> Value {
    json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    })
}

pub(crate) fn names(tools: &[Value]) -> Vec<String> {
    tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect()
}

/// A body that came in pieces.
fn whole(chunked: &str) -> String {
    let (mut rest, mut body) = (chunked, String::new());
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size.trim(), 16).unwrap_or_default();
        if size == 0 || size > after.len() {
            break;
        }
        body.push_str(&after[..size]);
        rest = after[size..].trim_start_matches("\r\n");
    }
    body
}
