//! Recorders: one that remembers, one that fails.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use toolsmith_core::event::{Event, RecordError, Recorder, What};

/// Keeps every event as JSON. Clones share what they keep.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    events: Arc<Mutex<Vec<Value>>>,
}

impl Recording {
    /// An empty recording.
    pub fn new() -> Self {
        Self::default()
    }

    /// Every event so far.
    pub fn events(&self) -> Vec<Value> {
        let events = self.events.lock();
        events.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The names of all events of calls so far, in order.
    pub fn names(&self) -> Vec<String> {
        let of_calls = |event: &Value| event["call"].is_string();
        let events = self.events();
        let of_calls = events.iter().filter(|event| of_calls(event));
        of_calls
            .filter_map(|event| event["event"].as_str().map(str::to_owned))
            .collect()
    }

    /// The names of the events of one call, in order.
    pub fn names_of(&self, call: &str) -> Vec<String> {
        let events = self.events();
        let of_call = events.iter().filter(|event| event["call"] == call);
        of_call
            .filter_map(|event| event["event"].as_str().map(str::to_owned))
            .collect()
    }

    /// Every event of a name.
    pub fn all(&self, name: &str) -> Vec<Value> {
        let mut events = self.events();
        events.retain(|event| event["event"] == name);
        events
    }

    /// The only event of a name.
    #[track_caller]
    pub fn one(&self, name: &str) -> Value {
        let found = self.all(name);
        assert_eq!(found.len(), 1, "events `{name}`: {found:?}");
        found.into_iter().next().unwrap_or_default()
    }

    /// All streamed output in one piece.
    pub fn output(&self) -> String {
        let pieces = self.all("output");
        let texts = pieces.iter().filter_map(|event| event["text"].as_str());
        texts.collect()
    }
}

impl Recorder for Recording {
    fn record(&self, event: &Event<'_>) -> Result<(), RecordError> {
        let mut kept = owned(&event.what);
        kept["event"] = event.what.name().into();
        kept["call"] = json!(event.call);
        kept["tool"] = json!(event.tool);
        kept["caller"] = event.caller.into();
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        events.push(kept);
        Ok(())
    }
}

fn owned(what: &What<'_>) -> Value {
    match what {
        What::Registered { source, tools } => json!({"source": source, "tools": tools}),
        What::Offered { tools } => json!({ "tools": tools }),
        What::Called { name, arguments } => json!({"name": name, "arguments": arguments}),
        What::Validated { repairs } => json!({ "repairs": repairs }),
        What::Planned { plan } => json!({ "plan": plan }),
        What::Decided {
            allowed,
            by,
            reason,
        } => json!({"allowed": allowed, "by": by, "reason": reason}),
        What::Started { blocking } => json!({ "blocking": blocking }),
        What::Progress { progress } => json!({ "progress": progress }),
        What::Output { text } => json!({ "text": text }),
        What::Logged { entry } => json!({ "message": entry.message }),
        What::Finished {
            blocking,
            ran,
            error,
            message,
        } => json!({
            "blocking": blocking,
            "ran_ms": u64::try_from(ran.as_millis()).unwrap_or(u64::MAX),
            "error": error.map(|kind| kind.code()),
            "message": message,
        }),
        What::Replied { arguments, outcome } => json!({
            "arguments": arguments,
            "outcome": outcome,
        }),
        _ => json!({}),
    }
}

/// A recorder that cannot record.
#[derive(Clone, Copy, Debug)]
pub enum Faulty {
    /// It returns an error.
    Fails,
    /// It panics.
    Panics,
}

impl Recorder for Faulty {
    fn record(&self, event: &Event<'_>) -> Result<(), RecordError> {
        match self {
            Self::Fails => Err(RecordError(format!("no room for {}", event.what.name()))),
            Self::Panics => panic!("the recorder is broken"),
        }
    }
}
