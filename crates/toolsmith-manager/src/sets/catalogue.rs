//! All sets and agents, and the lists they come to.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use toolsmith_provider::OutputStrategy;
use toolsmith_runtime::Policy;

use super::{AgentForm, Member, SetForm, SetName};
use crate::config::{AskConfig, Config, HostedTools, PolicyConfig};

/// A set, as it is written.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ToolSet {
    /// Its name.
    pub name: SetName,
    /// What it is for.
    pub description: Option<String>,
    /// Its members, sets under `tool_sets` first.
    pub members: Vec<Member>,
    /// The sets it names as such.
    pub tool_sets: Vec<SetName>,
    /// The file it stands in.
    pub file: Arc<str>,
}

/// An agent, as it is written.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Agent {
    /// Its name.
    pub name: SetName,
    /// What it is for.
    pub description: Option<String>,
    /// Its sets.
    pub tool_sets: Vec<SetName>,
    /// Its single tools.
    pub tools: Vec<Member>,
    /// How its model is told to call tools; as the project says where it does not.
    pub output_strategy: Option<OutputStrategy>,
    /// The model it asks.
    pub model: Option<String>,
    /// Tools that its model's provider runs itself.
    pub hosted_tools: HostedTools,
    /// How it answers, where that is not as the project says.
    pub ask: AskConfig,
    /// What holds for its calls beside what holds for all.
    pub policy: PolicyConfig,
    /// The file it stands in.
    pub file: Arc<str>,
}

/// Why a set or an agent comes to no list.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SetError {
    /// There is none of that name.
    #[error("there is no {what} `{name}`{}", listed(.known))]
    Unknown {
        /// `tool set` or `agent`.
        what: &'static str,
        /// The name.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// A set that holds itself.
    #[error("the tool sets go round in a circle: {}", .0.join(" → "))]
    Circle(Vec<String>),
    /// Sets within sets within sets.
    #[error("the tool set `{0}` stands {DEEPEST} sets deep, which is too deep")]
    Deep(String),
}

/// How many sets may stand within one another.
const DEEPEST: usize = 64;

fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        names => format!("; there are {}", names.join(", ")),
    }
}

/// Every set and every agent.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Catalogue {
    /// The sets, by name.
    pub sets: BTreeMap<String, ToolSet>,
    /// The agents, by name.
    pub agents: BTreeMap<String, Agent>,
    /// Files whose names others have.
    pub warnings: Vec<String>,
}

impl Catalogue {
    /// Gathers files; of two with one name the first stays.
    pub(crate) fn new<'a>(
        sets: impl IntoIterator<Item = (&'a Arc<str>, SetName, &'a SetForm)>,
        agents: impl IntoIterator<Item = (&'a Arc<str>, SetName, &'a AgentForm)>,
    ) -> Self {
        let mut catalogue = Self::default();
        for (file, name, form) in sets {
            if let Some(first) = catalogue.sets.get(name.as_str()) {
                let first = &first.file;
                catalogue.warnings.push(format!(
                    "{file}: tool set `{name}` is not used: {first} has that name first"
                ));
                continue;
            }
            let set = ToolSet {
                name: name.clone(),
                description: form.description.clone(),
                members: form.tools.clone(),
                tool_sets: form.tool_sets.clone(),
                file: Arc::clone(file),
            };
            catalogue.sets.insert(name.as_str().to_owned(), set);
        }
        for (file, name, form) in agents {
            if let Some(first) = catalogue.agents.get(name.as_str()) {
                let first = &first.file;
                catalogue.warnings.push(format!(
                    "{file}: agent `{name}` is not used: {first} has that name first"
                ));
                continue;
            }
            let agent = Agent {
                name: name.clone(),
                description: form.description.clone(),
                tool_sets: form.tool_sets.clone(),
                tools: form.tools.clone(),
                output_strategy: form.output_strategy,
                model: form.model.clone(),
                hosted_tools: form.hosted_tools.clone(),
                ask: form.ask.clone(),
                policy: form.policy.clone(),
                file: Arc::clone(file),
            };
            catalogue.agents.insert(name.as_str().to_owned(), agent);
        }
        catalogue
    }

    /// The tools and globs a set comes to. `is_tool` tells what is the name of a tool,
    /// and so is no set.
    pub fn of_set(
        &self,
        name: &str,
        is_tool: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<String>, SetError> {
        let mut list = List::new(self, is_tool);
        list.set(name)?;
        Ok(list.names)
    }

    /// The tools and globs an agent comes to: those of its sets in order, then its own.
    pub fn of_agent(
        &self,
        name: &str,
        is_tool: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<String>, SetError> {
        let agent = self.agents.get(name).ok_or_else(|| SetError::Unknown {
            what: "agent",
            name: name.to_owned(),
            known: self.agents.keys().cloned().collect(),
        })?;
        self.merged(&agent.tool_sets, &agent.tools, is_tool)
    }

    /// The tools and globs the configuration offers where neither set nor agent is
    /// named; none where it says nothing about it, which means all.
    pub fn of_config(
        &self,
        config: &Config,
        is_tool: &dyn Fn(&str) -> bool,
    ) -> Result<Option<Vec<String>>, SetError> {
        if config.tools.is_none() && config.tool_sets.is_none() {
            return Ok(None);
        }
        let (_, tools, sets) = config.written();
        self.merged(sets, tools, is_tool).map(Some)
    }

    fn merged(
        &self,
        sets: &[SetName],
        tools: &[Member],
        is_tool: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<String>, SetError> {
        let mut list = List::new(self, is_tool);
        list.sets(sets)?;
        list.members(tools)?;
        Ok(list.names)
    }

    /// The policy with what agents say for their own calls.
    pub(crate) fn beside(&self, policy: Policy) -> Policy {
        let policy = policy.with_agents(self.agents.keys());
        let agents = self.agents.values();
        agents.fold(policy, |policy, agent| {
            agent.policy.beside(policy, agent.name.as_str())
        })
    }

    /// Members that mean nothing, as far as can be told: `is_known` answers for names of
    /// tools.
    pub(crate) fn unknown(&self, config: &Config, is_known: &dyn Fn(&str) -> bool) -> Vec<String> {
        let sets = self.sets.values().map(ToolSet::written);
        let agents = self.agents.values().map(Agent::written);
        let all = [config.written()].into_iter().chain(sets).chain(agents);
        self.unknown_in(all, is_known)
    }

    /// The same of a set, an agent or the configuration, and the sets within.
    pub(crate) fn unknown_beneath(
        &self,
        written: Written<'_>,
        is_tool: &dyn Fn(&str) -> bool,
        is_known: &dyn Fn(&str) -> bool,
    ) -> Vec<String> {
        let (file, tools, sets) = written;
        let mut list = List::new(self, is_tool);
        // What comes to no list is told of where one is asked for.
        let _ = list.sets(sets).and_then(|()| list.members(tools));
        let is_other = |set: &&ToolSet| list.done.contains(set.name.as_str()) && &*set.file != file;
        let within = self.sets.values().filter(is_other).map(ToolSet::written);
        self.unknown_in(within.chain([written]), is_known)
    }

    fn unknown_in<'a>(
        &self,
        all: impl Iterator<Item = Written<'a>>,
        is_known: &dyn Fn(&str) -> bool,
    ) -> Vec<String> {
        let mut found = Vec::new();
        for (file, members, tool_sets) in all {
            let is_set = |name: &str| self.sets.contains_key(name);
            let is_nothing = |member: &&Member| {
                let name = member.as_str();
                member.set().is_none() && !is_known(name) && !is_set(name)
            };
            for member in members.iter().filter(is_nothing) {
                let name = member.as_str();
                found.push(format!("{file}: `{name}` names no tool and no set"));
            }
            let tool_sets = tool_sets.iter().map(SetName::as_str);
            let named = tool_sets.chain(members.iter().filter_map(Member::set));
            for set in named.filter(|set| !is_set(set)) {
                found.push(format!("{file}: there is no tool set `{set}`"));
            }
        }
        found
    }
}

/// The file of a set or an agent, its members and its sets.
pub(crate) type Written<'a> = (&'a str, &'a [Member], &'a [SetName]);

