//! The manager: what a host says, and what the files say, become a toolbox — and stay
//! one, however the files change.
//!
//! [`Manager::refresh`] looks at all files. What changed is read, put together with the
//! rest (`assemble`), and swapped in whole; a file that cannot be used leaves what it said
//! before in force, and stops no other.

mod agent;
mod assemble;
mod files;
mod model;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use toolsmith_core::{ToolDef, ToolSource as _};
use toolsmith_mcp::client::UpstreamOptions;
use toolsmith_rest::form::Entry;
use toolsmith_runtime::registry::{Refreshed, RegistryError};
use toolsmith_runtime::{Policy, Selection, Toolbox};

use crate::approvals::FileApprovals;
use crate::config::{Config, DocumentPlace, WebTerms};
use crate::lint;
use crate::own_files::{Further, OwnFiles};
use crate::pins::{LOCK_FILE, PinRules, ProjectPins};
use crate::remotes::Remote;
use crate::servers::{Loaded, Origin, ServerEntry};
use crate::sets::{Agent, Catalogue, SetError, ToolSet};
use crate::setup::{ManagerError, Setup};
use crate::telemetry::{self, Started, Telemetry};
use crate::upstreams::Prepared;
use crate::yaml::YamlError;
pub use agent::{AgentError, AskTerms, ProjectWorkers};
use assemble::Assembled;
use files::Files;

/// Tools, sets, agents and servers, as the files have them now.
pub struct Manager {
    setup: Setup,
    toolbox: Toolbox,
    files: Mutex<Files>,
    current: ArcSwap<Current>,
    pins: ProjectPins,
    /// Files that are the project's own, beside those at their usual places.
    further: Further,
    /// What appeared while programs ran, and was told of.
    told: Mutex<Vec<String>>,
    telemetry: Option<Telemetry>,
}

/// What is in force.
#[derive(Debug, Default)]
struct Current {
    config: Arc<Config>,
    has_config: bool,
    policy: Policy,
    catalogue: Catalogue,
    servers: Loaded,
    upstreams: Prepared,
    pins: PinRules,
    web: WebTerms,
    remotes: Vec<Remote>,
    /// What files say about APIs and commands.
    entries: Vec<(Arc<str>, Arc<Entry>)>,
    /// What cannot be used.
    errors: Vec<YamlError>,
    /// References to what is not there.
    missing: Vec<YamlError>,
    warnings: Vec<String>,
    /// Tools that could not be registered.
    refused: Vec<String>,
}

/// Whose tools are meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum View {
    /// Whoever names neither set nor agent.
    #[default]
    Usual,
    /// Those of a set.
    Set(String),
    /// Those of an agent.
    Agent(String),
}

/// What a look at the files came to.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Reloaded {
    /// Whether anything is other than before.
    pub changed: bool,
    /// Whether a file is being written, and should be looked at again soon.
    pub later: bool,
    /// Servers that are to be let go.
    pub gone: Vec<String>,
    /// Servers that are to be reached, some of them again.
    pub fresh: Vec<UpstreamOptions>,
    /// What went wrong, in words for a person.
    pub told: Vec<String>,
}

