//! What can go wrong with a call, as one closed table.
//!
//! Every failure answers three questions from here: what kind it is, whether it
//! may be tried again, and what the model reads. Codes, exit statuses and the
//! names used by other conventions are columns of the same table, so they cannot
//! drift apart. Failures of the host (a bad configuration, a duplicate
//! registration) are other types, next to what fails.

use std::error::Error;
use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The kind of a failure; the rows of the table in this file.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// The arguments do not fit the schema, or the consent literal is missing.
    InvalidParameters,
    /// There is no such tool, or this caller may not see it.
    UnknownTool,
    /// Policy, a person, or an upstream's 401 or 403 said no.
    PermissionDenied,
    /// Someone had to be asked, and nobody could be.
    ApprovalRequired,
    /// It ran out of time, and was stopped.
    Timeout,
    /// The caller gave up.
    Cancelled,
    /// The tool ran and failed.
    #[serde(rename = "execution_failed")]
    Failed,
    /// The other side could not be reached.
    #[serde(rename = "network_error")]
    Network,
    /// A limit, a queue or a rate was full.
    #[serde(rename = "resource_exhausted")]
    Exhausted,
    /// The source is down, or its circuit is open.
    Unavailable,
    /// The tool or Toolsmith itself is at fault, as when it panics.
    Internal,
}

/// Whether the same call may be made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema)]
#[non_exhaustive]
pub enum Retry {
    /// It would fail the same way.
    No,
    /// Only after the arguments were corrected.
    Corrected,
    /// Only after somebody approved it.
    Approved,
    /// Only where running it twice does no harm.
    IfIdempotent,
    /// After some time.
    Later,
    /// At once.
    Yes,
}

/// One row of the table.
struct Row {
    code: &'static str,
    seed_type: &'static str,
    retry: Retry,
    exit: u8,
    advice: &'static str,
}

impl ErrorKind {
    /// Every kind, in the order of the table.
    pub const ALL: [Self; 11] = [
        Self::InvalidParameters,
        Self::UnknownTool,
        Self::PermissionDenied,
        Self::ApprovalRequired,
        Self::Timeout,
        Self::Cancelled,
        Self::Failed,
        Self::Network,
        Self::Exhausted,
        Self::Unavailable,
        Self::Internal,
    ];

    #[rustfmt::skip]
    const fn row(self) -> Row {
        const fn row(code: &'static str, seed_type: &'static str, retry: Retry, exit: u8, advice: &'static str) -> Row {
            Row { code, seed_type, retry, exit, advice }
        }
        match self {
            Self::InvalidParameters => row("invalid_parameters", "validation_error",   Retry::Corrected,    1,   "Correct the arguments and call again."),
            Self::UnknownTool       => row("unknown_tool",       "validation_error",   Retry::No,           1,   "Use one of the tools that were offered."),
            Self::PermissionDenied  => row("permission_denied",  "permission_denied",  Retry::No,           3,   "Do not try again; do without it or ask the user."),
            Self::ApprovalRequired  => row("approval_required",  "permission_denied",  Retry::Approved,     3,   "Ask the user to allow it; it did not run."),
            Self::Timeout           => row("timeout",            "timeout_error",      Retry::IfIdempotent, 124, "Ask for less, or for a longer time limit."),
            Self::Cancelled         => row("cancelled",          "execution_error",    Retry::Yes,          130, "The call was given up; make it again if it is still wanted."),
            Self::Failed            => row("execution_failed",   "execution_error",    Retry::No,           1,   "Read the message; without a change the same call fails again."),
            Self::Network           => row("network_error",      "network_error",      Retry::IfIdempotent, 1,   "The other side could not be reached; it may answer later."),
            Self::Exhausted         => row("resource_exhausted", "resource_exhausted", Retry::Later,        1,   "Wait before trying again."),
            Self::Unavailable       => row("unavailable",        "network_error",      Retry::Later,        1,   "Its source is down; use another tool or wait."),
            Self::Internal          => row("internal",           "execution_error",    Retry::No,           1,   "This is a fault of the tool itself; do without it and tell the user."),
        }
    }

