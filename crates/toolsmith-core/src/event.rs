//! What is recorded of a call: an event at every arrow of its life.
//!
//! Events borrow, so that recording costs nothing where nobody looks. Whatever a
//! model sent is wrapped in [`Sensitive`], which only gives itself out redacted
//! and bounded: a recorder cannot leak what it cannot reach.

use std::fmt;
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

use crate::context::{LogEntry, Progress};
use crate::error::ErrorKind;
use crate::json;
use crate::name::{CallId, ToolName};
use crate::outcome::Outcome;
use crate::plan::Plan;
use crate::record::{CallRecord, Wanted};

/// Something that happened, as recorders see it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Event<'a> {
    /// Which call it belongs to, if to one.
    pub call: Option<&'a CallId>,
    /// The tool, once it is known.
    pub tool: Option<&'a ToolName>,
    /// Who the call is made for.
    pub caller: &'a str,
    /// What happened.
    pub what: What<'a>,
    clock: Option<&'a dyn Clock>,
    redact: Option<&'a dyn Redact>,
    record: Option<&'a CallRecord<'a>>,
}

/// Tells how long a call has taken. Asked only by recorders that want to know: most
/// events are looked at by nobody, and reading a clock costs more than they do.
pub trait Clock: fmt::Debug {
    /// The time since the call came in, without waiting for people.
    fn elapsed(&self) -> Duration;
}

impl<'a> Event<'a> {
    /// An event of no particular call.
    pub fn new(what: What<'a>) -> Self {
        Self {
            call: None,
            tool: None,
            caller: "",
            what,
            clock: None,
            redact: None,
            record: None,
        }
    }

    /// Sets the record of the call that ended.
    #[must_use]
    pub fn with_record(mut self, record: &'a CallRecord<'a>) -> Self {
        self.record = Some(record);
        self
    }

    /// The record of the whole call: with its last event, if some recorder
    /// [wanted](Recorder::wants_record) one.
    pub fn record(&self) -> Option<&'a CallRecord<'a>> {
        self.record
    }

    /// Sets what removes secrets for logs.
    #[must_use]
    pub fn with_redact(mut self, redact: &'a dyn Redact) -> Self {
        self.redact = Some(redact);
        self
    }

    /// A text of the event as a log may hold it. Replies are already free of known
    /// secrets; a log also leaves out what stands under a telling name.
    pub fn for_log<'t>(&self, text: &'t str) -> std::borrow::Cow<'t, str> {
        match self.redact {
            Some(redact) => redact.redact(text),
            None => text.into(),
        }
    }

    /// Sets what tells the time.
    #[must_use]
    pub fn with_clock(mut self, clock: &'a dyn Clock) -> Self {
        self.clock = Some(clock);
        self
    }

    /// The time since the call came in, without waiting for people.
    pub fn elapsed(&self) -> Duration {
        self.clock.map_or(Duration::ZERO, Clock::elapsed)
    }
}

/// What happened: one variant for each arrow.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum What<'a> {
    /// A source's tools were put in, or replaced.
    Registered {
        /// The source.
        source: &'a str,
        /// How many tools it has now.
        tools: usize,
    },
    /// A caller was offered tools.
    Offered {
        /// How many.
        tools: usize,
    },
    /// A call came in.
    Called {
        /// The name it was made by.
        name: &'a str,
        /// What it was made with.
        arguments: Sensitive<'a>,
    },
    /// The arguments fit.
    Validated {
        /// What was mended to make them fit.
        repairs: &'a [String],
    },
    /// The tool told what it would do.
    Planned {
        /// The plan.
        plan: &'a Plan,
    },
    /// Permission was given or refused.
    Decided {
        /// Whether the call may run.
        allowed: bool,
        /// What decided: a rule, a mode, a person.
        by: &'a str,
        /// Why, in words.
        reason: &'a str,
    },
    /// The tool began to run.
    Started {
        /// Whether it blocks a thread.
        blocking: bool,
    },
    /// The tool told how far it is.
    Progress {
        /// How far.
        progress: &'a Progress,
    },
    /// The tool handed out a piece of output.
    Output {
        /// The piece, cleaned and redacted.
        text: &'a str,
    },
    /// The tool wrote into the caller's log.
    Logged {
        /// The entry, cleaned and redacted.
        entry: &'a LogEntry,
    },
    /// The tool ended, or was ended.
    Finished {
        /// Whether it blocked a thread.
        blocking: bool,
        /// How long it ran.
        ran: Duration,
        /// The kind of failure, if it failed.
        error: Option<ErrorKind>,
        /// The failure in words, cleaned and redacted.
        message: Option<&'a str>,
    },
    /// The caller was answered. Always the last event of a call.
    Replied {
        /// What the call was made with.
        arguments: Sensitive<'a>,
        /// What the caller got, shaped; none where input was asked for.
        outcome: Option<&'a Outcome>,
    },
}

impl What<'_> {
    /// The name of the event, as records and logs write it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Registered { .. } => "registered",
            Self::Offered { .. } => "offered",
            Self::Called { .. } => "called",
            Self::Validated { .. } => "validated",
            Self::Planned { .. } => "planned",
            Self::Decided { .. } => "decided",
            Self::Started { .. } => "started",
            Self::Progress { .. } => "progress",
            Self::Output { .. } => "output",
            Self::Logged { .. } => "logged",
            Self::Finished { .. } => "finished",
            Self::Replied { .. } => "replied",
        }
    }
}

