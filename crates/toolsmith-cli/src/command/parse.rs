//! `toolsmith parse`: a model's answer, as calls.

use serde_json::{Map, Value, json};
use toolsmith_core::call::RawArguments;
use toolsmith_provider::{Answer, ParsedCall, Stop};

use super::declare;
use crate::arguments;
use crate::cli::Parse;
use crate::failure::Failure;
use crate::print;
use crate::session::Session;

/// The largest answer that is read.
const MAX_BYTES: usize = 16 << 20;

pub(crate) fn run(session: &Session, options: &Parse) -> Result<u8, Failure> {
    let bytes = arguments::file_or_input(&options.file, MAX_BYTES, "the answer")?;
    let offer = session.toolbox.offer(&session.selection());
    let mut formatter = declare::formatter(session, &options.words);
    // Whatever was declared can be called.
    formatter.options.deferred = true;
    let model = declare::model(session, &options.words);
    let declared = declare::declared(&formatter, &options.words, model.as_deref(), &offer)?;
    // A stream takes whole answers too, so nobody need say which it is.
    let mut stream = declared.stream();
    stream.push(&bytes);
    let answer = (stream.finish()).map_err(|error| Failure::failed(error.to_string()))?;
    print::json(&shown(&answer))?;
    Ok(0)
}

fn shown(answer: &Answer) -> Value {
    let calls: Vec<Value> = answer.calls.iter().map(call).collect();
    let mut shown = json!({ "calls": calls, "text": answer.text });
    if !answer.reasoning.is_empty() {
        shown["reasoning"] = answer.reasoning.as_str().into();
    }
    if !answer.notes.is_empty() {
        shown["notes"] = json!(answer.notes);
    }
    let stop = match &answer.stop {
        Stop::Length => "length",
        Stop::Refused => "refused",
        Stop::Broken => "broken",
        Stop::Other(word) => word,
        _ => return shown,
    };
    shown["stop"] = stop.into();
    shown
}

fn call(parsed: &ParsedCall) -> Value {
    let call = &parsed.call;
    let mut shown = Map::new();
    shown.insert("id".to_owned(), parsed.id().as_str().into());
    shown.insert("name".to_owned(), call.name.as_str().into());
    let (arguments, error) = match &call.arguments {
        RawArguments::Json(value) => (value.clone(), None),
        RawArguments::Malformed(reason) => (Value::Null, Some(reason)),
        _ => (Value::Null, None),
    };
    shown.insert("arguments".to_owned(), arguments);
    shown.insert("complete".to_owned(), parsed.complete.into());
    shown.insert("repairs".to_owned(), json!(call.repairs));
    if let Some(error) = error {
        shown.insert("error".to_owned(), error.as_str().into());
    }
    Value::Object(shown)
}
