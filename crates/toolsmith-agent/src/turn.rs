//! One turn of a model: what it is sent, and what it answers.

use serde_json::{Map, Value};
use tokio::time::Instant;
use toolsmith_core::{CancellationToken, Offer, Reply};
use toolsmith_provider::client::ModelError;
use toolsmith_provider::{
    Answer, Declared, Delta, FormatError, Formatter, ModelClient, ParseError, StrategyError, Way,
    instruct, render,
};

use crate::budget::Context;
use crate::conversation::{Conversation, Exchange};
use crate::event::{AgentEvent, Observer};

/// A model, and the words it was told of the tools in.
pub(crate) struct Counterpart<'a> {
    pub(crate) client: &'a dyn ModelClient,
    pub(crate) formatter: &'a dyn Formatter,
    pub(crate) offer: &'a Offer,
    pub(crate) instructions: Option<&'a str>,
    /// Fields of every request, in the provider's own words.
    pub(crate) settings: &'a Map<String, Value>,
    pub(crate) way: Way,
    pub(crate) declared: Declared,
}

/// Why tools cannot be declared to a model.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DeclareError {
    #[error(transparent)]
    Strategy(#[from] StrategyError),
    #[error(transparent)]
    Format(#[from] FormatError),
}

/// Why a turn brought no answer.
#[derive(Debug)]
pub(crate) enum TurnError {
    Model(ModelError),
    Parse(ParseError),
    OutOfTime,
    Cancelled,
}

impl<'a> Counterpart<'a> {
    /// Finds the way to ask a model for calls, and declares the tools.
    pub(crate) fn new(
        client: &'a dyn ModelClient,
        formatter: &'a dyn Formatter,
        offer: &'a Offer,
        instructions: Option<&'a str>,
        settings: &'a Map<String, Value>,
    ) -> Result<Self, DeclareError> {
        let way = formatter.detect_strategy(client)?;
        let declared = formatter.format(client, way, offer)?;
        Ok(Self {
            client,
            formatter,
            offer,
            instructions,
            settings,
            way,
            declared,
        })
    }

    /// Goes on as text, after the model has refused to take tools.
    pub(crate) fn fall_back(&mut self) -> Result<(), DeclareError> {
        self.way = self.formatter.after_refusal(self.client)?;
        self.declared = (self.formatter).format(self.client, self.way, self.offer)?;
        Ok(())
    }

    /// How much of a request is not conversation.
    pub(crate) fn overhead(&self) -> usize {
        let tools = Value::Object(self.declared.request.clone())
            .to_string()
            .len();
        let prompt = self.declared.structured.as_ref();
        let prompt = prompt.map_or(0, |structured| structured.prompt.len());
        tools + prompt + self.instructions.map_or(0, str::len)
    }

    /// The request for the next turn of a conversation.
    pub(crate) fn request(&self, conversation: &Conversation, context: &Context) -> Value {
        let provider = self.declared.provider;
        let mut messages = Vec::new();
        for (at, exchange) in conversation.exchanges().iter().enumerate() {
            match exchange {
                Exchange::User(text) => messages.push(render::user_text(provider, text)),
                Exchange::Turn { answer, results } => {
                    let mut told = self.declared.retell(&answer.text, &answer.raw_calls());
                    // What it said itself, and the same way, is told as it came: with all
                    // that the provider wants to see again.
                    let same_way = answer.in_text == told.in_text || answer.calls.is_empty();
                    if answer.provider == provider && same_way {
                        told.turn.clone_from(&answer.turn);
                    }
                    let replies = results.iter().enumerate().map(|(index, outcome)| {
                        let outcome = outcome.as_ref()?;
                        let outcome = context.result((at, index), outcome).outcome();
                        Some(Reply::from(outcome))
                    });
                    let replies: Option<Vec<Reply>> = replies.collect();
                    messages.extend(told.turn.iter().cloned());
                    messages.extend(self.declared.render(&told, &replies.unwrap_or_default()));
                }
            }
        }
        let mut request = self.settings.clone();
        let field = render::conversation_field(provider);
        request.insert(field.to_owned(), Value::Array(messages));
        let model = self.client.model();
        if let Some(instructions) = self.instructions {
            instruct(provider, model, &mut request, instructions);
        }
        if let Some(structured) = &self.declared.structured {
            instruct(provider, model, &mut request, &structured.prompt);
        }
        request.extend(self.declared.request.clone());
        Value::Object(request)
    }

    /// Sends a request, shows the answer while it comes, and gives it.
    pub(crate) async fn ask(
        &self,
        request: Value,
        observer: &dyn Observer,
        deadline: Option<Instant>,
        cancellation: &CancellationToken,
    ) -> Result<Answer, TurnError> {
        let mut stream = self.declared.stream();
        let mut take = |bytes: &[u8]| show(observer, &stream.push(bytes));
        let out_of_time = async {
            match deadline {
                Some(deadline) => tokio::time::sleep_until(deadline).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = cancellation.cancelled() => return Err(TurnError::Cancelled),
            () = out_of_time => return Err(TurnError::OutOfTime),
            sent = self.client.stream(request, &mut take) => sent.map_err(TurnError::Model)?,
        }
        let (deltas, answer) = stream.finish_with_deltas();
        show(observer, &deltas);
        answer.map_err(TurnError::Parse)
    }
}

fn show(observer: &dyn Observer, deltas: &[Delta]) {
    for delta in deltas {
        match delta {
            Delta::Text(text) if !text.is_empty() => observer.observe(&AgentEvent::Text(text)),
            Delta::Reasoning(text) if !text.is_empty() => {
                observer.observe(&AgentEvent::Reasoning(text));
            }
            _ => {}
        }
    }
}
