//! A task under way, and what came of it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use tokio::sync::watch;
use tokio::time::Instant;
use toolsmith_core::{
    Block, CancellationToken, ErrorKind, Outcome, Progress, ToolContext, ToolError,
};
use toolsmith_provider::Usage;

use super::Tasks;
use super::order::Order;
use crate::conversation::Conversation;
use crate::event::AgentEvent;
use crate::limits::Limit;
use crate::report::{End, Report};

/// Where an outcome tells what a task took.
pub(super) const USAGE: &str = "usage";

/// And where what that costs.
pub(super) const COST: &str = "cost";

/// A task that was given.
pub(super) struct Job {
    pub(super) id: String,
    /// Who gave it: nobody else sees it.
    pub(super) owner: String,
    pub(super) description: String,
    given: Instant,
    token: CancellationToken,
    /// Whether it is over.
    over: watch::Sender<bool>,
    ended: Mutex<Option<Ended>>,
}

struct Ended {
    report: Report,
    conversation: Conversation,
    /// Whether its giver was told what it took.
    counted: bool,
}

/// What is told of a task.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Told {
    /// The number of the task.
    pub(super) id: String,
    /// What it is about.
    pub(super) description: String,
    /// How far it is: running, done, stopped or failed.
    pub(super) status: String,
    /// Its final message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) answer: Option<String>,
    /// Why it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) end: Option<String>,
    /// How many turns it had.
    pub(super) turns: u32,
    /// How many calls it made.
    pub(super) calls: u32,
    /// How many tokens it read.
    pub(super) input_tokens: u64,
    /// How many tokens it wrote.
    pub(super) output_tokens: u64,
    /// How long it took.
    pub(super) duration_ms: u64,
}

impl Job {
    pub(super) fn new(order: &Order, owner: &str, description: &str) -> Self {
        Self {
            id: order.id.clone(),
            owner: owner.to_owned(),
            description: description.to_owned(),
            given: Instant::now(),
            token: order.caller.cancellation().clone(),
            over: watch::Sender::new(false),
            ended: Mutex::default(),
        }
    }

    /// Does the work, when it is its turn.
    pub(super) async fn work(&self, order: Order, tasks: &Tasks, context: Option<ToolContext>) {
        // Whatever becomes of this future, who waits for the task is told that it is over.
        let _over = Over(&self.over);
        let Order {
            mut agent,
            caller,
            giver,
            mut conversation,
            prompt,
            ..
        } = order;
        let turns = &tasks.inner.turns[caller.depth().clamp(1, super::DEEPEST) - 1];
        // In front, waiting is a part of the call's time, which the toolbox keeps: what is
        // left of it is the task's, so that it ends by itself and can say how far it came.
        let time = agent.limits().time.filter(|_| context.is_some());
        let out_of_time = tokio::time::sleep(time.unwrap_or(Duration::MAX));
        let turn = tokio::select! {
            biased;
            // Whoever gave several is given up before its calls are, one after the other:
            // none begins in the place of one that has ended already.
            () = giver.cancelled() => Err(End::Cancelled),
            () = self.token.cancelled() => Err(End::Cancelled),
            turn = turns.acquire() => turn.map_err(|_| End::Cancelled),
            () = out_of_time => Err(End::Limit(Limit::Time)),
        };
        if let Some(time) = time {
            let mut limits = agent.limits().clone();
            limits.time = Some(time.saturating_sub(self.given.elapsed()));
            agent = agent.with_limits(limits);
        }
        if let Some(context) = context {
            agent = agent.with_observer(progress(context));
        }
        let report = match turn {
            Ok(_turn) => agent.answer(&mut conversation, &prompt, &caller).await,
            Err(end) => Report::not_begun(end),
        };
        // What it gave on in the background ends with it.
        self.token.cancel();
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        *ended = Some(Ended {
            report,
            conversation,
            counted: false,
        });
    }

    pub(super) fn stop(&self) {
        self.token.cancel();
    }

    pub(super) fn has_ended(&self) -> bool {
        *self.over.borrow()
    }

    /// Waits for its end.
    pub(super) async fn ended(&self) {
        // The sender lives as long as the task itself.
        let _ = self.over.subscribe().wait_for(|over| *over).await;
    }

    /// The conversation of a task that is over, to go on with.
    pub(super) fn conversation(&self) -> Result<Conversation, ToolError> {
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        match &*ended {
            Some(ended) => Ok(ended.conversation.clone()),
            None => {
                let message = format!(
                    "{} has not ended yet; wait for it with task_output",
                    self.id
                );
                Err(ToolError::invalid(message))
            }
        }
    }