    /// The stable code, the same in every projection.
    pub const fn code(self) -> &'static str {
        self.row().code
    }

    /// The `type` of the tool-result projection.
    pub const fn result_type(self) -> &'static str {
        self.row().seed_type
    }

    /// Whether the call may be made again.
    pub const fn retry(self) -> Retry {
        self.row().retry
    }

    /// The exit status of a process whose one call failed this way.
    pub const fn exit_status(self) -> u8 {
        self.row().exit
    }

    /// What a model should do about it, in one sentence.
    pub const fn advice(self) -> &'static str {
        self.row().advice
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// A failed call, as the model and the host see it.
///
/// ```
/// use toolsmith_core::error::{ErrorKind, ToolError};
///
/// let error = ToolError::failed("no such branch: main");
/// assert_eq!(error.kind, ErrorKind::Failed);
/// assert_eq!(error.to_string(), "execution_failed: no such branch: main");
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolError {
    /// What kind of failure it is. Its [code](ErrorKind::code) is what is written.
    #[serde(rename = "code")]
    pub kind: ErrorKind,
    /// What happened, as a fragment that reads well after a colon.
    pub message: String,
    /// Whether the very same call may succeed later.
    pub retryable: bool,
    /// When to come back, in milliseconds: errors are returned everywhere, and there is
    /// room for so much beside the kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after_ms: Option<NonZeroU32>,
    /// What a program can act on: the invalid arguments, the rule that decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    /// The error beneath, for the host only: it is never sent to a model.
    #[serde(skip)]
    pub cause: Option<Arc<dyn Error + Send + Sync>>,
}

impl ToolError {
    /// Makes an error of a kind.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            retryable: matches!(kind.retry(), Retry::Yes | Retry::Later),
            retry_after_ms: None,
            details: None,
            cause: None,
        }
    }

    /// The tool ran and failed: the kind a tool's own failures have.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Failed, message)
    }

    /// The arguments cannot be used, for a reason no schema can express.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidParameters, message)
    }

    /// Our own fault.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Internal, message)
    }

    /// Makes an error of a kind out of another error, kept as its cause.
    pub fn caused(kind: ErrorKind, cause: impl Error + Send + Sync + 'static) -> Self {
        let mut error = Self::new(kind, describe(&cause));
        error.cause = Some(Arc::new(cause));
        error
    }

    /// Adds what a program can act on.
    #[must_use]
    pub fn with_details(mut self, details: impl Into<Value>) -> Self {
        self.details = Some(details.into());
        self
    }

    /// Says when to come back.
    #[must_use]
    pub fn with_retry_after(mut self, wait: Duration) -> Self {
        let millis = u32::try_from(wait.as_millis()).unwrap_or(u32::MAX);
        self.retry_after_ms = NonZeroU32::new(millis.max(1));
        self
    }

    /// When to come back, where somebody said so: in a millisecond at the soonest, in
    /// some weeks at the latest.
    pub fn retry_after(&self) -> Option<Duration> {
        let millis = self.retry_after_ms?.get();
        Some(Duration::from_millis(millis.into()))
    }

    /// Says that the same call would fail again, whatever its kind makes one think.
    #[must_use]
    pub fn for_good(mut self) -> Self {
        self.retryable = false;
        self
    }

    /// The stable code of its kind.
    pub fn code(&self) -> &'static str {
        self.kind.code()
    }
}

/// Joins an error and the errors beneath it, dropping repetitions: many types
/// already print their source.
fn describe(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(beneath) = source {
        let more = beneath.to_string();
        if !text.contains(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        source = beneath.source();
    }
    text
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind.code(), self.message)
    }
}

impl Error for ToolError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause.as_deref().map(|cause| cause as _)
    }
}

/// Two errors are equal when a model could not tell them apart.
impl PartialEq for ToolError {
    fn eq(&self, other: &Self) -> bool {
        (self.kind, &self.message, self.retryable, &self.details)
            == (other.kind, &other.message, other.retryable, &other.details)
            && self.retry_after_ms == other.retry_after_ms
    }
}

impl From<String> for ToolError {
    fn from(message: String) -> Self {
        Self::failed(message)
    }
}

impl From<&str> for ToolError {
    fn from(message: &str) -> Self {
        Self::failed(message)
    }
}

impl From<std::io::Error> for ToolError {
    fn from(error: std::io::Error) -> Self {
        Self::caused(ErrorKind::Failed, error)
    }
}
