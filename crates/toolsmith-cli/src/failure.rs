//! What ends the program early, and with which status.

use std::any::Any;
use std::process::ExitCode;

use toolsmith_core::{ErrorKind, ToolError};
use toolsmith_manager::ManagerError;

use crate::print;

/// Wrong usage or configuration.
pub(crate) const USAGE: u8 = 2;

/// Why a command did not do its work.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    status: u8,
}

impl Failure {
    /// Wrong usage or configuration.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            status: USAGE,
        }
    }

    /// Work that was asked for rightly and cannot be done.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            status: ErrorKind::Failed.exit_status(),
        }
    }

    /// The program's own trouble, such as a closed pipe.
    pub(crate) fn io(error: &std::io::Error) -> Self {
        Self {
            message: error.to_string(),
            // Whoever reads us has gone, as `head` does: no reason to complain.
            status: u8::from(error.kind() != std::io::ErrorKind::BrokenPipe),
        }
    }

    /// A panic of the program itself.
    pub(crate) fn internal(panic: &(dyn Any + Send)) -> Self {
        let literal = panic.downcast_ref::<&str>().copied();
        let message = literal.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        Self {
            message: format!(
                "this is a fault of toolsmith itself: {}\n  see where with -vv",
                message.unwrap_or("it panicked")
            ),
            status: ErrorKind::Internal.exit_status(),
        }
    }

    /// A tool that could not be shown or called.
    pub(crate) fn of_tool(error: &ToolError, name: &str) -> Self {
        let next = next_step(error, name).map(|next| format!("\n  {next}"));
        Self {
            message: format!("{error}{}", next.unwrap_or_default()),
            status: error.kind.exit_status(),
        }
    }

    /// The same with what can be done about it.
    pub(crate) fn with_advice(mut self, advice: &str) -> Self {
        self.message.push_str(&format!("\n  {advice}"));
        self
    }

    /// Tells it on stderr.
    pub(crate) fn report(&self) -> ExitCode {
        if self.status != 0 {
            print::error(&self.message);
        }
        ExitCode::from(self.status)
    }
}

/// What a person at the command line can do about a failed call. The advice that
/// comes with errors is for models, who have other means.
pub(crate) fn next_step(error: &ToolError, tool: &str) -> Option<String> {
    // A tool that refuses by itself says what to do.
    let was_decided = error
        .details
        .as_ref()
        .is_some_and(|details| !details["by"].is_null());
    match error.kind {
        ErrorKind::InvalidParameters => Some(format!("see `toolsmith show {tool}`")),
        ErrorKind::UnknownTool => Some("see `toolsmith tools`".to_owned()),
        ErrorKind::ApprovalRequired => {
            Some("add --yes to approve it, or --allow with a rule for it".to_owned())
        }
        ErrorKind::PermissionDenied if !was_decided => None,
        ErrorKind::PermissionDenied => Some("--dry-run shows which rule decided".to_owned()),
        ErrorKind::Timeout => Some("give it more time with --timeout".to_owned()),
        _ => None,
    }
}

impl From<ManagerError> for Failure {
    fn from(error: ManagerError) -> Self {
        Self::usage(error.to_string())
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::io(&error)
    }
}