    /// What is told of it now, and of what it took the first time only.
    pub(super) fn outcome(&self) -> Outcome {
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(ended) = &mut *ended else {
            return self.unended();
        };
        let report = &ended.report;
        let told = self.told(Some(report));
        let fact = format!(
            "[{}: {} turns, {} calls, {} tokens]",
            self.id,
            report.turns,
            report.calls,
            report.usage.total()
        );
        let display = format!("{} · {}", self.description, told.status);
        let mut outcome = match failure(&report.end) {
            None => Outcome::nothing().with_block(Block::text(&report.text)),
            Some(error) => {
                let mut outcome = Outcome::failure(error);
                if !report.text.is_empty() {
                    let last = format!("What it said last:\n{}", report.text);
                    outcome = outcome.with_block(Block::text(last));
                }
                outcome
            }
        };
        outcome = outcome.with_block(Block::text(fact)).with_display(display);
        outcome = outcome.with_value(json!(told));
        if !std::mem::replace(&mut ended.counted, true) {
            outcome = outcome.with_metadata(USAGE, json!(report.usage));
            if let Some(cost) = report.cost {
                outcome = outcome.with_metadata(COST, json!(cost));
            }
        }
        outcome
    }

    /// What is told to whoever ended it: that it was ended is no failure then.
    pub(super) fn stopped(&self) -> Outcome {
        let mut outcome = self.outcome();
        let was_ended = |error: &ToolError| error.kind == ErrorKind::Cancelled;
        if outcome.error.as_ref().is_some_and(was_ended) {
            outcome.error = None;
            let ended = format!("{} was ended.", self.id);
            outcome.content.insert(0, Block::text(ended));
        }
        outcome
    }

    /// What is told of one that has not ended, or was dropped before it could say how.
    fn unended(&self) -> Outcome {
        if self.has_ended() {
            let message = format!("{} was given up", self.id);
            return Outcome::failure(ToolError::new(ErrorKind::Cancelled, message));
        }
        // With the time, who waits for long reads something else each time.
        let text = format!(
            "{} is under way, for {} s now: {}. Read its answer with task_output, end it with \
             task_stop.",
            self.id,
            self.given.elapsed().as_secs(),
            self.description
        );
        Outcome::text(text)
            .with_display(format!("{} · running", self.description))
            .with_value(json!(self.told(None)))
    }

    fn told(&self, report: Option<&Report>) -> Told {
        let status = match report.map(|report| &report.end) {
            None => "running",
            Some(End::Answered) => "done",
            Some(End::Cancelled) => "stopped",
            Some(_) => "failed",
        };
        let usage = report.map_or_else(Usage::default, |report| report.usage);
        let took = report.map_or_else(|| self.given.elapsed(), |report| report.took);
        Told {
            id: self.id.clone(),
            description: self.description.clone(),
            status: status.to_owned(),
            answer: report.map(|report| report.text.clone()),
            end: report.map(|report| report.end.to_string()),
            turns: report.map_or(0, |report| report.turns),
            calls: report.map_or(0, |report| report.calls),
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            duration_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        }
    }
}

/// Tells that a task is over, however its work ended.
struct Over<'j>(&'j watch::Sender<bool>);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.send_replace(true);
    }
}

/// Tells the calls of a task as progress of the call that gave it.
fn progress(context: ToolContext) -> impl Fn(&AgentEvent<'_>) + Send + Sync {
    let calls = Arc::new(Mutex::new(0u32));
    move |event: &AgentEvent<'_>| {
        if let AgentEvent::Called { call, outcome, .. } = event {
            let mut calls = calls.lock().unwrap_or_else(PoisonError::into_inner);
            *calls += 1;
            let line = outcome.display.as_deref().unwrap_or(&call.name);
            context.progress(Progress::done(f64::from(*calls)).saying(line));
        }
    }
}

/// The error of a task that brought no answer.
fn failure(end: &End) -> Option<ToolError> {
    let kind = match end {
        End::Answered => return None,
        End::Cancelled => ErrorKind::Cancelled,
        End::Limit(Limit::Time) => ErrorKind::Timeout,
        End::Limit(_) => ErrorKind::Exhausted,
        End::Failed { kind, .. } => *kind,
        _ => ErrorKind::Failed,
    };
    Some(ToolError::new(kind, format!("the task brought no answer: {end}")).for_good())
}
