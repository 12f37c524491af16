//! A bounded pool of threads for blocking tools.
//!
//! A thread cannot be stopped from outside. When a call is given up its thread is
//! written off: the pool goes on at full strength, and the thread ends when the
//! tool returns at last. Tokio's own blocking pool is not used because such a
//! thread would count against it for ever and keep the runtime from shutting down.

use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::sync::oneshot;
use toolsmith_core::{ErrorKind, Outcome, ToolError};

use super::{discard, forget_panic};

/// How long a thread waits for work before it ends.
const IDLE: Duration = Duration::from_secs(10);
/// Written-off threads in all, beyond which a tool that has one gets no more.
const MOST_STRAYS: usize = 256;

/// What a job came to: an outcome, or what it panicked with.
pub(super) type Ended = Result<Outcome, Box<dyn Any + Send>>;

type Work = Box<dyn FnOnce() -> Outcome + Send>;

/// A pool of threads for blocking tools.
#[derive(Clone, Debug)]
pub(crate) struct Pool {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    work_waits: Condvar,
    threads: usize,
    strays: AtomicUsize,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Job>,
    /// Threads that belong to the pool, busy or idle.
    alive: usize,
    idle: usize,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} queued, {} threads", self.queue.len(), self.alive)
    }
}

struct Job {
    work: Work,
    phase: Arc<Mutex<Phase>>,
    began: oneshot::Sender<()>,
    done: oneshot::Sender<Ended>,
    tool_strays: Arc<AtomicUsize>,
}

/// Where a job is, agreed between its thread and whoever waits for it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    Queued,
    Running,
    /// Given up while queued: it must not begin.
    Dropped,
    /// Given up while running: its thread is no longer the pool's.
    WrittenOff,
    Done,
}

/// A job handed to the pool.
#[derive(Debug)]
pub(super) struct Handle {
    pub(super) ended: oneshot::Receiver<Ended>,
    /// Told when the job begins; its time does not run while it is queued.
    pub(super) began: oneshot::Receiver<()>,
    phase: Arc<Mutex<Phase>>,
    pool: Pool,
    tool_strays: Arc<AtomicUsize>,
}

/// What became of a job that was given up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum GivenUp {
    /// It never began and never will.
    NeverBegan,
    /// It still runs, and cannot be stopped.
    StillRunning,
    /// It had ended just now.
    Ended,
}

impl Pool {
    pub(crate) fn new(threads: usize) -> Self {
        Self {
            shared: Arc::new(Shared {
                state: Mutex::default(),
                work_waits: Condvar::new(),
                threads: threads.max(1),
                strays: AtomicUsize::new(0),
            }),
        }
    }

    /// Refuses a tool with too many calls that were given up and still run: it gets
    /// no more threads until some of them end.
    pub(super) fn admit(
        &self,
        tool_strays: &AtomicUsize,
        strays_per_tool: usize,
    ) -> Result<(), ToolError> {
        let strays = tool_strays.load(Ordering::Relaxed);
        let crowded = self.shared.strays.load(Ordering::Relaxed) >= MOST_STRAYS;
        if strays >= strays_per_tool.max(1) || (crowded && strays > 0) {
            return Err(ToolError::new(
                ErrorKind::Exhausted,
                format!("{strays} earlier calls of this tool were given up and still run"),
            ));
        }
        Ok(())
    }

    /// Hands work to the pool.
    pub(super) fn submit(
        &self,
        work: Work,
        tool_strays: &Arc<AtomicUsize>,
    ) -> Result<Handle, ToolError> {
        let (done, ended) = oneshot::channel();
        let (begin, began) = oneshot::channel();
        let phase = Arc::new(Mutex::new(Phase::Queued));
        let job = Job {
            work,
            phase: Arc::clone(&phase),
            began: begin,
            done,
            tool_strays: Arc::clone(tool_strays),
        };
        let mut state = self.shared.lock();
        state.queue.push_back(job);
        // One thread is asked for per waiting job, so a queue never waits for an
        // idle thread that somebody else has already been promised.
        if state.idle >= state.queue.len() {
            self.shared.work_waits.notify_one();
        } else if state.alive < self.shared.threads {
            self.start_thread(&mut state)?;
        }
        drop(state);
        Ok(Handle {
            ended,
            began,
            phase,
            pool: self.clone(),
            tool_strays: Arc::clone(tool_strays),
        })
    }