impl Manager {
    pub(crate) fn new(mut setup: Setup) -> Result<Self, ManagerError> {
        let mut files = Files::new(&mut setup);
        files.refresh(&setup);
        let Assembled {
            mut current,
            mut reload,
        } = assemble::assemble(&setup, &files);
        let started = match &setup.telemetry {
            Some(host) => host.start(&current.config.telemetry, &setup.references),
            None => Started::default(),
        };
        reload.terms.secrets.extend(started.secrets);
        if let Some(problem) = started.problem {
            let file = setup.config_path().display().to_string();
            current.missing.push(YamlError::whole(file, problem));
        }
        let mut builder = Toolbox::builder()
            .policy(reload.terms.policy)
            .limits(reload.terms.limits)
            .secrets(reload.terms.secrets)
            .prefix(reload.terms.prefix)
            .protection(reload.terms.protection)
            .files(reload.files);
        let own = further_files(&setup, &current);
        if let Some(sandbox) = &setup.sandbox {
            sandbox.set(&current.config.sandbox, &own);
        }
        let further = Further::default();
        further.store(Arc::new(own));
        builder = builder.guard(OwnFiles::new(setup.root.clone(), Arc::clone(&further)));
        for (pattern, binding) in reload.terms.bindings {
            builder = builder.binding(pattern, binding);
        }
        for (origin, tools) in reload.loaded {
            builder = builder.load(origin, tools);
        }
        if let Some(runtime) = &setup.runtime {
            builder = builder.runtime(runtime.clone());
        }
        if let Some(recording) = &setup.recording {
            builder = builder.recording(Arc::clone(recording));
        }
        if let Some(replay) = &setup.replay {
            builder = builder.replaying(Arc::clone(replay));
        }
        if let Some(spills) = &setup.spills {
            builder = builder.spill_store(spills.clone());
        }
        if let Some(records) = &setup.records {
            records.set_terms(current.config.records.terms());
            builder = builder.recorder(records.clone());
        }
        if let Some(approvals) = &setup.approvals {
            builder = builder.approvals(approvals.clone());
        }
        let appeared = setup.sandbox.as_ref().map(|it| it.appeared().clone());
        let pins = ProjectPins::new(&setup.root, setup.now, appeared);
        pins.set_rules(current.pins.clone());
        // What it says so far is what tools will be compared with.
        pins.has_changed();
        builder = builder.pins(pins.clone());
        if let Some(telemetry) = &started.telemetry {
            builder = builder.recorder(telemetry.clone());
        }
        let (toolbox, refused) = builder.build_noting()?;
        if let Some(tell) = &setup.web {
            tell(&current.web);
        }
        if let Some(telemetry) = &started.telemetry {
            let sources = toolbox.watch_sources();
            telemetry.observe(move || telemetry::of_sources(&sources.status()));
        }
        current.refused = refused.iter().map(RegistryError::to_string).collect();
        Ok(Self {
            setup,
            toolbox,
            files: Mutex::new(files),
            current: ArcSwap::from_pointee(current),
            pins,
            further,
            told: Mutex::default(),
            telemetry: started.telemetry,
        })
    }

    /// Who is told of calls, if anybody is.
    pub fn telemetry(&self) -> Option<&Telemetry> {
        self.telemetry.as_ref()
    }

    /// The toolbox. It stays the same one; what is in it changes.
    pub fn toolbox(&self) -> &Toolbox {
        &self.toolbox
    }

    /// Every tool there is, in order.
    pub fn load_tools(&self) -> Vec<Arc<ToolDef>> {
        self.toolbox.registry().all()
    }

    /// The tool of a name.
    pub fn get_tool(&self, name: &str) -> Option<Arc<ToolDef>> {
        self.toolbox.registry().get(name)
    }

    /// The tools of a set, in its order.
    pub fn get_tool_set(&self, name: &str) -> Result<Vec<Arc<ToolDef>>, SetError> {
        self.tools_of(&View::Set(name.to_owned()))
    }

    /// The tools of a set or an agent, in its order.
    pub fn tools_of(&self, view: &View) -> Result<Vec<Arc<ToolDef>>, SetError> {
        let offer = self.toolbox.offer(&self.selection(view)?);
        let tools = offer.tools().iter();
        Ok(tools.map(|offered| Arc::clone(&offered.tool)).collect())
    }

    /// What is offered to whom.
    pub fn selection(&self, view: &View) -> Result<Selection, SetError> {
        let current = self.current.load();
        let is_tool = |name: &str| self.toolbox.registry().has(name);
        let catalogue = &current.catalogue;
        let tools = match view {
            View::Usual => catalogue.of_config(&current.config, &is_tool)?,
            View::Set(name) => Some(catalogue.of_set(name, &is_tool)?),
            View::Agent(name) => Some(catalogue.of_agent(name, &is_tool)?),
        };
        let selection = Selection::everything().with_detail(current.config.descriptions);
        Ok(match tools {
            Some(tools) => selection.with_tools(tools),
            None => selection,
        })
    }

