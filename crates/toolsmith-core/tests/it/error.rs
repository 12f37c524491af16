//! The table of failures, and what an error says.

use std::collections::HashSet;
use std::fmt;

use serde_json::json;
use toolsmith::error::Retry;
use toolsmith::{ErrorKind, ToolError};

/// The table, written out a second time: what stands here is a promise to scripts.
#[rustfmt::skip]
const TABLE: [(ErrorKind, &str, &str, Retry, u8, bool); 11] = [
    (ErrorKind::InvalidParameters, "invalid_parameters", "validation_error", Retry::Corrected, 1, false),
    (ErrorKind::UnknownTool, "unknown_tool", "validation_error", Retry::No, 1, false),
    (ErrorKind::PermissionDenied, "permission_denied", "permission_denied", Retry::No, 3, false),
    (ErrorKind::ApprovalRequired, "approval_required", "permission_denied", Retry::Approved, 3, false),
    (ErrorKind::Timeout, "timeout", "timeout_error", Retry::IfIdempotent, 124, false),
    (ErrorKind::Cancelled, "cancelled", "execution_error", Retry::Yes, 130, true),
    (ErrorKind::Failed, "execution_failed", "execution_error", Retry::No, 1, false),
    (ErrorKind::Network, "network_error", "network_error", Retry::IfIdempotent, 1, false),
    (ErrorKind::Exhausted, "resource_exhausted", "resource_exhausted", Retry::Later, 1, true),
    (ErrorKind::Unavailable, "unavailable", "network_error", Retry::Later, 1, true),
    (ErrorKind::Internal, "internal", "execution_error", Retry::No, 1, false),
];

#[test]
fn the_table_is_complete_and_stable() {
    let kinds: Vec<ErrorKind> = TABLE.iter().map(|row| row.0).collect();
    assert_eq!(kinds, ErrorKind::ALL);
    for (kind, code, result_type, retry, exit, retryable) in TABLE {
        assert_eq!(kind.code(), code);
        assert_eq!(kind.to_string(), code);
        assert_eq!(
            serde_json::to_value(kind).unwrap(),
            json!(code),
            "written as its code"
        );
        assert_eq!(
            serde_json::from_value::<ErrorKind>(json!(code)).unwrap(),
            kind
        );
        assert_eq!(kind.result_type(), result_type, "{code}");
        assert_eq!(kind.retry(), retry, "{code}");
        assert_eq!(kind.exit_status(), exit, "{code}");
        assert_eq!(ToolError::new(kind, "x").retryable, retryable, "{code}");
        assert!(kind.advice().ends_with('.'), "{code}");
    }
    let codes: HashSet<&str> = ErrorKind::ALL.iter().map(|kind| kind.code()).collect();
    let advice: HashSet<&str> = ErrorKind::ALL.iter().map(|kind| kind.advice()).collect();
    assert_eq!((codes.len(), advice.len()), (11, 11));
}

#[derive(Debug)]
struct Outer(Inner);
#[derive(Debug)]
struct Inner;

impl fmt::Display for Outer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("could not open")
    }
}

impl fmt::Display for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("disk on fire")
    }
}

impl std::error::Error for Inner {}

impl std::error::Error for Outer {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

#[test]
fn a_cause_is_told_once_and_kept_for_the_host() {
    let error = ToolError::caused(ErrorKind::Unavailable, Outer(Inner));
    assert_eq!(
        error.to_string(),
        "unavailable: could not open: disk on fire"
    );
    assert_eq!(
        std::error::Error::source(&error).unwrap().to_string(),
        "could not open"
    );
    assert_eq!(
        serde_json::to_value(&error).unwrap(),
        json!({
            "code": "unavailable",
            "message": "could not open: disk on fire",
            "retryable": true,
        }),
        "the cause itself is not written"
    );
}

#[test]
fn errors_are_equal_where_a_model_cannot_tell_them_apart() {
    let plain = ToolError::failed("x");
    let mut caused = ToolError::failed("x");
    caused.cause = Some(std::sync::Arc::new(Inner));
    assert_eq!(plain, caused);
    assert_ne!(plain, ToolError::internal("x"));
    assert_ne!(plain, ToolError::failed("x").with_details(json!(1)));
}

#[test]
fn errors_come_from_texts_and_from_io() {
    assert_eq!(ToolError::from("x"), ToolError::failed("x"));
    assert_eq!(ToolError::from("x".to_owned()), ToolError::failed("x"));
    let io = ToolError::from(std::io::Error::other("x"));
    assert_eq!((io.kind, io.message.as_str()), (ErrorKind::Failed, "x"));
    assert!(io.cause.is_some());
    assert_eq!(ToolError::invalid("x").kind, ErrorKind::InvalidParameters);
}
