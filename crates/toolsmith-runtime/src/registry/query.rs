//! Looking tools up: by name, reference, source, category, tag, kind, and text.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Serialize;
use toolsmith_core::{Detail, Kind, ToolDeclaration, ToolDef, ToolRef};

use super::{Entry, Registry};

/// How many similar names are named to whoever called an unknown tool.
const NEAREST: usize = 5;

/// How many bytes of names are compared. One of a megabyte is no typing error, and comparing
/// takes time and memory for every pair of characters.
const LONGEST: usize = 128;

impl Registry {
    /// The definition of a tool.
    pub fn get(&self, name: &str) -> Option<Arc<ToolDef>> {
        let snapshot = self.snapshot.load();
        snapshot.find(name).map(|e| Arc::clone(&e.definition))
    }

    /// The definition a reference means.
    pub fn resolve(&self, reference: &ToolRef) -> Option<Arc<ToolDef>> {
        let snapshot = self.snapshot.load();
        let entry = match reference {
            ToolRef::Name(name) => snapshot.find(name),
            ToolRef::Id { id } => snapshot.find_id(id),
        };
        entry.map(|entry| Arc::clone(&entry.definition))
    }

    /// Tells whether there is a tool of this name.
    pub fn has(&self, name: &str) -> bool {
        self.snapshot.load().find(name).is_some()
    }

    /// How many tools there are.
    pub fn len(&self) -> usize {
        self.snapshot.load().entries().len()
    }

    /// Tells whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Every tool, in the order of registration.
    pub fn all(&self) -> Vec<Arc<ToolDef>> {
        self.filter(|_| true)
    }

    /// The tools of one sort of source: `builtin`, `native`, `rest` or `mcp`.
    pub fn by_source(&self, word: &str) -> Vec<Arc<ToolDef>> {
        self.filter(|tool| tool.source.word() == word)
    }

    /// The tools of a category.
    pub fn by_category(&self, category: &str) -> Vec<Arc<ToolDef>> {
        self.filter(|tool| tool.category() == category)
    }

    /// The tools with a tag.
    pub fn by_tag(&self, tag: &str) -> Vec<Arc<ToolDef>> {
        self.filter(|tool| tool.meta.tags.iter().any(|t| t == tag))
    }

    /// The tools of a kind.
    pub fn by_kind(&self, kind: Kind) -> Vec<Arc<ToolDef>> {
        self.filter(|tool| tool.kind == kind)
    }

    /// The tools in whose texts every word of `text` occurs, best first: a word in
    /// the name counts more than one in a tag, and that more than one in the
    /// description.
    pub fn search(&self, text: &str) -> Vec<Arc<ToolDef>> {
        let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
        if words.is_empty() {
            return Vec::new();
        }
        let mut found: Vec<(u32, Arc<ToolDef>)> = self
            .all()
            .into_iter()
            .filter_map(|tool| Some((score(&tool, &words)?, tool)))
            .collect();
        // The sort is stable, so equals stay in the order of registration.
        found.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        found.into_iter().map(|(_, tool)| tool).collect()
    }

    /// Every category there is, sorted.
    pub fn categories(&self) -> Vec<String> {
        let names: BTreeSet<String> = self.all().iter().map(|t| t.category().to_owned()).collect();
        names.into_iter().collect()
    }

    /// Every tag there is, sorted.
    pub fn tags(&self) -> Vec<String> {
        let tags: BTreeSet<String> = self
            .all()
            .iter()
            .flat_map(|t| t.meta.tags.clone())
            .collect();
        tags.into_iter().collect()
    }

    /// How many tools of what sort there are.
    pub fn statistics(&self) -> Statistics {
        let mut statistics = Statistics::default();
        let snapshot = self.snapshot.load();
        for entry in snapshot.entries() {
            statistics.count(entry);
        }
        statistics.shadowed = snapshot.aside().len();
        statistics
    }

    /// The declarations of all tools under their bare names.
    pub fn declarations(&self, detail: Detail) -> Vec<ToolDeclaration> {
        let declare = |tool: Arc<ToolDef>| ToolDeclaration::new(tool.name.as_str(), &tool, detail);
        self.all().into_iter().map(declare).collect()
    }

    pub(crate) fn entries(&self) -> Vec<Arc<Entry>> {
        self.snapshot.load().entries().to_vec()
    }

    fn filter(&self, keep: impl Fn(&ToolDef) -> bool) -> Vec<Arc<ToolDef>> {
        self.snapshot
            .load()
            .entries()
            .iter()
            .filter(|entry| keep(&entry.definition))
            .map(|entry| Arc::clone(&entry.definition))
            .collect()
    }
}

/// How many tools of what sort there are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Statistics {
    /// All of them.
    pub total: usize,
    /// By sort of source.
    pub by_source: BTreeMap<String, usize>,
    /// By category.
    pub by_category: BTreeMap<String, usize>,
    /// By effect.
    pub by_effect: BTreeMap<String, usize>,
    /// Not used because another has their name.
    pub shadowed: usize,
}

impl Statistics {
    fn count(&mut self, entry: &Entry) {
        let tool = &entry.definition;
        self.total += 1;
        let effect = format!("{:?}", tool.effect).to_lowercase();
        for (map, key) in [
            (&mut self.by_source, tool.source.word()),
            (&mut self.by_category, tool.category()),
            (&mut self.by_effect, &effect),
        ] {
            *map.entry(key.to_owned()).or_default() += 1;
        }
    }
}

fn score(tool: &ToolDef, words: &[String]) -> Option<u32> {
    let name = tool.name.as_str().to_lowercase();
    let tags = tool.meta.tags.join(" ").to_lowercase();
    let texts = [&tool.description.short, &tool.description.long];
    let title = tool.title.as_deref().unwrap_or_default();
    let text = format!("{title} {} {} {}", tool.category(), texts[0], texts[1]).to_lowercase();
    let mut total = 0;
    for word in words {
        total += if name == *word {
            16
        } else if name.contains(word) {
            8
        } else if tags.contains(word) {
            4
        } else if text.contains(word) {
            1
        } else {
            return None;
        };
    }
    Some(total)
}

/// The names most like `wanted`, best first; none that is quite another.
pub(crate) fn nearest<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let near = by_likeness(wanted, names).into_iter();
    let near = near.take_while(|(likeness, _)| *likeness >= 0.6);
    near.take(NEAREST).map(|(_, name)| name).collect()
}

/// All names, with how much each is like `wanted`, best first.
pub(crate) fn by_likeness<'a>(
    wanted: &str,
    names: impl IntoIterator<Item = &'a str>,
) -> Vec<(f64, &'a str)> {
    let wanted = &wanted[..wanted.floor_char_boundary(wanted.len().min(LONGEST))];
    let names = names.into_iter();
    let mut scored: Vec<(f64, &str)> = names.map(|name| (likeness(wanted, name), name)).collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    scored
}

fn likeness(wanted: &str, name: &str) -> f64 {
    if name.len() > 2 * LONGEST {
        return 0.0;
    }
    if !wanted.is_empty() && (name.contains(wanted) || wanted.contains(name)) {
        return 0.9;
    }
    strsim::normalized_damerau_levenshtein(&wanted.to_lowercase(), &name.to_lowercase())
}
