//! Prompts beside the tools: what a host implements to serve some.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use toolsmith_core::reply::{Inquiry, Question, Response};
use toolsmith_core::{Block, ToolError};
use toolsmith_runtime::{Inquirer, Toolbox};

use super::ask::Desk;
use super::hush::Hush;
use super::resources::Completion;
use crate::BoxFuture;

/// A source of prompts. Implemented by hosts and by the gateway; several can be
/// served side by side.
pub trait Prompts: Send + Sync + 'static {
    /// The prompts there are, in an order that does not change by itself.
    fn list(&self) -> BoxFuture<'_, Result<Vec<Prompt>, ToolError>>;

    /// Makes a prompt; none where the name is not this source's.
    fn get<'a>(
        &'a self,
        name: &'a str,
        arguments: Map<String, Value>,
        asking: Asking,
    ) -> BoxFuture<'a, Result<Option<PromptText>, ToolError>>;

    /// Completes an argument; none where the prompt is not this source's.
    fn complete<'a>(
        &'a self,
        prompt: &'a str,
        argument: &'a str,
        value: &'a str,
    ) -> BoxFuture<'a, Option<Completion>> {
        Box::pin(async move {
            let prompts = self.list().await.ok()?;
            let prompt = prompts.into_iter().find(|each| each.name == prompt)?;
            let argument = prompt.arguments.iter().find(|each| each.name == argument)?;
            let choices = argument.choices.iter().map(String::as_str);
            Some(match argument.is_list {
                true => Completion::in_list(choices, value),
                false => Completion::among(choices, value),
            })
        })
    }
}

/// Lets a prompt ask the person it is made for.
#[derive(Clone, Debug)]
pub struct Asking(Option<(Desk, Toolbox)>);

impl Asking {
    /// Nobody is there to ask.
    pub fn nobody() -> Self {
        Self(None)
    }

    /// Asks at a desk, with the secrets of a toolbox left out.
    pub(super) fn at(desk: Desk, toolbox: Toolbox) -> Self {
        Self(Some((desk, toolbox)))
    }

    /// Asks one question; its answer goes by `key`.
    pub async fn ask(&self, key: &str, question: Question) -> Response {
        let Some((desk, toolbox)) = &self.0 else {
            return Response::Unavailable;
        };
        let question = Hush(toolbox.redactor()).question(question);
        let answers = desk.inquire(vec![Inquiry::new(key, question)]).await;
        answers.into_iter().next().unwrap_or(Response::Unavailable)
    }
}

/// A prompt that can be made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Prompt {
    /// Its name for programs.
    pub name: String,
    /// Its name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What it is made from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<PromptArgument>,
    /// Whatever else the protocol knows of prompts.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

impl Prompt {
    /// A prompt.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            title: None,
            description: Some(description.into()),
            arguments: Vec::new(),
            more: Map::new(),
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn with_argument(mut self, argument: PromptArgument) -> Self {
        self.arguments.push(argument);
        self
    }
}

/// Something a prompt is made from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PromptArgument {
    /// Its name.
    pub name: String,
    /// What it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether it must be given.
    #[serde(default)]
    pub required: bool,
    /// What it can be, where that is a closed list; clients can have it completed.
    #[serde(skip)]
    pub choices: Vec<String>,
    /// Whether it can be several of them, with commas between.
    #[serde(skip)]
    pub is_list: bool,
}

impl PromptArgument {
    /// An argument that must be given.
    pub fn required(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            description: Some(description.into()),
            required: true,
            choices: Vec::new(),
            is_list: false,
        }
    }

    /// An argument that may be left out.
    pub fn optional(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self {
            required: false,
            ..Self::required(name, description)
        }
    }

    /// Closes the list of what it can be.
    #[must_use]
    pub fn with_choices(mut self, choices: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.choices = choices.into_iter().map(Into::into).collect();
        self
    }

    /// Lets it be several of its choices, with commas between.
    #[must_use]
    pub fn as_list(mut self) -> Self {
        self.is_list = true;
        self
    }
}

/// A prompt, made.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct PromptText {
    /// What it is for.
    pub description: Option<String>,
    /// Its messages.
    pub messages: Vec<PromptMessage>,
}

impl PromptText {
    /// A prompt of these messages.
    pub fn new(messages: Vec<PromptMessage>) -> Self {
        Self {
            description: None,
            messages,
        }
    }
}

/// A message of a prompt.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PromptMessage {
    /// Whose words it is.
    pub speaker: Speaker,
    /// What it says.
    pub content: Block,
}

impl PromptMessage {
    /// Words of the user.
    pub fn user(content: Block) -> Self {
        Self {
            speaker: Speaker::User,
            content,
        }
    }

    /// Words of the model.
    pub fn assistant(content: Block) -> Self {
        Self {
            speaker: Speaker::Assistant,
            content,
        }
    }
}

/// Whose words a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// The user's.
    User,
    /// The model's.
    Assistant,
}
