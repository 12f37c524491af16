//! Sources whose tools nobody knows yet.
//!
//! A server that was never reached has told no tools. Who calls one of them by its name
//! has made no mistake, and is told what is the matter instead of that there is no such
//! tool.

use std::sync::Arc;

use toolsmith_core::ToolError;

use super::{Entry, Registry};

/// A source that has not told its tools.
#[derive(Clone, Debug)]
pub(super) struct Absent {
    source: String,
    /// How the names of its tools begin.
    beginning: String,
    error: ToolError,
}

impl Absent {
    pub(super) fn is(&self, source: &str) -> bool {
        self.source == source
    }
}

impl Registry {
    /// Notes that a source has not told its tools, how their names begin, and what calls of
    /// them are answered with until it has. A source with tools keeps them, and this does
    /// nothing.
    pub fn missing_source(&self, source: &str, beginning: &str, error: ToolError) {
        let mut generations = self.write();
        let is_known = |entry: &Arc<Entry>| entry.origin.is(source);
        if self.snapshot.load().entries().iter().any(is_known) {
            return;
        }
        generations.absent.retain(|absent| !absent.is(source));
        generations.absent.push(Absent {
            source: source.to_owned(),
            beginning: beginning.to_owned(),
            error,
        });
    }

    /// How the names of tools begin that no source has told yet.
    pub(crate) fn missing_beginnings(&self) -> Vec<String> {
        let generations = self.write();
        let absent = generations.absent.iter();
        absent.map(|absent| absent.beginning.clone()).collect()
    }

    /// The bare name of a tool that no source has told yet, and what its call is answered
    /// with: that of the source whose beginning says most.
    pub(crate) fn missing_called(&self, name: &str) -> Option<(String, ToolError)> {
        let prefix = self.settings.load().prefix.clone();
        let bare = (name.strip_prefix(&prefix))
            .map(|rest| rest.trim_start_matches('_'))
            .filter(|_| !prefix.is_empty());
        let generations = self.write();
        let known = |name: &str| {
            let absent = generations.absent.iter();
            let fits = absent.filter(|absent| name.starts_with(&absent.beginning));
            let best = fits.max_by_key(|absent| absent.beginning.len())?;
            Some((name.to_owned(), best.error.clone()))
        };
        known(name).or_else(|| bare.and_then(known))
    }
}
