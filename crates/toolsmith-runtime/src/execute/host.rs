//! What stands behind a running tool's context.
//!
//! Updates pass the shaper and are bounded; after the call has ended they go
//! nowhere. Waiting for a person stops the clock.

use std::any::Any;
use std::borrow::Cow;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;
use toolsmith_core::context::{ContextHost, LogEntry, Update};
use toolsmith_core::event::What;
use toolsmith_core::reply::{Inquiry, Response};
use toolsmith_core::{CallId, Progress, ToolDef, json};

use crate::caller::Caller;
use crate::record::{CallKey, Trail};
use crate::shape::Redactor;
use crate::toolbox::Inner;

/// Lines are told whole, so that a secret is not cut in two; one without an end is
/// told in pieces of about this size.
const LONGEST_LINE: usize = 8 << 10;

/// What a log entry counts for, beside what it says.
const LOG_ENTRY: usize = 64;

/// How much of such a piece is kept back where it may be the beginning of a key.
const LONGEST_KEY: usize = 4 << 10;

const KEY_END: &str = "-----END ";

/// The host of one running call.
#[derive(Debug)]
pub(super) struct Host {
    inner: Arc<Inner>,
    caller: Caller,
    id: CallId,
    key: Arc<CallKey>,
    trace: Option<String>,
    state: Mutex<State>,
    clock: Mutex<Clock>,
    clock_moved: Notify,
    asking: tokio::sync::Mutex<()>,
}

/// The call's trail, while it runs, and what was streamed so far.
#[derive(Debug)]
struct State {
    trail: Option<Box<Trail>>,
    streamed: usize,
    line: String,
    /// Whether the lines to come belong to a private key.
    in_key: bool,
}

#[derive(Debug, Default)]
struct Clock {
    waiting: usize,
    since: Option<Instant>,
    waited: Duration,
}

impl Host {
    pub(super) fn new(inner: Arc<Inner>, trail: Box<Trail>) -> Self {
        Self {
            inner,
            caller: trail.caller().clone(),
            id: trail.id().clone(),
            key: Arc::clone(trail.key()),
            trace: trail.trace().map(str::to_owned),
            state: Mutex::new(State {
                trail: Some(trail),
                streamed: 0,
                line: String::new(),
                in_key: false,
            }),
            clock: Mutex::default(),
            clock_moved: Notify::new(),
            asking: tokio::sync::Mutex::default(),
        }
    }

    /// Notes that the tool begins to run.
    pub(super) fn started(&self, blocking: bool) {
        if let Some(trail) = &mut self.state().trail {
            trail.started(blocking);
        }
    }

    /// Ends the listening: what the tool says from now on is dropped. Called once,
    /// by whoever owns the execution.
    pub(super) fn close(&self) -> Box<Trail> {
        let waited = self.clock().waited;
        let mut state = self.state();
        self.flush(&mut state);
        let mut trail = state.trail.take().expect("an execution ends once");
        trail.waited(waited);
        trail
    }

    /// Tells whether the clock can stop at all: only where somebody can be asked.
    pub(super) fn may_wait(&self) -> bool {
        self.caller.inquirer().is_some()
    }

    /// How much longer a call with this limit may run; none while a person is
    /// being waited for.
    pub(super) fn left(&self, began: Instant, limit: Duration) -> Option<Duration> {
        let clock = self.clock();
        if clock.waiting > 0 {
            return None;
        }
        let ran = began.elapsed().saturating_sub(clock.waited);
        Some(limit.saturating_sub(ran))
    }

