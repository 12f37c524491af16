//! Which tools of a server are used: `allow` and `deny`.

use globset::{Glob, GlobSet, GlobSetBuilder};

use super::ServerEntry;

/// The globs of a server, ready to be asked.
#[derive(Clone, Debug)]
pub struct ToolFilter {
    /// None for every tool.
    allow: Option<GlobSet>,
    deny: GlobSet,
}

impl ToolFilter {
    /// Tells whether a tool is used, by the name its server has for it.
    pub fn admits(&self, tool: &str) -> bool {
        let is_allowed = self.allow.as_ref().is_none_or(|set| set.is_match(tool));
        is_allowed && !self.deny.is_match(tool)
    }
}

impl ServerEntry {
    /// The filter for its tools. An entry that was not read but made, with a glob that
    /// is none, is an error: left out, a `deny` would let its tools through.
    pub fn tool_filter(&self) -> Result<ToolFilter, globset::Error> {
        let allow = match &self.allow[..] {
            [] => None,
            globs => Some(set(globs)?),
        };
        let deny = set(&self.deny)?;
        Ok(ToolFilter { allow, deny })
    }
}

fn set(globs: &[String]) -> Result<GlobSet, globset::Error> {
    let mut builder = GlobSetBuilder::new();
    for glob in globs {
        builder.add(Glob::new(glob)?);
    }
    builder.build()
}
