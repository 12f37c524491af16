//! A server of models that says what a script says, in the words of OpenAI (both ways),
//! Anthropic, Gemini and Ollama, at their usual paths, whole or streamed as it is asked.
//!
//! It has a thread and a runtime of its own, so that the test's clock may stand still while
//! it answers. It listens on this machine only and asks for no key.
//!
//! ```
//! use toolsmith_core::RawCall;
//! use toolsmith_provider::Provider;
//! use toolsmith_testing::model_server::{ModelServer, Step};
//!
//! let call = RawCall::new("weather", serde_json::json!({"city": "Bern"}));
//! let server = ModelServer::start([Step::call("I look.", [call]), Step::say("Sunny.")]);
//! let base = server.url(Provider::Anthropic);
//! assert!(base.starts_with("http://127.0.0.1:"));
//! ```

mod body;
mod file;
mod reply;
mod request;
mod script;
mod serve;

use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use tokio::sync::watch;
use toolsmith_core::CancellationToken;
use toolsmith_provider::Provider;

pub use self::request::Seen;
pub use self::script::{Answering, Script, Step};

/// A model server that lives until it is dropped.
#[derive(Debug)]
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    stop: CancellationToken,
    thread: Option<JoinHandle<()>>,
}

/// What the thread and its owner both look at.
#[derive(Debug)]
struct Shared {
    script: Mutex<Script>,
    seen: watch::Sender<Vec<Seen>>,
}

impl Shared {
    /// Notes a request; its number, from 1, and the step that answers it.
    fn take(&self, seen: Seen) -> (usize, Option<Step>) {
        let step = seen.provider.and_then(|_| {
            let mut script = self.script.lock().unwrap_or_else(PoisonError::into_inner);
            script.take()
        });
        let mut number = 0;
        self.seen.send_modify(|all| {
            all.push(seen);
            number = all.len();
        });
        (number, step)
    }
}

impl ModelServer {
    /// Begins to listen at a port that is free.
    ///
    /// # Panics
    /// Where there is none, or no thread.
    pub fn start(script: impl Into<Script>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port is free");
        let address = listener.local_addr().expect("a listener has an address");
        let shared = Arc::new(Shared {
            script: Mutex::new(script.into()),
            seen: watch::Sender::default(),
        });
        let stop = CancellationToken::new();
        let (theirs, until) = (shared.clone(), stop.clone());
        let thread = std::thread::Builder::new()
            .name("model-server".to_owned())
            .spawn(move || serve::run(listener, &theirs, &until))
            .expect("a thread can be started");
        Self {
            address,
            shared,
            stop,
            thread: Some(thread),
        }
    }

    /// The address of a provider here, as its own packages take it: with `/v1` for those
    /// that speak as OpenAI, and bare for the others.
    pub fn url(&self, provider: Provider) -> String {
        let path = match provider {
            Provider::Anthropic | Provider::Gemini | Provider::Ollama => "",
            _ => "/v1",
        };
        format!("http://{}{path}", self.address)
    }

    /// What it was asked so far.
    pub fn requests(&self) -> Vec<Seen> {
        self.shared.seen.borrow().clone()
    }

    /// Waits until so many requests have come.
    pub async fn seen(&self, count: usize) {
        let mut seen = self.shared.seen.subscribe();
        let enough = seen.wait_for(|seen| seen.len() >= count).await;
        enough.expect("the server keeps the other end");
    }

    /// How many steps were not taken yet.
    pub fn left(&self) -> usize {
        let script = self.shared.script.lock();
        script.unwrap_or_else(PoisonError::into_inner).left()
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.stop.cancel();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
