//! Agents as the files have them: a model that is reached, what it is told, how far it may
//! go; and the same for tasks that one agent gives another.

use std::sync::{Arc, Weak};

use toolsmith_agent::Agent;
use toolsmith_agent::client::{HttpModel, HttpSettings, ModelName};
use toolsmith_agent::task::{Worker, Workers};
use toolsmith_core::{ErrorKind, ToolError};
use toolsmith_provider::Formatter as _;
use toolsmith_runtime::Caller;

use super::{Manager, View};
use crate::config::AskConfig;

/// What is said of one run, over what the files say.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct AskTerms {
    /// The model, as `PROVIDER/MODEL`.
    pub model: Option<String>,
    /// Where it is reached.
    pub url: Option<String>,
    /// How it answers.
    pub ask: AskConfig,
    /// How it is reached.
    pub http: HttpSettings,
}

/// Why there is no agent.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct AgentError(String);

impl AgentError {
    fn new(error: impl std::fmt::Display) -> Self {
        Self(error.to_string())
    }
}

impl Manager {
    /// The agent of a view: its model, reached as the files and the environment say, its
    /// instructions and its limits.
    ///
    /// # Errors
    /// When no model is named, it cannot be reached, or there is no way for it to call tools:
    /// what is missing is told.
    pub fn agent(&self, view: &View, terms: &AskTerms) -> Result<(ModelName, Agent), AgentError> {
        let current = self.current.load();
        let own = match view {
            View::Agent(name) => current.catalogue.agents.get(name),
            View::Usual | View::Set(_) => None,
        };
        let config = &current.config;
        let its_own = own.and_then(|agent| agent.model.as_ref());
        let name = terms.model.as_ref().or(its_own).or(config.model.as_ref());
        let name = name.ok_or_else(|| {
            AgentError::new(
                "no model is named: give --model PROVIDER/MODEL, or write `model: PROVIDER/MODEL` into \
                 toolsmith.yaml",
            )
        })?;
        let name: ModelName = name.parse().map_err(AgentError::new)?;
        let references = &self.setup.references;
        let endpoint = config
            .providers
            .endpoint(name.provider, references, terms.url.as_deref());
        let endpoint = endpoint.map_err(AgentError::new)?;
        let model = HttpModel::new(endpoint, &name.model, terms.http.clone());
        let model = model.map_err(AgentError::new)?;
        let ask = match own {
            Some(agent) => terms.ask.over(&agent.ask.over(&config.ask)),
            None => terms.ask.over(&config.ask),
        };
        let price = config.models.price(name.provider, &name.model);
        if ask.cost.is_some() && price.is_none() {
            return Err(AgentError(format!(
                "a limit of cost needs a price: write `models: {{ \"{name}\": {{ price: {{ input: …, output: … }} }} }}` \
                 into toolsmith.yaml"
            )));
        }
        let formatter = self.formatter(view, name.provider);
        // Files that leave no way to call tools are wrong before anything is asked.
        formatter.detect_strategy(&model).map_err(AgentError::new)?;
        let mut agent = Agent::new(self.toolbox.clone(), Arc::new(model))
            .with_formatter(formatter)
            .with_settings(ask.settings.clone())
            .with_limits(ask.limits(price));
        if let Some(instructions) = &ask.instructions {
            agent = agent.with_instructions(instructions);
        }
        if let Some(spills) = &self.setup.spills {
            agent = agent.with_store(spills.clone());
        }
        Ok((name, agent))
    }

    /// Every model the files name, as `PROVIDER/MODEL`.
    fn models(&self) -> Vec<String> {
        let current = self.current.load();
        let agents = current.catalogue.agents.values();
        let of_agents = agents.filter_map(|agent| agent.model.clone());
        let mut models: Vec<String> = of_agents.chain(current.config.model.clone()).collect();
        models.sort();
        models.dedup();
        models
    }
}

/// The agents of a project, as workers for tasks.
#[derive(Clone, Debug)]
pub struct ProjectWorkers {
    /// The toolbox of the manager holds the tools that hold this.
    manager: Weak<Manager>,
    /// What was said of this run.
    terms: Arc<AskTerms>,
    /// Who gives tasks where nobody says.
    view: View,
}

impl ProjectWorkers {
    /// The agents of a project; who names none gets one like the view's.
    pub fn new(manager: &Arc<Manager>, view: View, terms: AskTerms) -> Self {
        Self {
            manager: Arc::downgrade(manager),
            terms: Arc::new(terms),
            view,
        }
    }

    /// What is said of a worker: the model that was asked for, if it is one the files name.
    fn terms(&self, manager: &Manager, model: Option<&str>) -> Result<AskTerms, ToolError> {
        let known = |model: &str| {
            let models = manager.models();
            let is_current = self.terms.model.as_deref() == Some(model);
            match is_current || models.iter().any(|each| each == model) {
                true => Ok(()),
                // What costs money is the user's to name.
                false => Err(ToolError::invalid(format!(
                    "the model {model:?} is not among those of this project: {}",
                    models.join(", ")
                ))),
            }
        };
        model.map(known).transpose()?;
        let named = model.map(str::to_owned);
        // Another model may be reached elsewhere.
        let url = self.terms.url.clone().filter(|_| named.is_none());
        Ok(AskTerms {
            model: named,
            url,
            ask: self.terms.ask.clone(),
            http: self.terms.http.clone(),
        })
    }
}

impl Workers for ProjectWorkers {
    fn worker(
        &self,
        name: Option<&str>,
        model: Option<&str>,
        parent: &Caller,
    ) -> Result<Worker, ToolError> {
        let gone = || ToolError::internal("the project is being closed");
        let manager = self.manager.upgrade().ok_or_else(gone)?;
        let named = name.or(parent.agent());
        let view = match named {
            Some(agent) => View::Agent(agent.to_owned()),
            None => self.view.clone(),
        };
        let selection = manager.selection(&view);
        let selection = selection.map_err(|error| ToolError::invalid(error.to_string()))?;
        let mut terms = self.terms(&manager, model)?;
        let has_own_model = {
            let current = manager.current.load();
            let agent = named.and_then(|agent| current.catalogue.agents.get(agent));
            // What was said of this run was said to whoever gives the task.
            if let (Some(_), Some(agent)) = (name, agent) {
                terms.ask = terms.ask.around(&agent.ask);
            }
            agent.is_some_and(|agent| agent.model.is_some())
        };
        if terms.model.is_none() && !has_own_model {
            terms.model.clone_from(&self.terms.model);
        } else {
            terms.url = None;
        }
        let (_, agent) = manager.agent(&view, &terms).map_err(|error| {
            ToolError::new(ErrorKind::Unavailable, error.to_string()).for_good()
        })?;
        let worker = Worker::new(agent).with_selection(selection);
        Ok(match name {
            Some(name) => worker.named(name),
            None => worker,
        })
    }
}
