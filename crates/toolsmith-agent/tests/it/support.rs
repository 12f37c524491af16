//! Scripted models, and what they say.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use toolsmith_agent::conversation::{Entry, JournalError};
use toolsmith_agent::{Agent, AgentEvent, AgentLimits, Journal, Observer};
use toolsmith_core::RawCall;
use toolsmith_provider::client::{Completion, ModelError, Pieces, Streaming};
use toolsmith_provider::{Dictionary, ModelClient, Provider, script};
use toolsmith_runtime::Toolbox;
use toolsmith_testing::ScriptedModel;

pub(crate) const PROVIDER: Provider = Provider::OpenAi;

/// What a model answers that says `text` and makes these calls.
pub(crate) fn body(text: &str, calls: &[RawCall]) -> Vec<u8> {
    body_of(PROVIDER, text, calls)
}

pub(crate) fn body_of(provider: Provider, text: &str, calls: &[RawCall]) -> Vec<u8> {
    script::stream(provider, &Dictionary::default(), text, calls)
}

pub(crate) fn call(id: &str, name: &str, arguments: Value) -> RawCall {
    RawCall::new(name, arguments).with_id(id)
}

/// A model with a script.
pub(crate) fn model(answers: impl IntoIterator<Item = Vec<u8>>) -> Arc<ScriptedModel> {
    let model = ScriptedModel::new(PROVIDER, "gpt-4o");
    Arc::new(answers.into_iter().fold(model, ScriptedModel::saying))
}

/// A model that says the same for ever.
pub(crate) struct Stubborn(pub(crate) Vec<u8>);

impl ModelClient for Stubborn {
    fn provider(&self) -> Provider {
        PROVIDER
    }
    fn model(&self) -> &str {
        "gpt-4o"
    }
    fn complete(&self, _request: Value) -> Completion<'_> {
        Box::pin(std::future::ready(Ok(self.0.clone())))
    }
}

/// A model that never answers.
pub(crate) struct Mute;

impl ModelClient for Mute {
    fn provider(&self) -> Provider {
        PROVIDER
    }
    fn model(&self) -> &str {
        "gpt-4o"
    }
    fn complete(&self, _request: Value) -> Completion<'_> {
        Box::pin(std::future::pending())
    }
}

/// A model whose answers come piece by piece, as they are scripted.
pub(crate) struct InPieces(pub(crate) Vec<Vec<u8>>);

impl ModelClient for InPieces {
    fn provider(&self) -> Provider {
        PROVIDER
    }
    fn model(&self) -> &str {
        "gpt-4o"
    }
    fn complete(&self, _request: Value) -> Completion<'_> {
        Box::pin(async { Err(ModelError::new("it only streams")) })
    }
    fn stream<'a>(&'a self, _request: Value, pieces: Pieces<'a>) -> Streaming<'a> {
        Box::pin(async move {
            self.0.iter().for_each(|piece| pieces(piece));
            Ok(())
        })
    }
}

/// An agent that ends soon where it does not end by itself.
pub(crate) fn agent(toolbox: &Toolbox, model: Arc<dyn ModelClient>) -> Agent {
    Agent::new(toolbox.clone(), model).with_limits(limits(|_| {}))
}

pub(crate) fn limits(change: impl FnOnce(&mut AgentLimits)) -> AgentLimits {
    let mut limits = AgentLimits::default();
    limits.turns = 20;
    change(&mut limits);
    limits
}

/// Keeps what happened, a line each.
#[derive(Clone, Default)]
pub(crate) struct Seen(Arc<Mutex<Vec<String>>>);

impl Seen {
    pub(crate) fn lines(&self) -> Vec<String> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl Seen {
    pub(crate) fn without_text(&self) -> Vec<String> {
        let mut lines = self.lines();
        lines.retain(|line| !line.starts_with("text "));
        lines
    }
}

impl Observer for Seen {
    fn observe(&self, event: &AgentEvent<'_>) {
        let line = match event {
            AgentEvent::Turn { number, way } => format!("turn {number} {}", way.word()),
            AgentEvent::Text(text) => format!("text {text}"),
            AgentEvent::Again { reason } => format!("again {reason}"),
            AgentEvent::FellBack { .. } => "fell back".to_owned(),
            AgentEvent::Calling { index, call } => format!("calling {index} {}", call.name),
            AgentEvent::Called { index, outcome, .. } => {
                let how = outcome.error.as_ref().map_or("done", |error| error.code());
                format!("called {index} {how}")
            }
            AgentEvent::Shortened { results } => format!("shortened {results}"),
            AgentEvent::Ended(report) => format!("ended {}", report.end.word()),
            _ => return,
        };
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(line);
    }
}

/// A journal in memory that can be made to fail.
#[derive(Default)]
pub(crate) struct Memory {
    pub(crate) lines: Mutex<Vec<String>>,
    /// How many lines there is room for.
    pub(crate) room: Option<usize>,
}

impl Memory {
    pub(crate) fn text(&self) -> String {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let head = r#"{"conversation":1,"id":"test"}"#.to_owned();
        let all = std::iter::once(head).chain(lines.iter().cloned());
        all.map(|line| line + "\n").collect()
    }
}

impl Journal for Memory {
    fn append(&self, entry: &Entry) -> Result<(), JournalError> {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if self.room.is_some_and(|room| lines.len() >= room) {
            return Err(JournalError("the disk is full".to_owned()));
        }
        lines.push(serde_json::to_string(entry).unwrap());
        Ok(())
    }
}
