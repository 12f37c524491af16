//! One call: starts a program, and waits for its end, its time-out, or its way into the
//! background. A call that is given up, or dropped, ends its program.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep_until, timeout};
use toolsmith_core::{Outcome, ToolContext};

use super::folder::{self, SessionUse};
use super::launch::Order;
use super::output::{HEAD, Keeper, View};
use super::process::{Phase, Process};
use super::report::{End, Report};
use super::supervise;
use super::{Inner, Shells};
use crate::refusal::{Reason, Refusal};

/// How long a program may take to end when its time is up. Everything is ended and told
/// within a second of that, so it cannot be the two seconds that `shell_kill` gives.
const AFTER_TIMEOUT: Duration = Duration::from_millis(500);

/// How long the answer waits for everything to be gone when the caller gave up.
const AFTER_CANCEL: Duration = Duration::from_millis(400);

/// How much of the output is handed on while the program runs.
const STREAMED: u64 = 1 << 20;

/// A program to run, and how.
pub(crate) struct Call {
    /// The tool, for the names of files.
    pub(crate) tool: &'static str,
    pub(crate) order: Order,
    pub(crate) description: Option<String>,
    pub(crate) limit: Duration,
    pub(crate) view: View,
    pub(crate) at_timeout: AtTimeout,
    pub(crate) background: bool,
    pub(crate) session: Option<SessionUse>,
    /// What the caller should know beside what happens.
    pub(crate) notes: Vec<String>,
}

/// What happens when time runs out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtTimeout {
    Kill,
    Background,
}

/// Ends a program whose caller has gone.
struct Waited(Option<Process>);

impl Drop for Waited {
    fn drop(&mut self) {
        if let Some(process) = &self.0 {
            process.kill(Duration::ZERO);
        }
    }
}

/// Why the wait was over.
#[derive(Clone, Copy)]
enum Woken {
    /// The program has ended.
    Over,
    /// Time ran out.
    Late,
    /// The caller gave up.
    GivenUp,
}

impl Call {
    /// Runs it.
    pub(crate) async fn run(
        self,
        shells: &Shells,
        context: &ToolContext,
    ) -> Result<Outcome, Refusal> {
        let inner = shells.inner();
        let slot = match self.background {
            true => inner.jobs.place()?,
            false => Arc::clone(&inner.places).try_acquire_owned().map_err(|_| {
                Refusal::new(Reason::Busy, "as many programs run as may run at once")
                    .next("Wait for one to end, then try again")
            })?,
        };
        let mut report = Report {
            label: self.order.label.clone(),
            folder: self.order.shown_folder.clone(),
            session: self.session.as_ref().map(|session| session.name.clone()),
            notes: self.notes,
            limit: self.limit,
            end: End::Started,
            job: None,
        };
        let from = self.view.characters.min(HEAD / 2) as u64;
        let keeper = Keeper::new(Arc::clone(&inner.hooks), stem(self.tool, context), from);
        let process = supervise::start(self.order, keeper, slot).await?;
        inner.note(&process);
        let mut waited = Waited(Some(process.clone()));
        if !self.background {
            let deadline = process.deadline(self.limit);
            let woken = wait(&process, deadline, context).await;
            report.end = settle(inner, &process, woken, self.at_timeout).await;
        }
        if let End::Started | End::Late | End::Left = report.end {
            waited.0 = None;
            let read = match self.background {
                true => 0,
                // The answer shows what it wrote so far.
                false => process.written(),
            };
            let (label, described) = (&report.label, self.description.as_deref());
            let (caller, folder) = (context.caller(), &report.folder);
            let jobs = &inner.jobs;
            let job = jobs.add(caller, &process, label, described, folder, read);
            report.job = Some(job.id);
        } else if let (Some(session), Some(ended)) = (&self.session, process.ended()) {
            let (shown, note) =
                folder::keep(shells, context.caller(), session, &report.folder, &ended);
            report.folder = shown;
            report.notes.extend(note);
        }
        Ok(report.outcome(&process, self.view).await)
    }
}

/// Does what follows from the end of the wait, and tells what that came to. Where there is
/// no place for one more job, what would become one is ended.
async fn settle(inner: &Inner, process: &Process, woken: Woken, at_timeout: AtTimeout) -> End {
    let becomes_job = || {
        let place = inner.jobs.place().ok();
        place.map(|slot| process.take_slot(slot)).is_some()
    };
    match woken {
        Woken::Over => match process.phase() {
            Phase::Left { .. } if becomes_job() => return End::Left,
            Phase::Left { .. } => process.kill(AFTER_TIMEOUT),
            _ => {}
        },
        Woken::Late if at_timeout == AtTimeout::Background && becomes_job() => return End::Late,
        Woken::Late => process.kill(AFTER_TIMEOUT),
        Woken::GivenUp => {
            process.kill(Duration::ZERO);
            let _ = timeout(AFTER_CANCEL, process.until(is_over)).await;
            return End::GivenUp;
        }
    }
    process.until(is_over).await;
    match woken {
        Woken::Late => End::TimedOut,
        _ => End::Ended,
    }
}

/// What a file for the output of a call is called.
fn stem(tool: &str, context: &ToolContext) -> String {
    let call = context.call_id().map_or("", |id| id.as_str());
    let name = call.chars().filter(char::is_ascii_alphanumeric).take(32);
    format!("{tool}-{}", name.collect::<String>())
}

fn is_over(phase: &Phase) -> bool {
    matches!(phase, Phase::Ended(_))
}

/// Waits for the first of: the program ends, time runs out, the caller gives up. What is
/// written meanwhile is handed on in whole lines.
async fn wait(process: &Process, deadline: Instant, context: &ToolContext) -> Woken {
    let mut changes = process.changes();
    let mut streamed = 0;
    loop {
        changes.borrow_and_update();
        if streamed < STREAMED && process.written() > streamed {
            let (text, gone, _) = process.since(streamed);
            streamed += gone + text.len() as u64;
            context.output(text);
        }
        if !matches!(process.phase(), Phase::Running) {
            return Woken::Over;
        }
        tokio::select! {
            biased;
            () = context.cancelled() => return Woken::GivenUp,
            () = sleep_until(deadline) => return Woken::Late,
            _ = changes.changed() => {}
        }
    }
}
