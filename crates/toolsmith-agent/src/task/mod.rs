//! Tasks: work that a model gives to another agent.
//!
//! `task` runs a sub-agent and answers with its one final message; in the background it
//! answers at once, and `task_output` and `task_stop` take it from there. A sub-agent is a
//! [delegate](toolsmith_runtime::Caller::delegate) of whoever called: it has at most its
//! tools and permissions, and ends with it. Who does the work is the host's to say, by
//! [`Workers`].

mod job;
mod order;
mod tool_task;
mod tool_task_output;
mod tool_task_stop;
mod worker;

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use serde_json::Value;
use tokio::sync::Semaphore;
use toolsmith_core::{AnyTool, ErrorKind, Example, Outcome, ToolError};
use toolsmith_provider::Usage;

pub use worker::{Worker, Workers};

use self::job::Job;

/// How deep tasks may be given on: one that is given may be given on once.
pub const DEEPEST: usize = 2;

/// How many tasks of one depth run at once unless the host says otherwise; the others wait.
const AT_ONCE: usize = 4;

/// How many tasks are known at once, those that have ended included; the oldest that have
/// ended are forgotten first.
const MOST: usize = 64;

/// The tools by which tasks are given to others, which the deepest are not offered.
const TOOLS: [&str; 3] = ["task", "task_output", "task_stop"];

/// The tasks of a program, and the tools they are given by. Cheap to clone.
#[derive(Clone)]
pub struct Tasks {
    inner: Arc<Inner>,
}

struct Inner {
    workers: OnceLock<Arc<dyn Workers>>,
    /// By depth, so that no task waits for one that waits for it.
    turns: [Semaphore; DEEPEST],
    jobs: Mutex<VecDeque<Arc<Job>>>,
    next: AtomicU64,
}

impl Default for Tasks {
    fn default() -> Self {
        Self::new(AT_ONCE)
    }
}

impl Tasks {
    /// No tasks yet; so many of one depth may run at once.
    pub fn new(at_once: usize) -> Self {
        let turns = || Semaphore::new(at_once.max(1));
        Self {
            inner: Arc::new(Inner {
                workers: OnceLock::new(),
                turns: [turns(), turns()],
                jobs: Mutex::default(),
                next: AtomicU64::new(1),
            }),
        }
    }

    /// Says who does the work; the first word counts. Until then no task can be given:
    /// the tools are registered before there is a toolbox to work with.
    pub fn employ(&self, workers: impl Workers) {
        let _ = self.inner.workers.set(Arc::new(workers));
    }

    /// The tools: `task`, `task_output` and `task_stop`.
    pub fn tools(&self) -> Vec<AnyTool> {
        vec![
            tool_task::tool(self),
            tool_task_output::tool(self),
            tool_task_stop::tool(self),
        ]
    }

    /// Ends all tasks, and waits until they have ended.
    pub async fn close(&self) {
        let jobs: Vec<Arc<Job>> = self.jobs().iter().cloned().collect();
        jobs.iter().for_each(|job| job.stop());
        for job in jobs {
            job.ended().await;
        }
    }

    fn jobs(&self) -> MutexGuard<'_, VecDeque<Arc<Job>>> {
        { self.inner.jobs.lock() }.unwrap_or_else(PoisonError::into_inner)
    }

    fn workers(&self) -> Result<&Arc<dyn Workers>, ToolError> {
        self.inner.workers.get().ok_or_else(|| {
            let message = "tasks cannot be given to anybody here: this program has no agents";
            ToolError::new(ErrorKind::Unavailable, message).for_good()
        })
    }

    /// The task of a number, if it is the caller's.
    fn find(&self, owner: &str, id: &str) -> Result<Arc<Job>, ToolError> {
        let jobs = self.jobs();
        let its_own = || jobs.iter().filter(|job| job.owner == owner);
        let found = its_own().find(|job| job.id == id).cloned();
        found.ok_or_else(|| {
            let known: Vec<&str> = its_own().map(|job| job.id.as_str()).collect();
            let known = match known.as_slice() {
                [] => "you have given none".to_owned(),
                known => format!("yours are {}", known.join(", ")),
            };
            ToolError::invalid(format!("there is no task {id:?}; {known}"))
        })
    }

    /// Adds a task, in place of the oldest that has ended.
    fn add(&self, job: &Arc<Job>) -> Result<(), ToolError> {
        let mut jobs = self.jobs();
        if jobs.len() >= MOST {
            let ended = jobs.iter().position(|job| job.has_ended());
            let Some(ended) = ended else {
                let message = format!("{MOST} tasks are under way already");
                return Err(ToolError::new(ErrorKind::Exhausted, message));
            };
            jobs.remove(ended);
        }
        jobs.push_back(Arc::clone(job));
        Ok(())
    }

    fn next_id(&self) -> String {
        let number = self.inner.next.fetch_add(1, Ordering::Relaxed);
        format!("task-{number}")
    }
}

impl fmt::Debug for Tasks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tasks({})", self.jobs().len())
    }
}

/// A call that shows how a tool is used.
fn example(comment: &str, arguments: &Value) -> Example {
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    Example::new(arguments).with_comment(comment)
}

/// What a task took.
pub(crate) struct Took {
    pub(crate) usage: Usage,
    /// By the price of its own model, where that is known.
    pub(crate) cost: Option<f64>,
}

/// What a task took, where an outcome tells of one: it counts for whoever gave it.
pub(crate) fn took(tool: &str, outcome: &Outcome) -> Option<Took> {
    if !TOOLS.contains(&tool) {
        return None;
    }
    let usage = outcome.metadata.get(job::USAGE)?;
    Some(Took {
        usage: serde_json::from_value(usage.clone()).ok()?,
        cost: outcome.metadata.get(job::COST).and_then(Value::as_f64),
    })
}
