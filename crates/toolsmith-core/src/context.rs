//! The tool's side of a running call: is it still wanted, how far is it, what
//! does it say while it runs, and whom can it ask.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::definition::ToolDef;
use crate::name::CallId;
use crate::reply::{Question, Response};

/// What a tool can know and say while it runs. Cheap to clone.
#[derive(Clone)]
pub struct ToolContext {
    cancellation: CancellationToken,
    host: Arc<dyn ContextHost>,
}

impl ToolContext {
    /// A context over a host; the runtime makes one for each call.
    pub fn new(cancellation: CancellationToken, host: Arc<dyn ContextHost>) -> Self {
        Self { cancellation, host }
    }

    /// A context nobody listens to, for trying a tool by itself.
    pub fn detached() -> Self {
        Self::new(CancellationToken::new(), Arc::new(Nobody))
    }

    /// Tells whether the call was given up or ran out of time.
    pub fn is_cancelled(&self) -> bool {
        self.cancellation.is_cancelled()
    }

    /// Waits until the call is given up or runs out of time.
    pub async fn cancelled(&self) {
        self.cancellation.cancelled().await;
    }

    /// The token itself, to hand to what the tool starts.
    pub fn cancellation(&self) -> &CancellationToken {
        &self.cancellation
    }

    /// Which call this is.
    pub fn call_id(&self) -> Option<&CallId> {
        self.host.call_id()
    }

    /// Who the call is made for.
    pub fn caller(&self) -> &str {
        self.host.caller()
    }

    /// Tells how far the work is.
    pub fn progress(&self, progress: Progress) {
        self.host.update(Update::Progress(progress));
    }

    /// Hands out a piece of output before the outcome.
    pub fn output(&self, text: impl Into<String>) {
        self.host.update(Update::Output(text.into()));
    }

    /// Asks the person the call is made for. Waiting for the answer does not
    /// count against the time limit.
    pub async fn ask(&self, question: Question) -> Response {
        self.host.ask(question).await
    }

    /// The tools this caller may see.
    pub fn catalogue(&self) -> Vec<Arc<ToolDef>> {
        self.host.catalogue()
    }
}

impl fmt::Debug for ToolContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolContext")
            .field("call_id", &self.call_id())
            .field("cancelled", &self.is_cancelled())
            .finish_non_exhaustive()
    }
}

/// What stands behind a [`ToolContext`]. Implemented by the runtime, and by test
/// doubles; every method may be called from any thread.
pub trait ContextHost: Send + Sync {
    /// Which call this is.
    fn call_id(&self) -> Option<&CallId> {
        None
    }

    /// Who the call is made for.
    fn caller(&self) -> &str {
        ""
    }

    /// Takes what a tool says while it runs. Must not block.
    fn update(&self, update: Update) {
        let _ = update;
    }

    /// Asks a person.
    fn ask(&self, question: Question) -> Pin<Box<dyn Future<Output = Response> + Send + '_>> {
        let _ = question;
        Box::pin(std::future::ready(Response::Unavailable))
    }

    /// The tools the caller may see.
    fn catalogue(&self) -> Vec<Arc<ToolDef>> {
        Vec::new()
    }
}

struct Nobody;

impl ContextHost for Nobody {}

/// What a tool says while it runs.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Update {
    /// How far it is.
    Progress(Progress),
    /// A piece of output.
    Output(String),
}

/// How far the work is.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Progress {
    /// How much is done, in any unit.
    pub done: f64,
    /// How much there is, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<f64>,
    /// What is going on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl Progress {
    /// So much is done.
    pub fn done(done: f64) -> Self {
        Self {
            done,
            ..Self::default()
        }
    }

    /// Out of so much.
    #[must_use]
    pub fn of(mut self, total: f64) -> Self {
        self.total = Some(total);
        self
    }

    /// Says what is going on.
    #[must_use]
    pub fn saying(mut self, message: impl Into<String>) -> Self {
        self.message = Some(message.into());
        self
    }
}
