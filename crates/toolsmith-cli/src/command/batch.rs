//! `toolsmith batch`: many calls in parallel, replies in call order.

use std::fs::File;
use std::path::Path;

use serde_json::{Map, Value};
use toolsmith_core::call::RawArguments;
use toolsmith_core::{CallId, RawCall, json};
use toolsmith_runtime::Order;

use crate::arguments;
use crate::cli::{Batch, Cli, Shape};
use crate::failure::Failure;
use crate::print;
use crate::session::Session;

/// How large a batch may be.
const MAX_BYTES: usize = 256 << 20;

/// How the calls were written, which is how the replies are.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    List,
    Lines,
}

pub(crate) async fn run(session: &Session, cli: &Cli, options: &Batch) -> Result<u8, Failure> {
    let bytes = input(&options.file)?;
    let (form, calls) = calls(&bytes, session.toolbox.limits().argument_bytes)?;
    drop(bytes);
    let ids: Vec<Option<CallId>> = calls.iter().map(|call| call.id.clone()).collect();
    let order = if options.sequential {
        Order::Sequential
    } else {
        Order::Parallel
    };
    let caller = session.caller(cli);
    let replies = session.toolbox.run_all(calls, &caller, order).await;
    let shape = options.shape.unwrap_or(Shape::Outcome);
    let mut failed = 0;
    let mut list = Vec::new();
    for (reply, id) in replies.into_iter().zip(&ids) {
        let outcome = reply.into_outcome();
        failed += usize::from(!outcome.is_success());
        let value = print::numbered(&outcome, shape, id.as_ref());
        match form {
            Form::List => list.push(value),
            Form::Lines => print::line(&value.to_string())?,
        }
    }
    if form == Form::List {
        print::json(&list)?;
    }
    let peak = session.toolbox.metrics().map(|m| m.snapshot().peak_running);
    print::note(&format!(
        "{} calls, {failed} failed, at most {} at once",
        ids.len(),
        peak.unwrap_or_default()
    ));
    Ok(u8::from(failed > 0))
}

fn input(file: &Path) -> Result<Vec<u8>, Failure> {
    let failed = |error: std::io::Error| {
        Failure::usage(format!("{} cannot be read: {error}", file.display()))
    };
    let bytes = if file == Path::new("-") {
        arguments::read(std::io::stdin().lock(), MAX_BYTES).map_err(failed)?
    } else {
        arguments::read(File::open(file).map_err(failed)?, MAX_BYTES).map_err(failed)?
    };
    if bytes.len() > MAX_BYTES {
        let message = format!("the batch is larger than {MAX_BYTES} bytes");
        return Err(Failure::usage(message));
    }
    Ok(bytes)
}

/// The calls of a list, or of lines. A list that is broken is broken as a whole; a
/// line that is broken is one call that fails.
fn calls(bytes: &[u8], line_limit: usize) -> Result<(Form, Vec<RawCall>), Failure> {
    let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    if first != Some(&b'[') {
        let lines = bytes
            .split(|byte| *byte == b'\n')
            .map(<[u8]>::trim_ascii)
            .filter(|line| !line.is_empty());
        let calls = lines.map(|line| match json::parse(line, line_limit) {
            Ok(value) => call(value),
            Err(error) => RawCall::malformed("", error.to_string()),
        });
        return Ok((Form::Lines, calls.collect()));
    }
    let value = json::parse(bytes, MAX_BYTES)
        .map_err(|error| Failure::usage(format!("the batch cannot be read: {error}")))?;
    let Value::Array(items) = value else {
        return Err(Failure::usage("the batch is no list of calls"));
    };
    Ok((Form::List, items.into_iter().map(call).collect()))
}

/// One call of a batch: `{"id"?, "name", "arguments"?}` and nothing else.
fn call(value: Value) -> RawCall {
    let Value::Object(mut fields) = value else {
        return RawCall::malformed("", "a call is an object with `name` and `arguments`");
    };
    let id = match fields.shift_remove("id") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(id)) => Ok(Some(CallId::new(id))),
        Some(Value::Number(id)) => Ok(Some(CallId::new(id.to_string()))),
        Some(_) => Err("`id` is a string or a number"),
    };
    let name = match fields.shift_remove("name") {
        Some(Value::String(name)) => Ok(name),
        _ => Err("`name` is missing, or no string"),
    };
    let arguments = fields.shift_remove("arguments");
    let arguments = arguments.unwrap_or_else(|| Value::Object(Map::new()));
    let (reason, id, name) = match (id, name) {
        (Ok(id), Ok(name)) => match fields.keys().next() {
            None => (None, id, name),
            Some(key) => (Some(format!("a call has no `{key}`")), id, name),
        },
        (id, name) => {
            let reason = id.as_ref().err().or(name.as_ref().err()).copied();
            let reason = reason.unwrap_or_default().to_owned();
            (
                Some(reason),
                id.unwrap_or_default(),
                name.unwrap_or_default(),
            )
        }
    };
    let arguments = match reason {
        Some(reason) => RawArguments::Malformed(reason),
        None => RawArguments::Json(arguments),
    };
    let call = RawCall::with_arguments(name, arguments);
    match id {
        Some(id) => call.with_id(id),
        None => call,
    }
}
