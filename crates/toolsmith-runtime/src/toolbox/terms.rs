//! What of a toolbox can be changed while it is in use.

use std::sync::Arc;

use toolsmith_core::{AnyTool, Binding};

use super::{BuildError, Toolbox, builder};
use crate::limits::Limits;
use crate::permit::Policy;
use crate::registry::Refreshed;

/// On what terms tools are called: what a host that reads its configuration again hands
/// over whole. Calls that are under way keep the tools they began with.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Terms {
    /// The policy.
    pub policy: Policy,
    /// The ceilings. How many threads and compiled schemas there are is settled when the
    /// toolbox is built.
    pub limits: Limits,
    /// The prefix of offered names; empty for none.
    pub prefix: String,
    /// How tools are run, by name or glob.
    pub bindings: Vec<(String, Binding)>,
    /// Values that must reach no model, terminal or log, beside those known already.
    pub secrets: Vec<String>,
}

impl Toolbox {
    /// Changes the terms, all of them or, on an error, none.
    pub fn change(&self, terms: Terms) -> Result<(), BuildError> {
        let settings = builder::settings(terms.prefix, terms.bindings, &terms.limits)?;
        let inner = &self.inner;
        inner.shaper.redactor.learn(terms.secrets);
        inner.guards.policy.store(Arc::new(terms.policy));
        inner.limits.store(Arc::new(terms.limits));
        inner.registry.change(settings);
        Ok(())
    }

    /// Replaces the tools the user wrote down, each with the file it stands in, in one
    /// step.
    pub fn refresh_files(&self, tools: impl IntoIterator<Item = (Arc<str>, AnyTool)>) -> Refreshed {
        let tools: Vec<_> = tools.into_iter().collect();
        let count = tools.len();
        let refreshed = self.inner.registry.refresh_files(tools);
        let registered = count - refreshed.refused().len();
        self.inner.registered(crate::registry::FILES, registered);
        refreshed
    }
}
