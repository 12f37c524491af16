//! Follows one call from the door and back.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;
use toolsmith_core::call::RawArguments;
use toolsmith_core::event::{Clock, Event, Sensitive, What};
use toolsmith_core::outcome::Facts;
use toolsmith_core::{Arguments, CallId, ErrorKind, Outcome, RawCall, ToolDef, ToolError};

use super::notes::{Notes, Told};
use super::{CallKey, Recorders};
use crate::caller::Caller;
use crate::permit::{Decision, Verdict};
use crate::plan::PlannedCall;
use crate::registry::Origin;
use crate::shape::{Redactor, shown_plan};

/// How much of the name a call was made by is kept.
const MAX_NAME: usize = 200;
/// How much of a caller's own number for a call is kept.
const MAX_ID: usize = 256;

/// How many bytes of the arguments of a call that is refused are kept for the log, and how
/// many of what a tool that failed said.
const MAX_TOLD: usize = 4 << 10;

/// Follows one call. Dropped before the reply, it records that the caller gave up.
#[derive(Debug)]
pub(crate) struct Trail {
    recorders: Arc<Recorders>,
    redactor: Arc<Redactor>,
    caller: Caller,
    id: CallId,
    key: Arc<CallKey>,
    called_as: String,
    tool: Option<Arc<ToolDef>>,
    arguments: Noted,
    repairs: Vec<String>,
    began: Instant,
    /// Time spent waiting for people or for its turn, which is not the call's.
    waited: Duration,
    /// How often the tool was called.
    attempts: u32,
    /// How old the answer is, where it was kept from an earlier call.
    cached: Option<Duration>,
    stage: Stage,
    /// What the record of the whole call is made of, where somebody wants one.
    notes: Option<Notes>,
}

/// The arguments as far as they are known: raw ones are not copied just in case.
#[derive(Debug)]
enum Noted {
    None,
    /// What a log may hold of them, where a log is kept.
    Told(String),
    Checked(Arguments),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    Open,
    Running { blocking: bool, since: Instant },
    Ended,
    Replied,
}

impl Trail {
    /// Begins at the door.
    pub(crate) fn begin(
        recorders: Arc<Recorders>,
        redactor: Arc<Redactor>,
        call: &RawCall,
        id: CallId,
        caller: &Caller,
    ) -> Box<Self> {
        // A model may call itself anything, at any length.
        let called_as = redactor.redact_within(&call.name, MAX_NAME).into_owned();
        let id = match redactor.redact_within(id.as_str(), MAX_ID) {
            Cow::Borrowed(whole) if whole.len() == id.as_str().len() => id,
            clean => CallId::new(clean),
        };
        // Boxed, because it is handed from stage to stage and into the tool's host.
        let mut trail = Box::new(Self {
            recorders,
            redactor,
            caller: caller.clone(),
            id,
            key: Arc::default(),
            called_as,
            tool: None,
            arguments: Noted::None,
            repairs: Vec::new(),
            began: Instant::now(),
            waited: Duration::ZERO,
            attempts: 0,
            cached: None,
            stage: Stage::Open,
            notes: None,
        });
        trail.note_repairs(&call.repairs);
        let malformed;
        let arguments = match &call.arguments {
            RawArguments::Json(value) => value,
            RawArguments::Malformed(reason) => {
                malformed = Value::String(format!("[unreadable: {reason}]"));
                &malformed
            }
            _ => &Value::Null,
        };
        if let Some(wanted) = trail.recorders.wanted(caller.recorders()) {
            let (redactor, spans) = (&*trail.redactor, &trail.recorders.spans);
            let context = (caller.trace_parent(), trail.began);
            trail.notes = Some(Notes::new(wanted, arguments, redactor, spans, context));
        }
        let arguments = Sensitive::new(arguments, &*trail.redactor);
        trail.tell(What::Called {
            name: &trail.called_as,
            arguments,
        });
        // A call that is refused early has no other arguments to log.
        if tracing::enabled!(target: "toolsmith", tracing::Level::INFO) {
            trail.arguments = Noted::Told(arguments.to_text(MAX_TOLD));
        }
        trail
    }

    pub(crate) fn id(&self) -> &CallId {
        &self.id
    }

    pub(crate) fn key(&self) -> &Arc<CallKey> {
        &self.key
    }

    /// Says which of several calls with one key it is.
    pub(crate) fn number(&mut self, index: usize) {
        self.key = Arc::new(CallKey::numbered(index));
    }

    pub(crate) fn caller(&self) -> &Caller {
        &self.caller
    }

    pub(crate) fn tool(&self) -> Option<&Arc<ToolDef>> {
        self.tool.as_ref()
    }

    /// Writes down what is known about the call.
    pub(crate) fn note_facts(&self, facts: &mut Facts) {
        facts.tool = self.tool.as_ref().map(|tool| tool.name.clone());
        facts.called_as = match &self.tool {
            Some(tool) if tool.name == *self.called_as => None,
            _ => Some(self.called_as.clone()),
        };
        facts.call_id = Some(self.id.clone());
        facts.duration = Some(self.elapsed());
        facts.repairs.clone_from(&self.repairs);
        facts.cached = self.cached;
        facts.attempts = (self.attempts > 1).then_some(self.attempts);
    }

    /// The trace context of whatever the call does: that of its own span where it has
    /// one, else the caller's.
    pub(crate) fn trace(&self) -> Option<&str> {
        match &self.notes {
            Some(notes) => notes.trace(),
            None => self.caller.trace(),
        }
    }

    pub(crate) fn resolved(&mut self, tool: &Arc<ToolDef>, origin: &Origin) {
        self.tool = Some(Arc::clone(tool));
        self.note(|notes| notes.resolved(origin));
    }

