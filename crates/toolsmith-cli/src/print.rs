//! Printing: data to stdout, everything else to stderr, colour only where there is
//! a terminal to show it.

use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;
use serde_json::Value;
use toolsmith_core::{CallId, Outcome};
use toolsmith_runtime::shape::clean;

use crate::cli::Shape;

/// What errors and warnings begin with, where there are colours.
pub(crate) const ERROR: &str = "\u{1b}[1;31merror:\u{1b}[0m";
pub(crate) const WARNING: &str = "\u{1b}[1;33mwarning:\u{1b}[0m";

/// Prints a line of data.
pub(crate) fn line(text: &str) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    let written = writeln!(out, "{}", text.strip_suffix('\n').unwrap_or(text));
    written.and_then(|()| out.flush()).map_err(|error| {
        let message = format!("the output cannot be written: {error}");
        io::Error::new(error.kind(), message)
    })
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
    tell(ERROR, message);
}

/// Tells something worth knowing on stderr.
pub(crate) fn warning(message: &str) {
    tell(WARNING, message);
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

/// How many characters a line of the terminal has, where there is one to show data on.
pub(crate) fn width() -> Option<usize> {
    #[cfg(unix)]
    {
        let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
        (size.ws_col > 0).then(|| usize::from(size.ws_col))
    }
    #[cfg(not(unix))]
    None
}

/// A text with everything that hides, steers or breaks a line spelled out, such as
/// `\u{202e}`. For what people decide on: removed, it would still be in what runs.
pub(crate) fn visible(text: &str) -> String {
    text.chars().map(visible_char).collect()
}

/// The same, but lines stay lines.
pub(crate) fn visible_lines(text: &str) -> String {
    let lines: Vec<String> = text.split('\n').map(visible).collect();
    lines.join("\n")
}

/// A path in quotes, so that it ends where it ends.
pub(crate) fn visible_path(path: &Path) -> String {
    visible(&format!("{path:?}"))
}

fn visible_char(c: char) -> String {
    if matches!(c, ' '..='~') {
        return c.to_string();
    }
    // Behind a letter, accents count as shown.
    let behind_letter = format!("a{c}");
    let is_shown = clean(&behind_letter) == behind_letter
        && behind_letter.escape_debug().eq(behind_letter.chars());
    if is_shown {
        c.to_string()
    } else {
        c.escape_default().to_string()
    }
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

/// A number of things, of which one is one.
pub(crate) fn counted(count: usize, what: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {what}{s}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hides_is_spelled_out_and_what_shows_stays() {
        for (text, shown) in [
            (
                "plain \\ \"text\" 'é' e\u{301} 漢字 🙂",
                "plain \\ \"text\" 'é' e\u{301} 漢字 🙂",
            ),
            ("a\u{202e}b", "a\\u{202e}b"),
            ("a\u{200b}\u{feff}b", "a\\u{200b}\\u{feff}b"),
            ("\u{1b}[2J\u{9b}m\u{7}", "\\u{1b}[2J\\u{9b}m\\u{7}"),
            ("\u{3164}\u{e0041}\u{a0}", "\\u{3164}\\u{e0041}\\u{a0}"),
            ("a\nb\r\u{2028}", "a\\nb\\r\\u{2028}"),
        ] {
            assert_eq!(visible(text), shown);
        }
        assert_eq!(visible_lines("a\nb\u{202e}\n"), "a\nb\\u{202e}\n");
    }

    #[test]
    fn a_path_forges_no_line() {
        let path = Path::new("a b\nAsked because it only reads.\u{202e}");
        assert_eq!(
            visible_path(path),
            "\"a b\\nAsked because it only reads.\\u{202e}\""
        );
    }
}
