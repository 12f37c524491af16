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

impl Registry {
    /// Notes that a source has not told its tools, how their names begin, and what calls of
    /// them are answered with until it has. A source with tools keeps them, and this does
    /// nothing.
    pub fn missing_source(&self, source: &str, beginning: &str, error: ToolError) {
        let _writing = self.write();
        let is_known = |entry: &Arc<Entry>| entry.origin.is(source);
        if self.snapshot.load().entries().iter().any(is_known) {
            return;
        }
        let mut absent = self.others_absent(source);
        absent.push(Absent {
            source: source.to_owned(),
            beginning: beginning.to_owned(),
            error,
        });
        self.absent.store(Arc::new(absent));
    }

    /// Takes [`Registry::missing_source`] back, for a source that nobody describes any more.
    pub fn forget_missing(&self, source: &str) {
        let _writing = self.write();
        self.no_longer_absent(source);
    }

    /// A source has told its tools, or is gone. The caller holds the lock for writing.
    pub(super) fn no_longer_absent(&self, source: &str) {
        if self.absent.load().iter().any(|each| each.source == source) {
            self.absent.store(Arc::new(self.others_absent(source)));
        }
    }

    fn others_absent(&self, source: &str) -> Vec<Absent> {
        let absent = self.absent.load();
        let others = absent.iter().filter(|each| each.source != source);
        others.cloned().collect()
    }

    pub(crate) fn misses_sources(&self) -> bool {
        !self.absent.load().is_empty()
    }

    /// The bare name of a tool that no source has told yet, and what its call is answered
    /// with: that of the source whose beginning says most.
    pub(crate) fn missing_called(&self, name: &str) -> Option<(String, ToolError)> {
        let absent = self.absent.load();
        let known = |name: &str| {
            let fits = absent.iter().filter(|it| name.starts_with(&it.beginning));
            let best = fits.max_by_key(|it| it.beginning.len())?;
            Some((name.to_owned(), best.error.clone()))
        };
        let settings = self.settings.load();
        let bare = match settings.prefix.as_str() {
            "" => None,
            prefix => name.strip_prefix(prefix),
        };
        known(name).or_else(|| known(bare?.trim_start_matches('_')))
    }
}
