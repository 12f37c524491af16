//! One call as a span.

use std::time::SystemTime;

use serde_json::{Value, json};
use toolsmith_core::record::{CallRecord, Span, Status};

use super::attribute::{error_type, flag, number, since_1970, text};

/// How many bytes of a description are sent.
const MOST_DESCRIPTION: usize = 512;
/// A span within the program.
const INTERNAL: u8 = 1;
const STATUS_OK: u8 = 0;
const STATUS_ERROR: u8 = 2;

/// What is sent of a call, taken from its record.
#[derive(Clone, Debug)]
pub(super) struct SpanData {
    span: Span,
    name: String,
    from: u64,
    to: u64,
    attributes: Vec<Value>,
    /// The failure in words.
    error: Option<String>,
}

impl SpanData {
    pub(super) fn of(record: &CallRecord<'_>, span: Span, now: SystemTime) -> Self {
        let to = since_1970(now);
        let took = record.timings.total.saturating_mul(1000);
        let error = (record.outcome.status == Status::Error).then(|| {
            let message = record.outcome.message.as_deref();
            message.unwrap_or_default().to_owned()
        });
        Self {
            span,
            name: format!("execute_tool {}", record.name()),
            from: to.saturating_sub(took),
            to,
            attributes: attributes(record),
            error,
        }
    }

    /// As the protocol writes it.
    pub(super) fn into_json(self) -> Value {
        let own = self.span.own;
        let mut span = json!({
            "traceId": own.trace_id(),
            "spanId": own.span_id(),
            "name": self.name,
            "kind": INTERNAL,
            "startTimeUnixNano": self.from.to_string(),
            "endTimeUnixNano": self.to.to_string(),
            "attributes": self.attributes,
            "status": match &self.error {
                Some(message) => json!({ "code": STATUS_ERROR, "message": message }),
                None => json!({ "code": STATUS_OK }),
            },
            "flags": 1,
        });
        if let Some(parent) = self.span.parent {
            span["parentSpanId"] = parent.span_id().into();
        }
        span
    }
}

fn attributes(record: &CallRecord<'_>) -> Vec<Value> {
    let mut all = vec![
        text("gen_ai.operation.name", "execute_tool"),
        text("gen_ai.tool.name", record.name()),
        text("gen_ai.tool.call.id", &record.id),
    ];
    if let Some(source) = &record.source {
        // What runs here is a function; what others run for us extends us.
        let is_elsewhere = matches!(&*source.kind, "mcp" | "rest");
        let sort = if is_elsewhere {
            "extension"
        } else {
            "function"
        };
        all.push(text("gen_ai.tool.type", sort));
        // What was never sent is no operation of the protocol.
        if source.kind == "mcp" && record.timings.ran > 0 {
            all.push(text("mcp.method.name", "tools/call"));
        }
        all.push(text("toolsmith.source", &source.kind));
        all.push(text("toolsmith.origin", &source.origin));
    }
    if let Some(description) = record
        .description
        .as_deref()
        .filter(|said| !said.is_empty())
    {
        let end = description.floor_char_boundary(MOST_DESCRIPTION.min(description.len()));
        all.push(text("gen_ai.tool.description", &description[..end]));
    }
    if let Some(agent) = &record.agent {
        all.push(text("gen_ai.agent.name", agent));
    }
    if let Some(error) = error_type(record) {
        all.push(text("error.type", error));
    }
    all.push(text("toolsmith.caller", &record.caller));
    if let Some(decision) = &record.decision {
        all.push(flag("toolsmith.decision.allowed", decision.allowed));
        all.push(text("toolsmith.decision.by", &decision.by));
    }
    if record.outcome.status == Status::InputRequired {
        all.push(flag("toolsmith.input_required", true));
    }
    all.push(flag("toolsmith.cached", record.cached_us.is_some()));
    all.push(number("toolsmith.attempts", record.attempts.into()));
    all.push(number("toolsmith.waited_us", record.timings.waited));
    all.push(number("toolsmith.queued_us", record.timings.queued));
    all
}
