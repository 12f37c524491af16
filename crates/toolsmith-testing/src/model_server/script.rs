//! What a scripted model does, step by step: one step a request.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;
use toolsmith_core::RawCall;
use toolsmith_provider::text::TextFormat;

/// The steps of a model, and what it does when they have ended.
#[derive(Clone, Debug, Default)]
pub struct Script {
    steps: VecDeque<Step>,
    always: Option<Step>,
}

/// The answer to one request.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Step {
    /// It says this.
    Say(String),
    /// It says this and makes these calls. They bear the tools' own names; where the request
    /// declares them by others, those are used.
    Call(String, Vec<RawCall>),
    /// It says this and writes these calls into its text, as a model that was asked to.
    Write(TextFormat, String, Vec<RawCall>),
    /// It says this and begins a call, in the middle of which it reaches its limit.
    Truncated(String, Box<RawCall>),
    /// A status, headers and a body, which is taken for JSON unless a header says otherwise.
    Status(u16, Vec<(String, String)>, String),
    /// It takes no tools, in the provider's words.
    RefuseTools,
    /// Success, and these bytes.
    Raw(Vec<u8>),
    /// The head and so many bytes of what a step says; then the connection drops.
    DropAfter(usize, Box<Step>),
    /// The head and so many bytes of what a step says; then nothing more.
    HangAfter(usize, Box<Step>),
    /// The connection drops before the head.
    Drop,
    /// Nothing comes.
    Hang,
    /// An answer that never ends.
    Endless,
    /// What a function makes of the request.
    Answer(Answering),
}

/// A function that answers.
#[derive(Clone)]
pub struct Answering(Arc<dyn Fn(&Value) -> Step + Send + Sync>);

impl Answering {
    /// What it makes of a request.
    pub(super) fn answer(&self, request: &Value) -> Step {
        (self.0)(request)
    }
}

impl fmt::Debug for Answering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Answering")
    }
}

impl Step {
    /// See [`Step::Say`].
    pub fn say(text: impl Into<String>) -> Self {
        Self::Say(text.into())
    }

    /// See [`Step::Call`].
    pub fn call(text: impl Into<String>, calls: impl Into<Vec<RawCall>>) -> Self {
        Self::Call(text.into(), calls.into())
    }

    /// See [`Step::Write`]; each call is a JSON object.
    pub fn write(text: impl Into<String>, calls: impl Into<Vec<RawCall>>) -> Self {
        Self::Write(TextFormat::Json, text.into(), calls.into())
    }

    /// See [`Step::Truncated`].
    pub fn truncated(text: impl Into<String>, call: RawCall) -> Self {
        Self::Truncated(text.into(), Box::new(call))
    }

    /// A status alone, with an empty body.
    pub fn status(code: u16) -> Self {
        Self::Status(code, Vec::new(), String::new())
    }

    /// The same with a header, where it is a status.
    #[must_use]
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        if let Self::Status(_, headers, _) = &mut self {
            headers.push((name.to_owned(), value.to_owned()));
        }
        self
    }

    /// See [`Step::DropAfter`].
    pub fn drop_after(bytes: usize, step: Self) -> Self {
        Self::DropAfter(bytes, Box::new(step))
    }

    /// See [`Step::HangAfter`].
    pub fn hang_after(bytes: usize, step: Self) -> Self {
        Self::HangAfter(bytes, Box::new(step))
    }

    /// See [`Step::Answer`].
    pub fn answer(function: impl Fn(&Value) -> Self + Send + Sync + 'static) -> Self {
        Self::Answer(Answering(Arc::new(function)))
    }
}

impl Script {
    /// These steps, one a request, in the order in which requests come.
    pub fn new(steps: impl IntoIterator<Item = Step>) -> Self {
        Self {
            steps: steps.into_iter().collect(),
            always: None,
        }
    }

    /// Says what is done once the steps have ended; otherwise that is an error 500.
    #[must_use]
    pub fn then_always(mut self, step: Step) -> Self {
        self.always = Some(step);
        self
    }

    pub(super) fn take(&mut self) -> Option<Step> {
        self.steps.pop_front().or_else(|| self.always.clone())
    }

    pub(super) fn left(&self) -> usize {
        self.steps.len()
    }
}

impl From<Vec<Step>> for Script {
    fn from(steps: Vec<Step>) -> Self {
        Self::new(steps)
    }
}

impl<const N: usize> From<[Step; N]> for Script {
    fn from(steps: [Step; N]) -> Self {
        Self::new(steps)
    }
}
