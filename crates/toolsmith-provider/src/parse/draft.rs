//! An answer while it is being read: what every provider's file fills in.
//!
//! Here and nowhere else a call gets its number, its name and arguments in the tool's own
//! terms, and the verdict whether it was told to the end.

use std::collections::HashSet;

use serde_json::{Map, Value};
use toolsmith_core::call::RawArguments;
use toolsmith_core::{RawCall, json};

use super::error::beginning;
use super::ids::Ids;
use super::stop::stop;
use crate::answer::{Answer, ParsedCall, Stop};
use crate::arguments::{self, Read};
use crate::dictionary::Dictionary;
use crate::provider::Provider;

/// What is known of how an answer ended beside what it says itself.
#[derive(Debug, Default)]
pub(crate) struct Ending {
    /// It broke off.
    pub(crate) broken: bool,
    /// The calls, by their position among the calls, that were begun and not ended; none
    /// where nothing tells.
    pub(crate) open: Option<HashSet<usize>>,
    /// Some of its bytes were no UTF-8 and were replaced.
    pub(crate) replaced: bool,
    /// What was overlooked.
    pub(crate) notes: Vec<String>,
}

/// A call as it was sent.
#[derive(Debug)]
pub(crate) struct Sent<'a> {
    pub(crate) id: Option<&'a str>,
    pub(crate) name: &'a str,
    pub(crate) input: Input<'a>,
    /// Whether nothing came after it.
    pub(crate) last: bool,
}

