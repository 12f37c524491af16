//! The whole record of a call: what was asked, decided, done and answered, as plain data.
//!
//! The runtime puts it together when a call ends, from what it noted on the way, and hands
//! it to the recorders that want it beside the last event ([`Event::record`]). Texts are
//! redacted and bounded already. Where records are kept is the recorders' business.
//!
//! [`Event::record`]: crate::event::Event::record

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::definition::Effect;
use crate::moment::Moment;
use crate::trace::TraceParent;

/// The version of the form. A reader that finds a higher one leaves the record alone.
pub const VERSION: u32 = 1;

/// What a recorder wants to know of each call as a whole. What nobody wants is not made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Wanted {
    /// How many bytes of the arguments, and as many of the result.
    pub text_bytes: usize,
    /// The digest of the arguments.
    pub digest: bool,
    /// A span of the call's own within its trace, which upstream servers are told.
    pub span: bool,
}

impl Wanted {
    /// The facts alone.
    pub fn facts() -> Self {
        Self::default()
    }

    /// And so many bytes of arguments and result.
    #[must_use]
    pub fn with_texts(mut self, bytes: usize) -> Self {
        self.text_bytes = bytes;
        self
    }

    /// And the digest of the arguments.
    #[must_use]
    pub fn with_digest(mut self) -> Self {
        self.digest = true;
        self
    }

    /// And a span of the call's own.
    #[must_use]
    pub fn with_span(mut self) -> Self {
        self.span = true;
        self
    }

    /// What satisfies both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            text_bytes: self.text_bytes.max(other.text_bytes),
            digest: self.digest || other.digest,
            span: self.span || other.span,
        }
    }
}

/// The record of one call.
///
/// It borrows where it is made and owns where it was read; fields a reader does not know
/// are passed over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CallRecord<'a> {
    /// The version of the form.
    pub v: u32,
    /// When the call came in, by the recorder's clock.
    pub at: Moment,
    /// The call's number, which is the caller's where it gave one.
    pub id: Cow<'a, str>,
    /// Who made it.
    pub caller: Cow<'a, str>,
    /// The agent it was made by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Cow<'a, str>>,
    /// The tool, where there is one of the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<Cow<'a, str>>,
    /// The name it was called by, where that is not the tool's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub called_as: Option<Cow<'a, str>>,
    /// Where the tool comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<RecordSource<'a>>,
    /// What the tool does to the world.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    /// SHA-256 over the arguments as they were sent, whatever the order of their keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Cow<'a, str>>,
    /// The arguments as they were sent, redacted and bounded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Cow<'a, str>>,
    /// What the model read, redacted and bounded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Cow<'a, str>>,
    /// What was decided, where it came to that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<RecordDecision<'a>>,
    /// How it ended.
    pub outcome: RecordOutcome<'a>,
    /// How long each stage took.
    #[serde(default)]
    pub timings: Timings,
    /// How often the tool was tried; 1 unless it was tried again.
    #[serde(default = "once")]
    pub attempts: u32,
    /// How old the answer was, in microseconds, where it came from a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_us: Option<u64>,
    /// How many things about the arguments were mended.
    #[serde(default)]
    pub repairs: u32,
    /// The call's own span in the W3C form; the caller's where the call has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Cow<'a, str>>,
    /// The call's own span, for recorders that export it.
    #[serde(skip)]
    pub span: Option<Span>,
    /// What the tool is for, for recorders that export spans.
    #[serde(skip)]
    pub description: Option<Cow<'a, str>>,
}

impl<'a> CallRecord<'a> {
    /// A record of which only this is known yet.
    pub fn new(
        id: impl Into<Cow<'a, str>>,
        caller: impl Into<Cow<'a, str>>,
        outcome: RecordOutcome<'a>,
    ) -> Self {
        Self {
            v: VERSION,
            at: Moment::default(),
            id: id.into(),
            caller: caller.into(),
            agent: None,
            tool: None,
            called_as: None,
            source: None,
            effect: None,
            digest: None,
            arguments: None,
            result: None,
            decision: None,
            outcome,
            timings: Timings::default(),
            attempts: once(),
            cached_us: None,
            repairs: 0,
            trace: None,
            span: None,
            description: None,
        }
    }