/// Takes events: a log, a file, a counter, a test.
///
/// Implemented by hosts. Called on the path of the call, so it must be quick and
/// must not block; what takes long belongs on a channel. An error or a panic is
/// reported to the host and changes no reply.
///
/// ```
/// use std::sync::atomic::{AtomicUsize, Ordering};
/// use toolsmith_core::event::{Event, RecordError, Recorder, What};
///
/// #[derive(Default)]
/// struct Refusals(AtomicUsize);
///
/// impl Recorder for Refusals {
///     fn record(&self, event: &Event<'_>) -> Result<(), RecordError> {
///         if let What::Decided { allowed: false, .. } = event.what {
///             self.0.fetch_add(1, Ordering::Relaxed);
///         }
///         Ok(())
///     }
/// }
/// ```
pub trait Recorder: Send + Sync + 'static {
    /// Takes one event.
    fn record(&self, event: &Event<'_>) -> Result<(), RecordError>;

    /// What it wants to know of each call as a whole, if anything; asked when a call comes
    /// in. It then finds an [`Event::record`] with the call's last event.
    fn wants_record(&self) -> Option<Wanted> {
        None
    }
}

/// Why an event could not be recorded.
#[derive(Debug, thiserror::Error)]
#[error("could not record: {0}")]
pub struct RecordError(pub String);

/// Removes secrets from text. Implemented by the runtime's redactor.
pub trait Redact: fmt::Debug + Send + Sync {
    /// The text with every secret replaced.
    fn redact<'t>(&self, text: &'t str) -> std::borrow::Cow<'t, str>;
}

/// What came from outside and may hold secrets.
#[derive(Clone, Copy)]
pub struct Sensitive<'a> {
    held: Held<'a>,
}

#[derive(Clone, Copy)]
enum Held<'a> {
    Value(&'a Value, &'a dyn Redact),
    /// A text that was made by another `Sensitive`.
    Told(&'a str),
}

impl<'a> Sensitive<'a> {
    /// Wraps a value with what removes its secrets.
    pub fn new(value: &'a Value, redact: &'a dyn Redact) -> Self {
        Self {
            held: Held::Value(value, redact),
        }
    }

    /// Wraps what [`Sensitive::to_text`] gave, where the value itself is gone.
    pub fn told(text: &'a str) -> Self {
        Self {
            held: Held::Told(text),
        }
    }

    /// The value as JSON text, redacted, at most `limit` bytes of it.
    pub fn to_text(&self, limit: usize) -> String {
        match self.held {
            Held::Value(value, redact) => written(value, redact, limit),
            Held::Told(text) => {
                let end = text.floor_char_boundary(limit.min(text.len()));
                text[..end].to_owned()
            }
        }
    }
}

fn written(value: &Value, redact: &dyn Redact, limit: usize) -> String {
    // Writing it out would recurse, and no tool gets such a value anyway.
    if json::depth_exceeds(value, json::MAX_DEPTH) {
        return "[nested too deep]".to_owned();
    }
    // Redaction comes before the cut, since a secret cut in half is no longer
    // recognised; the writer stops well before a huge value is copied whole.
    let mut writer = Bounded {
        bytes: Vec::new(),
        room: limit.saturating_mul(2).saturating_add(4096),
    };
    let whole = serde_json::to_writer(&mut writer, value).is_ok();
    let text = String::from_utf8_lossy(&writer.bytes);
    let clean = redact.redact(&text);
    if whole && clean.len() <= limit {
        return clean.into_owned();
    }
    // Where the writer stopped, half a secret may stand. Redaction can shorten a
    // text so much that this place would be shown, so its end is left out.
    let safe = if whole {
        clean.len()
    } else {
        clean.len().saturating_sub(512)
    };
    let end = clean.floor_char_boundary(limit.min(safe));
    format!("{}…", &clean[..end])
}

impl fmt::Debug for Sensitive<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_text(256))
    }
}

impl Serialize for Sensitive<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_text(4096))
    }
}

/// A writer that refuses once it is full, which ends the serialisation.
struct Bounded {
    bytes: Vec<u8>,
    room: usize,
}

impl std::io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.room == 0 {
            return Err(std::io::ErrorKind::WriteZero.into());
        }
        let taken = bytes.len().min(self.room);
        self.bytes.extend_from_slice(&bytes[..taken]);
        self.room -= taken;
        Ok(taken)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Takes counts and durations: the seam for a metrics system.
///
/// Implemented by hosts; the runtime has one that keeps them in memory. Called on
/// the path of the call, so it must be quick.
pub trait MetricsCollector: Send + Sync + 'static {
    /// A tool began to run.
    fn started(&self, tool: &ToolName);

    /// A tool ended after `ran`, well or with a failure of a kind.
    fn finished(&self, tool: &ToolName, ran: Duration, error: Option<ErrorKind>);

    /// A call ended before its tool ran.
    fn refused(&self, tool: Option<&ToolName>, error: ErrorKind);

    /// A tool is called another time for the same call.
    fn repeated(&self, tool: &ToolName) {
        let _ = tool;
    }

    /// A call was answered with what was kept from an earlier one.
    fn cached(&self, tool: &ToolName) {
        let _ = tool;
    }
}