/// The arguments of a call as they were sent.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Input<'a> {
    /// JSON, or a text that should be JSON.
    Json(Option<&'a Value>),
    /// JSON whose end nobody can see: where the turn was cut off, this may have been too.
    Document(Option<&'a Value>),
    /// A text that means itself.
    Free(&'a str),
    /// Known to be cut off.
    CutOff,
    /// No call at all, by its shape.
    Unreadable,
}

/// What the conversation is to hold of a call: always something the provider accepts.
#[derive(Debug)]
pub(crate) struct Echo {
    pub(crate) id: String,
    /// Whether the number is the one it was sent with.
    pub(crate) id_as_sent: bool,
    pub(crate) name: String,
    pub(crate) arguments: Map<String, Value>,
    /// The text of the arguments, where that was sent and can go back unchanged.
    pub(crate) text: Option<String>,
}

impl Echo {
    /// The arguments as a text.
    pub(crate) fn arguments_text(self) -> String {
        (self.text).unwrap_or_else(|| Value::Object(self.arguments).to_string())
    }
}

#[derive(Debug)]
pub(super) struct Draft<'a> {
    pub(super) provider: Provider,
    dictionary: &'a Dictionary,
    ending: &'a Ending,
    answer: Answer,
    ids: Ids,
}

impl<'a> Draft<'a> {
    pub(super) fn new(
        provider: Provider,
        dictionary: &'a Dictionary,
        ending: &'a Ending,
        body: &Value,
    ) -> Self {
        // Whatever tells this turn from others, so that numbers made in two turns differ.
        let turn = (["id", "responseId", "created_at"].iter())
            .map(|key| super::text(body, key))
            .find(|text| !text.is_empty())
            .unwrap_or_default();
        Self {
            provider,
            dictionary,
            ending,
            answer: Answer {
                notes: ending.notes.clone(),
                ..Answer::default()
            },
            ids: Ids::new(provider, turn),
        }
    }

    pub(super) fn text(&mut self, text: &str) {
        self.answer.text.push_str(text);
    }

    pub(super) fn reasoning(&mut self, text: &str) {
        self.answer.reasoning.push_str(text);
    }

    /// A thought apart from those before it.
    pub(super) fn thought(&mut self, text: &str) {
        if !self.answer.reasoning.is_empty() && !text.is_empty() {
            self.answer.reasoning.push_str("\n\n");
        }
        self.reasoning(text);
    }

    /// Notes what a provider says beside the answer.
    pub(super) fn note(&mut self, note: &str) {
        self.answer.notes.push(beginning(note, 2000));
    }

    /// Says in the provider's word why the turn ended. To be said before the calls.
    pub(super) fn stopped(&mut self, word: &str) {
        self.answer.stop = if self.ending.broken {
            Stop::Broken
        } else {
            stop(word)
        };
    }

    pub(super) fn refused(&mut self) {
        if self.answer.stop == Stop::Done {
            self.answer.stop = Stop::Refused;
        }
    }

    pub(super) fn has_text(&self) -> bool {
        !self.answer.text.is_empty()
    }

    pub(super) fn turn(&mut self, message: Value) {
        self.answer.turn.push(message);
    }

    /// Takes a call, and says what the conversation is to hold of it.
    pub(super) fn call(&mut self, sent: &Sent<'_>) -> Echo {
        let position = self.answer.calls.len();
        let mut read = self.arguments(sent, position);
        let declared = declared_name(self.dictionary, sent.name, &mut read.repairs);
        if declared.is_empty() && read.complete && !matches!(sent.input, Input::Unreadable) {
            read.arguments = RawArguments::Malformed("the call names no tool".to_owned());
        }
        let id = self.ids.give(sent.id, &declared);
        let id_as_sent = sent.id == Some(id.as_str());
        let echo = Echo {
            id_as_sent,
            name: echo_name(self.provider, &declared),
            arguments: match &read.arguments {
                RawArguments::Json(Value::Object(object)) => object.clone(),
                _ => Map::new(),
            },
            text: match (&read.arguments, sent.input) {
                (RawArguments::Json(Value::Object(_)), Input::Json(Some(Value::String(text))))
                    if read.repairs.is_empty() && !text.trim().is_empty() =>
                {
                    Some(text.clone())
                }
                _ => None,
            },
            id: id.clone(),
        };
        let arguments = match read.arguments {
            RawArguments::Json(value) => {
                RawArguments::Json(self.dictionary.arguments(&declared, value))
            }
            malformed => malformed,
        };
        let name = self.dictionary.name(&declared).to_owned();
        let mut call = RawCall::with_arguments(name, arguments).with_id(id.as_str());
        call.repairs = read.repairs;
        self.answer.calls.push(ParsedCall {
            call,
            complete: read.complete,
            declared_name: declared,
        });
        echo
    }

    fn arguments(&self, sent: &Sent<'_>, position: usize) -> Read {
        let doubtful = match (&self.ending.open, &self.answer.stop) {
            (Some(open), _) if open.contains(&position) => return Read::cut_off(),
            (None, Stop::Broken) => true,
            (_, Stop::Broken | Stop::Done) => false,
            // A limit, a filter or a fault, perhaps in the middle of a call.
            _ => sent.last,
        };
        let value = match sent.input {
            Input::Document(_) | Input::Free(_) if doubtful => return Read::cut_off(),
            Input::Json(None) if doubtful => return Read::cut_off(),
            Input::CutOff => return Read::cut_off(),
            Input::Free(text) => {
                let input = ("input".to_owned(), Value::String(text.to_owned()));
                return Read::value(Value::Object(Map::from_iter([input])));
            }
            Input::Unreadable => {
                return Read::malformed("this is no call: it has neither a name nor arguments");
            }
            Input::Json(value) | Input::Document(value) => value,
        };
        let mut read = match value {
            // Only an object that is closed can be known to be whole.
            Some(Value::String(text)) if doubtful => match json::parse(text.as_bytes(), text.len())
            {
                Ok(value @ Value::Object(_)) => Read::value(value),
                _ => return Read::cut_off(),
            },
            Some(Value::String(text)) => unwrap_text(arguments::read(text)),
            Some(value) => Read::value(value.clone()),
            None => Read::value(Value::Object(Map::new())),
        };
        if self.ending.replaced
            && matches!(&read.arguments, RawArguments::Json(value) if value.to_string().contains('\u{fffd}'))
        {
            read.repairs.push(REPLACED.to_owned());
        }
        read
    }

    pub(super) fn finish(mut self) -> Answer {
        if self.ending.replaced {
            self.answer.notes.push(REPLACED.to_owned());
        }
        self.answer
    }
}

pub(super) const REPLACED: &str = "replaced bytes that are no UTF-8";

/// What models write before a name as if it were a module: OpenAI's, Gemini's, others'.
const NAMESPACES: &[&str] = &["functions.", "default_api.", "default_api:", "tools."];

/// The name a call means. Some models write the name of a namespace before it, or the
/// tokens that ended it behind it.
pub(crate) fn declared_name(
    dictionary: &Dictionary,
    sent: &str,
    repairs: &mut Vec<String>,
) -> String {
    let name = sent.trim();
    if dictionary.declares(name) {
        return name.to_owned();
    }
    let end = name.find("<|").unwrap_or(name.len());
    let bare = name[..end].trim_end();
    let spaces = NAMESPACES.iter();
    let candidates = spaces.filter_map(|space| bare.strip_prefix(space));
    for candidate in std::iter::once(bare).chain(candidates) {
        if dictionary.declares(candidate) {
            repairs.push(format!("read the name {name:?} as {candidate:?}"));
            return candidate.to_owned();
        }
    }
    name.to_owned()
}

/// A JSON text within a JSON text is what some servers make of arguments they pass on.
fn unwrap_text(mut read: Read) -> Read {
    if let RawArguments::Json(Value::String(inner)) = &read.arguments
        && let Ok(value @ Value::Object(_)) = json::parse(inner.as_bytes(), inner.len())
    {
        read.arguments = RawArguments::Json(value);
        (read.repairs).push("unwrapped arguments that were a text within a text".to_owned());
    }
    read
}

/// A name as the provider takes it back in a conversation: a call of a tool that does not
/// exist must not make the next request fail.
pub(crate) fn echo_name(provider: Provider, declared: &str) -> String {
    let (longest, beside): (_, &[char]) = match provider {
        Provider::Gemini => (128, &['_', '-', '.', ':']),
        Provider::Anthropic => (128, &['_', '-']),
        Provider::Ollama | Provider::OpenAiCompatible | Provider::Mcp | Provider::Text => {
            (256, &['_', '-', '.', ':', '/'])
        }
        _ => (64, &['_', '-']),
    };
    let fits = |c: char| c.is_ascii_alphanumeric() || beside.contains(&c);
    let name: String = (declared.chars().take(longest))
        .map(|c| if fits(c) { c } else { '_' })
        .collect();
    if name.is_empty() {
        "unknown".to_owned()
    } else {
        name
    }
}