    /// Waits until somebody begins or ends to wait for a person.
    pub(super) async fn clock_moved(&self) {
        self.clock_moved.notified().await;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn clock(&self) -> MutexGuard<'_, Clock> {
        self.clock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn progress(&self, state: &State, mut progress: Progress) {
        if let Some(message) = &mut progress.message {
            self.inner.shaper.small(message);
        }
        // No protocol can carry a number that is none.
        if !progress.done.is_finite() {
            progress.done = 0.0;
        }
        progress.total = progress.total.filter(|total| total.is_finite());
        if let Some(trail) = &state.trail {
            trail.tell(What::Progress {
                progress: &progress,
            });
        }
    }

    /// Log entries share the ceiling of what is streamed.
    fn log(&self, state: &mut State, mut entry: LogEntry) {
        if state.trail.is_none() || state.streamed >= self.inner.limits().streamed_bytes {
            return;
        }
        entry.message = self.inner.shaper.small_value(entry.message);
        if let Some(logger) = &mut entry.logger {
            self.inner.shaper.small(logger);
        }
        let logger = entry.logger.as_ref().map_or(0, String::len);
        state.streamed += LOG_ENTRY + logger + json::size(&entry.message);
        if let Some(trail) = &state.trail {
            trail.tell(What::Logged { entry: &entry });
        }
    }

    fn output(&self, state: &mut State, text: &str) {
        let limit = self.inner.limits().streamed_bytes;
        if state.trail.is_none() || state.streamed >= limit {
            return;
        }
        let room = limit - state.streamed;
        let end = text.floor_char_boundary(room.min(text.len()));
        state.streamed += text.len();
        state.line.push_str(&text[..end]);
        if end < text.len() {
            self.inner.shaper.redactor.close_end(&mut state.line);
            state.line.push_str("\n[… no more is streamed …]\n");
        }
        let whole = match state.line.rfind('\n') {
            Some(end) => end + 1,
            None if state.line.len() > LONGEST_LINE => self.break_of(&state.line),
            None => return,
        };
        let rest = state.line.split_off(whole);
        self.flush(state);
        state.line = rest;
    }

    /// Where a long line can be broken without cutting a secret in two.
    fn break_of(&self, line: &str) -> usize {
        let open = line.len() - self.inner.shaper.redactor.open_end(line, 1);
        let is_of_a_key = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        let word = line.trim_end_matches(is_of_a_key).len();
        if line.len() - word <= LONGEST_KEY {
            // The last word may be that of a secret of several.
            let redactor = &self.inner.shaper.redactor;
            redactor.floor_secret_boundary(line, open.min(word))
        } else {
            open
        }
    }

    fn flush(&self, state: &mut State) {
        let mut line = std::mem::take(&mut state.line);
        if state.in_key {
            // What was told of it ended in its redacted beginning.
            let rest = Redactor::rest_of_key(&line);
            state.in_key = rest == line.len() && !line.contains(KEY_END);
            line.drain(..rest);
        }
        if let Some(begin) = Redactor::open_key(&line) {
            line.truncate(begin);
            line.push_str(Redactor::REDACTED);
            state.in_key = true;
        }
        if line.is_empty() {
            return;
        }
        let text = self.inner.shaper.redactor.clean(&line);
        if let Some(trail) = &state.trail {
            trail.tell(What::Output { text: &text });
        }
    }
}

impl ContextHost for Host {
    fn call_id(&self) -> Option<&CallId> {
        Some(&self.id)
    }

    fn caller(&self) -> &str {
        self.caller.identity()
    }

    fn update(&self, update: Update) {
        let mut state = self.state();
        match update {
            Update::Progress(progress) => self.progress(&state, progress),
            Update::Output(text) => self.output(&mut state, &text),
            Update::Log(entry) => self.log(&mut state, entry),
            _ => {}
        }
    }

    fn trace(&self) -> Option<&str> {
        self.trace.as_deref()
    }

    fn trace_state(&self) -> Option<&str> {
        self.caller.trace_state()
    }

    fn callers_key(&self) -> Option<Cow<'_, str>> {
        self.key.callers(&self.caller)
    }

    fn idempotency_key(&self) -> Option<Cow<'_, str>> {
        self.key.of(&self.caller)
    }

    fn ask(
        &self,
        mut inquiries: Vec<Inquiry>,
    ) -> Pin<Box<dyn Future<Output = Vec<Response>> + Send + '_>> {
        Box::pin(async move {
            let Some(inquirer) = self.caller.inquirer() else {
                return Vec::new();
            };
            for inquiry in &mut inquiries {
                self.inner.shaper.question(&mut inquiry.question);
            }
            // One question at a time, and all of them within one time limit: a tool
            // cannot stop its clock by asking for ever.
            let _turn = self.asking.lock().await;
            let left = (self.inner.limits().approval).saturating_sub(self.clock().waited);
            if left.is_zero() {
                return Vec::new();
            }
            let _waiting = Waiting::begin(self);
            tokio::time::timeout(left, inquirer.inquire(inquiries))
                .await
                .unwrap_or_default()
        })
    }

    fn catalogue(&self) -> Vec<Arc<ToolDef>> {
        match self.caller.offer() {
            Some(offer) => offer.tools().iter().map(|t| Arc::clone(&t.tool)).collect(),
            None => self.inner.registry.all(),
        }
    }

    fn terms(&self) -> Option<&(dyn Any + Send + Sync)> {
        Some(&self.caller)
    }
}

/// Stops the clock while it lives.
struct Waiting<'h>(&'h Host);

impl<'h> Waiting<'h> {
    fn begin(host: &'h Host) -> Self {
        {
            let mut clock = host.clock();
            clock.waiting += 1;
            clock.since.get_or_insert_with(Instant::now);
        }
        host.clock_moved.notify_one();
        Self(host)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        {
            let mut clock = self.0.clock();
            clock.waiting -= 1;
            if clock.waiting == 0
                && let Some(since) = clock.since.take()
            {
                clock.waited += since.elapsed();
            }
        }
        self.0.clock_moved.notify_one();
    }
}