    /// The sets and agents there are.
    pub fn catalogue(&self) -> Catalogue {
        self.current.load().catalogue.clone()
    }

    /// The configuration in force.
    pub fn config(&self) -> Arc<Config> {
        Arc::clone(&self.current.load().config)
    }

    /// The file it was read from, if there was one.
    pub fn file(&self) -> Option<&Path> {
        let has_config = self.current.load().has_config;
        has_config.then(|| self.setup.config_path())
    }

    /// The folder tools, sets, agents and servers are looked for in.
    pub fn root(&self) -> &Path {
        &self.setup.root
    }

    /// The policy in force: the configured one, with the host's mode and rules.
    pub fn policy(&self) -> Policy {
        self.current.load().policy.clone()
    }

    /// The upstream servers that were read, and what is wrong with the rest.
    pub fn servers(&self) -> Loaded {
        self.current.load().servers.clone()
    }

    /// The servers that can be reached, and those that cannot.
    pub fn upstreams(&self) -> Prepared {
        self.current.load().upstreams.clone()
    }

    /// Sources that tell their tools over the network.
    pub fn remotes(&self) -> Vec<Remote> {
        self.current.load().remotes.clone()
    }

    /// What files say about APIs and commands, each with its file.
    pub fn entries(&self) -> Vec<(Arc<str>, Arc<Entry>)> {
        self.current.load().entries.clone()
    }

    /// What cannot be used: files, parts of them, and tools.
    pub fn errors(&self) -> Vec<String> {
        let current = self.current.load();
        let errors = current.errors.iter().chain(&current.servers.errors);
        let errors = errors.map(ToString::to_string);
        let refused = current.refused.iter().cloned();
        let appeared = self.appeared().into_iter();
        let errors = errors.chain(refused).chain(appeared);
        errors.chain(self.pins.problem()).collect()
    }

    /// What is pinned of other people's tools.
    pub fn pins(&self) -> &ProjectPins {
        &self.pins
    }

    /// What a person approved for the project, where that is kept.
    pub fn approvals(&self) -> Option<&FileApprovals> {
        self.setup.approvals.as_ref()
    }

    /// References to variables and files that are not there.
    pub fn missing(&self) -> Vec<String> {
        let current = self.current.load();
        let servers = current.upstreams.unready.iter();
        let servers = servers.map(|unready| unready.error.clone());
        let tools = current.missing.iter().map(ToString::to_string);
        servers.chain(tools).collect()
    }

    /// What is allowed but not good about the configuration and its tools.
    pub fn lint(&self) -> Vec<String> {
        let current = self.current.load();
        let unknown = self.unknown(&current);
        let mut findings = lint::lint(&self.toolbox, &current.config, &current.policy, &unknown);
        let registered = self.toolbox.sources().into_iter();
        let mut sources: Vec<String> = registered.map(|source| source.name).collect();
        let servers = current.servers.servers.iter();
        sources.extend(servers.map(|server| server.name.to_string()));
        sources.extend(
            current
                .remotes
                .iter()
                .map(|remote| remote.name().to_owned()),
        );
        findings.extend(lint::sources(&current.config, &sources));
        findings.extend(current.servers.warnings.iter().cloned());
        findings.extend(current.warnings.iter().cloned());
        findings.extend(current.catalogue.warnings.iter().cloned());
        let is_known = |name: &str| self.may_be_tool(name, &current);
        findings.extend(current.catalogue.unknown(&current.config, &is_known));
        findings
    }

    /// Members of the sets and the agent of a view that mean nothing, as far as can be told
    /// before every server was asked for its tools.
    pub fn unknown_members(&self, view: &View) -> Vec<String> {
        let current = self.current.load();
        let (config, catalogue) = (&current.config, &current.catalogue);
        let written = match view {
            View::Usual => Some(config.written()),
            View::Set(name) => catalogue.sets.get(name).map(ToolSet::written),
            View::Agent(name) => catalogue.agents.get(name).map(Agent::written),
        };
        let Some(written) = written else {
            return Vec::new();
        };
        let is_tool = |name: &str| self.toolbox.registry().has(name);
        let is_known = |name: &str| self.may_be_tool(name, &current);
        catalogue.unknown_beneath(written, &is_tool, &is_known)
    }