impl ToolSet {
    pub(crate) fn written(&self) -> Written<'_> {
        (&self.file, &self.members, &self.tool_sets)
    }
}

impl Agent {
    pub(crate) fn written(&self) -> Written<'_> {
        (&self.file, &self.tools, &self.tool_sets)
    }
}

impl Config {
    /// The agent that is written inline.
    pub(crate) fn written(&self) -> Written<'_> {
        let tools = self.tools.as_deref().unwrap_or_default();
        let sets = self.tool_sets.as_deref().unwrap_or_default();
        ("toolsmith.yaml", tools, sets)
    }
}

/// A list that is being put together.
struct List<'a> {
    catalogue: &'a Catalogue,
    is_tool: &'a dyn Fn(&str) -> bool,
    names: Vec<String>,
    seen: HashSet<String>,
    /// Sets that are in the list already: their members are too.
    done: HashSet<String>,
    /// The sets on the way from the one that was asked for.
    way: Vec<String>,
}

impl<'a> List<'a> {
    fn new(catalogue: &'a Catalogue, is_tool: &'a dyn Fn(&str) -> bool) -> Self {
        Self {
            catalogue,
            is_tool,
            names: Vec::new(),
            seen: HashSet::new(),
            done: HashSet::new(),
            way: Vec::new(),
        }
    }

    fn set(&mut self, name: &str) -> Result<(), SetError> {
        if let Some(begin) = self.way.iter().position(|each| each == name) {
            let mut circle = self.way[begin..].to_vec();
            circle.push(name.to_owned());
            return Err(SetError::Circle(circle));
        }
        if self.done.contains(name) {
            return Ok(());
        }
        let catalogue = self.catalogue;
        let set = catalogue.sets.get(name).ok_or_else(|| SetError::Unknown {
            what: "tool set",
            name: name.to_owned(),
            known: catalogue.sets.keys().cloned().collect(),
        })?;
        self.way.push(name.to_owned());
        if self.way.len() > DEEPEST {
            return Err(SetError::Deep(name.to_owned()));
        }
        self.sets(&set.tool_sets)?;
        self.members(&set.members)?;
        self.way.pop();
        self.done.insert(name.to_owned());
        Ok(())
    }

    /// Sets that are not there are told of elsewhere and leave a gap here.
    fn sets(&mut self, sets: &[SetName]) -> Result<(), SetError> {
        let known = |set: &&SetName| self.catalogue.sets.contains_key(set.as_str());
        let known: Vec<&SetName> = sets.iter().filter(known).collect();
        known.into_iter().try_for_each(|set| self.set(set.as_str()))
    }

    fn members(&mut self, members: &[Member]) -> Result<(), SetError> {
        for member in members {
            let name = member.as_str();
            let is_set = |name: &str| self.catalogue.sets.contains_key(name);
            if let Some(set) = member.set() {
                // As under `tool_sets`, one that is not there leaves a gap.
                if is_set(set) {
                    self.set(set)?;
                }
            } else if is_set(name) && !(self.is_tool)(name) {
                self.set(name)?;
            } else if self.seen.insert(name.to_owned()) {
                self.names.push(name.to_owned());
            }
        }
        Ok(())
    }
}
