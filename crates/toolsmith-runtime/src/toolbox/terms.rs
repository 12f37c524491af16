//! What of a toolbox can be changed while it is in use.

use std::sync::Arc;

use toolsmith_core::{AnyTool, Binding};

use super::{BuildError, Toolbox, builder};
use crate::limits::Limits;
use crate::permit::Policy;
use crate::registry::Refreshed;
use crate::shield::Protection;

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
    /// How sources and callers are held within bounds.
    pub protection: Protection,
    /// Values that must reach no model, terminal or log, beside those known already.
    pub secrets: Vec<String>,
}

/// What a host read from its files.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Reload {
    /// On what terms tools are called.
    pub terms: Terms,
    /// The tools the user wrote down, each with the file it stands in. They come before
    /// those of all sources, also where names collide; of two with one name the first
    /// stays.
    pub files: Vec<(Arc<str>, AnyTool)>,
    /// Sources whose tools are replaced too, each with all it has.
    pub loaded: Vec<(String, Vec<AnyTool>)>,
}

impl Toolbox {
    /// Changes terms and tools: all of it or, on an error, nothing. Lists change in one
    /// step; a tool that cannot be registered harms no other.
    pub fn reload(&self, reload: Reload) -> Result<Refreshed, BuildError> {
        let Reload {
            terms,
            files,
            loaded,
        } = reload;
        let settings = builder::settings(terms.prefix, terms.bindings, &terms.limits)?;
        let settled = builder::settled(&terms.protection)?;
        let count = files.len();
        let inner = &self.inner;
        // What is stricter comes first: nothing is offered before its rules hold.
        inner.shaper.redactor.learn(terms.secrets);
        inner.guards.policy.store(Arc::new(terms.policy));
        inner.shield.settle(terms.protection.callers);
        inner.registry.sources().settle(settled);
        inner.limits.store(Arc::new(terms.limits));
        let refreshed = inner.registry.reload(Some(settings), files, loaded);
        inner.shield.answers.empty();
        let registered = count.saturating_sub(refreshed.refused().len());
        inner.registered(crate::registry::FILES, registered);
        Ok(refreshed)
    }
}
