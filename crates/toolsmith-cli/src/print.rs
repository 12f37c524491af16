//! Printing: data to stdout, everything else to stderr, colour only where there is
//! a terminal to show it.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Value;
use toolsmith_core::{CallId, Outcome};
use toolsmith_runtime::shape::clean;

use crate::cli::Shape;

/// Prints a line of data.
pub(crate) fn line(text: &str) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    writeln!(out, "{}", text.strip_suffix('\n').unwrap_or(text))?;
    out.flush()
}

/// Prints a value as JSON: readable on a terminal, on one line elsewhere.
pub(crate) fn json(value: &impl Serialize) -> io::Result<()> {
    let text = if io::IsTerminal::is_terminal(&io::stdout()) {
        serde_json::to_string_pretty(value)?
    } else {
        serde_json::to_string(value)?
    };
    line(&text)
}

/// Tells an error on stderr.
pub(crate) fn error(message: &str) {
    tell("\u{1b}[1;31merror:\u{1b}[0m", message);
}

/// Tells something worth knowing on stderr.
pub(crate) fn warning(message: &str) {
    tell("\u{1b}[1;33mwarning:\u{1b}[0m", message);
}

/// Tells how it went on stderr.
pub(crate) fn note(message: &str) {
    tell("", message);
}

fn tell(mark: &str, message: &str) {
    let mut err = anstream::stderr().lock();
    let space = if mark.is_empty() { "" } else { " " };
    // File names and texts of others stand in messages; none may steer the terminal.
    // With stderr gone there is nobody left to tell.
    let _ = writeln!(err, "{mark}{space}{}", clean(message));
}

/// An outcome in one of its shapes.
pub(crate) fn shaped(outcome: &Outcome, shape: Shape) -> Value {
    match shape {
        Shape::Outcome => serde_json::to_value(outcome).unwrap_or_default(),
        Shape::Result => outcome.to_result(),
        Shape::Envelope => outcome.to_envelope(),
        Shape::Message => outcome.to_message(),
        Shape::Mcp => outcome.to_mcp(),
    }
}

/// An outcome in one of its shapes, with the caller's number in front.
pub(crate) fn numbered(outcome: &Outcome, shape: Shape, id: Option<&CallId>) -> Value {
    let mut numbered = serde_json::json!({ "id": id });
    if let (Value::Object(numbered), Value::Object(fields)) =
        (&mut numbered, shaped(outcome, shape))
    {
        numbered.extend(fields);
    }
    numbered
}
