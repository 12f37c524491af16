//! Execute: runs what was permitted, and nothing else.
//!
//! Each call runs in a task of its own, but for what well-behaved tools do at once, or
//! on a thread of the blocking pool. Time limit, cancellation and a caller that goes
//! away all end it the same way: the tool's token is cancelled, it gets a short grace,
//! then it is aborted; its end is always recorded. What a thread cannot be stopped
//! from doing is said truthfully, and its late result is dropped.

mod host;
mod paths;
mod polled;
mod pool;

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::OwnedSemaphorePermit;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use toolsmith_core::tool::Work;
use toolsmith_core::{
    CancellationToken, ErrorKind, Outcome, ToolContext, ToolError, duration, json,
};

use paths::InLine;
pub(crate) use paths::PathLocks;
pub(crate) use polled::Manners;
pub(crate) use pool::Pool;

use crate::permit::PermittedCall;
use crate::record::Trail;
use crate::shield::Forgetting;
use crate::toolbox::Inner;
use host::Host;
use polled::{Ended, Polled};
use pool::GivenUp;

/// Who waits for a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waits {
    /// Its caller alone, who may as well begin it.
    Alone,
    /// A whole batch, which one call must not hold up.
    Batch,
}

/// Runs a permitted call to its end. The trail comes back with the outcome.
pub(crate) async fn execute(
    inner: &Arc<Inner>,
    call: &PermittedCall,
    trail: Box<Trail>,
    waits: Waits,
    time: Time,
) -> (Outcome, Box<Trail>) {
    let cancellation = trail.caller().cancellation().clone();
    if cancellation.is_cancelled() {
        let error = ToolError::new(ErrorKind::Cancelled, "was given up before it began");
        return (Outcome::failure(error), trail);
    }
    let turn = match wait_for_turn(inner, call, &cancellation, time.whole).await {
        Ok(turn) => turn,
        Err(error) => return (Outcome::failure(error), trail),
    };
    let mut execution = match Execution::start(inner, call, turn, trail, waits) {
        Ok(execution) => execution,
        Err(refused) => {
            let (error, trail) = *refused;
            return (Outcome::failure(error), trail);
        }
    };
    let end = execution.watch(&cancellation, time.left).await;
    let outcome = execution.settle(end, time.whole).await;
    let trail = execution.finish(&outcome);
    (outcome, trail)
}

/// How much time a call has, and how much of it is left where it is made again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Time {
    pub(crate) whole: Duration,
    pub(crate) left: Duration,
}

/// What a call must have before it begins.
struct Turn {
    /// Kept by the work itself, so that it ends when the work does and not when we
    /// stop waiting.
    paths: Held,
    /// Kept until the work ends or its thread is written off, which the pool
    /// replaces.
    thread: Option<OwnedSemaphorePermit>,
}

/// Waits until nobody else writes what this call writes, and until a blocking tool
/// may have another thread. Neither wait is the tool's fault, so its time does not
/// run yet; each is bounded by the same limit.
async fn wait_for_turn(
    inner: &Inner,
    call: &PermittedCall,
    cancellation: &CancellationToken,
    limit: Duration,
) -> Result<Turn, ToolError> {
    let entry = call.entry();
    inner
        .pool
        .admit(&entry.strays, inner.limits().strays_per_tool)?;
    if call.plan().touches.is_empty() && !entry.tool.is_blocking() {
        let paths = Held::new(inner, call, InLine::default());
        return Ok(Turn {
            paths,
            thread: None,
        });
    }
    let paths = inner.paths.acquire(call.plan());
    let what = "another call was still writing the same path";
    let paths = bounded(paths, what, cancellation, limit).await?;
    let thread = if entry.tool.is_blocking() {
        let thread = Arc::clone(&entry.threads).acquire_owned();
        let what = "all threads this tool may have were busy";
        bounded(thread, what, cancellation, limit).await?.ok()
    } else {
        None
    };
    let paths = Held::new(inner, call, paths);
    Ok(Turn { paths, thread })
}

/// What the work of a call holds until it ends, whoever still waits for it.
#[derive(Debug)]
struct Held {
    _paths: InLine,
    /// Takes out the answers it may have made untrue.
    _forgetting: Option<Forgetting>,
}

impl Held {
    fn new(inner: &Inner, call: &PermittedCall, paths: InLine) -> Self {
        Self {
            _paths: paths,
            _forgetting: inner.shield.answers.forgetting(call),
        }
    }
}

/// Waits for something within a limit, unless the caller gives up.
async fn bounded<T>(
    waiting: impl Future<Output = T>,
    what: &str,
    cancellation: &CancellationToken,
    limit: Duration,
) -> Result<T, ToolError> {
    let refused = |kind| Err(ToolError::new(kind, format!("{what}; it did not begin")));
    tokio::select! {
        biased;
        () = cancellation.cancelled() => refused(ErrorKind::Cancelled),
        waited = tokio::time::timeout(limit, waiting) => match waited {
            Ok(got) => Ok(got),
            Err(_) => refused(ErrorKind::Timeout),
        },
    }
}

