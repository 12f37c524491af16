//! Stream: an answer as its bytes arrive.
//!
//! Three steps: `frames` finds the events in the bytes, however they were cut; the file
//! of the provider puts the events together to the body the provider would have sent had
//! it not streamed; and [`crate::parse`] reads that body. So an answer is the same whether
//! it was streamed or not, and each step looks at each byte once.

mod anthropic;
mod bedrock;
mod calls;
mod cohere;
mod frames;
mod gemini;
mod gemini_partial;
mod ollama;
mod openai;
mod responses;
mod scan;

use std::collections::HashSet;
use std::fmt;

use serde_json::Value;
use toolsmith_core::json::MAX_VALUES;

use self::frames::{Event, Frames};
use crate::answer::{Answer, Stop};
use crate::dictionary::Dictionary;
use crate::parse::{self, Ending, LARGEST, ParseError};
use crate::provider::Provider;
use crate::text::Tools;
use crate::textual::{Shown, Textual};
use crate::usage::Usage;

/// Something new in an answer that is still arriving: enough to show it grow.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Delta {
    /// More of what the model says.
    Text(String),
    /// More of what it thinks.
    Reasoning(String),
    /// A call has begun. Comes again where the name grows.
    Call {
        /// Which call of the turn, from nought.
        index: usize,
        /// The name of the tool, as it is offered.
        name: String,
    },
    /// More of the arguments of a call, as the model writes them.
    Arguments {
        /// Which call of the turn.
        index: usize,
        /// The piece of JSON.
        text: String,
    },
}

/// Reads one answer while it arrives.
///
/// ```
/// use toolsmith_provider::{Dictionary, Provider, stream::{Delta, Stream}};
///
/// let mut stream = Stream::new(Provider::OpenAi, &Dictionary::default());
/// let deltas = stream.push(b"data: {\"choices\": [{\"delta\": {\"content\": \"Hel\"}}]}\n\n");
/// assert_eq!(deltas, [Delta::Text("Hel".to_owned())]);
/// stream.push(b"data: {\"choices\": [{\"delta\": {\"content\": \"lo\"}, \"finish_reason\": \"stop\"}]}\n\n");
/// assert_eq!(stream.finish().unwrap().text, "Hello");
/// ```
#[derive(Debug)]
pub struct Stream {
    provider: Provider,
    dictionary: Dictionary,
    frames: Frames,
    assembler: Box<dyn Assemble>,
    received: usize,
    /// How many values the events had beyond what is usual.
    values: usize,
    events: usize,
    /// The event, while there is only one.
    only: Option<Value>,
    error: Option<ParseError>,
    too_large: bool,
    /// How it begins, to be shown where it is no answer.
    beginning: Vec<u8>,
    /// The answer as plain text, for what has no events.
    plain: Vec<u8>,
    /// How much of it was looked at.
    seen: usize,
    /// Calls in the text, where they are looked for.
    textual: Option<Textual>,
    shown: Shown,
    usage: Usage,
}

/// Puts the events of one provider together.
trait Assemble: fmt::Debug + Send + Sync {
    /// Takes an event, and tells what is new.
    fn event(&mut self, event: &Value, deltas: &mut Vec<Delta>);

    /// Whether an event is no event but a whole answer.
    fn is_whole(&self, event: &Value) -> bool;

    /// The whole the events stand for; `ended` where the stream said that it is over.
    fn finish(&mut self, ended: bool) -> Assembled;
}

/// What events were put together to.
#[derive(Debug)]
struct Assembled {
    body: Value,
    /// Whether the answer was told to its end.
    whole: bool,
    /// The calls that were begun and not ended, by their position among the calls; none
    /// where nothing tells.
    open: Option<HashSet<usize>>,
}

/// The most calls, blocks or items of one turn. Nobody makes as many; a hostile server
/// would, to fill the memory with what takes few bytes to send.
const MOST_ITEMS: usize = 4096;

