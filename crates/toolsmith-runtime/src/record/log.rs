//! Calls in the log: the lines operators know, and one structured event per call.

use toolsmith_core::event::{Event, RecordError, Recorder, What};
use tracing::Level;

/// Writes calls to `tracing`, under the target `toolsmith`.
///
/// `Tool called: …` before a tool runs; `Tool … completed successfully` after it,
/// at TRACE for an asynchronous tool and at DEBUG for a blocking one; `Tool …
/// failed: …` at ERROR. Every call, run or refused, ends in one INFO event with its
/// arguments, result and duration: bounded, and without secrets.
#[derive(Clone, Debug)]
pub struct LogRecorder {
    bytes: usize,
}

impl LogRecorder {
    /// Writes at most so many bytes of arguments, and as many of a result.
    pub fn new(bytes: usize) -> Self {
        Self { bytes }
    }
}

impl Recorder for LogRecorder {
    fn record(&self, event: &Event<'_>) -> Result<(), RecordError> {
        let tool = event.tool.map_or("", |tool| tool.as_str());
        match &event.what {
            What::Started { .. } => tracing::trace!(target: "toolsmith", "Tool called: {tool}"),
            What::Finished {
                error: None,
                blocking: false,
                ..
            } => {
                tracing::trace!(target: "toolsmith", "Tool {tool} completed successfully");
            }
            What::Finished {
                error: None,
                blocking: true,
                ..
            } => {
                tracing::debug!(target: "toolsmith", "Tool {tool} completed successfully");
            }
            What::Finished {
                error: Some(kind),
                message,
                ..
            } => {
                let message = message.unwrap_or_default();
                tracing::error!(target: "toolsmith", "Tool {tool} failed: {kind}: {message}");
            }
            What::Replied { arguments, outcome } if tracing::enabled!(target: "toolsmith", Level::INFO) =>
            {
                let error = outcome.and_then(|outcome| outcome.error.as_ref());
                let called_as = outcome.and_then(|outcome| outcome.facts.called_as.as_deref());
                let result = outcome.map(|outcome| {
                    bounded(
                        event.for_log(&outcome.model_text()).into_owned(),
                        self.bytes,
                    )
                });
                tracing::info!(
                    target: "toolsmith",
                    tool = event.tool.map(|tool| tool.as_str()),
                    called_as,
                    call_id = event.call.map(|id| id.as_str()),
                    caller = event.caller,
                    duration_us = u64::try_from(event.elapsed().as_micros()).unwrap_or(u64::MAX),
                    success = outcome.is_some() && error.is_none(),
                    error = error.map(|error| error.code()),
                    arguments = arguments.to_text(self.bytes),
                    result,
                    "tool call"
                );
            }
            _ => {}
        }
        Ok(())
    }
}

fn bounded(mut text: String, bytes: usize) -> String {
    if text.len() > bytes {
        text.truncate(text.floor_char_boundary(bytes));
        text.push('…');
    }
    text
}
