//! One call: starts a program, and waits for its end, its time-out, or its way into the
//! background. A call that is given up, or dropped, ends its program.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep_until, timeout};
use toolsmith_core::{Outcome, ToolContext};

use super::Shells;
use super::folder::{self, SessionUse};
use super::launch::Order;
use super::output::{HEAD, Keeper, View};
use super::process::{Phase, Process};
use super::report::{End, Report};
use super::supervise;
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
        let label = self.order.label.clone();
        let folder = self.order.shown_folder.clone();
        let call = context.call_id().map_or("", |id| id.as_str());
        let name: String = call
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .take(32)
            .collect();
        let stem = format!("{}-{name}", self.tool);
        let from = self.view.characters.min(HEAD / 2) as u64;
        let keeper = Keeper::new(Arc::clone(&inner.hooks), stem, from);
        let process = supervise::start(self.order, keeper, slot).await?;
        inner.note(&process);
        let mut report = Report {
            label,
            folder,
            session: self.session.as_ref().map(|session| session.name.clone()),
            notes: self.notes,
            limit: self.limit,
            end: End::Ended,
            job: None,
        };
        let described = self.description.as_deref();
        if self.background {
            let (label, folder) = (&report.label, &report.folder);
            let job = inner
                .jobs
                .add(context.caller(), &process, label, described, folder, 0);
            report.job = Some(job.id);
            report.end = End::Started;
            return Ok(report.outcome(&process, self.view).await);
        }
        let mut waited = Waited(Some(process.clone()));
        let deadline = process.deadline(self.limit);
        let goes_on = || {
            let place = inner.jobs.place().ok();
            place.map(|slot| process.take_slot(slot)).is_some()
        };
        let may_go_on = self.at_timeout == AtTimeout::Background;
        match wait(&process, deadline, context).await {
            Woken::Over => {}
            Woken::Late if may_go_on && goes_on() => report.end = End::Late,
            Woken::Late => {
                process.kill(AFTER_TIMEOUT);
                process.until(is_over).await;
                report.end = End::TimedOut;
            }
            Woken::GivenUp => {
                process.kill(Duration::ZERO);
                let _ = timeout(AFTER_CANCEL, process.until(is_over)).await;
                report.end = End::GivenUp;
            }
        }
        if let Phase::Left { .. } = process.phase() {
            match inner.jobs.place() {
                Ok(slot) => {
                    process.take_slot(slot);
                    report.end = End::Left;
                }
                Err(_) => {
                    report
                        .notes
                        .push("there was no place for one more job".to_owned());
                    process.kill(AFTER_TIMEOUT);
                    process.until(is_over).await;
                }
            }
        }
        if matches!(report.end, End::Late | End::Left) {
            waited.0 = None;
            let (label, folder) = (&report.label, &report.folder);
            let read = process.written();
            let job = inner
                .jobs
                .add(context.caller(), &process, label, described, folder, read);
            report.job = Some(job.id);
        }
        if let (Some(session), Some(ended)) = (&self.session, process.ended()) {
            let (shown, note) =
                folder::keep(shells, context.caller(), session, &report.folder, &ended);
            report.folder = shown;
            report.notes.extend(note);
        }
        Ok(report.outcome(&process, self.view).await)
    }
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