/// The plan's limit where the tool takes a time-out, cut to the caller's; else the
/// caller's, the binding's, or the toolbox's own.
pub(crate) fn time_limit(
    inner: &Inner,
    call: &PermittedCall,
    callers: Option<Duration>,
) -> Duration {
    let limit = match (call.plan().timeout, callers) {
        (Some(planned), Some(callers)) => planned.min(callers),
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) => call
            .entry()
            .binding
            .timeout
            .unwrap_or(inner.limits().timeout),
    };
    limit.min(inner.limits().longest)
}

/// A call under way. Dropped before it is finished, it is stopped in the
/// background.
struct Execution {
    running: Option<Running>,
    token: CancellationToken,
    host: Arc<Host>,
    began: Instant,
    grace: Duration,
    thread: Option<OwnedSemaphorePermit>,
    /// Whether it is being stopped in the background already.
    is_left: bool,
}

/// What is being waited for.
enum Running {
    /// It was done at once.
    Over(Ended),
    Task(JoinHandle<Ended>),
    Thread(pool::Handle),
}

/// What was let go of while it still ran.
enum LetGo {
    Task(JoinHandle<Ended>),
    Thread(GivenUp),
    Nothing,
}

/// How the waiting ended.
enum End {
    Returned(Box<Outcome>),
    Panicked(Box<dyn Any + Send>),
    TimedOut,
    Cancelled,
}

impl Execution {
    fn start(
        inner: &Arc<Inner>,
        call: &PermittedCall,
        turn: Turn,
        trail: Box<Trail>,
        waits: Waits,
    ) -> Result<Self, Box<(ToolError, Box<Trail>)>> {
        let entry = call.entry();
        let runtime = || inner.runtime.clone().unwrap_or_else(Handle::current);
        let Turn { paths, thread } = turn;
        let token = CancellationToken::new();
        let host = Arc::new(Host::new(Arc::clone(inner), trail));
        let context = ToolContext::new(token.clone(), Arc::clone(&host) as _);
        // Nothing of the tool runs yet.
        let running = match entry.tool.work_unguarded(call.arguments().clone(), context) {
            Work::Future(future) => {
                host.started(false);
                let mut work = Polled::new(future, Arc::clone(&entry.manners), paths);
                let begun = match waits {
                    Waits::Alone => work.begin(),
                    Waits::Batch => None,
                };
                match begun {
                    Some(ended) => Running::Over(ended),
                    None => Running::Task(runtime().spawn(work)),
                }
            }
            Work::Blocking(function) => {
                host.started(true);
                // Blocking tools may use the runtime's handle, as on tokio's pool.
                let runtime = runtime();
                let work = Box::new(move || {
                    let _paths = paths;
                    let _entered = runtime.enter();
                    function()
                });
                match inner.pool.submit(work, &entry.strays) {
                    Ok(handle) => Running::Thread(handle),
                    Err(error) => {
                        let mut trail = host.close();
                        trail.finished(Some(&error));
                        return Err(Box::new((error, trail)));
                    }
                }
            }
        };
        Ok(Self {
            running: Some(running),
            token,
            host,
            began: Instant::now(),
            grace: inner.limits().grace,
            thread,
            is_left: false,
        })
    }

    /// Waits for the first of: the tool returns, its time is up, the caller gives up.
    async fn watch(&mut self, cancellation: &CancellationToken, limit: Duration) -> End {
        if let Some(Running::Thread(thread)) = &mut self.running {
            tokio::select! {
                biased;
                _ = &mut thread.began => {}
                () = cancellation.cancelled() => return End::Cancelled,
                () = tokio::time::sleep(limit) => return End::TimedOut,
            }
            self.began = Instant::now();
        }
        let (host, began) = (Arc::clone(&self.host), self.began);
        let time_is_up = async {
            if !host.may_wait() {
                return tokio::time::sleep(limit).await;
            }
            loop {
                let Some(left) = host.left(began, limit) else {
                    host.clock_moved().await;
                    continue;
                };
                if left.is_zero() {
                    return;
                }
                tokio::select! {
                    () = tokio::time::sleep(left) => {}
                    () = host.clock_moved() => {}
                }
            }
        };
        tokio::select! {
            biased;
            end = self.returned() => end,
            () = cancellation.cancelled() => End::Cancelled,
            () = time_is_up => End::TimedOut,
        }
    }

    async fn returned(&mut self) -> End {
        let ended = match &mut self.running {
            Some(Running::Over(_)) => match self.running.take() {
                Some(Running::Over(ended)) => ended,
                _ => return End::Cancelled,
            },
            Some(Running::Task(task)) => match task.await {
                Ok(ended) => ended,
                // Nobody aborts it but us, or the runtime going down.
                Err(_) => return End::Cancelled,
            },
            Some(Running::Thread(thread)) => match (&mut thread.ended).await {
                Ok(ended) => ended.map(Box::new),
                Err(_) => Err(Box::new("the thread ended without a result") as _),
            },
            None => return End::Cancelled,
        };
        match ended {
            Ok(outcome) => End::Returned(outcome),
            Err(panic) => End::Panicked(panic),
        }
    }

