//! A conversation as a person reads it: Markdown.

use std::fmt::Write as _;

use toolsmith_core::clean::clean;

use super::{Conversation, Exchange, KeptCall, KeptOutcome};

/// How much of a result is shown.
const SHOWN: usize = 2000;

impl Conversation {
    /// The conversation as Markdown: who said what, which calls were made, and what came
    /// of them, long results cut.
    pub fn to_markdown(&self) -> String {
        let mut text = String::new();
        for exchange in &self.exchanges {
            match exchange {
                Exchange::User(said) => section(&mut text, "You", said),
                Exchange::Turn { answer, results } => {
                    section(&mut text, &answer.model, &answer.text);
                    for (call, result) in answer.calls.iter().zip(results) {
                        told(&mut text, call, result.as_ref());
                    }
                }
            }
        }
        text
    }
}

fn section(text: &mut String, who: &str, said: &str) {
    let who = clean(who).replace('\n', " ");
    let _ = writeln!(text, "## {who}\n");
    let said = clean(said);
    if !said.trim().is_empty() {
        let _ = writeln!(text, "{}\n", said.trim());
    }
}

fn told(text: &mut String, call: &KeptCall, result: Option<&KeptOutcome>) {
    let name = clean(&call.name).replace(['\n', '`'], " ");
    let arguments = match (&call.arguments, &call.malformed) {
        (Some(arguments), _) => clean(&arguments.to_string()).into_owned(),
        (None, Some(reason)) => format!("could not be read: {}", clean(reason)),
        (None, None) => String::new(),
    };
    let outcome = match result {
        None => "no result".to_owned(),
        Some(outcome) => summary(outcome),
    };
    let _ = writeln!(text, "**{name}** · {outcome}\n");
    fenced(text, "json", &arguments);
    if let Some(outcome) = result {
        fenced(text, "", &outcome.outcome().model_text());
    }
}

/// How it went, in a line.
fn summary(outcome: &KeptOutcome) -> String {
    let how = match &outcome.error {
        Some(error) => error.code().to_owned(),
        None => "done".to_owned(),
    };
    match outcome.duration_ms {
        Some(millis) => format!("{how} · {millis} ms"),
        None => how,
    }
}

/// A block that nothing in it can end.
fn fenced(text: &mut String, language: &str, content: &str) {
    let content = clean(content);
    let end = content.floor_char_boundary(SHOWN);
    let (shown, rest) = content.split_at(end);
    let longest = shown.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let _ = writeln!(text, "{fence}{language}\n{}\n{fence}", shown.trim_end());
    if !rest.is_empty() {
        let _ = writeln!(text, "… {} more bytes", rest.len());
    }
    text.push('\n');
}
