//! The pieces of OTLP's JSON: attributes, times, and who speaks.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use toolsmith_core::record::CallRecord;

/// An attribute that is a text.
pub(super) fn text(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": value } })
}

/// An attribute that is a whole number, which JSON carries as a text.
pub(super) fn number(key: &str, value: u64) -> Value {
    json!({ "key": key, "value": { "intValue": value.to_string() } })
}

/// An attribute that is true or not.
pub(super) fn flag(key: &str, value: bool) -> Value {
    json!({ "key": key, "value": { "boolValue": value } })
}

/// Nanoseconds since 1970, as a text.
pub(super) fn nanos(nanos: u64) -> String {
    nanos.to_string()
}

/// The nanoseconds since 1970 of a moment.
pub(super) fn since_1970(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// Who speaks.
pub(super) fn resource(service: &str) -> Value {
    let attributes = [
        text("service.name", service),
        text("service.version", env!("CARGO_PKG_VERSION")),
        text("telemetry.sdk.name", "toolsmith"),
        text("telemetry.sdk.language", "rust"),
    ];
    json!({ "attributes": attributes })
}

/// What of the program speaks.
pub(super) fn scope() -> Value {
    json!({ "name": "toolsmith", "version": env!("CARGO_PKG_VERSION") })
}

/// The type of a failure: the convention's word where the tool itself reported it, else our
/// own code.
pub(super) fn error_type<'r>(record: &'r CallRecord<'_>) -> Option<&'r str> {
    match record.outcome.code.as_deref()? {
        "execution_failed" => Some("tool_error"),
        code => Some(code),
    }
}