    /// Rules that mean no tool, or arguments that no tool has, as far as can be told before
    /// every server was asked for its tools.
    pub fn idle_rules(&self) -> Vec<String> {
        let current = self.current.load();
        lint::rules(&self.toolbox, &current.policy, &self.unknown(&current))
    }

    /// The sources whose tools nobody knows now.
    fn unknown(&self, current: &Current) -> lint::Unknown {
        let sources = self.toolbox.sources();
        let is_unknown = |name: &str| !sources.iter().any(|source| source.name == name);
        let servers = current.servers.servers.iter();
        let servers = servers.filter(|server| !server.disabled && is_unknown(server.name.as_str()));
        let mut remotes = current.remotes.iter();
        lint::Unknown {
            prefixes: servers
                .map(|server| format!("mcp__{}__", server.name))
                .collect(),
            others: remotes.any(|remote| is_unknown(remote.name())),
        }
    }

    /// Sets and agents that come to no list.
    pub fn broken_sets(&self) -> Vec<String> {
        let catalogue = self.catalogue();
        let sets = catalogue.sets.values();
        let sets = sets.map(|set| (&set.file, View::Set(set.name.as_str().to_owned())));
        let agents = catalogue.agents.values();
        let agents = agents.map(|agent| (&agent.file, View::Agent(agent.name.as_str().to_owned())));
        let broken = sets.chain(agents).filter_map(|(file, view)| {
            let error = self.selection(&view).err()?;
            Some(format!("{file}: {error}"))
        });
        broken.collect()
    }

    /// Whether a name or glob means a tool, or may mean one of a server or another source
    /// that nobody reached.
    fn may_be_tool(&self, name: &str, current: &Current) -> bool {
        let servers = current.servers.servers.iter();
        let of_servers = servers.map(|server| format!("mcp__{}__", server.name));
        let mut of_sources = of_servers.chain(current.remotes.iter().map(Remote::beginning));
        if self.toolbox.registry().has(name) || of_sources.any(|source| name.starts_with(&source)) {
            return true;
        }
        let selection = Selection::everything().with_tools([name]);
        !self.toolbox.offer(&selection).tools().is_empty()
    }

    /// Looks at all files, and puts what changed into force. Nothing is read where
    /// nothing looks changed.
    pub fn refresh(&self) -> Reloaded {
        // Who panicked while holding it left whole values behind: each is assigned at once.
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let told = self.told_of_appeared();
        let news = files.refresh(&self.setup);
        let mut reloaded = Reloaded {
            later: news.later,
            told,
            ..Reloaded::default()
        };
        if !news.changed {
            if self.pins.has_changed() {
                self.repin(&mut reloaded);
            }
            reloaded.told.extend(self.pins.told());
            return reloaded;
        }
        let Assembled {
            mut current,
            reload,
        } = assemble::assemble(&self.setup, &files);
        let further = further_files(&self.setup, &current);
        match self.toolbox.reload(reload) {
            Ok(Refreshed::Replaced { refused, .. }) => {
                current.refused = refused.iter().map(ToString::to_string).collect();
            }
            Ok(_) => {}
            // The toolbox goes on as it was, and so does everything else.
            Err(error) => {
                reloaded.told.push(error.to_string());
                return reloaded;
            }
        }
        if let Some(sandbox) = &self.setup.sandbox {
            sandbox.set(&current.config.sandbox, &further);
        }
        self.further.store(Arc::new(further));
        if let Some(records) = &self.setup.records {
            records.set_terms(current.config.records.terms());
        }
        let before = self.current.swap(Arc::new(current));
        let current = self.current.load();
        if let Some(tell) = &self.setup.web
            && before.web != current.web
        {
            tell(&current.web);
        }
        (reloaded.gone, reloaded.fresh) = exchange(&before, &current);
        reloaded.told.extend(fresh_words(&before, &current));
        reloaded.changed = true;
        let has_new_rules = self.pins.set_rules(current.pins.clone());
        if self.pins.has_changed() || has_new_rules {
            self.repin(&mut reloaded);
        }
        reloaded.told.extend(self.pins.told());
        reloaded
    }

