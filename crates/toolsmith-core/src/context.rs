//! The tool's side of a running call: is it still wanted, how far is it, what
//! does it say while it runs, and whom can it ask.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::definition::ToolDef;
use crate::name::CallId;
use crate::reply::{Inquiry, Question, Response};

/// What a tool can know and say while it runs. Cheap to clone.
///
/// ```
/// use toolsmith_core::{Outcome, Progress, ToolContext};
///
/// fn copy(files: &[&str], context: &ToolContext) -> Outcome {
///     for (done, file) in files.iter().enumerate() {
///         if context.is_cancelled() {
///             break;
///         }
///         context.progress(Progress::done(done as f64).of(files.len() as f64).saying(*file));
///     }
///     Outcome::ok(files.len())
/// }
///
/// assert!(copy(&["a", "b"], &ToolContext::detached()).is_success());
/// ```
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

    /// The trace context in the W3C form that goes to whoever this call asks: that of the
    /// call's own span where spans are recorded, else the caller's.
    pub fn trace(&self) -> Option<&str> {
        self.host.trace()
    }

    /// What vendors note beside the trace context.
    pub fn trace_state(&self) -> Option<&str> {
        self.host.trace_state()
    }

    /// What names the call to whoever must tell a repetition from a second wish: the
    /// caller's own key, or one made for the call. It is the same in every attempt.
    pub fn idempotency_key(&self) -> Option<Cow<'_, str>> {
        self.host.idempotency_key()
    }

    /// The caller's own key for the call, if it gave one.
    pub fn callers_key(&self) -> Option<Cow<'_, str>> {
        self.host.callers_key()
    }

    /// Tells how far the work is.
    pub fn progress(&self, progress: Progress) {
        self.host.update(Update::Progress(progress));
    }

    /// Hands out a piece of output before the outcome.
    pub fn output(&self, text: impl Into<String>) {
        self.host.update(Update::Output(text.into()));
    }

    /// Notes something for whoever watches the caller's log.
    pub fn log(&self, level: Level, message: impl Into<Value>) {
        self.host.update(Update::Log(LogEntry::new(level, message)));
    }

    /// Passes on a log entry somebody else wrote.
    pub fn relay_log(&self, entry: LogEntry) {
        self.host.update(Update::Log(entry));
    }

    /// Asks the person the call is made for, or the caller itself. Waiting for the
    /// answer does not count against the time limit.
    pub async fn ask(&self, question: Question) -> Response {
        let answers = self.ask_all(vec![Inquiry::new("answer", question)]).await;
        answers.into_iter().next().unwrap_or(Response::Unavailable)
    }

    /// Asks several questions at once; the answers come in their order.
    pub async fn ask_all(&self, inquiries: Vec<Inquiry>) -> Vec<Response> {
        let asked = inquiries.len();
        let mut answers = self.host.ask(inquiries).await;
        answers.resize(asked, Response::Unavailable);
        answers
    }

    /// The tools this caller may see.
    pub fn catalogue(&self) -> Vec<Arc<ToolDef>> {
        self.host.catalogue()
    }

    /// On whose terms the call is made, in the host's own type, for tools that make calls
    /// on behalf of their caller.
    pub fn terms(&self) -> Option<&(dyn Any + Send + Sync)> {
        self.host.terms()
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

    /// The trace context of what the call does.
    fn trace(&self) -> Option<&str> {
        None
    }

    /// What vendors note beside it.
    fn trace_state(&self) -> Option<&str> {
        None
    }

    /// What the caller names the call by.
    fn callers_key(&self) -> Option<Cow<'_, str>> {
        None
    }

    /// What names the call.
    fn idempotency_key(&self) -> Option<Cow<'_, str>> {
        None
    }

    /// Asks a person, or the caller; one answer for each question, in order.
    fn ask(
        &self,
        inquiries: Vec<Inquiry>,
    ) -> Pin<Box<dyn Future<Output = Vec<Response>> + Send + '_>> {
        Box::pin(std::future::ready(vec![
            Response::Unavailable;
            inquiries.len()
        ]))
    }

    /// The tools the caller may see.
    fn catalogue(&self) -> Vec<Arc<ToolDef>> {
        Vec::new()
    }

    /// On whose terms the call is made, in a type of the host's own.
    fn terms(&self) -> Option<&(dyn Any + Send + Sync)> {
        None
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
    /// Something for the caller's log.
    Log(LogEntry),
}

/// An entry of a caller's log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LogEntry {
    /// How much it matters.
    pub level: Level,
    /// Who wrote it, if not the tool itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logger: Option<String>,
    /// What it says: a text, or any JSON.
    pub message: Value,
}

impl LogEntry {
    /// An entry of the tool itself.
    pub fn new(level: Level, message: impl Into<Value>) -> Self {
        Self {
            level,
            logger: None,
            message: message.into(),
        }
    }

    /// Names who wrote it.
    #[must_use]
    pub fn by(mut self, logger: impl Into<String>) -> Self {
        self.logger = Some(logger.into());
        self
    }
}

/// How much a log entry matters, as syslog counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are RFC 5424's own")]
pub enum Level {
    Debug,
    Info,
    Notice,
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
}

/// How far the work is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Progress {
    /// How much is done, in any unit.
    pub done: f64,
    /// How much there is, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<f64>,
    /// What is going on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
