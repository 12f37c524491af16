//! From the end of a program to the outcome of a call.

use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

use serde_json::Value;
use toolsmith_core::{Block, ErrorKind, Outcome, ToolError, json};

use super::output::KEPT;
use super::run::Finished;
use crate::form::{ExitCodes, OutputForm};

/// How much of the standard error a failure tells.
const TOLD: usize = 2 << 10;
/// How much of the standard error is noted beside an outcome.
const NOTED: usize = 8 << 10;
/// How much is shown of an output that is not what it should be.
const EXCERPT: usize = 400;
/// The meaning of an exit status that is no failure.
const OK: &str = "ok";

/// What came of a program that ran.
pub(super) fn report(finished: &Finished, form: OutputForm, codes: &ExitCodes) -> Outcome {
    let errors = finished.errors.text();
    let outcome = match judge(finished, form, codes, &errors) {
        Ok(Value::String(text)) => told(finished, text),
        Ok(value) => Outcome::ok(value),
        Err(error) => {
            let text = finished.output.text();
            let outcome = Outcome::failure(error);
            if text.trim().is_empty() {
                outcome
            } else {
                // Many programs say what is wrong where they say everything else.
                outcome.with_block(Block::text(text))
            }
        }
    };
    note(outcome, finished, &errors)
}

/// The value the program came to, or why it is a failure.
fn judge(
    finished: &Finished,
    form: OutputForm,
    codes: &ExitCodes,
    errors: &str,
) -> Result<Value, ToolError> {
    if finished.is_given_up {
        let error = ToolError::new(ErrorKind::Cancelled, "the call was given up");
        return Err(error);
    }
    let Some(status) = finished.status else {
        let message = "the program could not be ended, and how it ends is not known";
        return Err(ToolError::failed(message));
    };
    let meaning = status.code().map(|code| match codes.get(&code) {
        Some(meaning) => Some(meaning.as_str()),
        None if code == 0 => Some(OK),
        None => None,
    });
    if meaning != Some(Some(OK)) {
        let meaning = meaning.flatten();
        let mut message = failure(status, meaning, errors);
        let layers = finished.layers.as_ref();
        if let Some(hint) = layers.and_then(|layers| layers.hint(errors)) {
            message.push_str("\n[");
            message.push_str(&hint);
            message.push(']');
        }
        return Err(ToolError::failed(message));
    }
    match form {
        OutputForm::Text => Ok(Value::String(finished.output.text())),
        OutputForm::Json => value(finished),
    }
}

/// What is told of a program that failed.
fn failure(status: ExitStatus, meaning: Option<&str>, errors: &str) -> String {
    let mut message = match (status.code(), status.signal()) {
        (Some(code), _) => format!("the program exited with status {code}"),
        (None, Some(signal)) => format!("the program was killed by signal {signal}"),
        (None, None) => format!("the program ended: {status}"),
    };
    if let Some(meaning) = meaning {
        message.push_str(": ");
        message.push_str(meaning);
    }
    let errors = end(errors.trim(), TOLD);
    if !errors.is_empty() {
        message.push_str("; its standard error ends with:\n");
        message.push_str(&errors);
    }
    message
}

/// The output as JSON.
fn value(finished: &Finished) -> Result<Value, ToolError> {
    let output = &finished.output;
    if output.left_out() > 0 {
        return Err(ToolError::failed(format!(
            "the program wrote more JSON than is read: {} bytes, of {} MiB",
            output.bytes().len() as u64 + output.left_out(),
            KEPT >> 20
        )));
    }
    json::parse(output.bytes(), KEPT).map_err(|error| {
        let text = output.text();
        let begins = match text.trim() {
            "" => "it wrote nothing".to_owned(),
            text => format!("it begins with {:?}", beginning(text, EXCERPT)),
        };
        let message = format!("the program's output is no JSON: {error}; {begins}");
        ToolError::failed(message)
    })
}

/// A text as a model reads it: that there is none, or that there was more, is said.
fn told(finished: &Finished, text: String) -> Outcome {
    let left_out = finished.output.left_out();
    if text.is_empty() {
        let nothing = Block::text("[the program ended well and wrote nothing]");
        return Outcome::ok(text).with_block(nothing);
    }
    if left_out == 0 {
        return Outcome::ok(text);
    }
    let notice = format!("[the program wrote {left_out} more bytes, which were not kept]");
    Outcome::ok(text.clone())
        .with_block(Block::text(text))
        .with_block(Block::text(notice))
}

/// Adds what programs may want to know.
fn note(mut outcome: Outcome, finished: &Finished, errors: &str) -> Outcome {
    let code = finished.status.and_then(|status| status.code());
    let signal = finished.status.and_then(|status| status.signal());
    if let Some(code) = code {
        outcome = outcome.with_metadata("exit_code", code);
    }
    if let Some(signal) = signal {
        outcome = outcome.with_metadata("signal", signal);
    }
    if let Some(layers) = &finished.layers {
        outcome = outcome.with_metadata("sandbox", layers.to_string());
        if !layers.notes().is_empty() {
            outcome = outcome.with_metadata("sandbox_notes", layers.notes());
        }
        // Nothing keeps a protected path from being made, so a person is told which was.
        let made = layers.appeared().into_iter();
        let made: Vec<String> = made.map(|path| path.display().to_string()).collect();
        if !made.is_empty() {
            outcome = outcome.with_message(format!(
                "the program made {}, which it may not change from now on; remove it unless it is \
                 wanted",
                made.join(", ")
            ));
        }
    }
    let errors = end(errors.trim_end(), NOTED);
    if !errors.is_empty() {
        outcome = outcome.with_metadata("stderr", errors);
    }
    for (name, amount) in [
        ("omitted_output_bytes", finished.output.left_out()),
        ("killed_processes", finished.killed as u64),
        ("surviving_processes", finished.survived as u64),
    ] {
        if amount > 0 {
            outcome = outcome.with_metadata(name, amount);
        }
    }
    outcome
}

/// The last bytes of a text, in whole characters.
fn end(text: &str, bytes: usize) -> String {
    match text.len().checked_sub(bytes) {
        None | Some(0) => text.to_owned(),
        Some(cut) => format!("…{}", &text[text.ceil_char_boundary(cut)..]),
    }
}

/// The first bytes of a text, in whole characters.
fn beginning(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}
