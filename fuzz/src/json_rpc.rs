//! Whatever a client writes, each line is answered as it deserves, however the bytes were cut.
//!
//! The input is what a client says after its handshake. Which answer a line deserves is
//! decided here a second time.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex, split};
use tokio::runtime::{Builder, Runtime};
use toolsmith_core::{CancellationToken, json as strict};
use toolsmith_mcp::server::Server;
use toolsmith_runtime::Toolbox;
use toolsmith_testing::tools;

const LIMIT: usize = 16 << 20;

/// How many answers there are of each id and code; code 0 where it went well.
type Answers = BTreeMap<(String, i64), usize>;

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build();
    runtime.expect("a runtime can be started")
});

static SERVER: LazyLock<Server> = LazyLock::new(|| {
    let toolbox = Toolbox::builder()
        .tools([tools::echo(), tools::add()])
        .without_log()
        .build()
        .expect("the tools are good ones");
    Server::builder(toolbox).build()
});

/// Checks what one client says.
pub fn check(bytes: &[u8]) {
    let whole = answers(bytes, usize::MAX);
    let expected = expected(bytes);
    if !expected.cancels {
        let single = answers(bytes, 1);
        assert_eq!(
            expected.settled(&single),
            expected.settled(&whole),
            "byte by byte"
        );
    }
    for ((id, code), count) in &expected.errors {
        let found = whole.get(&(id.clone(), *code)).copied().unwrap_or_default();
        assert!(
            found >= *count,
            "{id} {code}: {count} expected, of {whole:?}"
        );
    }
    for (id, count) in &expected.requests {
        let of_id = |((other, _), count): (&(String, i64), &usize)| (other == id).then_some(*count);
        let found: usize = whole.iter().filter_map(of_id).sum();
        let fits = match expected.cancels {
            true => found <= *count,
            false => found == *count,
        };
        assert!(fits, "{count} requests {id}, {found} answers: {whole:?}");
    }
    let known: usize =
        expected.errors.values().sum::<usize>() + expected.requests.values().sum::<usize>();
    assert!(whole.values().sum::<usize>() <= known, "{whole:?}");
}

/// What the lines of a client deserve.
#[derive(Default)]
struct Expected {
    /// Errors whose id cannot be told.
    errors: Answers,
    /// How many lines want an answer to this id.
    requests: BTreeMap<String, usize>,
    /// Whether something is given up, and so perhaps not answered.
    cancels: bool,
}

impl Expected {
    /// Answers without their codes where an id was used twice: whether the second comes
    /// too early is a matter of time.
    fn settled(&self, answers: &Answers) -> Answers {
        let mut settled = Answers::new();
        for ((id, code), count) in answers {
            let twice = self.requests.get(id).is_some_and(|requests| *requests > 1);
            let code = if twice { 0 } else { *code };
            *settled.entry((id.clone(), code)).or_default() += count;
        }
        settled
    }
}

fn expected(bytes: &[u8]) -> Expected {
    let mut expected = Expected::default();
    let null = |code: i64| ("null".to_owned(), code);
    for line in bytes.split(|byte| *byte == b'\n') {
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let Ok(message) = strict::parse(line, LIMIT) else {
            *expected.errors.entry(null(-32700)).or_default() += 1;
            continue;
        };
        let id = message.get("id");
        let has = |key: &str| message.get(key).is_some();
        let known = id.is_none_or(|id| id.is_string() || id.is_i64());
        // An error that answers nothing we know of has no id.
        let is_error = id.is_some_and(Value::is_null) && !has("method");
        if !message.is_object() || !(known || is_error) {
            *expected.errors.entry(null(-32600)).or_default() += 1;
            continue;
        }
        expected.cancels |= message["method"] == "notifications/cancelled";
        let is_answer = !has("method") && (has("result") != has("error"));
        let is_message = message["jsonrpc"] == "2.0"
            && (is_answer
                || message["method"].is_string()
                    && !has("result")
                    && !has("error")
                    && message.get("params").is_none_or(Value::is_object));
        match id.filter(|id| !id.is_null()) {
            // Notes and answers are taken in silence.
            _ if is_message && is_answer => {}
            Some(id) => *expected.requests.entry(id.to_string()).or_default() += 1,
            None if is_message => {}
            None => *expected.errors.entry(null(-32600)).or_default() += 1,
        }
    }
    expected
}

/// What the server answers, when the bytes come in pieces of this size.
fn answers(bytes: &[u8], size: usize) -> Answers {
    let said = RUNTIME.block_on(async {
        let (ours, theirs) = duplex(64 << 10);
        let (read, write) = split(theirs);
        let serving = SERVER.serve_streams(read, write, CancellationToken::new());
        let (mut hear, mut say) = split(ours);
        let speaking = async {
            let _ = say.write_all(handshake().as_bytes()).await;
            for piece in bytes.chunks(size.min(bytes.len().max(1))) {
                if say.write_all(piece).await.is_err() {
                    break;
                }
                tokio::task::yield_now().await;
            }
            let _ = say.shutdown().await;
        };
        let mut said = Vec::new();
        let serving = async {
            let served = serving.await;
            served.expect("nothing a client says breaks the server");
        };
        let (_, _, heard) = tokio::join!(speaking, serving, hear.read_to_end(&mut said));
        heard.expect("the stream ends well");
        said
    });
    let mut answers = Answers::new();
    let lines = said
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty());
    for line in lines {
        let message: Value = serde_json::from_slice(line).expect("nothing but JSON is written");
        assert_eq!(message["jsonrpc"], "2.0", "{message}");
        if message.get("method").is_some() || message["id"] == HANDSHAKE {
            continue;
        }
        let code = message["error"]["code"].as_i64().unwrap_or_default();
        let id = message.get("id").unwrap_or(&Value::Null).to_string();
        *answers.entry((id, code)).or_default() += 1;
    }
    answers
}

const HANDSHAKE: &str = "the-handshake";

fn handshake() -> String {
    let hello = json!({
        "jsonrpc": "2.0", "id": HANDSHAKE, "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "fuzz", "version": "1" },
        },
    });
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    format!("{hello}\n{ready}\n")
}
