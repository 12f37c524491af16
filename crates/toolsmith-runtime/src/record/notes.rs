//! What is noted of a call on its way, where somebody wants the whole of it afterwards.
//!
//! Nothing here is made for calls nobody wants to know of. Durations come from the
//! monotonic clock alone, so a clock that is set back changes none of them; when a call
//! came in is for the recorder to say, by the clock its host gave it.

use std::borrow::Cow;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;
use toolsmith_core::event::{Redact, Sensitive};
use toolsmith_core::record::{
    CallRecord, RecordDecision, RecordOutcome, RecordSource, Span, Timings, Wanted,
};
use toolsmith_core::trace::TraceParent;
use toolsmith_core::{Outcome, Source, ToolDef};

use crate::permit::{CallDigest, Decision, Verdict};
use crate::registry::Origin;
use crate::shape::Redactor;

/// How many bytes of a failure, a reason or a rule are kept.
const MOST_WORDS: usize = 1 << 10;
/// How many bytes of the name of a caller, an agent or an origin are kept.
const MOST_NAME: usize = 256;

/// Gives spans numbers nobody else gives.
#[derive(Debug, Default)]
pub(super) struct SpanNumbers {
    state: RandomState,
    given: AtomicU64,
}

impl SpanNumbers {
    /// Keyed by what the system gave this process, so two of them share no number.
    fn next(&self) -> u64 {
        let number = self.given.fetch_add(1, Ordering::Relaxed);
        self.state.hash_one(number)
    }

    fn trace(&self) -> u128 {
        u128::from(self.next()) << 64 | u128::from(self.next())
    }
}

/// The notes on one call.
#[derive(Debug)]
pub(super) struct Notes {
    wanted: Wanted,
    arguments: Option<String>,
    digest: Option<String>,
    origin: Option<Origin>,
    decision: Option<Decision>,
    span: Option<Span>,
    /// The call's own span, or the caller's, as text.
    trace: Option<String>,
    timings: Timings,
    /// When the stage before this one ended.
    mark: Instant,
    /// Waiting for people since then.
    waited_since: Duration,
    attempts: u32,
    cached: Option<Duration>,
}

impl Notes {
    pub(super) fn new(
        wanted: Wanted,
        arguments: &Value,
        redactor: &Redactor,
        numbers: &SpanNumbers,
        (parent, began): (Option<TraceParent>, Instant),
    ) -> Self {
        let text = || Sensitive::new(arguments, redactor).to_text(wanted.text_bytes);
        let span = wanted.span.then(|| {
            let own = match parent {
                Some(parent) => parent.child(numbers.next()),
                None => TraceParent::root(numbers.trace(), numbers.next()),
            };
            Span::new(own, parent)
        });
        let trace = span.map(|span| span.own).or(parent);
        Self {
            wanted,
            arguments: (wanted.text_bytes > 0).then(text),
            digest: wanted
                .digest
                .then(|| CallDigest::of_arguments(arguments).map(|digest| digest.to_string()))
                .flatten(),
            origin: None,
            decision: None,
            span,
            trace: trace.map(|trace| trace.to_string()),
            timings: Timings::default(),
            mark: began,
            waited_since: Duration::ZERO,
            attempts: 1,
            cached: None,
        }
    }

    /// The trace context that goes to whoever the tool calls.
    pub(super) fn trace(&self) -> Option<&str> {
        self.trace.as_deref()
    }

    pub(super) fn resolved(&mut self, origin: &Origin) {
        self.origin = Some(origin.clone());
    }

    pub(super) fn validated(&mut self) {
        self.timings.validated = self.lap();
    }

    pub(super) fn planned(&mut self) {
        self.timings.planned = self.lap();
    }

    pub(super) fn judged(&mut self) {
        self.timings.decided = self.lap();
    }

    pub(super) fn decided(&mut self, decision: &Decision) {
        self.decision = Some(decision.clone());
    }

    pub(super) fn waited(&mut self, time: Duration) {
        self.timings.waited += micros(time);
        self.waited_since += time;
    }

    /// What was told of waiting counts where the tool never began.
    pub(super) fn queued(&mut self, time: Duration) {
        self.timings.queued += micros(time);
    }

    /// Whatever lies between the decision and the beginning was waiting for its turn.
    pub(super) fn started(&mut self) {
        let people = micros(self.waited_since);
        let lap = self.lap();
        if self.timings.ran == 0 {
            self.timings.queued = self.timings.queued.max(lap.saturating_sub(people));
        }
    }

    pub(super) fn finished(&mut self, ran: Duration) {
        self.timings.ran += micros(ran.saturating_sub(self.waited_since));
    }

    pub(super) fn attempted(&mut self) {
        self.attempts = self.attempts.saturating_add(1);
    }

    pub(super) fn answered_from_cache(&mut self, age: Duration) {
        self.cached = Some(age);
    }

