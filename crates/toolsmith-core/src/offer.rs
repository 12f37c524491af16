//! What one caller was offered: which tools, under which names.
//!
//! Open data: the runtime makes it, providers and servers read it. A caller with
//! an offer can call what is in it and nothing else.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use crate::binding::Exposure;
use crate::definition::{Detail, ToolDeclaration, ToolDef};
use crate::name::ToolName;

/// The tools offered to one caller, in a fixed order.
///
/// ```
/// use std::sync::Arc;
/// use toolsmith_core::{Detail, Exposure, Offer, ToolDef};
///
/// let mut offer = Offer::new(Detail::Brief);
/// let tool = Arc::new(ToolDef::new("read")?.with_description("Reads a file."));
/// offer.add("files_read", tool, Exposure::Direct);
/// assert_eq!(offer.declarations()[0].name, "files_read");
/// assert!(offer.find("read").is_some());
/// # Ok::<(), toolsmith_core::name::NameError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Offer {
    tools: Vec<Offered>,
    by_wire_name: HashMap<String, usize>,
    by_name: HashMap<ToolName, usize>,
    withheld: HashSet<ToolName>,
    missing: Missing,
    detail: Detail,
}

/// Tells of a bare name whether a tool of that name would be offered.
type WouldBeHere = dyn Fn(&str) -> bool + Send + Sync;

/// Which tools that no source has told yet would be offered.
#[derive(Clone, Default)]
struct Missing(Option<Arc<WouldBeHere>>);

impl fmt::Debug for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "some" } else { "none" })
    }
}

/// One tool of an offer.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Offered {
    /// The name the model sees and calls it by.
    pub wire_name: String,
    /// The tool itself, which keeps its bare name.
    pub tool: Arc<ToolDef>,
    /// Whether it is declared from the start.
    pub exposure: Exposure,
}

impl Offer {
    /// Starts an empty offer, which is a value like any other.
    pub fn new(detail: Detail) -> Self {
        Self {
            detail,
            ..Self::default()
        }
    }

    /// Adds a tool under a wire name. The first of two equal names stays, and
    /// `false` tells of the second.
    pub fn add(
        &mut self,
        wire_name: impl Into<String>,
        tool: Arc<ToolDef>,
        exposure: Exposure,
    ) -> bool {
        let wire_name = wire_name.into();
        if self.by_wire_name.contains_key(&wire_name) || self.by_name.contains_key(&tool.name) {
            return false;
        }
        let index = self.tools.len();
        self.by_wire_name.insert(wire_name.clone(), index);
        self.by_name.insert(tool.name.clone(), index);
        self.tools.push(Offered {
            wire_name,
            tool,
            exposure,
        });
        true
    }

    /// Notes a tool that would be here, had somebody approved it as it is. It cannot be
    /// called, but whoever calls it is told why.
    pub fn withhold(&mut self, name: ToolName) {
        self.withheld.insert(name);
    }

    /// Tells whether a tool would be here, had somebody approved it as it is.
    pub fn withholds(&self, name: &ToolName) -> bool {
        self.withheld.contains(name)
    }

    /// Notes which tools would be here, by their bare names, had their source told them. They
    /// cannot be called, but whoever calls one is told why. A part of an offer misses nothing.
    pub fn miss(&mut self, would_be_here: impl Fn(&str) -> bool + Send + Sync + 'static) {
        self.missing = Missing(Some(Arc::new(would_be_here)));
    }

    /// Tells whether a tool would be here, had its source told it.
    pub fn misses(&self, name: &str) -> bool {
        (self.missing.0.as_ref()).is_some_and(|would_be_here| would_be_here(name))
    }

    /// The same offer without what the other does not hold: as much as both allow. Names
    /// and order stay.
    #[must_use]
    pub fn within(&self, bounds: &Self) -> Self {
        self.only(|name| bounds.by_name.contains_key(name))
    }

    /// The same offer without some tools, by their bare names.
    #[must_use]
    pub fn without(&self, names: &[&str]) -> Self {
        self.only(|name| !names.contains(&name.as_str()))
    }

    fn only(&self, keeps: impl Fn(&ToolName) -> bool) -> Self {
        let mut less = Self::new(self.detail);
        for offered in self
            .tools
            .iter()
            .filter(|offered| keeps(&offered.tool.name))
        {
            let tool = Arc::clone(&offered.tool);
            less.add(offered.wire_name.clone(), tool, offered.exposure);
        }
        less.withheld = { self.withheld.iter() }
            .filter(|name| keeps(name))
            .cloned()
            .collect();
        less
    }

    /// Every tool, in order.
    pub fn tools(&self) -> &[Offered] {
        &self.tools
    }

    /// Finds a tool by the name it was called by: wire names first, so that a
    /// prefix cannot be used to reach another tool, then bare ones.
    pub fn find(&self, name: &str) -> Option<&Offered> {
        self.by_wire_name
            .get(name)
            .or_else(|| self.by_name.get(name))
            .map(|&index| &self.tools[index])
    }

    /// The declarations for a model, in order: those that are not deferred.
    pub fn declarations(&self) -> Vec<ToolDeclaration> {
        self.tools
            .iter()
            .filter(|offered| offered.exposure == Exposure::Direct)
            .map(|offered| ToolDeclaration::new(&offered.wire_name, &offered.tool, self.detail))
            .collect()
    }

    /// How much of the descriptions models are sent.
    pub fn detail(&self) -> Detail {
        self.detail
    }
}
