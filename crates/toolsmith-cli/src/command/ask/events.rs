//! Tells a run as JSON, one event a line, for scripts.

use serde_json::{Value, json};
use toolsmith_agent::{AgentEvent, Observer, Report};
use toolsmith_core::RawCall;
use toolsmith_core::call::RawArguments;

use crate::print;

/// Tells a run as JSON.
pub(super) struct Events {
    conversation: Option<String>,
}

impl Events {
    pub(super) fn new(conversation: Option<String>) -> Self {
        Self { conversation }
    }

    fn event(&self, event: &AgentEvent<'_>) -> Option<Value> {
        Some(match event {
            AgentEvent::Turn { number, way } => {
                json!({ "event": "turn", "number": number, "way": way.word() })
            }
            AgentEvent::Text(text) => json!({ "event": "text", "text": text }),
            AgentEvent::Reasoning(text) => json!({ "event": "reasoning", "text": text }),
            AgentEvent::Again { reason } => json!({ "event": "again", "reason": reason }),
            AgentEvent::FellBack { reason } => json!({ "event": "fell_back", "reason": reason }),
            AgentEvent::Calling { index, call } => {
                let mut event = json!({ "event": "calling", "index": index });
                describe(&mut event, call);
                event
            }
            AgentEvent::Called {
                index,
                call,
                outcome,
            } => json!({
                "event": "called",
                "index": index,
                "id": call.id,
                "name": call.name,
                "outcome": outcome,
            }),
            AgentEvent::Shortened { results } => {
                json!({ "event": "shortened", "results": results })
            }
            AgentEvent::Ended(report) => self.ended(report),
            _ => return None,
        })
    }

    fn ended(&self, report: &Report) -> Value {
        json!({
            "event": "ended",
            "end": report.end.word(),
            "limit": report.end.limit().map(|limit| limit.word()),
            "message": report.end.to_string(),
            "text": report.text,
            "turns": report.turns,
            "calls": report.calls,
            "failed": report.failed,
            "usage": report.usage,
            "cost": report.cost,
            "duration_ms": u64::try_from(report.took.as_millis()).unwrap_or(u64::MAX),
            "conversation": self.conversation,
        })
    }
}

fn describe(event: &mut Value, call: &RawCall) {
    event["id"] = json!(call.id);
    event["name"] = json!(call.name);
    match &call.arguments {
        RawArguments::Json(arguments) => event["arguments"] = arguments.clone(),
        RawArguments::Malformed(reason) => event["malformed"] = json!(reason),
        _ => {}
    }
}

impl Observer for Events {
    fn observe(&self, event: &AgentEvent<'_>) {
        if let Some(event) = self.event(event) {
            // With nobody left to read it, the run goes on to its end.
            let _ = print::line(&event.to_string());
        }
    }
}
