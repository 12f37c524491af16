//! What holds where a file says nothing, taken from where it is decided.
//!
//! A default that stood in a description would be a second one, and grow old.

use schemars::Schema;
use serde_json::{Value, json};
use std::time::Duration;
use toolsmith_core::duration;
use toolsmith_process::Limits as ProcessLimits;
use toolsmith_runtime::Limits;
use toolsmith_runtime::shield::CircuitSettings;

use crate::records::RecordTerms;

/// The ceilings of a toolbox.
pub(super) fn limits(schema: &mut Schema) {
    let limits = Limits::default();
    let settings = [
        ("parallel", json!(limits.parallel)),
        ("timeout", time(limits.timeout)),
        ("longest", time(limits.longest)),
        ("grace", time(limits.grace)),
        ("judging", time(limits.judging)),
        ("approval", time(limits.approval)),
        ("argument_bytes", json!(limits.argument_bytes)),
        ("output_bytes", json!(limits.output_bytes)),
        ("most_output_bytes", json!(limits.most_output_bytes)),
        ("blob_bytes", json!(limits.blob_bytes)),
        ("streamed_bytes", json!(limits.streamed_bytes)),
        ("log_bytes", json!(limits.log_bytes)),
        ("blocking_threads", json!(limits.blocking_threads)),
        ("cache_bytes", json!(limits.cache_bytes)),
        ("cache_entries", json!(limits.cache_entries)),
    ];
    set(schema, settings);
}

/// The record of calls.
pub(super) fn records(schema: &mut Schema) {
    let terms = RecordTerms::default();
    let settings = [
        ("enabled", json!(terms.enabled)),
        ("bytes", json!(terms.bytes)),
        ("files", json!(terms.files)),
        ("keep_arguments", json!(terms.text_bytes > 0)),
    ];
    set(schema, settings);
}

/// What programs may use.
pub(super) fn sandbox_limits(schema: &mut Schema) {
    let limits = ProcessLimits::default();
    let settings = [
        ("open_files", json!(limits.open_files)),
        ("processes", json!(limits.processes)),
        (
            "file_megabytes",
            json!(limits.file_size.map(|bytes| bytes >> 20)),
        ),
    ];
    set(schema, settings);
}

/// The circuit of a source.
pub(super) fn circuit(schema: &mut Schema) {
    let circuit = CircuitSettings::default();
    let settings = [
        ("failures", json!(circuit.failures)),
        ("share", json!(circuit.share)),
        ("least", json!(circuit.least)),
        ("window", time(circuit.window)),
        ("pause", time(circuit.pause)),
    ];
    set(schema, settings);
}

fn time(time: Duration) -> Value {
    duration::format(time).into()
}

fn set<const N: usize>(schema: &mut Schema, settings: [(&str, Value); N]) {
    for (key, value) in settings {
        if let Some(property) = schema.pointer_mut(&format!("/properties/{key}"))
            && let Some(property) = property.as_object_mut()
        {
            property.insert("default".to_owned(), value);
        }
    }
}
