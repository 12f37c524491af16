//! Offer: which tools one caller gets to see, and under which names.

use std::sync::Arc;

use globset::{GlobBuilder, GlobMatcher};
use sha2::{Digest, Sha256};
use toolsmith_core::name::MAX_NAME_LENGTH;
use toolsmith_core::{Detail, Exposure, Offer, ToolDef, ToolName};

use crate::registry::{Entry, Registry};

/// Which tools to offer. What is not set leaves nothing out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Selection {
    /// Names or globs of which a tool must match one, in the order of the offer; an empty
    /// list offers nothing.
    pub tools: Option<Vec<String>>,
    /// The sort of source: `builtin`, `native`, `rest`, `mcp`.
    pub source: Option<String>,
    /// The category.
    pub category: Option<String>,
    /// How much of the descriptions models are sent.
    pub detail: Detail,
}

impl Selection {
    /// Everything that is not hidden.
    pub fn everything() -> Self {
        Self::default()
    }

    /// Only tools that match one of these names or globs, in this order.
    #[must_use]
    pub fn with_tools(mut self, tools: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.tools = Some(tools.into_iter().map(Into::into).collect());
        self
    }

    /// Only tools of one sort of source.
    #[must_use]
    pub fn with_source(mut self, source: Option<String>) -> Self {
        self.source = source;
        self
    }

    /// Only tools of a category.
    #[must_use]
    pub fn with_category(mut self, category: Option<String>) -> Self {
        self.category = category;
        self
    }

    /// Sets how much of the descriptions models are sent.
    #[must_use]
    pub fn with_detail(mut self, detail: Detail) -> Self {
        self.detail = detail;
        self
    }
}

impl Selection {
    /// Tells whether a tool is of the source and the category that are wanted.
    fn fits(&self, tool: &ToolDef) -> bool {
        (self.source.as_deref()).is_none_or(|word| tool.source.word() == word)
            && (self.category.as_deref()).is_none_or(|c| tool.category() == c)
    }
}

/// Makes the offer. A glob that does not parse matches nothing.
pub(crate) fn offer(registry: &Registry, selection: &Selection) -> Offer {
    let mut offer = Offer::new(selection.detail);
    let withheld = withheld(registry, selection);
    withheld.into_iter().for_each(|name| offer.withhold(name));
    if registry.misses_sources() {
        offer.miss(wanted(selection));
    }
    let mut add = |entry: &Entry| {
        let tool = &entry.definition;
        let exposure = entry.binding.exposure();
        if exposure != Exposure::Hidden && selection.fits(tool) {
            offer.add(entry.wire_name.clone(), tool.clone(), exposure);
        }
    };
    let entries = registry.entries();
    let Some(patterns) = &selection.tools else {
        entries.iter().for_each(|entry| add(entry));
        return offer;
    };
    for pattern in patterns {
        // Sets are long, and registries longer: what is a name is not looked for.
        if !is_glob(pattern) {
            if let Some(entry) = registry.find(pattern) {
                add(&entry);
            }
        } else if let Ok(glob) = name_glob(pattern) {
            let fits = |entry: &&Arc<Entry>| glob.is_match(entry.definition.name.as_str());
            entries.iter().filter(fits).for_each(|entry| add(entry));
        }
    }
    offer
}

/// The tools that would be offered if they were not withheld.
fn withheld(registry: &Registry, selection: &Selection) -> Vec<ToolName> {
    let all = registry.unapproved();
    if all.is_empty() {
        return Vec::new();
    }
    let is_named = named(selection);
    let wanted = all.iter().filter(|each| selection.fits(&each.definition));
    let names = wanted.map(|each| each.name.clone());
    names.filter(|name| is_named(name.as_str())).collect()
}

/// Tells of names of tools that no source has told yet whether they would be offered. Nobody
/// knows their category.
fn wanted(selection: &Selection) -> impl Fn(&str) -> bool + Send + Sync + 'static {
    let is_sought = selection.category.is_none()
        && (selection.source.as_deref()).is_none_or(|word| word == "mcp");
    let is_named = named(selection);
    move |name| is_sought && is_named(name)
}

/// Tells whether a selection names a tool, or leaves none out.
fn named(selection: &Selection) -> impl Fn(&str) -> bool + Send + Sync + 'static {
    let patterns = selection.tools.clone();
    let globs: Vec<GlobMatcher> = { patterns.iter().flatten() }
        .filter(|pattern| is_glob(pattern))
        .filter_map(|glob| name_glob(glob).ok())
        .collect();
    move |name| {
        patterns.as_ref().is_none_or(|patterns| {
            patterns.iter().any(|pattern| pattern == name)
                || globs.iter().any(|glob| glob.is_match(name))
        })
    }
}

fn is_glob(pattern: &str) -> bool {
    pattern.contains(['*', '?', '[', '{', '\\'])
}

/// A glob over tool names: `*` matches anything, and nothing is a separator.
pub(crate) fn name_glob(pattern: &str) -> Result<GlobMatcher, globset::Error> {
    Ok(GlobBuilder::new(pattern).build()?.compile_matcher())
}

/// The name a tool is offered by: prefix, `_`, name, within 64 characters. One
/// that would be longer is cut and ends in a digest of the whole, so that no two
/// tools get the same.
pub(crate) fn wire_name(prefix: &str, name: &ToolName) -> String {
    if prefix.is_empty() {
        return name.as_str().to_owned();
    }
    let joint = if prefix.ends_with('_') { "" } else { "_" };
    let whole = format!("{prefix}{joint}{name}");
    if whole.len() <= MAX_NAME_LENGTH {
        return whole;
    }
    let digest = Sha256::digest(&whole);
    let mark: String = digest.iter().take(4).map(|b| format!("{b:02x}")).collect();
    let kept = whole.floor_char_boundary(MAX_NAME_LENGTH - mark.len() - 1);
    format!("{}_{mark}", &whole[..kept])
}
