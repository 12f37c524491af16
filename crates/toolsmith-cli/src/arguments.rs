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
        if let Err(reason) = set(&mut seen, key, text, schema, 1) {
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

/// The bytes of a file, or of standard input for `-`.
pub(crate) fn file_or_input(file: &Path, limit: usize, what: &str) -> Result<Vec<u8>, Failure> {
    let is_input = file == Path::new("-");
    let failed = |error: std::io::Error| {
        let name = match is_input {
            true => "standard input".to_owned(),
            false => file.display().to_string(),
        };
        Failure::usage(format!("{name} cannot be read: {error}"))
    };
    let bytes = if is_input {
        read(std::io::stdin().lock(), limit).map_err(failed)?
    } else {
        read(std::fs::File::open(file).map_err(failed)?, limit).map_err(failed)?
    };
    if bytes.len() > limit {
        let message = format!("{what} is larger than {limit} bytes");
        return Err(Failure::usage(message));
    }
    Ok(bytes)
}

/// Puts one `a.b=value` where it belongs.
fn set(
    object: &mut Map<String, Value>,
    key: &str,
    text: &str,
    schema: Option<&Value>,
    depth: usize,
) -> Result<(), String> {
    // A key that the tool knows as it stands is no path, dots or not.
    let known = property(schema, key).is_some();
    if let Some((outer, inner)) = key.split_once('.')
        && !known
    {
        if depth >= json::MAX_DEPTH {
            let deepest = json::MAX_DEPTH;
            return Err(format!("a key leads deeper than {deepest} levels"));
        }
        let below = object
            .entry(outer)
            .or_insert_with(|| Value::Object(Map::new()));
        let Value::Object(below) = below else {
            return Err(format!(
                "`{outer}` is given both as a value and as an object"
            ));
        };
        return set(below, inner, text, property(schema, outer), depth + 1);
    }
    let schema = property(schema, key);
    let is_list = Wanted::by(schema).word == Some("array");
    let value = typed(text, schema);
    match (object.get_mut(key), is_list) {
        (None, true) if !value.is_array() && !value.is_null() => {
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
    let wanted = Wanted::by(schema);
    match wanted.word {
        Some(_) if wanted.or_null && text == "null" => Value::Null,
        Some("string") => as_text(),
        Some("number" | "integer") => as_json().filter(Value::is_number).unwrap_or_else(as_text),
        Some("boolean") => as_json().filter(Value::is_boolean).unwrap_or_else(as_text),
        Some("object") => as_json().filter(Value::is_object).unwrap_or_else(as_text),
        Some("array") => match as_json().filter(Value::is_array) {
            Some(list) => list,
            None => typed(text, wanted.items),
        },
        _ => as_json().unwrap_or_else(as_text),
    }
}

fn property<'s>(schema: Option<&'s Value>, name: &str) -> Option<&'s Value> {
    schema?.get("properties")?.get(name)
}

/// What a schema wants, where that is one thing, or one thing or null.
#[derive(Clone, Copy, Default)]
struct Wanted<'s> {
    word: Option<&'s str>,
    items: Option<&'s Value>,
    or_null: bool,
}

