//! `toolsmith batch`: many calls in parallel, replies in call order.

use serde_json::Value;
use toolsmith_core::json::JsonError;
use toolsmith_core::{CallId, ErrorKind, Outcome, RawCall, ToolError, json};
use toolsmith_runtime::Order;
use toolsmith_runtime::shape::clean;

use crate::arguments;
use crate::cli::{Batch, Cli, Shape};
use crate::failure::Failure;
use crate::print;
use crate::session::Session;

/// How large a batch may be, and how many calls it may hold: both are kept in memory
/// until the last reply is there.
const MAX_BYTES: usize = 80 << 20;
const MAX_CALLS: usize = 50_000;

/// One entry of a batch. What is no call at all is answered like one that fails,
/// and gets no further.
enum Entry {
    Call(RawCall),
    Broken { id: Option<CallId>, reason: String },
}

/// How the calls were written, which is how the replies are.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    List,
    Lines,
}

pub(crate) async fn run(session: &Session, cli: &Cli, options: &Batch) -> Result<u8, Failure> {
    let bytes = arguments::file_or_input(&options.file, MAX_BYTES, "the batch")?;
    let (form, entries) = entries(&bytes, session.toolbox.limits().argument_bytes)?;
    drop(bytes);
    let order = if options.sequential {
        Order::Sequential
    } else {
        Order::Parallel
    };
    // Where each reply belongs: the calls go on, the rest stays.
    let mut calls = Vec::new();
    let mut places = Vec::with_capacity(entries.len());
    for entry in entries {
        match entry {
            Entry::Call(call) => {
                places.push((call.id.clone(), None));
                calls.push(call);
            }
            Entry::Broken { id, reason } => places.push((id, Some(reason))),
        }
    }
    let caller = session.caller(cli);
    let mut replies = session
        .toolbox
        .run_all(calls, &caller, order)
        .await
        .into_iter();
    let shape = options.shape.unwrap_or(Shape::Outcome);
    let count = places.len();
    let mut failed = 0;
    let mut list = Vec::new();
    for (id, broken) in places {
        let outcome = match broken {
            Some(reason) => Outcome::failure(ToolError::invalid(clean(&reason))),
            None => match replies.next() {
                Some(reply) => reply.into_outcome(),
                None => Outcome::failure(ToolError::internal("the call got no reply")),
            },
        };
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
        "{}, {failed} failed, at most {} at once",
        print::counted(count, "call"),
        peak.unwrap_or_default()
    ));
    if caller.cancellation().is_cancelled() {
        return Ok(ErrorKind::Cancelled.exit_status());
    }
    Ok(u8::from(failed > 0))
}

/// The entries of a list, or of lines. A list that is broken is broken as a whole; a
/// line that is broken is one call that fails.
fn entries(bytes: &[u8], line_limit: usize) -> Result<(Form, Vec<Entry>), Failure> {
    let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    let (form, entries) = if first == Some(&b'[') {
        let value = json::parse(bytes, MAX_BYTES)
            .map_err(|error| Failure::usage(format!("the batch cannot be read: {error}")))?;
        let Value::Array(items) = value else {
            return Err(Failure::usage("the batch is no list of calls"));
        };
        let entries: Vec<Entry> = items.into_iter().take(MAX_CALLS + 1).map(entry).collect();
        (Form::List, entries)
    } else {
        let lines = bytes
            .split(|byte| *byte == b'\n')
            .zip(1..)
            .filter(|(line, _)| !line.trim_ascii().is_empty());
        let entries = lines.map(|(line, at)| {
            let begin = line.len() - line.trim_ascii_start().len();
            match json::parse(line.trim_ascii(), line_limit) {
                Ok(value) => entry(value),
                Err(error) => {
                    let reason = format!("the call cannot be read: {}", misread(&error, at, begin));
                    Entry::Broken { id: None, reason }
                }
            }
        });
        (Form::Lines, entries.take(MAX_CALLS + 1).collect())
    };
    if entries.len() > MAX_CALLS {
        let message = format!("the batch holds more than {MAX_CALLS} calls");
        return Err(Failure::usage(message));
    }
    Ok((form, entries))
}

/// Why a line cannot be read, with its place in the batch: the parser saw it alone, from
/// the column it begins in.
fn misread(error: &JsonError, line: usize, begin: usize) -> String {
    let JsonError::Malformed(error) = error else {
        return format!("{error} (line {line})");
    };
    let told = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    match told.strip_suffix(&place) {
        Some(what) => format!("{what} at line {line} column {}", begin + error.column()),
        None => format!("{told} (line {line})"),
    }
}

/// One call of a batch: `{"id"?, "name", "arguments"?}` and nothing else.
fn entry(value: Value) -> Entry {
    let broken = |id, reason: &str| Entry::Broken {
        id,
        reason: format!("the call cannot be read: {reason}"),
    };
    let Value::Object(mut fields) = value else {
        return broken(None, "it is no object with `name` and `arguments`");
    };
    let id = match fields.shift_remove("id") {
        None | Some(Value::Null) => None,
        Some(Value::String(id)) => Some(CallId::new(id)),
        Some(Value::Number(id)) => Some(CallId::new(id.to_string())),
        Some(_) => return broken(None, "`id` is no string and no number"),
    };
    let Some(Value::String(name)) = fields.shift_remove("name") else {
        return broken(id, "`name` is missing, or no string");
    };
    let arguments = fields.shift_remove("arguments").unwrap_or_default();
    if let Some(key) = fields.keys().next() {
        let key: String = key.chars().take(80).collect();
        return broken(id, &format!("it has no field {key:?}"));
    }
    let call = RawCall::new(name, arguments);
    Entry::Call(match id {
        Some(id) => call.with_id(id),
        None => call,
    })
}