    /// The time since the last stage ended.
    fn lap(&mut self) -> u64 {
        let now = Instant::now();
        let lap = micros(now.duration_since(self.mark));
        (self.mark, self.waited_since) = (now, Duration::ZERO);
        lap
    }

    /// Puts the record together and hands it over; what it borrows lives as long as that
    /// takes.
    pub(super) fn told(&self, call: &Told<'_>, tell: impl FnOnce(&CallRecord<'_>)) {
        let redactor = call.redactor;
        let error = call.outcome.and_then(|outcome| outcome.error.as_ref());
        let message = error.map(|error| bounded(redactor, &error.message, MOST_WORDS));
        let outcome = match (error, &message) {
            (Some(error), Some(message)) => RecordOutcome::error(error.code(), &**message),
            _ if call.outcome.is_none() => RecordOutcome::input_required(),
            _ => RecordOutcome::ok(),
        };
        // Recorders copy the record to put their own time in, so that it only borrows.
        let caller = bounded(redactor, call.caller, MOST_NAME);
        let agent = call.agent.map(|agent| bounded(redactor, agent, MOST_NAME));
        let decision = self.decision.as_ref().map(|made| {
            let by = bounded(redactor, &made.by, MOST_WORDS);
            (by, bounded(redactor, &made.reason, MOST_WORDS), made)
        });
        let described = call.tool.filter(|_| self.wanted.span);
        let description =
            described.map(|tool| bounded(redactor, &tool.description.short, MOST_WORDS));
        let mut record = CallRecord::new(call.id, &*caller, outcome);
        record.agent = agent.as_deref().map(Into::into);
        record.tool = call.tool.map(|tool| tool.name.as_str().into());
        let is_own = call.tool.is_some_and(|tool| tool.name == *call.called_as);
        record.called_as = (!is_own).then(|| call.called_as.into());
        record.source = call.tool.map(|tool| self.source(tool));
        record.effect = call.tool.map(|tool| tool.effect);
        record.description = description.as_deref().map(Into::into);
        record.digest = self.digest.as_deref().map(Into::into);
        record.arguments = self.arguments.as_deref().map(Into::into);
        let result = call.outcome.filter(|_| self.wanted.text_bytes > 0);
        let result = result.and_then(|outcome| self.result(outcome, redactor));
        record.result = result.as_deref().map(Into::into);
        record.decision = decision.as_ref().map(|(by, reason, made)| {
            let allowed = made.verdict == Verdict::Allow;
            RecordDecision::new(allowed, &**by, &**reason)
        });
        record.timings = self.timings;
        record.timings.total = micros(call.took);
        record.attempts = self.attempts;
        record.cached_us = self.cached.map(micros);
        record.repairs = u32::try_from(call.repairs).unwrap_or(u32::MAX);
        record.trace = self.trace.as_deref().map(Into::into);
        record.span = self.span;
        tell(&record);
    }

    fn source<'s>(&'s self, tool: &'s ToolDef) -> RecordSource<'s> {
        let origin = match (&tool.source, &self.origin) {
            (Source::Mcp { server }, _) => server,
            (_, Some(origin)) => origin.as_str(),
            (_, None) => "",
        };
        let end = origin.floor_char_boundary(origin.len().min(MOST_NAME));
        RecordSource::new(tool.source.word(), &origin[..end])
    }

    /// What was said, unless a failure says all there is. It is shaped, so no secret the
    /// host knows is in it that a cut could halve.
    fn result(&self, outcome: &Outcome, redactor: &Redactor) -> Option<String> {
        if outcome.error.is_some() && outcome.content.is_empty() && outcome.value.is_none() {
            return None;
        }
        let most = self.wanted.text_bytes;
        // One byte more than is kept tells whether there was more.
        let text = outcome.beginning(most + 1);
        let is_cut = text.len() > most;
        let mut text = redactor.redact(&text).into_owned();
        if is_cut || text.len() > most {
            text.truncate(text.floor_char_boundary(most.min(text.len())));
            text.push('…');
        }
        Some(text)
    }
}

/// What the trail knows of a call that ended.
pub(super) struct Told<'t> {
    pub(super) redactor: &'t Redactor,
    pub(super) id: &'t str,
    pub(super) caller: &'t str,
    pub(super) agent: Option<&'t str>,
    pub(super) tool: Option<&'t ToolDef>,
    pub(super) called_as: &'t str,
    pub(super) repairs: usize,
    pub(super) outcome: Option<&'t Outcome>,
    pub(super) took: Duration,
}

/// A text somebody else wrote, as a record may hold it.
fn bounded<'t>(redactor: &Redactor, text: &'t str, most: usize) -> Cow<'t, str> {
    let mut clean = redactor.redact_within(text, most);
    if text.len() > most {
        clean.to_mut().push('…');
    }
    clean
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
