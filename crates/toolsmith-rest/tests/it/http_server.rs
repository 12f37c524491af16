//! What the tests of APIs share: a server on loopback that notes what it is asked, and
//! tools made from the text of a file.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use toolsmith_core::reference::Lookup;
use toolsmith_core::{AnyTool, Arguments, ErrorKind, Outcome, ToolError};
use toolsmith_rest::{Made, Surroundings, make};
use toolsmith_runtime::{Mode, Policy, Toolbox};

/// A request as it arrived.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) query: String,
    /// Names in small letters, in their order.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(other, _)| other == name);
        let first = found.next();
        assert!(found.next().is_none(), "{name} is there twice");
        first.map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    /// The query as a server reads it.
    pub(crate) fn pairs(&self) -> Vec<(String, String)> {
        let pairs = url::form_urlencoded::parse(self.query.as_bytes());
        pairs.into_owned().collect()
    }
}

/// A server that answers as it is told; it may keep its connection to itself.
pub(crate) struct Server {
    pub(crate) url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
    /// Told when a client left that got no answer.
    pub(crate) gone: Arc<Notify>,
}

impl Server {
    /// Answers each request with what `answer` makes of it and of how many came before.
    pub(crate) async fn answering(
        answer: impl Fn(&Seen, usize) -> Vec<u8> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
        let (noted, answer) = (Arc::clone(&seen), Arc::new(answer));
        let gone = Arc::new(Notify::new());
        let left = Arc::clone(&gone);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (noted, answer) = (Arc::clone(&noted), Arc::clone(&answer));
                let left = Arc::clone(&left);
                tokio::spawn(async move {
                    let request = read(&mut stream).await;
                    let before = {
                        let mut noted = noted.lock().unwrap();
                        noted.push(request.clone());
                        noted.len() - 1
                    };
                    let answer = answer(&request, before);
                    if answer == HANG {
                        // Nothing more comes, but for the end.
                        let _ = stream.read_u8().await;
                        left.notify_one();
                        return;
                    }
                    let endless = answer.ends_with(ENDLESS);
                    // The client may have gone.
                    let _ = stream.write_all(&answer).await;
                    while endless && stream.write_all(&[b'x'; 65536]).await.is_ok() {}
                });
            }
        });
        Self { url, seen, gone }
    }

    pub(crate) async fn saying(value: Value) -> Self {
        Self::answering(move |_, _| ok(&value)).await
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// The requests since this was asked last.
    pub(crate) fn take(&self) -> Vec<Seen> {
        std::mem::take(&mut *self.seen.lock().unwrap())
    }

    /// The only request there was.
    pub(crate) fn only(&self) -> Seen {
        let seen = self.seen();
        assert_eq!(seen.len(), 1, "{seen:#?}");
        seen[0].clone()
    }

    /// The last request.
    pub(crate) fn last(&self) -> Seen {
        self.seen().pop().unwrap()
    }

    /// A tool of this server, as a file describes it.
    pub(crate) fn tool(&self, yaml: &str) -> AnyTool {
        let yaml = yaml.replace("SERVER", &self.url);
        only(&make_from(&yaml))
    }
}

/// An answer that never comes.
pub(crate) const HANG: &[u8] = b"\0hang";

/// The end of an answer that never ends.
pub(crate) const ENDLESS: &[u8] = b"\0endless";

async fn read(stream: &mut TcpStream) -> Seen {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => return Seen::default(),
        }
    }
    let head = String::from_utf8(head).unwrap();
    let mut lines = head.lines();
    let mut words = lines.next().unwrap().split(' ');
    let method = words.next().unwrap().to_owned();
    let target = words.next().unwrap();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length.map_or(0, |(_, value)| value.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.unwrap();
    Seen {
        method,
        path: path.to_owned(),
        query: query.to_owned(),
        headers,
        body,
    }
}

pub(crate) fn ok(value: &Value) -> Vec<u8> {
    answer(200, &["content-type: application/json"], value.to_string())
}

pub(crate) fn answer(status: u16, headers: &[&str], body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let mut text = format!("HTTP/1.1 {status} Some\r\nconnection: close\r\n");
    for header in headers {
        text.push_str(header);
        text.push_str("\r\n");
    }
    text.push_str(&format!("content-length: {}\r\n\r\n", body.len()));
    let mut bytes = text.into_bytes();
    bytes.extend_from_slice(body);
    bytes
}

/// What references stand for in the tests.
struct Table(HashMap<&'static str, &'static str>);

impl Lookup for Table {
    fn variable(&self, name: &str) -> Option<String> {
        self.0.get(name).map(|&value| value.to_owned())
    }

    fn file(&self, path: &str) -> Result<String, String> {
        let content = self.0.get(path).map(|&value| format!("{value}\n"));
        content.ok_or_else(|| "there is no such file".to_owned())
    }
}

pub(crate) const SECRET: &str = "s3cret/+ value";

pub(crate) fn surroundings() -> Surroundings {
    let table = Table(HashMap::from([
        ("SECRET", SECRET),
        ("TOKEN", "tok:en/pärt+2"),
        ("BRACED", "hid/den{value"),
        ("BROKEN", "one\r\nX-Other: two"),
        ("key.txt", "from-a-file"),
    ]));
    Surroundings::new(Arc::new(table), "/nowhere", Arc::from([]))
}

pub(crate) fn make_from(yaml: &str) -> Made {
    make_with(yaml, &surroundings())
}

pub(crate) fn make_with(yaml: &str, surroundings: &Surroundings) -> Made {
    let entry = serde_saphyr::from_str(yaml).unwrap_or_else(|error| panic!("{error}\n{yaml}"));
    make(&entry, surroundings)
}

pub(crate) fn only(made: &Made) -> AnyTool {
    assert_eq!(made.problems, [], "{made:?}");
    assert_eq!(made.tools.len(), 1);
    made.tools[0].clone()
}

pub(crate) fn arguments(value: Value) -> Arguments {
    match value {
        Value::Object(object) => Arguments::new(object),
        other => panic!("{other} is no object"),
    }
}

/// A toolbox of one tool, which may run.
pub(crate) fn toolbox(tool: &AnyTool) -> Toolbox {
    let builder = Toolbox::builder().tools([tool.clone()]);
    let builder = builder.policy(Policy::new(Mode::Auto)).without_log();
    builder.build().unwrap()
}

pub(crate) async fn call(tool: &AnyTool, value: Value) -> Outcome {
    let name = tool.definition().name.to_string();
    toolsmith_testing::call(&toolbox(tool), &name, value).await
}

/// The value of a call that succeeds.
pub(crate) async fn value(tool: &AnyTool, arguments: Value) -> Value {
    let outcome = call(tool, arguments).await;
    assert_eq!(outcome.error, None);
    outcome.value.unwrap_or(json!(null))
}

/// The failure of a call.
pub(crate) async fn failure(tool: &AnyTool, arguments: Value) -> ToolError {
    let outcome = call(tool, arguments).await;
    outcome
        .error
        .clone()
        .unwrap_or_else(|| panic!("it succeeded: {outcome:?}"))
}

/// Checks that a call fails in a way, and that nothing secret is told of it.
pub(crate) async fn fails(tool: &AnyTool, arguments: Value, kind: ErrorKind, told: &str) {
    let error = failure(tool, arguments).await;
    assert_eq!(error.kind, kind, "{error}");
    assert!(error.message.contains(told), "{error}");
    assert!(!format!("{error:?}").contains(SECRET), "{error:?}");
}
