//! A server that answers as told, and a toolbox of the web tools.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use toolsmith_builtin::{Web, WebSettings};
use toolsmith_core::{Outcome, RawCall};
use toolsmith_net::{Lookup, Names};
use toolsmith_runtime::permit::Policy;
use toolsmith_runtime::{Caller, Mode, Toolbox};

/// A request as a server sees it.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    /// Its head, with the names of headers as they came.
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Seen {
    /// The path and query.
    pub(crate) fn path(&self) -> &str {
        self.head.split(' ').nth(1).unwrap_or_default()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().skip(1);
        let mut pairs = lines.filter_map(|line| line.split_once(": "));
        pairs
            .find(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
    }
}

/// A server that answers with what it is told to.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
    connections: Arc<Mutex<Vec<SocketAddr>>>,
}

impl Server {
    pub(crate) async fn new(answer: impl Fn(&Seen) -> Vec<u8> + Send + Sync + 'static) -> Self {
        Self::at("127.0.0.1:0", answer).await
    }

    pub(crate) async fn at(
        address: &str,
        answer: impl Fn(&Seen) -> Vec<u8> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let server = Self {
            address: listener.local_addr().unwrap(),
            seen: Arc::default(),
            connections: Arc::default(),
        };
        let connections = Arc::clone(&server.connections);
        let (seen, answer) = (Arc::clone(&server.seen), Arc::new(answer));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                connections
                    .lock()
                    .unwrap()
                    .push(stream.local_addr().unwrap());
                tokio::spawn(serve(stream, Arc::clone(&seen), Arc::clone(&answer)));
            }
        });
        server
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The addresses that were connected to, once for each connection.
    pub(crate) fn connections(&self) -> impl Iterator<Item = SocketAddr> + use<> {
        self.connections.lock().unwrap().clone().into_iter()
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

async fn serve(
    mut stream: TcpStream,
    seen: Arc<Mutex<Vec<Seen>>>,
    answer: Arc<impl Fn(&Seen) -> Vec<u8> + Send + Sync + 'static>,
) {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break end;
        }
        match stream.read_u8().await {
            Ok(byte) => bytes.push(byte),
            // A connection counts although nothing was asked.
            Err(_) => break bytes.len(),
        }
    };
    let mut request = Seen {
        head: String::from_utf8_lossy(&bytes[..end]).into_owned(),
        body: String::new(),
    };
    let length = request
        .header("content-length")
        .map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    let _ = stream.read_exact(&mut body).await;
    request.body = String::from_utf8_lossy(&body).into_owned();
    let answer = answer(&request);
    seen.lock().unwrap().push(request);
    let _ = stream.write_all(&answer).await;
}

/// An answer with these headers and this body.
pub(crate) fn answer(status: &str, headers: &[&str], body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let headers: String = headers.iter().map(|line| format!("{line}\r\n")).collect();
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n"
    );
    [head.as_bytes(), body].concat()
}

pub(crate) fn page(html: &str) -> Vec<u8> {
    answer("200 OK", &["content-type: text/html; charset=utf-8"], html)
}

pub(crate) fn redirect(status: u16, to: &str) -> Vec<u8> {
    answer(
        &format!("{status} Moved"),
        &[&format!("location: {to}")],
        "",
    )
}

/// Settings that let these servers be reached.
pub(crate) fn reaching(servers: &[&Server]) -> WebSettings {
    let mut settings = WebSettings::default();
    for server in servers {
        settings.reach = settings.reach.and_origin(&server.url("/")).unwrap();
    }
    settings
}

/// The web tools under these settings, all permitted.
pub(crate) fn toolbox(settings: WebSettings) -> Toolbox {
    of(&Web::new(settings), &[])
}

/// The web tools, with secrets that a redactor knows.
pub(crate) fn of(web: &Web, secrets: &[&str]) -> Toolbox {
    Toolbox::builder()
        .tools(toolsmith_builtin::web_tools(web))
        .policy(Policy::new(Mode::Auto))
        .secrets(secrets.iter().map(|secret| (*secret).to_owned()))
        .without_log()
        .build()
        .unwrap()
}

pub(crate) async fn call(toolbox: &Toolbox, tool: &str, arguments: Value) -> Outcome {
    call_as(toolbox, "test", tool, arguments).await
}

pub(crate) async fn call_as(
    toolbox: &Toolbox,
    caller: &str,
    tool: &str,
    arguments: Value,
) -> Outcome {
    let call = RawCall::new(tool, arguments);
    toolbox.run(call, &Caller::new(caller)).await.into_outcome()
}

/// The value of a call that succeeded.
pub(crate) async fn value(toolbox: &Toolbox, tool: &str, arguments: Value) -> Value {
    let outcome = call(toolbox, tool, arguments).await;
    assert!(outcome.is_success(), "{:?}", outcome.error);
    outcome.value.unwrap()
}

/// Names that answer as told, the last answer again and again.
#[derive(Debug, Default)]
pub(crate) struct ToldNames(pub(crate) Mutex<HashMap<String, Vec<Vec<IpAddr>>>>);

impl ToldNames {
    pub(crate) fn tell(self, name: &str, answers: &[&[&str]]) -> Self {
        let parse = |answer: &&[&str]| answer.iter().map(|text| text.parse().unwrap()).collect();
        let mut answers: Vec<Vec<IpAddr>> = answers.iter().map(parse).collect();
        answers.reverse();
        self.0.lock().unwrap().insert(name.to_owned(), answers);
        self
    }
}

impl Names for ToldNames {
    fn lookup(&self, name: &str) -> Lookup {
        let mut known = self.0.lock().unwrap();
        let answer = match known.get_mut(name.trim_end_matches('.')) {
            Some(answers) if answers.len() > 1 => answers.pop(),
            Some(answers) => answers.last().cloned(),
            None => None,
        };
        Box::pin(async move { answer.ok_or_else(|| io::Error::other("no such name")) })
    }
}