    /// The tool's name, or the one that was called though no tool has it.
    pub fn name(&self) -> &str {
        let name = self.tool.as_deref().or(self.called_as.as_deref());
        name.unwrap_or_default()
    }

    /// How long it took in microseconds, waiting for people and for its turn aside.
    pub fn took(&self) -> u64 {
        let Timings { waited, queued, .. } = self.timings;
        let others = waited.saturating_add(queued);
        self.timings.total.saturating_sub(others)
    }

    /// Tells whether it was refused by policy or by a person, or nobody could be asked.
    pub fn is_denied(&self) -> bool {
        let code = self.outcome.code.as_deref();
        let is_refused = matches!(code, Some("permission_denied" | "approval_required"));
        // A tool may report a refusal of its own; then it ran, and was not denied.
        let was_allowed = self.decision.as_ref().is_some_and(|made| made.allowed);
        is_refused && !was_allowed
    }

    /// Tells whether the caller was told of a failure.
    pub fn is_failed(&self) -> bool {
        self.outcome.status == Status::Error
    }
}

fn once() -> u32 {
    1
}

/// Where a tool comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RecordSource<'a> {
    /// The sort of source: `builtin`, `native`, `rest` or `mcp`.
    pub kind: Cow<'a, str>,
    /// Which one: a server's name, a file, or what loaded it.
    pub origin: Cow<'a, str>,
}

impl<'a> RecordSource<'a> {
    /// A source.
    pub fn new(kind: impl Into<Cow<'a, str>>, origin: impl Into<Cow<'a, str>>) -> Self {
        Self {
            kind: kind.into(),
            origin: origin.into(),
        }
    }
}

/// What was decided about a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RecordDecision<'a> {
    /// Whether it might run.
    pub allowed: bool,
    /// What decided: a rule as it was written, a mode, a guard, a person.
    pub by: Cow<'a, str>,
    /// Why, in words.
    pub reason: Cow<'a, str>,
}

impl<'a> RecordDecision<'a> {
    /// A decision.
    pub fn new(
        allowed: bool,
        by: impl Into<Cow<'a, str>>,
        reason: impl Into<Cow<'a, str>>,
    ) -> Self {
        Self {
            allowed,
            by: by.into(),
            reason: reason.into(),
        }
    }
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RecordOutcome<'a> {
    /// Well, badly, or with a question.
    pub status: Status,
    /// The code of the failure, if it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<Cow<'a, str>>,
    /// The failure in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Cow<'a, str>>,
}

impl<'a> RecordOutcome<'a> {
    /// It succeeded.
    pub fn ok() -> Self {
        Self {
            status: Status::Ok,
            code: None,
            message: None,
        }
    }

    /// It failed.
    pub fn error(code: impl Into<Cow<'a, str>>, message: impl Into<Cow<'a, str>>) -> Self {
        Self {
            status: Status::Error,
            code: Some(code.into()),
            message: Some(message.into()),
        }
    }

    /// It was answered with a question, and may come back as another call.
    pub fn input_required() -> Self {
        Self {
            status: Status::InputRequired,
            ..Self::ok()
        }
    }
}

/// How a call ended, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Status {
    /// It did what it should.
    Ok,
    /// It failed, was refused or was given up.
    Error,
    /// The caller was asked for something first.
    InputRequired,
}

/// How long each stage of a call took, in microseconds; zero where it never came to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Timings {
    /// Finding the tool and checking the arguments.
    pub validated: u64,
    /// Asking the tool what it would do.
    pub planned: u64,
    /// The guards.
    pub decided: u64,
    /// Waiting for people.
    pub waited: u64,
    /// Waiting for its turn.
    pub queued: u64,
    /// The tool itself, all attempts together.
    pub ran: u64,
    /// All of it, from the door to the reply.
    pub total: u64,
}

/// A call's own span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Span {
    /// The span.
    pub own: TraceParent,
    /// The span it is part of, if the caller named one.
    pub parent: Option<TraceParent>,
}

impl Span {
    /// A span within another, if there is one.
    pub fn new(own: TraceParent, parent: Option<TraceParent>) -> Self {
        Self { own, parent }
    }
}
