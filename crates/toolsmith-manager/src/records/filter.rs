//! Which records are meant.

use globset::{GlobBuilder, GlobMatcher};
use toolsmith_core::moment::Moment;
use toolsmith_core::record::CallRecord;

/// Chooses among records; one that says nothing chooses all.
#[derive(Clone, Debug, Default)]
pub struct RecordFilter {
    tool: Option<GlobMatcher>,
    source: Option<String>,
    caller: Option<GlobMatcher>,
    since: Option<Moment>,
    only_failed: bool,
    only_denied: bool,
}

impl RecordFilter {
    /// Only tools whose name fits a glob; one that is called by another name may go by that.
    pub fn with_tool(mut self, glob: &str) -> Result<Self, globset::Error> {
        self.tool = Some(matcher(glob)?);
        Ok(self)
    }

    /// Only tools from a sort of source such as `mcp`, or from one source: a server's name
    /// or a file.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<String>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Only callers whose name fits a glob.
    pub fn with_caller(mut self, glob: &str) -> Result<Self, globset::Error> {
        self.caller = Some(matcher(glob)?);
        Ok(self)
    }

    /// Only calls that came in from then on.
    #[must_use]
    pub fn since(mut self, moment: Moment) -> Self {
        self.since = Some(moment);
        self
    }

    /// Only calls that failed, were refused or were given up.
    #[must_use]
    pub fn only_failed(mut self) -> Self {
        self.only_failed = true;
        self
    }

    /// Only calls that were refused by policy or by a person.
    #[must_use]
    pub fn only_denied(mut self) -> Self {
        self.only_denied = true;
        self
    }

    /// Tells whether a record is meant.
    pub fn fits(&self, record: &CallRecord<'_>) -> bool {
        let fits = |glob: &Option<GlobMatcher>, names: [Option<&str>; 2]| {
            let is_meant = |glob: &GlobMatcher| names.iter().flatten().any(|n| glob.is_match(n));
            glob.as_ref().is_none_or(is_meant)
        };
        let names = [record.tool.as_deref(), record.called_as.as_deref()];
        let is_source = |wanted: &String| {
            let source = record.source.as_ref();
            source.is_some_and(|source| source.kind == *wanted || source.origin == *wanted)
        };
        fits(&self.tool, names)
            && fits(&self.caller, [Some(&*record.caller), None])
            && self.source.as_ref().is_none_or(is_source)
            && self.since.is_none_or(|since| record.at >= since)
            && (!self.only_failed || record.is_failed())
            && (!self.only_denied || record.is_denied())
    }
}

fn matcher(glob: &str) -> Result<GlobMatcher, globset::Error> {
    Ok(GlobBuilder::new(glob).build()?.compile_matcher())
}