    /// Turns the end of the waiting into an outcome, stopping the tool where it
    /// still runs.
    async fn settle(&mut self, end: End, limit: Duration) -> Outcome {
        let kind = match end {
            End::Returned(outcome) => {
                self.running = None;
                return *outcome;
            }
            End::Panicked(panic) => {
                self.running = None;
                return Outcome::failure(panicked(panic));
            }
            End::TimedOut => ErrorKind::Timeout,
            End::Cancelled => ErrorKind::Cancelled,
        };
        self.token.cancel();
        let within_grace = tokio::time::timeout(self.grace, self.returned()).await;
        let (how, partial) = match within_grace {
            Ok(end) => {
                self.running = None;
                let partial = match end {
                    End::Returned(outcome) => Some(*outcome),
                    _ => None,
                };
                ("it stopped when told to", partial)
            }
            Err(_) => (self.stop().await, None),
        };
        let what = match kind {
            ErrorKind::Timeout => format!("ran out of time after {}", duration::format(limit)),
            _ => "was given up by the caller".to_owned(),
        };
        let still_runs = how == STILL_RUNS;
        let error = ToolError::new(kind, format!("{what}; {how}"))
            .with_details(serde_json::json!({ "still_running": still_runs }));
        stopped(error, partial)
    }

    /// Ends what did not end by itself, and tells how that went. An abort takes
    /// effect where a task waits; one that never does goes on like a thread.
    async fn stop(&mut self) -> &'static str {
        match self.let_go() {
            LetGo::Task(task) => match tokio::time::timeout(ABORT_PATIENCE, task).await {
                Ok(_) => "it was stopped",
                Err(_) => STILL_RUNS,
            },
            LetGo::Thread(GivenUp::NeverBegan) => "it had not begun",
            LetGo::Thread(GivenUp::StillRunning) => STILL_RUNS,
            LetGo::Thread(GivenUp::Ended) | LetGo::Nothing => "it had just ended",
        }
    }

    /// Aborts a task, writes a thread off.
    fn let_go(&mut self) -> LetGo {
        match self.running.take() {
            Some(Running::Task(task)) => {
                task.abort();
                LetGo::Task(task)
            }
            Some(Running::Thread(thread)) => LetGo::Thread(thread.give_up()),
            Some(Running::Over(_)) | None => LetGo::Nothing,
        }
    }

    fn finish(self, outcome: &Outcome) -> Box<Trail> {
        let mut trail = self.host.close();
        trail.finished(outcome.error.as_ref());
        trail
    }
}

/// How long an aborted task may take to notice.
const ABORT_PATIENCE: Duration = Duration::from_millis(50);

const STILL_RUNS: &str = "it cannot be stopped and still runs; its result will be dropped";

impl Drop for Execution {
    /// The caller went away. The tool is told, and gets its grace, in a task that
    /// nobody waits for.
    fn drop(&mut self) {
        if self.running.is_none() {
            return;
        }
        self.token.cancel();
        let runtime = Handle::try_current();
        let (Ok(runtime), false) = (runtime, self.is_left) else {
            // The runtime is gone or going, and takes every task with it: there is
            // no background left to stop it in.
            self.let_go();
            drop(self.host.close());
            return;
        };
        let mut rest = Self {
            running: self.running.take(),
            token: self.token.clone(),
            host: Arc::clone(&self.host),
            began: self.began,
            grace: self.grace,
            thread: self.thread.take(),
            is_left: true,
        };
        runtime.spawn(async move {
            match tokio::time::timeout(rest.grace, rest.returned()).await {
                Ok(End::Returned(unwanted)) => discard(*unwanted),
                Ok(_) => {}
                Err(_) => {
                    rest.let_go();
                }
            }
            rest.running = None;
            // Dropping the trail records that the caller went away.
            drop(rest.host.close());
        });
    }
}

/// A stopped call keeps what the tool still said, but it is no success.
fn stopped(error: ToolError, partial: Option<Outcome>) -> Outcome {
    let mut outcome = partial.unwrap_or_default();
    if let Some(value) = outcome.value.take() {
        json::dismantle(value);
    }
    outcome.error = Some(error);
    outcome
}

/// Drops an outcome nobody wants, however deep its values nest.
fn discard(mut outcome: Outcome) {
    let details = outcome
        .error
        .as_mut()
        .and_then(|error| error.details.take());
    let metadata = std::mem::take(&mut outcome.metadata);
    let values = outcome.value.take().into_iter().chain(details);
    let metadata = metadata.into_iter().map(|(_, value)| value);
    values.chain(metadata).for_each(json::dismantle);
}

/// What a panic said.
fn panicked(panic: Box<dyn Any + Send>) -> ToolError {
    let message = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no message");
    let error = ToolError::internal(format!("the tool panicked: {message}"));
    forget_panic(panic);
    error
}

/// Drops what a panic was thrown with. That is the tool's, and may panic again.
fn forget_panic(panic: Box<dyn Any + Send>) {
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
        #[expect(clippy::mem_forget, reason = "dropping it could panic for ever")]
        std::mem::forget(again);
    }
}