    /// Notes that the arguments fit.
    pub(crate) fn validated(&mut self) {
        self.note(Notes::validated);
    }

    pub(crate) fn planned(&mut self, call: &PlannedCall) {
        self.note(Notes::planned);
        self.arguments = Noted::Checked(call.call().arguments().clone());
        self.note_repairs(call.call().repairs());
        self.tell(What::Validated {
            repairs: &self.repairs,
        });
        let plan = shown_plan(call.plan(), &self.redactor);
        self.tell(What::Planned { plan: &plan });
    }

    /// Repairs quote the arguments, so they are cleaned like them.
    fn note_repairs(&mut self, repairs: &[String]) {
        let clean = |repair: &String| self.redactor.clean(repair).into_owned();
        self.repairs = repairs.iter().map(clean).collect();
    }

    /// Notes that the guards have spoken; a person may still have to.
    pub(crate) fn judged(&mut self) {
        self.note(Notes::judged);
    }

    pub(crate) fn decided(&mut self, decision: &Decision) {
        self.note(|notes| notes.decided(decision));
        self.tell(What::Decided {
            allowed: decision.verdict == Verdict::Allow,
            by: &decision.by,
            reason: &decision.reason,
        });
    }

    /// Notes that people were waited for, which is not the call's time.
    pub(crate) fn waited(&mut self, time: Duration) {
        self.waited += time;
        self.note(|notes| notes.waited(time));
    }

    /// Notes that the call waited for its turn, which is not its time either.
    pub(crate) fn queued(&mut self, time: Duration) {
        self.waited += time;
        self.note(|notes| notes.queued(time));
    }

    /// Notes that the tool is about to be called, perhaps again.
    pub(crate) fn attempted(&mut self) {
        self.attempts += 1;
        if self.attempts > 1 {
            self.note(Notes::attempted);
        }
    }

    /// Notes that the answer was kept from an earlier call, so long ago.
    pub(crate) fn answered_from_cache(&mut self, age: Duration) {
        self.cached = Some(age);
        self.note(|notes| notes.answered_from_cache(age));
    }

    pub(crate) fn started(&mut self, blocking: bool) {
        self.note(Notes::started);
        let since = Instant::now();
        self.stage = Stage::Running { blocking, since };
        if let Some(tool) = &self.tool {
            self.recorders.count(|metrics| metrics.started(&tool.name));
        }
        self.tell(What::Started { blocking });
    }

    /// Records the end of the tool's run: always, and once.
    pub(crate) fn finished(&mut self, error: Option<&ToolError>) {
        let Stage::Running { blocking, since } = self.stage else {
            return;
        };
        self.stage = Stage::Ended;
        let ran = since.elapsed();
        self.note(|notes| notes.finished(ran));
        let kind = error.map(|error| error.kind);
        if let Some(tool) = &self.tool {
            self.recorders
                .count(|metrics| metrics.finished(&tool.name, ran, kind));
        }
        let message = error.map(|error| self.redactor.redact_within(&error.message, MAX_TOLD));
        self.tell(What::Finished {
            blocking,
            ran,
            error: kind,
            message: message.as_deref(),
        });
    }

    /// Records the reply, which ends the trail.
    pub(crate) fn replied(&mut self, outcome: Option<&Outcome>) {
        let refused = self.stage == Stage::Open;
        self.stage = Stage::Replied;
        if refused && let Some(error) = outcome.and_then(|outcome| outcome.error.as_ref()) {
            let name = self.tool.as_ref().map(|tool| &tool.name);
            self.recorders
                .count(|metrics| metrics.refused(name, error.kind));
        }
        let arguments = match &self.arguments {
            Noted::Checked(arguments) => Sensitive::new(arguments.as_value(), &*self.redactor),
            Noted::Told(text) => Sensitive::told(text),
            Noted::None => Sensitive::told(""),
        };
        let replied = What::Replied { arguments, outcome };
        let Some(notes) = &self.notes else {
            return self.tell(replied);
        };
        let call = Told {
            redactor: &self.redactor,
            id: self.id.as_str(),
            caller: self.caller.identity(),
            agent: self.caller.agent(),
            tool: self.tool.as_deref(),
            called_as: &self.called_as,
            repairs: self.repairs.len(),
            outcome,
            took: self.began.elapsed(),
        };
        notes.told(&call, |record| {
            let event = self.event(replied).with_record(record);
            self.recorders.record(&event, self.caller.recorders());
        });
    }

    pub(crate) fn tell(&self, what: What<'_>) {
        let event = self.event(what);
        self.recorders.record(&event, self.caller.recorders());
    }

    fn note(&mut self, note: impl FnOnce(&mut Notes)) {
        if let Some(notes) = &mut self.notes {
            note(notes);
        }
    }

    fn event<'e>(&'e self, what: What<'e>) -> Event<'e> {
        let mut event = Event::new(what)
            .with_clock(self)
            .with_redact(&*self.redactor);
        event.call = Some(&self.id);
        event.tool = self.tool.as_ref().map(|tool| &tool.name);
        event.caller = self.caller().identity();
        event
    }
}

impl Clock for Trail {
    fn elapsed(&self) -> Duration {
        self.began.elapsed().saturating_sub(self.waited)
    }
}

impl Drop for Trail {
    fn drop(&mut self) {
        if self.stage == Stage::Replied {
            return;
        }
        let error = ToolError::new(ErrorKind::Cancelled, "the caller went away");
        self.finished(Some(&error));
        let mut outcome = Outcome::failure(error);
        self.note_facts(&mut outcome.facts);
        self.replied(Some(&outcome));
    }
}
