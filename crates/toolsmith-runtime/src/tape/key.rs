//! What makes two calls equal: the tool, and arguments without regard to the order of
//! their keys. Secrets are taken out first, on the tape and of what is compared with it.

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::shape::Redactor;

/// Arguments in a form that is the same for equal ones.
pub(super) fn canonical(arguments: &Map<String, Value>) -> String {
    sorted(&Value::Object(arguments.clone())).to_string()
}

/// A short name for arguments, to tell calls apart in messages.
pub(super) fn digest(canonical: &str) -> String {
    let digest = Sha256::digest(canonical.as_bytes());
    digest[..6]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// A value without secrets and without characters that hide.
pub(super) fn hushed(value: &Value, redactor: &Redactor) -> Value {
    match value {
        Value::String(text) => Value::String(redactor.clean(text).into_owned()),
        Value::Array(items) => items.iter().map(|item| hushed(item, redactor)).collect(),
        Value::Object(fields) => Value::Object(hushed_fields(fields, redactor)),
        plain => plain.clone(),
    }
}

/// As [`hushed`], for what is an object.
pub(super) fn hushed_fields(
    fields: &Map<String, Value>,
    redactor: &Redactor,
) -> Map<String, Value> {
    let hush = |(key, value): (&String, &Value)| {
        (redactor.clean(key).into_owned(), hushed(value, redactor))
    };
    fields.iter().map(hush).collect()
}

/// As [`hushed_fields`], for arguments: what stands under a telling name is a secret
/// whatever it looks like. Answers are kept as replies tell them.
pub(super) fn hushed_arguments(
    fields: &Map<String, Value>,
    redactor: &Redactor,
) -> Map<String, Value> {
    let hush = |(key, value): (&String, &Value)| {
        let value = match value {
            Value::String(_) | Value::Number(_) if Redactor::is_secret_name(key) => {
                Value::String("[redacted]".to_owned())
            }
            other => hushed_argument(other, redactor),
        };
        (redactor.clean(key).into_owned(), value)
    };
    fields.iter().map(hush).collect()
}

fn hushed_argument(value: &Value, redactor: &Redactor) -> Value {
    match value {
        Value::Object(fields) => Value::Object(hushed_arguments(fields, redactor)),
        Value::Array(items) => items
            .iter()
            .map(|item| hushed_argument(item, redactor))
            .collect(),
        other => hushed(other, redactor),
    }
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(sorted).collect(),
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_by_key(|(key, _)| *key);
            let fields = fields.into_iter();
            fields
                .map(|(key, value)| (key.clone(), sorted(value)))
                .collect()
        }
        plain => plain.clone(),
    }
}
