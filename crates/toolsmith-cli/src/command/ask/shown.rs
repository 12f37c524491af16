//! Shows a run on the terminal while it goes on: what the model says on stdout, its calls
//! and whatever else happens on stderr.

use std::io::{IsTerminal as _, Write as _};
use std::sync::{Mutex, PoisonError};

use toolsmith_agent::{AgentEvent, Observer};
use toolsmith_core::call::RawArguments;
use toolsmith_core::{Outcome, RawCall};
use toolsmith_runtime::shape::clean;

use crate::print;

/// How much of a call's arguments, or of an error, a line holds.
const LINE: usize = 120;

/// Shows a run.
pub(super) struct Shown {
    /// Whether what the model says is shown as it comes: where stdout is a file or a pipe,
    /// the answer alone belongs there.
    streams: bool,
    /// Whether thoughts are shown.
    thoughts: bool,
    /// Whether the last of what was shown ended its line.
    line: Mutex<bool>,
}

impl Shown {
    pub(super) fn new(thoughts: bool) -> Self {
        Self {
            streams: std::io::stdout().is_terminal(),
            thoughts,
            line: Mutex::new(true),
        }
    }

    fn text(&self, text: &str) {
        let text = clean(text);
        if text.is_empty() || !self.streams {
            return;
        }
        let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        let mut out = anstream::stdout().lock();
        // With nobody left to read it, the end of the run says so.
        let _ = out.write_all(text.as_bytes());
        let _ = out.flush();
        *line = text.ends_with('\n');
    }

    fn note(&self, note: &str) {
        let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        if !std::mem::replace(&mut *line, true) {
            let mut out = anstream::stdout().lock();
            let _ = out.write_all(b"\n");
            let _ = out.flush();
        }
        print::note(note);
    }
}

impl Observer for Shown {
    fn observe(&self, event: &AgentEvent<'_>) {
        match event {
            AgentEvent::Text(text) => self.text(text),
            AgentEvent::Reasoning(text) if self.thoughts => self.note(text.trim_end()),
            AgentEvent::Again { reason } => self.note(&format!("asking again: {reason}")),
            AgentEvent::FellBack { reason } => {
                self.note(&format!(
                    "the model takes no tools, and is asked for calls as text ({reason})"
                ));
            }
            AgentEvent::Calling { call, .. } => self.note(&format!("→ {}", written(call))),
            AgentEvent::Called { call, outcome, .. } => self.note(&told(call, outcome)),
            AgentEvent::Shortened { results } => {
                self.note(&format!(
                    "{results} older results were shortened to make room"
                ));
            }
            AgentEvent::Ended(_) => {
                let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
                if !std::mem::replace(&mut *line, true) {
                    let _ = anstream::stdout().lock().write_all(b"\n");
                }
            }
            _ => {}
        }
    }
}

/// A call in one line.
fn written(call: &RawCall) -> String {
    let arguments = match &call.arguments {
        RawArguments::Json(value) => match value.as_object() {
            Some(fields) => {
                let fields = fields.iter().map(|(key, value)| match value.as_str() {
                    Some(text) => format!("{key}={text}"),
                    None => format!("{key}={value}"),
                });
                fields.collect::<Vec<_>>().join(" ")
            }
            None => value.to_string(),
        },
        _ => "(arguments that could not be read)".to_owned(),
    };
    cut(&format!("{} {arguments}", call.name))
}

/// What came of a call, in one line.
fn told(call: &RawCall, outcome: &Outcome) -> String {
    let took = outcome.facts.duration;
    let took = took.map_or_else(String::new, |took| format!(" · {} ms", took.as_millis()));
    match &outcome.error {
        None => {
            let line = outcome.display.as_deref().unwrap_or("done");
            format!("✓ {}{took}", cut(&format!("{}: {line}", call.name)))
        }
        Some(error) => format!("✗ {}{took}", cut(&format!("{}: {error}", call.name))),
    }
}

/// One line of a text, and not too much of it.
fn cut(text: &str) -> String {
    let text = print::visible(text);
    match text.chars().count() > LINE {
        true => format!("{}…", text.chars().take(LINE).collect::<String>()),
        false => text,
    }
}
