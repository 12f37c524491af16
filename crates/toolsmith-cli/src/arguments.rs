//! Arguments from the command line: `key=value` read by the tool's schema, or JSON.

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::Path;

use serde_json::{Map, Value};
use toolsmith_core::call::RawArguments;
use toolsmith_core::json;

use crate::failure::Failure;

/// Gathers a call's arguments. What cannot be read as JSON is the call's fault and
/// comes back as such; a word without `=` or a missing file is the user's.
pub(crate) fn gather(
    args: Option<&OsStr>,
    pairs: &[OsString],
    schema: Option<&Value>,
    limit: usize,
) -> Result<RawArguments, Failure> {
    let mut value = match args {
        Some(args) => match json::parse(&source(args, limit)?, limit) {
            // As in any other call, null stands for no arguments.
            Ok(Value::Null) => Value::Object(Map::new()),
            Ok(value) => value,
            Err(error) => return Ok(RawArguments::Malformed(error.to_string())),
        },
        None => Value::Object(Map::new()),
    };
    if pairs.is_empty() {
        return Ok(RawArguments::Json(value));
    }
    let Value::Object(object) = &mut value else {
        let reason = "--args is no object, so KEY=VALUE cannot be added to it";
        return Ok(RawArguments::Malformed(reason.to_owned()));
    };
    let mut seen = Map::new();
    for pair in pairs {
        let Some(text) = pair.to_str() else {
            let reason = format!("{} is not valid UTF-8", pair.display());
            return Ok(RawArguments::Malformed(reason));
        };
        let Some((key, text)) = text.split_once('=').filter(|(key, _)| !key.is_empty()) else {
            let hint = "arguments are written key=value; see `toolsmith show NAME`";
            return Err(Failure::usage(format!("{text:?} is no argument: {hint}")));
        };
        if let Err(reason) = set(&mut seen, key, text, schema) {
            return Ok(RawArguments::Malformed(reason));
        }
    }
    merge(object, seen);
    Ok(RawArguments::Json(value))
}

/// The bytes `--args` stands for.
fn source(args: &OsStr, limit: usize) -> Result<Vec<u8>, Failure> {
    let bytes = args.as_encoded_bytes();
    if bytes == b"-" {
        let failed =
            |error: std::io::Error| Failure::usage(format!("--args -: it cannot be read: {error}"));
        return read(std::io::stdin().lock(), limit).map_err(failed);
    }
    let Some(file) = bytes.strip_prefix(b"@") else {
        return Ok(bytes.to_vec());
    };
    let file = Path::new(
        std::str::from_utf8(file)
            .map_err(|_| Failure::usage("--args: the file name is not valid UTF-8"))?,
    );
    let failed = |error: std::io::Error| {
        Failure::usage(format!(
            "--args: {} cannot be read: {error}",
            file.display()
        ))
    };
    let opened = std::fs::File::open(file).map_err(failed)?;
    read(opened, limit).map_err(failed)
}

/// Reads one byte more than allowed at most, so that too much is noticed without
/// being kept.
pub(crate) fn read(source: impl Read, limit: usize) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source
        .take((limit as u64).saturating_add(1))
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Puts one `a.b=value` where it belongs.
fn set(
    object: &mut Map<String, Value>,
    key: &str,
    text: &str,
    schema: Option<&Value>,
) -> Result<(), String> {
    // A key that the tool knows as it stands is no path, dots or not.
    let known = property(schema, key).is_some();
    if let Some((outer, inner)) = key.split_once('.')
        && !known
    {
        let below = object
            .entry(outer)
            .or_insert_with(|| Value::Object(Map::new()));
        let Value::Object(below) = below else {
            return Err(format!(
                "`{outer}` is given both as a value and as an object"
            ));
        };
        return set(below, inner, text, property(schema, outer));
    }
    let schema = property(schema, key);
    let is_list = type_of(schema) == Some("array");
    let value = typed(text, schema);
    match (object.get_mut(key), is_list) {
        (None, true) if !value.is_array() => {
            object.insert(key.to_owned(), Value::Array(vec![value]));
        }
        (None, _) => {
            object.insert(key.to_owned(), value);
        }
        (Some(Value::Array(items)), true) => match value {
            Value::Array(more) => items.extend(more),
            one => items.push(one),
        },
        (Some(_), _) => return Err(format!("`{key}` is given twice")),
    }
    Ok(())
}

/// A text as the schema wants it. What does not fit stays text, so that the
/// validator can say what was expected.
fn typed(text: &str, schema: Option<&Value>) -> Value {
    let as_json = || json::parse(text.as_bytes(), text.len()).ok();
    let as_text = || Value::String(text.to_owned());
    match type_of(schema) {
        Some("string") => as_text(),
        Some("number" | "integer") => as_json().filter(Value::is_number).unwrap_or_else(as_text),
        Some("boolean") => as_json().filter(Value::is_boolean).unwrap_or_else(as_text),
        Some("object") => as_json().filter(Value::is_object).unwrap_or_else(as_text),
        Some("array") => match as_json().filter(Value::is_array) {
            Some(list) => list,
            None => typed(text, schema.and_then(|schema| schema.get("items"))),
        },
        _ => as_json().unwrap_or_else(as_text),
    }
}

fn property<'s>(schema: Option<&'s Value>, name: &str) -> Option<&'s Value> {
    schema?.get("properties")?.get(name)
}

fn type_of(schema: Option<&Value>) -> Option<&str> {
    let schema = schema?;
    match schema.get("type") {
        Some(Value::String(name)) => Some(name),
        _ => {
            // An enum or a constant of texts is text.
            let sample = schema.get("const").or_else(|| schema.get("enum")?.get(0))?;
            sample.is_string().then_some("string")
        }
    }
}

/// Lays one object over another.
fn merge(beneath: &mut Map<String, Value>, over: Map<String, Value>) {
    for (key, value) in over {
        match (beneath.get_mut(&key), value) {
            (Some(Value::Object(beneath)), Value::Object(over)) => merge(beneath, over),
            (_, value) => {
                beneath.insert(key, value);
            }
        }
    }
}