    fn start_thread(&self, state: &mut State) -> Result<(), ToolError> {
        let shared = Arc::clone(&self.shared);
        let started = thread::Builder::new()
            .name("toolsmith-blocking".to_owned())
            .spawn(move || shared.work());
        match started {
            Ok(_) => {
                state.alive += 1;
                Ok(())
            }
            // Others will come to it.
            Err(_) if state.alive > 0 => Ok(()),
            Err(error) => {
                state.queue.pop_back();
                Err(ToolError::caused(ErrorKind::Exhausted, error))
            }
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The life of one thread.
    fn work(self: Arc<Self>) {
        while let Some(job) = self.next_job() {
            if !advance(&job.phase, Phase::Queued, Phase::Running) {
                continue;
            }
            let _ = job.began.send(());
            let ended = catch_unwind(AssertUnwindSafe(job.work));
            if !advance(&job.phase, Phase::Running, Phase::Done) {
                // Written off: the pool has stopped counting this thread, nobody
                // wants the result, and there is one stray less.
                dismiss(ended);
                job.tool_strays.fetch_sub(1, Ordering::Relaxed);
                self.strays.fetch_sub(1, Ordering::Relaxed);
                return;
            }
            // Whoever waited may be gone.
            if let Err(unwanted) = job.done.send(ended) {
                dismiss(unwanted);
            }
        }
    }

    /// Waits for work; none means that the thread is not needed any more.
    fn next_job(&self) -> Option<Job> {
        let mut state = self.lock();
        loop {
            if let Some(job) = state.queue.pop_front() {
                return Some(job);
            }
            state.idle += 1;
            let (next, waited) = self
                .work_waits
                .wait_timeout(state, IDLE)
                .unwrap_or_else(PoisonError::into_inner);
            state = next;
            state.idle -= 1;
            if waited.timed_out() && state.queue.is_empty() {
                state.alive -= 1;
                return None;
            }
        }
    }
}

impl Handle {
    /// Gives the job up. A thread that is written off counts itself out when it
    /// ends at last, so that no runtime has to be there to do it.
    pub(super) fn give_up(&self) -> GivenUp {
        if advance(&self.phase, Phase::Queued, Phase::Dropped) {
            return GivenUp::NeverBegan;
        }
        let shared = &self.pool.shared;
        // Held throughout, so that the thread cannot end in between uncounted.
        let mut phase = self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        if *phase != Phase::Running {
            return GivenUp::Ended;
        }
        *phase = Phase::WrittenOff;
        self.tool_strays.fetch_add(1, Ordering::Relaxed);
        shared.strays.fetch_add(1, Ordering::Relaxed);
        let mut state = shared.lock();
        state.alive -= 1;
        if !state.queue.is_empty() && state.alive < shared.threads {
            // The place it left is filled at once where somebody waits for it.
            let _ = self.pool.start_thread(&mut state);
        }
        GivenUp::StillRunning
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        if let Ok(unwanted) = self.ended.try_recv() {
            dismiss(unwanted);
        }
    }
}

fn dismiss(ended: Ended) {
    match ended {
        Ok(outcome) => discard(outcome),
        Err(panic) => forget_panic(panic),
    }
}

fn advance(phase: &Mutex<Phase>, from: Phase, to: Phase) -> bool {
    let mut phase = phase.lock().unwrap_or_else(PoisonError::into_inner);
    let fits = *phase == from;
    if fits {
        *phase = to;
    }
    fits
}
