//! Who does the work of a task: the host's side.

use toolsmith_core::ToolError;
use toolsmith_runtime::{Caller, Selection};

use crate::agent::Agent;

/// Knows the agents tasks can be given to. Implemented by hosts.
pub trait Workers: Send + Sync + 'static {
    /// The agent of a name, or the one for tasks that name none, with the model that was
    /// asked for, if one was. `parent` is whoever gives the task.
    ///
    /// # Errors
    /// When there is no such agent, or no model: told so that a model can act on it.
    fn worker(
        &self,
        name: Option<&str>,
        model: Option<&str>,
        parent: &Caller,
    ) -> Result<Worker, ToolError>;
}

/// An agent that can be given a task.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Worker {
    /// The agent.
    pub agent: Agent,
    /// What it is called in rules; whoever gives the task where it has no name.
    pub name: Option<String>,
    /// Its tools: those of them count that whoever gives the task has too.
    pub selection: Selection,
}

impl Worker {
    /// An agent with all tools of whoever gives the task, under the same rules.
    pub fn new(agent: Agent) -> Self {
        Self {
            agent,
            name: None,
            selection: Selection::everything(),
        }
    }

    /// Names the agent: rules about it hold for it, beside those about whoever gives the
    /// task.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets its tools.
    #[must_use]
    pub fn with_selection(mut self, selection: Selection) -> Self {
        self.selection = selection;
        self
    }
}
