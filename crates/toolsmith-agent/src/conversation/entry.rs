//! What a conversation is kept as: one JSON object a line, the first of which says what
//! the file is and which version of this form it has.
//!
//! Readers refuse a newer version and ignore fields they do not know; an entry of a type
//! they do not know is an error, because leaving out what was said changes what it means.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use toolsmith_core::call::RawArguments;
use toolsmith_core::{Block, Outcome, RawCall, ToolError};
use toolsmith_provider::{Answer, Provider, Usage};

/// The version of the form that is written.
pub const VERSION: u32 = 1;

/// The first line of a kept conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Head {
    /// The version of the form.
    pub conversation: u32,
    /// What it is called.
    pub id: String,
    /// When it began, in seconds since 1970.
    #[serde(default)]
    pub began: u64,
    /// The agent it was begun with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The model it was begun with, as `PROVIDER/MODEL`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Where that was reached, if somebody said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

impl Head {
    /// The head of a conversation in the form that is written.
    pub fn new(id: impl Into<String>, began: u64) -> Self {
        Self {
            conversation: VERSION,
            id: id.into(),
            began,
            ..Self::default()
        }
    }
}

/// A line of a kept conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Entry {
    /// What the user said.
    User {
        /// The words.
        text: String,
    },
    /// What the model said.
    Answer(Box<KeptAnswer>),
    /// What came of a call of the answer before it.
    Result {
        /// Which call of the answer, from nought.
        index: usize,
        /// What came of it.
        outcome: Box<KeptOutcome>,
    },
    /// How a run ended. Another may follow.
    Ended {
        /// The reason in one word.
        reason: String,
        /// And in a sentence.
        message: String,
    },
}

/// What a model said, as it is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct KeptAnswer {
    /// Whose format the turn is in.
    pub provider: Provider,
    /// The model that spoke.
    pub model: String,
    /// What it said beside its calls.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// What it thought, where that is told apart.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    /// The calls it made, in the tools' own terms.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<KeptCall>,
    /// The turn as its provider wants to see it again.
    pub turn: Vec<Value>,
    /// Whether its calls stand in its text.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_text: bool,
    /// How much it took.
    #[serde(default)]
    pub usage: Usage,
}

impl KeptAnswer {
    pub(crate) fn of(answer: &Answer, provider: Provider, model: &str) -> Self {
        Self {
            provider,
            model: model.to_owned(),
            text: answer.text.clone(),
            reasoning: answer.reasoning.clone(),
            calls: answer
                .calls
                .iter()
                .map(|each| KeptCall::of(&each.call))
                .collect(),
            turn: answer.turn.clone(),
            in_text: answer.in_text,
            usage: answer.usage,
        }
    }

    /// The calls as the toolbox would take them.
    pub(crate) fn raw_calls(&self) -> Vec<RawCall> {
        self.calls.iter().map(KeptCall::raw).collect()
    }
}

/// A call of a model, as it is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct KeptCall {
    /// Its number.
    pub id: String,
    /// The name the tool was called by.
    pub name: String,
    /// The arguments, where they could be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Value>,
    /// Why they could not be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub malformed: Option<String>,
}

impl KeptCall {
    pub(crate) fn of(call: &RawCall) -> Self {
        let (arguments, malformed) = match &call.arguments {
            RawArguments::Json(value) => (Some(value.clone()), None),
            RawArguments::Malformed(reason) => (None, Some(reason.clone())),
            _ => (None, Some("of a form that is not kept".to_owned())),
        };
        Self {
            id: { call.id.as_ref() }.map_or_else(String::new, |id| id.as_str().to_owned()),
            name: call.name.clone(),
            arguments,
            malformed,
        }
    }

    fn raw(&self) -> RawCall {
        let call = match (&self.malformed, &self.arguments) {
            (Some(reason), _) => RawCall::malformed(&self.name, reason),
            (None, arguments) => {
                let none = || Value::Object(Map::new());
                RawCall::new(&self.name, arguments.clone().unwrap_or_else(none))
            }
        };
        call.with_id(self.id.as_str())
    }
}

/// What came of a call, as it is kept: all that a model or a person is told of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct KeptOutcome {
    /// The tool that was called, by its bare name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The value, where it is what the model reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// What the model reads.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub content: Vec<Block>,
    /// One line for the person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display: Option<String>,
    /// How the agent should behave from here on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instruction: Option<String>,
    /// What went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ToolError>,
    /// How long it took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
}

impl KeptOutcome {
    pub(crate) fn of(outcome: &Outcome) -> Self {
        // Where there is content, that is what the model reads, and the value is not.
        let value = outcome.content.is_empty().then(|| outcome.value.clone());
        let duration = outcome.facts.duration.as_ref().map(Duration::as_millis);
        Self {
            tool: { outcome.facts.tool.as_ref() }.map(|tool| tool.as_str().to_owned()),
            value: value.flatten(),
            content: outcome.content.clone(),
            display: outcome.display.clone(),
            instruction: outcome.instruction.clone(),
            error: outcome.error.clone(),
            duration_ms: duration.and_then(|millis| u64::try_from(millis).ok()),
        }
    }

    /// Whether it went well.
    pub fn is_success(&self) -> bool {
        self.error.is_none()
    }

    /// The outcome, as far as it was kept.
    pub(crate) fn outcome(&self) -> Outcome {
        let mut outcome = Outcome::default();
        outcome.value.clone_from(&self.value);
        outcome.content.clone_from(&self.content);
        outcome.display.clone_from(&self.display);
        outcome.instruction.clone_from(&self.instruction);
        outcome.error.clone_from(&self.error);
        outcome
    }
}
