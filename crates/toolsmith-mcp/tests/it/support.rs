//! A client that can say anything, and servers to say it to.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};
use tokio::task::JoinHandle;
use toolsmith_core::{AnyTool, CancellationToken, Outcome, ToolContext, ToolDef};
use toolsmith_mcp::server::Server;
use toolsmith_runtime::{Mode, Policy, Toolbox};
use toolsmith_testing::tools;

/// How long anything may take that must happen; nothing waits for it to pass.
pub(crate) const SOON: Duration = Duration::from_secs(60);

/// What a future comes to, which must be soon.
#[track_caller]
pub(crate) fn soon<F: Future>(future: F) -> impl Future<Output = F::Output> {
    let place = std::panic::Location::caller();
    async move {
        match tokio::time::timeout(SOON, future).await {
            Ok(value) => value,
            Err(_) => panic!("nothing came, at {place}"),
        }
    }
}

/// Waits until something holds.
#[track_caller]
pub(crate) fn until(holds: impl Fn() -> bool) -> impl Future<Output = ()> {
    soon(async move {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    })
}

/// A toolbox in which everything may run.
pub(crate) fn toolbox(tools: impl IntoIterator<Item = AnyTool>) -> Toolbox {
    Toolbox::builder()
        .tools(tools)
        .policy(Policy::new(Mode::Auto))
        .without_log()
        .build()
        .unwrap()
}

/// A server of these tools and nothing else.
pub(crate) fn serving(tools: impl IntoIterator<Item = AnyTool>) -> Server {
    Server::builder(toolbox(tools)).build()
}

/// A tool of a function, with open arguments.
pub(crate) fn tool<F, R>(name: &str, work: F) -> AnyTool
where
    F: Fn(Value, ToolContext) -> R + Send + Sync + 'static,
    R: Future<Output = Outcome> + Send + 'static,
{
    AnyTool::from_fn(tools::definition(name), work)
}

/// As [`tool`], with a definition of its own.
pub(crate) fn defined<F, R>(definition: ToolDef, work: F) -> AnyTool
where
    F: Fn(Value, ToolContext) -> R + Send + Sync + 'static,
    R: Future<Output = Outcome> + Send + 'static,
{
    AnyTool::from_fn(definition, work)
}

/// A request.
pub(crate) fn request(id: impl Into<Value>, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params })
}

/// A request of the stateless era, by a client that can do nothing more.
pub(crate) fn stateless(id: impl Into<Value>, method: &str, params: Value) -> Value {
    by(json!({}), id, method, params)
}

/// A request of the stateless era, by a client with capabilities.
pub(crate) fn by(
    capabilities: Value,
    id: impl Into<Value>,
    method: &str,
    mut params: Value,
) -> Value {
    let meta = &mut params["_meta"];
    meta["io.modelcontextprotocol/protocolVersion"] = "2026-07-28".into();
    meta["io.modelcontextprotocol/clientCapabilities"] = capabilities;
    meta["io.modelcontextprotocol/clientInfo"] = json!({ "name": "test", "version": "1" });
    request(id, method, params)
}

/// The first words of the era with a handshake.
pub(crate) fn initialize(version: &str, capabilities: Value) -> Value {
    let params = json!({
        "protocolVersion": version,
        "capabilities": capabilities,
        "clientInfo": { "name": "test", "version": "1" },
    });
    request("initialize", "initialize", params)
}