impl<'s> Wanted<'s> {
    fn by(schema: Option<&'s Value>) -> Self {
        let Some(schema) = schema else {
            return Self::default();
        };
        let branches = schema.get("anyOf").or_else(|| schema.get("oneOf"));
        if let Some(branches) = branches.and_then(Value::as_array) {
            let is_null = |branch: &&Value| branch.get("type").is_some_and(|word| word == "null");
            let mut others = branches.iter().filter(|branch| !is_null(branch));
            return match (others.next(), others.next()) {
                (Some(only), None) => Self {
                    or_null: branches.len() > 1,
                    ..Self::by(Some(only))
                },
                _ => Self::default(),
            };
        }
        let mut wanted = Self {
            items: schema.get("items"),
            ..Self::default()
        };
        match schema.get("type") {
            Some(Value::String(word)) => wanted.word = Some(word),
            Some(Value::Array(words)) => {
                let mut others = words.iter().filter(|word| *word != "null");
                if let (Some(only), None) = (others.next(), others.next()) {
                    wanted.word = only.as_str();
                    wanted.or_null = words.len() > 1;
                }
            }
            _ => {
                // An enum or a constant of texts is text.
                let choice = || schema.get("enum")?.get(0);
                let sample = schema.get("const").or_else(choice);
                wanted.word = sample.filter(|sample| sample.is_string()).map(|_| "string");
            }
        }
        wanted
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

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use serde_json::{Value, json};
    use toolsmith_core::call::RawArguments;

    use super::gather;

    /// A tool with an argument of every type.
    fn schema() -> Value {
        json!({ "type": "object", "properties": {
            "n": { "type": "number" },
            "i": { "type": "integer" },
            "yes": { "type": "boolean" },
            "text": { "type": "string" },
            "list": { "type": "array", "items": { "type": "string" } },
            "numbers": { "type": "array", "items": { "type": "number" } },
            "bare": { "type": "array" },
            "choice": { "enum": ["1", "2"] },
            "level": { "enum": [1, 2] },
            "literal": { "const": "7" },
            "either": { "anyOf": [{ "type": "string" }, { "type": "number" }] },
            "maybe": { "type": ["string", "null"] },
            "perhaps": { "anyOf": [{ "type": "string" }, { "type": "null" }] },
            "texts": { "oneOf": [
                { "type": "null" },
                { "type": "array", "items": { "type": "string" } },
            ]},
            "object": { "type": "object", "properties": {
                "n": { "type": "number" },
                "text": { "type": "string" },
                "in.side": { "type": "string" },
                "list": { "type": "array", "items": { "type": "number" } },
            }},
            "with.dots": { "type": "string" },
        }})
    }

    fn gathered(args: Option<&str>, pairs: &[&str]) -> RawArguments {
        let args = args.map(OsString::from);
        let pairs: Vec<OsString> = pairs.iter().map(OsString::from).collect();
        match gather(args.as_deref(), &pairs, Some(&schema()), 1 << 20) {
            Ok(arguments) => arguments,
            Err(failure) => panic!("{failure:?}"),
        }
    }

    #[track_caller]
    fn check(pairs: &[&str], expected: Value) {
        assert_eq!(
            gathered(None, pairs),
            RawArguments::Json(expected),
            "{pairs:?}"
        );
    }

    #[track_caller]
    fn refused(pairs: &[&str], reason: &str) {
        let expected = RawArguments::Malformed(reason.to_owned());
        assert_eq!(gathered(None, pairs), expected, "{pairs:?}");
    }

    #[test]
    fn values_are_read_by_their_type() {
        check(&["n=2"], json!({ "n": 2 }));
        check(&["n=-2.5e3"], json!({ "n": -2500.0 }));
        check(&["n=two"], json!({ "n": "two" }));
        check(&["n=\"2\""], json!({ "n": "\"2\"" }));
        check(&["n="], json!({ "n": "" }));
        check(&["n=NaN"], json!({ "n": "NaN" }));
        check(
            &["i=9007199254740993"],
            json!({ "i": 9_007_199_254_740_993_u64 }),
        );
        check(&["yes=true"], json!({ "yes": true }));
        check(&["yes=1"], json!({ "yes": "1" }));
        check(&["yes=TRUE"], json!({ "yes": "TRUE" }));
        check(&["text=12"], json!({ "text": "12" }));
        check(&["text=null"], json!({ "text": "null" }));
        check(&["text={}"], json!({ "text": "{}" }));
        check(&["text=\"a\""], json!({ "text": "\"a\"" }));
        check(&["text=a=b"], json!({ "text": "a=b" }));
        check(&["text="], json!({ "text": "" }));
        check(&["choice=1"], json!({ "choice": "1" }));
        check(&["level=1"], json!({ "level": 1 }));
        check(&["literal=7"], json!({ "literal": "7" }));
    }

    /// What may be several things is JSON where it can be, else text.
    #[test]
    fn values_without_one_type_are_json_where_they_can_be() {
        check(&["either=5"], json!({ "either": 5 }));
        check(&["either=five"], json!({ "either": "five" }));
        check(&["unknown=[1]"], json!({ "unknown": [1] }));
        check(
            &["unknown={\"a\":1,\"a\":2}"],
            json!({ "unknown": "{\"a\":1,\"a\":2}" }),
        );
    }

    /// A text that may be null is a text, and `null` is how to say null.
    #[test]
    fn texts_that_may_be_absent_stay_texts() {
        check(&["maybe=12"], json!({ "maybe": "12" }));
        check(&["maybe=true"], json!({ "maybe": "true" }));
        check(&["maybe=null"], json!({ "maybe": null }));
        check(&["maybe=x"], json!({ "maybe": "x" }));
        check(&["perhaps=12"], json!({ "perhaps": "12" }));
        check(&["perhaps=null"], json!({ "perhaps": null }));
        check(&["texts=1", "texts=2"], json!({ "texts": ["1", "2"] }));
        check(&["texts=null"], json!({ "texts": null }));
    }

    #[test]
    fn lists_come_by_repetition_or_as_json() {
        check(&["list=a"], json!({ "list": ["a"] }));
        check(&["list=a", "list=b"], json!({ "list": ["a", "b"] }));
        check(
            &["list=[\"a\",\"b\"]", "list=c"],
            json!({ "list": ["a", "b", "c"] }),
        );
        check(&["list=12"], json!({ "list": ["12"] }));
        check(&["list=[broken"], json!({ "list": ["[broken"] }));
        check(&["list="], json!({ "list": [""] }));
        check(&["list=[]"], json!({ "list": [] }));
        check(
            &["numbers=1", "numbers=2.5"],
            json!({ "numbers": [1, 2.5] }),
        );
        check(&["numbers=x"], json!({ "numbers": ["x"] }));
        check(&["bare=1", "bare=x"], json!({ "bare": [1, "x"] }));
    }

    #[test]
    fn dots_lead_into_objects() {
        check(
            &["object.n=1", "object.text=2"],
            json!({ "object": { "n": 1, "text": "2" } }),
        );
        check(
            &["object.list=1", "object.list=2"],
            json!({ "object": { "list": [1, 2] } }),
        );
        check(&["object={\"n\":1}"], json!({ "object": { "n": 1 } }));
        check(
            &["object={\"n\":1}", "object.text=2"],
            json!({ "object": { "n": 1, "text": "2" } }),
        );
        check(&["object=x"], json!({ "object": "x" }));
        check(&["new.a.b=1"], json!({ "new": { "a": { "b": 1 } } }));
        check(&["with.dots=1"], json!({ "with.dots": "1" }));
        check(
            &["object.in.side=1"],
            json!({ "object": { "in.side": "1" } }),
        );
        check(&[".a=1"], json!({ "": { "a": 1 } }));
        check(&["a.=1"], json!({ "a": { "": 1 } }));
    }

    #[test]
    fn what_is_said_twice_is_refused() {
        refused(&["n=1", "n=1"], "`n` is given twice");
        refused(&["object.n=1", "object.n=2"], "`n` is given twice");
        refused(&["object.n=1", "object={}"], "`object` is given twice");
        refused(
            &["n=1", "n.a=2"],
            "`n` is given both as a value and as an object",
        );
    }

    #[test]
    fn pairs_are_laid_over_what_args_hold() {
        let whole = "{\"n\":1,\"object\":{\"n\":1,\"text\":\"a\"},\"list\":[\"a\"]}";
        let pairs = ["n=2", "object.text=b", "list=b"];
        let expected = json!({ "n": 2, "object": { "n": 1, "text": "b" }, "list": ["b"] });
        assert_eq!(gathered(Some(whole), &pairs), RawArguments::Json(expected));
        assert_eq!(gathered(Some("[1]"), &[]), RawArguments::Json(json!([1])));
    }

    /// Deep keys must neither overflow the stack nor build what cannot be dropped.
    #[test]
    fn a_key_of_many_dots_is_refused() {
        let pair = format!("{}=1", vec!["a"; 200_000].join("."));
        let RawArguments::Malformed(reason) = gathered(None, &[&pair]) else {
            panic!("it was accepted");
        };
        assert_eq!(reason, "a key leads deeper than 100 levels");
    }
}
