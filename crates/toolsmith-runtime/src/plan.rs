//! Plan: the tool is asked what it is about to do, before it may do it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;
use toolsmith_core::{Arguments, Confirm, ErrorKind, Plan, ToolDef, ToolError};

use crate::shape::{Redactor, Shaper};
use crate::validate::ValidCall;

/// How much of a plan's summary people are shown.
const SUMMARY_BYTES: usize = 400;

/// A call that told what it would do.
#[derive(Clone, Debug)]
pub struct PlannedCall {
    pub(crate) call: ValidCall,
    pub(crate) plan: Plan,
}

impl PlannedCall {
    /// The call.
    pub fn call(&self) -> &ValidCall {
        &self.call
    }

    /// What it would do.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Writes the call itself as the line a person reads, where the tool left it
    /// open. Most calls are shown to nobody, so this waits until one is.
    pub(crate) fn put_in_words(&mut self, shaper: &Shaper) {
        if self.plan.summary.trim().is_empty() {
            self.plan.summary = in_words(self.call.tool(), self.call.arguments());
            shaper.small(&mut self.plan.summary);
        }
    }
}

/// Asks the tool for its plan. A tool that panics here does not run. What people
/// decide on and recorders keep is shaped like a reply.
pub(crate) fn plan(
    call: ValidCall,
    shaper: &Shaper,
    limit: Duration,
) -> Result<PlannedCall, ToolError> {
    let began = Instant::now();
    let tool = &call.entry().tool;
    let asked = catch_unwind(AssertUnwindSafe(|| tool.plan(call.arguments())));
    let mut plan =
        asked.unwrap_or_else(|_| Err(ToolError::internal("the tool panicked while planning")))?;
    // Planning cannot be interrupted, but one that took too long is not believed.
    if began.elapsed() > limit {
        let message = "the tool took too long to say what it would do";
        return Err(ToolError::new(ErrorKind::Timeout, message));
    }
    shaper.small(&mut plan.summary);
    if let Confirm::Required { reason } = &mut plan.confirm {
        shaper.small(reason);
    }
    Ok(PlannedCall { call, plan })
}

/// The call itself as the line a person reads.
fn in_words(tool: &ToolDef, arguments: &Arguments) -> String {
    let mut text = format!("{}(", tool.name);
    for (index, (name, value)) in arguments.iter().enumerate() {
        if index > 0 {
            text.push_str(", ");
        }
        text.push_str(name);
        text.push('=');
        if Redactor::is_secret_name(name) {
            text.push_str("[redacted]");
        } else {
            text.push_str(&short(value));
        }
        if text.len() > SUMMARY_BYTES {
            text.truncate(text.floor_char_boundary(SUMMARY_BYTES));
            text.push('…');
            break;
        }
    }
    text.push(')');
    text
}

/// A value in few characters; a large one is not written out just to be cut.
fn short(value: &Value) -> String {
    match value {
        Value::String(text) => match text.char_indices().nth(80) {
            Some((end, _)) => format!("{:?}…", &text[..end]),
            None => format!("{text:?}"),
        },
        Value::Array(items) => format!("[{} items]", items.len()),
        Value::Object(fields) => format!("{{{} fields}}", fields.len()),
        plain => plain.to_string(),
    }
}
