//! What `api_call` tells of an answer: its JSON as a value or its text, bounded.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use toolsmith_core::Outcome;
use toolsmith_net::Fetched;

use crate::budget;
use crate::built_in::{Answer, outcome};
use crate::fetched::{DATA, Redirect};
use crate::web::{self, SelectPath};

/// How much of a body is told at the most, as text and of a value in what the model reads.
const MOST_TEXT: usize = budget::MOST;

/// Said beside a body that was cut.
const TOO_LARGE: &str = "The body is too large for this answer: there is the beginning of its text. Cut it down with `select`, or raise `max_bytes`.";

/// What a call came to.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Facts {
    /// The URL that was asked for, as it was given.
    pub(crate) url: String,
    /// The method.
    pub(crate) method: String,
    /// The status of the answer.
    pub(crate) status: u16,
    /// Whether the status says that it succeeded.
    pub(crate) ok: bool,
    /// How long it took, in milliseconds.
    pub(crate) elapsed: u64,
    /// The answer's headers, without cookies.
    pub(crate) headers: BTreeMap<String, String>,
    /// What the server says the body is.
    pub(crate) content_type: String,
    /// The answer: JSON as a value, other texts as text; the selected part where one was asked for. Of what is too
    /// large for this answer there is the beginning of its text, and `truncated` is true.
    pub(crate) body: Value,
    /// How often it was tried.
    pub(crate) attempts: u32,
    /// The redirects that were followed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) redirect_chain: Vec<Redirect>,
    /// Whether a part of the answer is left out.
    pub(crate) truncated: bool,
    /// What is worth knowing about the answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) notes: Vec<String>,
}

impl Facts {
    /// Reads the body: as a value where it is JSON and one is wanted, else as text.
    pub(crate) fn read(&mut self, fetched: &Fetched, parses: bool, select: Option<&SelectPath>) {
        let body = web::read_body(fetched);
        self.content_type = body.media_type;
        let text = match body.kind {
            web::Kind::Empty => return,
            web::Kind::Json(text) if parses || select.is_some() => {
                if self.read_json(&text, select) {
                    return;
                }
                text
            }
            web::Kind::Html(text) | web::Kind::Json(text) | web::Kind::Text(text) => {
                if select.is_some() {
                    let note = "The answer is no JSON, or too long to be read as JSON, so nothing was selected.";
                    self.notes.push(note.to_owned());
                }
                text
            }
            web::Kind::Image(kind) => {
                let size = fetched.body.len();
                let note = format!("The body is {kind} of {size} bytes; web_fetch shows images.");
                self.notes.push(note);
                return;
            }
            web::Kind::Binary(kind) => {
                let size = fetched.body.len();
                let note =
                    format!("The body is no text but {kind} of {size} bytes, and is not shown.");
                self.notes.push(note);
                return;
            }
        };
        let end = text.floor_char_boundary(MOST_TEXT);
        self.truncated |= end < text.len();
        self.body = Value::String(text[..end].to_owned());
    }

    /// Takes the value, or the part of it that is wanted. False where the text is told instead.
    fn read_json(&mut self, text: &str, select: Option<&SelectPath>) -> bool {
        let read = match web::read_json(text) {
            Ok(read) => read,
            Err(why) => {
                self.notes.push(why);
                return false;
            }
        };
        if read.is_rounded {
            let note = "Some numbers have more digits than a value holds and were rounded; parse_response = false shows them as they were sent.";
            self.notes.push(note.to_owned());
        }
        match select.map(|path| path.find(&read.value)) {
            None => self.body = read.value,
            Some(Ok(part)) => self.body = part,
            // The call was made and may have changed something: what came of it is told.
            Some(Err(error)) => {
                let note = format!("`select` finds nothing: {error}. The whole answer is shown.");
                self.notes.push(note);
                if text.len() > MOST_TEXT {
                    return false;
                }
                self.body = read.value;
            }
        }
        true
    }

    /// The outcome: the facts within so many bytes, and what the model reads of them.
    ///
    /// The text is cut by the runtime, which keeps the whole of it. A value cannot be: what
    /// is left of it would no longer be what the tool promises, and clients insist on that.
    pub(crate) fn into_outcome(mut self, most: usize) -> Outcome {
        let text = self.told();
        let display = format!("{} {}: {}", self.method, self.url, self.status);
        // A value may be large: there is one of it, in the value alone.
        let mut body = std::mem::take(&mut self.body);
        let beside = serde_json::to_string(&self).map_or(0, |facts| facts.len());
        if let Some(beginning) = web::beginning(&body, most.saturating_sub(beside)) {
            body = Value::String(beginning);
            self.truncated = true;
            self.notes.push(TOO_LARGE.to_owned());
        }
        let mut outcome = outcome(Answer::new(self, display).text(text), true);
        outcome = outcome.with_room(most + budget::BESIDE);
        outcome.metadata.remove("body");
        if let Some(Value::Object(facts)) = &mut outcome.value {
            facts.insert("body".to_owned(), body);
        }
        outcome
    }

    fn told(&self) -> String {
        let mut text = format!(
            "{} {}: {}, {} ms\n",
            self.method, self.url, self.status, self.elapsed
        );
        for note in &self.notes {
            text.push_str(&format!("Note: {note}\n"));
        }
        text.push_str(DATA);
        for (name, value) in self.headers.iter().filter(|(name, _)| is_telling(name)) {
            text.push_str(&format!("{name}: {value}\n"));
        }
        match &self.body {
            Value::Null => {}
            Value::String(body) => text.push_str(&format!("\n{body}")),
            body => {
                let (body, is_cut) = web::pretty_within(body, MOST_TEXT);
                text.push_str(&format!("\n{body}"));
                if is_cut {
                    text.push_str("\n\n[The rest is left out. Cut the answer down with `select`.]");
                }
            }
        }
        text
    }
}

/// Headers a model may want to act on.
fn is_telling(name: &str) -> bool {
    matches!(
        name,
        "content-type" | "location" | "link" | "retry-after" | "etag" | "last-modified" | "allow"
    ) || name.contains("ratelimit")
        || name.contains("rate-limit")
}