    /// What appeared while programs ran, and is not told of yet.
    fn told_of_appeared(&self) -> Vec<String> {
        let all = self.appeared();
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut *told, all.clone());
        let is_fresh = |words: &String| !before.contains(words);
        all.into_iter().filter(is_fresh).collect()
    }

    /// What appeared while programs ran, and why it does not count.
    fn appeared(&self) -> Vec<String> {
        let sandbox = self.setup.sandbox.as_ref();
        let paths = sandbox.map(crate::sandbox::ProjectSandbox::withheld);
        // Pins are written here too, and doubted only where that makes a difference.
        let paths = paths.into_iter().flatten();
        let paths = paths.filter(|path| !path.ends_with(LOCK_FILE));
        let words = |path: PathBuf| {
            format!(
                "{}: it was made or replaced while a program ran in the sandbox and may be that \
                 program's, so it is not used; look at it, then run `toolsmith check --accept`, or \
                 remove it",
                path.display()
            )
        };
        paths.map(words).collect()
    }

    /// Releases what was approved meanwhile, and withholds what is no longer pinned.
    fn repin(&self, reloaded: &mut Reloaded) {
        reloaded.changed |= self.toolbox.repin();
        reloaded.told.extend(self.pins.problem());
    }
}

/// The configuration, wherever it is, and the documents it names.
fn further_files(setup: &Setup, current: &Current) -> Vec<PathBuf> {
    let documents = current.config.openapi.values();
    let documents = documents.filter_map(|document| match &document.document {
        DocumentPlace::File(file) => Some(setup.root.join(file)),
        DocumentPlace::Url(_) => None,
    });
    let config = setup.config_path().to_owned();
    std::iter::once(config).chain(documents).collect()
}

/// Servers that are to be let go, and those that are to be reached.
fn exchange(before: &Current, after: &Current) -> (Vec<String>, Vec<UpstreamOptions>) {
    let find = |current: &Current, name: &str| -> Option<ServerEntry> {
        let mut servers = current.servers.servers.iter();
        let mut found = servers.find(|server| server.name.as_str() == name)?.clone();
        // Where it stands makes no difference.
        found.origin = Origin::default();
        // What becomes of its tools is settled here, whoever it is.
        found.pins = None;
        Some(found)
    };
    let is_same = |name: &str| find(before, name) == find(after, name);
    let gone = before.upstreams.upstreams.iter();
    let gone = gone.filter(|old| !is_same(&old.name));
    let is_there = |fresh: &&UpstreamOptions| {
        let mut there = before.upstreams.upstreams.iter();
        there.any(|old| old.name == fresh.name) && is_same(&fresh.name)
    };
    let fresh = after.upstreams.upstreams.iter();
    let fresh = fresh.filter(|fresh| !is_there(fresh));
    (
        gone.map(|options| options.name.clone()).collect(),
        fresh.cloned().collect(),
    )
}

/// What is wrong now and was not before.
fn fresh_words(before: &Current, after: &Current) -> Vec<String> {
    let words = |current: &Current| -> Vec<String> {
        let errors = current.errors.iter().chain(&current.servers.errors);
        let errors = errors.chain(&current.missing).map(ToString::to_string);
        let unready = current.upstreams.unready.iter();
        let unready = unready.map(|unready| unready.error.clone());
        let others = current.refused.iter().chain(&current.warnings).cloned();
        errors.chain(unready).chain(others).collect()
    };
    let known = words(before);
    let mut fresh = words(after);
    fresh.retain(|word| !known.contains(word));
    fresh
}

impl fmt::Debug for Manager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Manager")
            .field("setup", &self.setup)
            .field("toolbox", &self.toolbox)
            .finish_non_exhaustive()
    }
}
