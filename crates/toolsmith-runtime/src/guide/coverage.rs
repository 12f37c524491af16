//! How far the documentation of each tool is.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use serde::Serialize;
use toolsmith_core::ToolDef;

use super::assemble::{Assembler, Origin};
use super::metadata::LifeCycle;
use super::overlays::Overlays;
use super::select::ordered;

/// How far the documentation of a tool is, and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Coverage {
    /// The tool, or what the overlays take for one.
    pub name: String,
    /// The category it is shown under; none where there is no such tool.
    pub category: Option<String>,
    /// How far its documentation is.
    pub state: LifeCycle,
    /// Where its description comes from: `own` or `shipped` overlays, or the `code`.
    pub described_by: Option<&'static str>,
    /// How many examples it has.
    pub examples: usize,
}

pub(super) fn coverage(tools: &[Arc<ToolDef>], overlays: &Overlays) -> Vec<Coverage> {
    let assembler = Assembler::new(overlays);
    let registered = ordered(tools, assembler)
        .into_iter()
        .map(|chosen| Coverage {
            name: chosen.tool.name.as_str().to_owned(),
            state: assembler.state(chosen.tool),
            described_by: assembler
                .description(chosen.tool)
                .map(|(_, origin)| match origin {
                    Origin::Own => "own",
                    Origin::Shipped => "shipped",
                    Origin::Code => "code",
                }),
            examples: assembler.example_count(chosen.tool),
            category: Some(chosen.category),
        });
    let known: HashSet<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    let own = &overlays.own;
    let written: BTreeSet<&String> = own.descriptions.keys().chain(own.examples.keys()).collect();
    let unknown = written
        .into_iter()
        .filter(|name| !known.contains(name.as_str()));
    let unregistered = unknown.map(|name| Coverage {
        name: name.clone(),
        category: None,
        state: LifeCycle::Unregistered,
        described_by: own.descriptions.get(name).map(|_| "own"),
        examples: own.examples.get(name).map_or(0, Vec::len),
    });
    registered.chain(unregistered).collect()
}
