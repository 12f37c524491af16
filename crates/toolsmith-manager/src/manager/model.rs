//! How models are told of the tools, by the word of the files.

use toolsmith_provider::{Options, Provider, ToolFormatter};

use super::{Manager, View};

impl Manager {
    /// What tells models of `provider` of the tools of a view: its strategy, what is said
    /// of models, and the tools the provider runs itself.
    pub fn formatter(&self, view: &View, provider: Provider) -> ToolFormatter {
        let current = self.current.load();
        let agent = match view {
            View::Agent(name) => current.catalogue.agents.get(name),
            View::Usual | View::Set(_) => None,
        };
        let config = &current.config;
        let (strategy, hosted) = match agent {
            Some(agent) => (agent.output_strategy, &agent.hosted_tools),
            None => (None, &config.hosted_tools),
        };
        let strategy = strategy.unwrap_or(config.output_strategy);
        let mut options = Options::default();
        options.hosted = hosted.of(provider).to_vec();
        config.models.formatter(strategy).with_options(options)
    }

    /// The model of `provider` that the tools of a view are for, where the files name one
    /// as `PROVIDER/MODEL`.
    pub fn model(&self, view: &View, provider: Provider) -> Option<String> {
        let current = self.current.load();
        let agent = match view {
            View::Agent(name) => current.catalogue.agents.get(name),
            View::Usual | View::Set(_) => None,
        };
        let model = agent.and_then(|agent| agent.model.as_ref());
        let (whose, model) = model.or(current.config.model.as_ref())?.split_once('/')?;
        (whose == provider.word()).then(|| model.to_owned())
    }
}
