//! Switches and overrides for the tools that come with the program, as files in
//! `tools/builtin` write them.
//!
//! ```yaml
//! name: write
//! disabled: true
//! ```
//!
//! ```yaml
//! tools:
//!   grep: { timeout: 10s, category: looking }
//!   bash: { exposure: hidden }
//! ```

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::Error;
use toolsmith_core::{AnyTool, Binding, Description, Exposure, ToolName};

use crate::config::Span;

/// What is said of one tool.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub(crate) struct Override {
    /// Whether it is left out.
    pub disabled: bool,
    /// What it is for, instead of what it says itself.
    pub description: Option<String>,
    /// Its group in lists and guides.
    pub category: Option<String>,
    /// Words to find it by, instead of its own.
    pub tags: Option<Vec<String>>,
    /// The time limit of one call.
    pub timeout: Option<Span>,
    /// Who gets to see it.
    pub exposure: Option<Exposure>,
}

impl Override {
    /// Tells whether what the tool says of itself is to be another thing.
    fn redefines(&self) -> bool {
        self.description.is_some() || self.category.is_some() || self.tags.is_some()
    }

    /// How the tool is run.
    fn binding(&self) -> Binding {
        let mut binding = Binding::default();
        binding.timeout = self.timeout.map(|span| span.0);
        binding.exposure = self.exposure;
        binding
    }
}

/// A file with overrides: of one tool, or of several.
#[derive(Clone, Debug, Default)]
pub(crate) struct OverrideFile(pub(crate) BTreeMap<String, Override>);

impl<'de> Deserialize<'de> for OverrideFile {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Form {
            name: Option<Name>,
            #[serde(default)]
            tools: BTreeMap<Name, Override>,
            #[serde(default)]
            disabled: bool,
            description: Option<String>,
            category: Option<String>,
            tags: Option<Vec<String>>,
            timeout: Option<Span>,
            exposure: Option<Exposure>,
        }

        let form = Form::deserialize(deserializer)?;
        let own = Override {
            disabled: form.disabled,
            description: form.description,
            category: form.category,
            tags: form.tags,
            timeout: form.timeout,
            exposure: form.exposure,
        };
        let says_something = own.disabled || own.redefines() || own.binding() != Binding::default();
        match (form.name, form.tools.is_empty()) {
            (Some(name), true) => Ok(Self(BTreeMap::from([(name.0, own)]))),
            (None, _) if !says_something => {
                let tools = form.tools.into_iter();
                Ok(Self(tools.map(|(name, each)| (name.0, each)).collect()))
            }
            _ => Err(D::Error::custom(
                "give the `name` of one tool and what is other about it, or several under `tools`",
            )),
        }
    }
}

/// The name of one tool; a glob is none.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Name(String);

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let name = ToolName::new(&text).map_err(D::Error::custom)?;
        Ok(Self(name.as_str().to_owned()))
    }
}

/// Every override there is, each tool's first one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Overrides(BTreeMap<String, (String, Override)>);

impl Overrides {
    /// Takes a file's in; tells what is said twice.
    pub(crate) fn add(&mut self, file: &str, overrides: &OverrideFile) -> Vec<String> {
        let mut twice = Vec::new();
        for (tool, each) in &overrides.0 {
            if let Some((first, _)) = self.0.get(tool) {
                twice.push(format!(
                    "{file}: what it says of `{tool}` is not used: {first} speaks of it first"
                ));
                continue;
            }
            self.0.insert(tool.clone(), (file.to_owned(), each.clone()));
        }
        twice
    }

    /// The tools as they are to be, those that are switched off left out.
    pub(crate) fn applied(&self, tools: &[AnyTool]) -> Vec<AnyTool> {
        let applied = tools.iter().filter_map(|tool| {
            let Some((_, change)) = self.0.get(tool.definition().name.as_str()) else {
                return Some(tool.clone());
            };
            if change.disabled {
                return None;
            }
            Some(match change.redefines() {
                true => redefined(tool, change),
                false => tool.clone(),
            })
        });
        applied.collect()
    }

    /// How tools are run.
    pub(crate) fn bindings(&self) -> impl Iterator<Item = (String, Binding)> {
        let changes = self.0.iter();
        let bindings = changes.map(|(tool, (_, change))| (tool.clone(), change.binding()));
        bindings.filter(|(_, binding)| *binding != Binding::default())
    }

    /// Those that speak of no tool.
    pub(crate) fn unknown(&self, is_known: &dyn Fn(&str) -> bool) -> Vec<String> {
        let unknown = self.0.iter().filter(|(tool, _)| !is_known(tool));
        unknown
            .map(|(tool, (file, _))| format!("{file}: `{tool}` is no built-in tool"))
            .collect()
    }
}

fn redefined(tool: &AnyTool, change: &Override) -> AnyTool {
    tool.redefined(|definition| {
        if let Some(text) = &change.description {
            let important = std::mem::take(&mut definition.description.important);
            definition.description = Description::from(text.as_str());
            // What must not be overlooked is not the user's to take away by accident.
            definition.description.important = important;
        }
        if let Some(category) = &change.category {
            definition.meta.category = Some(category.clone());
        }
        if let Some(tags) = &change.tags {
            definition.meta.tags.clone_from(tags);
        }
    })
}
