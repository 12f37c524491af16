//! Which tools a guide is about: those that were asked for by name and by category, in the
//! order of the guide. What was asked for in vain is a warning, never a failure.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use toolsmith_core::ToolDef;

use super::assemble::{Assembler, FIRST, category};
use super::example::one_line;
use super::request::Request;
use crate::registry::by_likeness;
use crate::validate::bounded;

/// How many unknown names are kept, and how many of them get a warning of their own.
const MOST_UNKNOWN: usize = 1000;
const MOST_WARNINGS: usize = 100;

/// For how many unknown names the nearest are looked for: that takes longest.
const MOST_GUESSES: usize = 20;

/// How many names a warning offers instead.
const OFFERED: usize = 10;

/// How much of a name that is none is repeated.
const NAME_SHOWN: usize = 80;

/// A tool, and the category it is shown under.
#[derive(Clone, Debug)]
pub(super) struct Chosen<'t> {
    pub(super) tool: &'t Arc<ToolDef>,
    pub(super) category: String,
}

/// The tools a guide is about.
#[derive(Debug, Default)]
pub(super) struct Selected<'t> {
    /// In the order of the guide.
    pub(super) chosen: Vec<Chosen<'t>>,
    /// All there are, in that order.
    pub(super) all: Vec<Chosen<'t>>,
    /// The category that was asked for, as it is shown.
    pub(super) filter: Option<String>,
    pub(super) invalid_names: Vec<String>,
    pub(super) warnings: Vec<String>,
}

/// Every tool with its category: the first categories first, then the others by name; within
/// one in the order they came.
pub(super) fn ordered<'t>(tools: &'t [Arc<ToolDef>], assembler: Assembler<'_>) -> Vec<Chosen<'t>> {
    let mut all: Vec<Chosen<'t>> = tools
        .iter()
        .map(|tool| Chosen {
            category: assembler.category(tool),
            tool,
        })
        .collect();
    let rank = |name: &str| {
        FIRST
            .iter()
            .position(|first| *first == name)
            .unwrap_or(FIRST.len())
    };
    // The sort is stable.
    all.sort_by(|a, b| {
        let ranks = rank(&a.category).cmp(&rank(&b.category));
        ranks.then_with(|| a.category.cmp(&b.category))
    });
    all
}

/// Takes what was asked for.
pub(super) fn select<'t>(
    tools: &'t [Arc<ToolDef>],
    assembler: Assembler<'_>,
    request: &Request,
) -> Selected<'t> {
    let all = ordered(tools, assembler);
    let mut selected = Selected {
        chosen: all.clone(),
        all,
        ..Selected::default()
    };
    selected.by_names(request.tool_names.as_deref());
    selected.by_category(request.category.as_deref());
    if selected.all.is_empty() {
        selected.warnings.push("There are no tools.".to_owned());
    }
    selected
}

impl Selected<'_> {
    fn by_names(&mut self, names: Option<&[String]>) {
        let Some(names) = names else {
            return;
        };
        if names.is_empty() {
            let warning = "The list of tool names is empty; all tools are shown.";
            self.warnings.push(warning.to_owned());
            return;
        }
        let known: HashMap<&str, usize> = (self.all.iter().enumerate())
            .map(|(index, chosen)| (chosen.tool.name.as_str(), index))
            .collect();
        let mut wanted = HashSet::new();
        let mut seen = HashSet::new();
        let mut unknown = 0_usize;
        for name in names {
            let name = name.trim();
            if let Some(index) = known.get(name) {
                wanted.insert(*index);
            } else if seen.insert(name) {
                unknown += 1;
                if unknown <= MOST_UNKNOWN {
                    let shown = bounded(&one_line(name), NAME_SHOWN);
                    if unknown <= MOST_WARNINGS {
                        let available = self.available(name, unknown <= MOST_GUESSES);
                        self.warnings
                            .push(format!("Tool '{shown}' not found. {available}"));
                    }
                    self.invalid_names.push(shown);
                }
            }
        }
        if unknown > MOST_WARNINGS {
            let more = unknown - MOST_WARNINGS;
            self.warnings
                .push(format!("{more} more of the names are no tools."));
        }
        let mut index = 0..;
        self.chosen
            .retain(|_| index.next().is_some_and(|i| wanted.contains(&i)));
    }

    /// What could have been meant: the nearest names first.
    fn available(&self, name: &str, guess: bool) -> String {
        if self.all.is_empty() {
            return "There are no tools.".to_owned();
        }
        let names = || self.all.iter().map(|chosen| chosen.tool.name.as_str());
        let offered: Vec<&str> = match guess && name.len() <= NAME_SHOWN {
            true => {
                let all = by_likeness(name, names()).into_iter();
                all.map(|(_, name)| name).take(OFFERED).collect()
            }
            false => names().take(OFFERED).collect(),
        };
        let more = if offered.len() < self.all.len() {
            ", …"
        } else {
            ""
        };
        format!("Available: {}{more}", offered.join(", "))
    }

    fn by_category(&mut self, wanted: Option<&str>) {
        let Some(wanted) = wanted else {
            return;
        };
        let wanted = category(wanted);
        if wanted.is_empty() {
            let warning = "The category is empty; all categories are shown.";
            self.warnings.push(warning.to_owned());
            return;
        }
        let is_wanted =
            |chosen: &Chosen<'_>| chosen.category.to_lowercase() == wanted.to_lowercase();
        if !self.all.iter().any(is_wanted) {
            let mut names: Vec<&str> = self.all.iter().map(|c| c.category.as_str()).collect();
            names.dedup();
            let more = if names.len() > OFFERED { ", …" } else { "" };
            names.truncate(OFFERED);
            let warning = match names.as_slice() {
                [] => format!("There are no tools in category '{wanted}'."),
                _ => format!(
                    "There are no tools in category '{wanted}'. Available: {}{more}",
                    names.join(", ")
                ),
            };
            self.warnings.push(warning);
        } else if !self.chosen.iter().any(is_wanted) && !self.chosen.is_empty() {
            let warning = format!("None of the tools asked for is in category '{wanted}'.");
            self.warnings.push(warning);
        }
        self.chosen.retain(is_wanted);
        self.filter = Some(wanted);
    }
}