/// How many values an event usually has.
const USUAL_VALUES: usize = 16;

const BEGINNING: usize = 1024;

/// How many bytes are taken at once: an event of two bytes takes a hundred until it is read.
const PIECE: usize = 64 << 10;

impl Stream {
    /// Begins an answer of a provider that was told of these tools.
    pub fn new(provider: Provider, dictionary: &Dictionary) -> Self {
        let textual = (provider == Provider::Text).then(|| Textual::always(Tools::default()));
        let assembler: Box<dyn Assemble> = match provider {
            Provider::OpenAiResponses => Box::new(responses::Assembler::default()),
            Provider::Anthropic => Box::new(anthropic::Assembler::default()),
            Provider::Gemini => Box::new(gemini::Assembler::default()),
            Provider::Bedrock => Box::new(bedrock::Assembler::default()),
            Provider::Cohere => Box::new(cohere::Assembler::default()),
            Provider::Ollama => Box::new(ollama::Assembler::default()),
            _ => Box::new(openai::Assembler::default()),
        };
        Self {
            provider,
            dictionary: dictionary.clone(),
            frames: Frames::default(),
            assembler,
            received: 0,
            values: 0,
            events: 0,
            only: None,
            error: None,
            too_large: false,
            beginning: Vec::new(),
            plain: Vec::new(),
            seen: 0,
            textual: None,
            shown: Shown::default(),
            usage: Usage::default(),
        }
        .reading_text(textual)
    }

    /// Looks for calls in the text too.
    #[must_use]
    pub(crate) fn reading_text(mut self, textual: Option<Textual>) -> Self {
        self.shown = textual.as_ref().map(Textual::shown).unwrap_or_default();
        self.textual = textual;
        self
    }

