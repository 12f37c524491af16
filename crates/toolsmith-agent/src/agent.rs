//! The agent: offer, ask, call, answer, until there is an answer or a limit is reached.

mod run;

use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};
use toolsmith_core::store::SpillStore;
use toolsmith_provider::{Formatter, ModelClient, ToolFormatter};
use toolsmith_runtime::{Caller, Selection, Toolbox};

use self::run::Run;
use crate::conversation::Conversation;
use crate::event::{AgentEvent, Observer};
use crate::limits::{AgentLimits, Limit};
use crate::report::{End, Report};

/// A model with tools. Cheap to clone.
///
/// ```
/// use std::sync::Arc;
/// use serde_json::json;
/// use toolsmith_agent::Agent;
/// use toolsmith_core::RawCall;
/// use toolsmith_provider::{Dictionary, Provider, script};
/// use toolsmith_runtime::{Caller, Toolbox};
/// use toolsmith_testing::{ScriptedModel, tools};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let say = |text: &str, calls: &[RawCall]| {
///     script::body(Provider::Ollama, &Dictionary::default(), text, calls).to_string()
/// };
/// let model = ScriptedModel::new(Provider::Ollama, "llama3.1")
///     .saying(say("", &[RawCall::new("echo", json!({"text": "hello"}))]))
///     .saying(say("It says hello.", &[]));
/// let toolbox = Toolbox::new([tools::echo()])?;
/// let report = Agent::new(toolbox, Arc::new(model)).ask("What does it say?", &Caller::new("me")).await;
/// assert_eq!((report.text.as_str(), report.calls), ("It says hello.", 1));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Agent {
    toolbox: Toolbox,
    client: Arc<dyn ModelClient>,
    formatter: Arc<dyn Formatter>,
    selection: Selection,
    instructions: Option<String>,
    settings: Map<String, Value>,
    limits: AgentLimits,
    store: Option<Arc<dyn SpillStore>>,
    observer: Arc<dyn Observer>,
}

impl Agent {
    /// A model with all tools of a toolbox, asked the way the table knows it.
    pub fn new(toolbox: Toolbox, client: Arc<dyn ModelClient>) -> Self {
        Self {
            toolbox,
            client,
            formatter: Arc::new(ToolFormatter::default()),
            selection: Selection::everything(),
            instructions: None,
            settings: Map::new(),
            limits: AgentLimits::default(),
            store: None,
            observer: Arc::new(|_: &AgentEvent<'_>| {}),
        }
    }

    /// Sets how the model is asked for calls.
    #[must_use]
    pub fn with_formatter(mut self, formatter: impl Formatter + 'static) -> Self {
        self.formatter = Arc::new(formatter);
        self
    }

    /// Sets which tools are offered to callers that have no offer of their own.
    #[must_use]
    pub fn with_selection(mut self, selection: Selection) -> Self {
        self.selection = selection;
        self
    }

    /// Says what the model is told before everything else.
    #[must_use]
    pub fn with_instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// Adds fields to every request, in the provider's own words, such as `temperature`.
    #[must_use]
    pub fn with_settings(mut self, settings: Map<String, Value>) -> Self {
        self.settings = settings;
        self
    }

    /// Sets the ceilings.
    #[must_use]
    pub fn with_limits(mut self, limits: AgentLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets where the whole of a result is put that is shortened to make room.
    #[must_use]
    pub fn with_store(mut self, store: impl SpillStore) -> Self {
        self.store = Some(Arc::new(store));
        self
    }

    /// Sets who watches.
    #[must_use]
    pub fn with_observer(mut self, observer: impl Observer + 'static) -> Self {
        self.observer = Arc::new(observer);
        self
    }

    /// The tools it works with.
    pub fn toolbox(&self) -> &Toolbox {
        &self.toolbox
    }

    /// The ceilings.
    pub fn limits(&self) -> &AgentLimits {
        &self.limits
    }

    /// Asks one question in a conversation of its own.
    pub async fn ask(&self, prompt: &str, caller: &Caller) -> Report {
        self.answer(&mut Conversation::new(), prompt, caller).await
    }

    /// Adds a question to a conversation, and goes on until it is answered.
    pub async fn answer(
        &self,
        conversation: &mut Conversation,
        prompt: &str,
        caller: &Caller,
    ) -> Report {
        let mut run = Run::new(self, caller);
        let end = if prompt.len() > self.limits.prompt_bytes {
            End::Limit(Limit::Prompt)
        } else {
            run.answer(conversation, Some(prompt)).await
        };
        run.report(conversation, end)
    }

    /// Goes on with a conversation where it was left: with what the user said last, or
    /// with what came of the model's calls.
    pub async fn resume(&self, conversation: &mut Conversation, caller: &Caller) -> Report {
        let mut run = Run::new(self, caller);
        let end = run.answer(conversation, None).await;
        run.report(conversation, end)
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agent")
            .field("provider", &self.client.provider())
            .field("model", &self.client.model())
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