/// A note.
pub(crate) fn note(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

/// The parameters of a call.
pub(crate) fn calling(name: &str, arguments: Value) -> Value {
    json!({ "name": name, "arguments": arguments })
}

/// The capability to be shown forms.
pub(crate) fn forms() -> Value {
    json!({ "elicitation": {} })
}

/// A client on a stream.
pub(crate) struct Client {
    write: Option<WriteHalf<DuplexStream>>,
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    /// What came while something else was waited for.
    pub(crate) kept: Vec<Value>,
    pub(crate) stop: CancellationToken,
    pub(crate) served: JoinHandle<std::io::Result<()>>,
    asked: u32,
}

impl Client {
    /// Connects and says nothing.
    pub(crate) fn connect(server: &Server) -> Self {
        let (ours, theirs) = tokio::io::duplex(64 << 10);
        let (read, write) = tokio::io::split(theirs);
        let stop = CancellationToken::new();
        let (server, token) = (server.clone(), stop.clone());
        let served = tokio::spawn(async move { server.serve_streams(read, write, token).await });
        let (read, write) = tokio::io::split(ours);
        Self {
            write: Some(write),
            lines: BufReader::new(read).lines(),
            kept: Vec::new(),
            stop,
            served,
            asked: 0,
        }
    }

    /// Connects with a handshake.
    pub(crate) async fn handshake(server: &Server, capabilities: Value) -> Self {
        Self::handshake_of(server, "2025-11-25", capabilities).await
    }

    /// Connects with the handshake of a version.
    pub(crate) async fn handshake_of(server: &Server, version: &str, capabilities: Value) -> Self {
        let mut client = Self::connect(server);
        client.send(&initialize(version, capabilities)).await;
        let answer = client.answer("initialize").await;
        assert!(answer["result"].is_object(), "{answer}");
        client
            .send(&note("notifications/initialized", json!({})))
            .await;
        client
    }

    pub(crate) async fn send(&mut self, message: &Value) {
        self.write(format!("{message}\n").as_bytes()).await;
    }

    pub(crate) async fn write(&mut self, bytes: &[u8]) {
        let write = self.write.as_mut().expect("the client still talks");
        soon(write.write_all(bytes)).await.unwrap();
    }

    /// Talks no more.
    pub(crate) async fn hang_up(&mut self) {
        if let Some(mut write) = self.write.take() {
            let _ = write.shutdown().await;
        }
    }

    /// The next message; none at the end.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        let line = soon(self.lines.next_line()).await.unwrap()?;
        Some(message(&line))
    }

    /// The next message that fits; the others are kept.
    pub(crate) async fn find(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        if let Some(place) = self.kept.iter().position(&fits) {
            return self.kept.remove(place);
        }
        loop {
            let next = self.next().await;
            let next = next.unwrap_or_else(|| panic!("the end came first: {:?}", self.kept));
            if fits(&next) {
                return next;
            }
            self.kept.push(next);
        }
    }

    /// The answer to a request.
    pub(crate) async fn answer(&mut self, id: impl Into<Value>) -> Value {
        let id = id.into();
        self.find(|message| message.get("method").is_none() && message["id"] == id)
            .await
    }

    /// Asks something and waits for the answer.
    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> Value {
        self.asked += 1;
        let id = format!("ask-{}", self.asked);
        self.send(&request(id.clone(), method, params)).await;
        self.answer(id).await
    }

    /// Asks something in the stateless era and waits for the answer.
    pub(crate) async fn ask_stateless(
        &mut self,
        capabilities: Value,
        method: &str,
        params: Value,
    ) -> Value {
        self.asked += 1;
        let id = format!("ask-{}", self.asked);
        self.send(&by(capabilities, id.clone(), method, params))
            .await;
        self.answer(id).await
    }

    /// Calls a tool and waits for its result.
    pub(crate) async fn call(&mut self, name: &str, arguments: Value) -> Value {
        let answer = self.ask("tools/call", calling(name, arguments)).await;
        answer["result"].clone()
    }

    /// Waits for something the server asks.
    pub(crate) async fn asked(&mut self, method: &str) -> Value {
        self.find(|message| message["method"] == method && message.get("id").is_some())
            .await
    }

    /// Waits for something the server notes.
    pub(crate) async fn noted(&mut self, method: &str) -> Value {
        self.find(|message| message["method"] == method && message.get("id").is_none())
            .await
    }

    /// Everything that comes until the end.
    pub(crate) async fn rest(&mut self) -> Vec<Value> {
        let mut rest = std::mem::take(&mut self.kept);
        while let Some(next) = self.next().await {
            rest.push(next);
        }
        rest
    }
}

/// A line that must be one message.
#[track_caller]
pub(crate) fn message(line: &str) -> Value {
    let message: Value =
        serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
    assert_eq!(message["jsonrpc"], "2.0", "{line}");
    let has = |key: &str| message.get(key).is_some();
    let sorts = [has("method"), has("result"), has("error")];
    assert_eq!(sorts.iter().filter(|is| **is).count(), 1, "{line}");
    message
}

/// The code of an answer's error; 0 for a result.
pub(crate) fn code(answer: &Value) -> i64 {
    answer["error"]["code"].as_i64().unwrap_or_default()
}

/// The text of a result.
pub(crate) fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_default()
}