    /// Takes the next bytes, cut anywhere, and tells what is new.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Delta> {
        let mut deltas = Vec::new();
        self.received = self.received.saturating_add(bytes.len());
        if self.received > LARGEST {
            self.too_large = true;
        }
        if self.too_large || self.error.is_some() {
            return deltas;
        }
        if self.provider == Provider::Text {
            self.plain.extend_from_slice(bytes);
            let text = self.next_text();
            deltas.push(Delta::Text(text));
        } else {
            let room = BEGINNING.saturating_sub(self.beginning.len());
            (self.beginning).extend_from_slice(&bytes[..room.min(bytes.len())]);
            for piece in bytes.chunks(PIECE) {
                for event in self.frames.push(piece) {
                    self.event(event, &mut deltas);
                }
            }
        }
        self.shown.pass(deltas, &self.dictionary)
    }

    /// The answer. What has begun and not ended is marked as such, and is not to be run.
    pub fn finish(self) -> Result<Answer, ParseError> {
        self.finish_with_deltas().1
    }

    /// What only the end makes sure of, and the answer.
    pub fn finish_with_deltas(mut self) -> (Vec<Delta>, Result<Answer, ParseError>) {
        let mut deltas = Vec::new();
        let answer = self.end(&mut deltas).unwrap_or_else(|| {
            Err(ParseError::not_json(
                "nothing of an answer was received",
                &String::from_utf8_lossy(&self.beginning),
            ))
        });
        let mut shown = self.shown.pass(deltas, &self.dictionary);
        shown.extend(self.shown.finish(&self.dictionary));
        (shown, answer)
    }

    /// The answer; none where there were no events.
    pub(crate) fn finish_if_told(mut self) -> Option<Result<Answer, ParseError>> {
        self.end(&mut Vec::new())
    }

    fn end(&mut self, deltas: &mut Vec<Delta>) -> Option<Result<Answer, ParseError>> {
        let answer = self.answer(deltas)?;
        Some(answer.map(|answer| match &self.textual {
            Some(textual) => textual.adopt(answer, self.provider, &self.dictionary),
            None => answer,
        }))
    }

    fn answer(&mut self, deltas: &mut Vec<Delta>) -> Option<Result<Answer, ParseError>> {
        if self.provider == Provider::Text {
            let rest = String::from_utf8_lossy(&self.plain[self.seen..]);
            if !rest.is_empty() {
                deltas.push(Delta::Text(rest.into_owned()));
            }
            let mut answer = parse::plain(&self.plain);
            if self.too_large {
                answer.stop = Stop::Broken;
            }
            return Some(Ok(answer));
        }
        if !self.too_large {
            for event in self.frames.finish() {
                self.event(event, deltas);
            }
        }
        if let Some(error) = self.error.take() {
            return Some(Err(error));
        }
        let mut ending = Ending {
            replaced: self.frames.replaced,
            notes: std::mem::take(&mut self.frames.notes),
            ..Ending::default()
        };
        if let Some(only) = self.only.take()
            && (self.assembler.is_whole(&only) || self.provider == Provider::Mcp)
        {
            return Some(parse::read(self.provider, &only, &ending, &self.dictionary));
        }
        if self.events == 0 {
            return None;
        }
        let assembled = self.assembler.finish(self.frames.done && !self.too_large);
        ending.broken = !assembled.whole || self.too_large;
        ending.open = assembled.open;
        if self.too_large {
            let note = "it is larger than anything a model says, and was not read on";
            ending.notes.push(note.to_owned());
        }
        let body = &assembled.body;
        let answer = parse::read(self.provider, body, &ending, &self.dictionary);
        Some(answer.map(|answer| Answer {
            usage: self.usage,
            ..answer
        }))
    }

    /// The text of the bytes that were not looked at yet, as far as its last character is
    /// whole.
    fn next_text(&mut self) -> String {
        let rest = &self.plain[self.seen..];
        // What is no text and more bytes cannot make one is replaced at once; only the
        // beginning of a character waits for the rest of it.
        let odd = rest
            .utf8_chunks()
            .last()
            .map_or(&[][..], |last| last.invalid());
        let begun = match std::str::from_utf8(odd) {
            Err(error) if error.error_len().is_none() => odd.len(),
            _ => 0,
        };
        let end = rest.len() - begun;
        let text = String::from_utf8_lossy(&rest[..end]).into_owned();
        self.seen += end;
        text
    }

    fn event(&mut self, event: Event, deltas: &mut Vec<Delta>) {
        if self.error.is_some() || self.too_large {
            return;
        }
        let value = match event.name {
            // Bedrock's events are named beside them where they are not wrapped.
            Some(name)
                if self.provider == Provider::Bedrock && event.value.get(&name).is_none() =>
            {
                Value::Object([(name, event.value)].into_iter().collect())
            }
            Some(name) if event.value.is_object() && event.value.get("type").is_none() => {
                let mut value = event.value;
                value["type"] = name.into();
                value
            }
            _ => event.value,
        };
        if let Some(error) = parse::reported(self.provider, None, &value) {
            self.error = Some(ParseError::Provider(error));
            return;
        }
        self.values += weight(&value).saturating_sub(USUAL_VALUES);
        if self.values > MAX_VALUES {
            self.too_large = true;
            return;
        }
        self.events += 1;
        self.usage.note(&value);
        self.assembler.event(&value, deltas);
        self.only = (self.events == 1).then_some(value);
    }
}

/// How many values there are in an event, its names among them. The likelihood of words is
/// left out: it is long, and nobody keeps it.
fn weight(event: &Value) -> usize {
    match event {
        Value::Array(items) => 1 + items.iter().map(weight).sum::<usize>(),
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(key, _)| *key != "logprobs");
            1 + kept.map(|(_, value)| 1 + weight(value)).sum::<usize>()
        }
        _ => 1,
    }
}

/// Adds to a text, and tells of it.
fn grow(text: &mut String, more: &str, deltas: &mut Vec<Delta>, kind: fn(String) -> Delta) {
    if !more.is_empty() {
        text.push_str(more);
        deltas.push(kind(more.to_owned()));
    }
}
