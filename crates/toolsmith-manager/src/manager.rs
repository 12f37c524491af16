//! The manager: what a host says, and what the files say, become a toolbox.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use tokio::runtime::Handle;
use toolsmith_core::AnyTool;
use toolsmith_mcp::client::Questions;
use toolsmith_runtime::permit::{Policy, Rule};
use toolsmith_runtime::{BuildError, Mode, Toolbox};

use crate::config::Config;
use crate::loader::{ConfigLoader, FileLoader};
use crate::references::References;
use crate::servers::{self, Loaded, ServerEntry};
use crate::spill::FileSpills;
use crate::upstreams::{self, Prepared};
use crate::yaml::{self, YamlError};
use crate::{lint, tool_example};

/// The name of the configuration file.
pub const CONFIG_FILE: &str = "toolsmith.yaml";

/// Gathers what a toolbox is built from.
#[derive(Debug)]
pub struct Manager {
    config: Config,
    file: Option<PathBuf>,
    mode: Option<Mode>,
    rules: Vec<Rule>,
    prefix: Option<String>,
    spills: Option<FileSpills>,
    runtime: Option<Handle>,
    tools: Vec<(String, Vec<AnyTool>)>,
    servers: Loaded,
    upstreams: Prepared,
}

/// Why there is no toolbox.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ManagerError {
    /// A file cannot be used.
    #[error(transparent)]
    File(#[from] YamlError),
    /// The toolbox cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError),
}

impl Manager {
    /// Reads the configuration of a folder, if it has one.
    pub fn open(root: &Path) -> Result<Self, ManagerError> {
        Self::open_with(&FileLoader, &root.join(CONFIG_FILE), IfMissing::UseDefaults)
    }

    /// Reads a configuration file that must be there.
    pub fn open_file(file: &Path) -> Result<Self, ManagerError> {
        Self::open_with(&FileLoader, file, IfMissing::Fail)
    }

    /// Reads the configuration through a loader of the host's.
    pub fn open_with(
        loader: &dyn ConfigLoader,
        file: &Path,
        if_missing: IfMissing,
    ) -> Result<Self, ManagerError> {
        let name = file.display().to_string();
        let (config, file) = match (loader.load(file)?, if_missing) {
            (Some(bytes), _) if yaml::is_blank(&bytes) => {
                (Config::default(), Some(file.to_owned()))
            }
            (Some(bytes), _) => (yaml::read(&name, &bytes)?, Some(file.to_owned())),
            (None, IfMissing::UseDefaults) => (Config::default(), None),
            (None, IfMissing::Fail) => {
                return Err(YamlError::whole(name, "there is no such file").into());
            }
        };
        Ok(Self {
            config,
            file,
            mode: None,
            rules: Vec::new(),
            prefix: None,
            spills: None,
            runtime: None,
            tools: Vec::new(),
            servers: Loaded::default(),
            upstreams: Prepared::default(),
        })
    }

    /// The configuration as it was read.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The file it was read from, if there was one.
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// Reads the upstream servers of the configuration, and those described beneath
    /// `root`. None is started.
    #[must_use]
    pub fn with_servers(mut self, loader: &dyn ConfigLoader, root: &Path) -> Self {
        self.servers = servers::read(loader, root, &self.config, self.file.as_deref());
        self
    }

    /// Adds upstream servers before all others; one of the same name gives way.
    #[must_use]
    pub fn with_server_entries(mut self, entries: impl IntoIterator<Item = ServerEntry>) -> Self {
        let mut first: Vec<ServerEntry> = entries.into_iter().collect();
        let others = std::mem::take(&mut self.servers.servers).into_iter();
        let others: Vec<ServerEntry> = others
            .filter(|other| first.iter().all(|entry| entry.name != other.name))
            .collect();
        first.extend(others);
        self.servers.servers = first;
        self
    }

    /// Looks up what the servers' descriptions refer to, in an environment the host
    /// hands over and in files beneath `root`. `questions` is what they may ask.
    #[must_use]
    pub fn with_environment(
        mut self,
        environment: &[(OsString, OsString)],
        root: &Path,
        questions: Questions,
    ) -> Self {
        let references = References::new(environment, root);
        self.upstreams = upstreams::prepare(&self.servers.servers, &references, questions);
        self
    }

    /// The servers that can be reached, and those that cannot.
    pub fn upstreams(&self) -> &Prepared {
        &self.upstreams
    }

    /// The upstream servers that were read, and what is wrong with the rest.
    pub fn servers(&self) -> &Loaded {
        &self.servers
    }

    /// Sets the mode instead of the configured one.
    #[must_use]
    pub fn with_mode(mut self, mode: Option<Mode>) -> Self {
        self.mode = mode;
        self
    }

    /// Adds rules to the configured ones.
    #[must_use]
    pub fn with_rules(mut self, rules: impl IntoIterator<Item = Rule>) -> Self {
        self.rules.extend(rules);
        self
    }

    /// Sets the prefix instead of the configured one; empty for none.
    #[must_use]
    pub fn with_prefix(mut self, prefix: Option<String>) -> Self {
        self.prefix = prefix;
        self
    }

    /// Sets the runtime tools run on; without one it is that of whoever calls them.
    #[must_use]
    pub fn with_runtime(mut self, runtime: Handle) -> Self {
        self.runtime = Some(runtime);
        self
    }

    /// Keeps large outputs.
    #[must_use]
    pub fn with_spills(mut self, spills: Option<FileSpills>) -> Self {
        self.spills = spills;
        self
    }

    /// Adds tools from an origin; of two with one name the first stays.
    #[must_use]
    pub fn with_tools(
        mut self,
        origin: impl Into<String>,
        tools: impl IntoIterator<Item = AnyTool>,
    ) -> Self {
        self.tools
            .push((origin.into(), tools.into_iter().collect()));
        self
    }

    /// Adds the example tools.
    #[must_use]
    pub fn with_examples(self) -> Self {
        self.with_tools("examples", tool_example::tools())
    }

    /// The policy in force: the configured one, with the host's mode and rules.
    pub fn policy(&self) -> Policy {
        let policy = self.config.policy.policy().with_rules(self.rules.clone());
        match self.mode {
            Some(mode) => policy.with_mode(mode),
            None => policy,
        }
    }

    /// Builds the toolbox.
    pub fn build(&self) -> Result<Toolbox, ManagerError> {
        let prefix = self.prefix.as_deref().or(self.config.prefix());
        let mut builder = Toolbox::builder()
            .policy(self.policy())
            .limits(self.config.limits.limits())
            .secrets(self.upstreams.secrets.0.iter().cloned())
            .prefix(prefix.unwrap_or_default());
        for (pattern, binding) in &self.config.bindings {
            builder = builder.binding(pattern, binding.clone());
        }
        for (origin, tools) in &self.tools {
            builder = builder.load(origin, tools.iter().cloned());
        }
        if let Some(runtime) = &self.runtime {
            builder = builder.runtime(runtime.clone());
        }
        if let Some(spills) = &self.spills {
            builder = builder.spill_store(spills.clone());
        }
        Ok(builder.build()?)
    }

    /// What is allowed but not good about the configuration and its tools.
    pub fn lint(&self, toolbox: &Toolbox) -> Vec<String> {
        let mut findings = lint::lint(toolbox, &self.config, &self.policy());
        findings.extend(self.servers.warnings.iter().cloned());
        findings
    }
}

/// What a missing configuration file means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfMissing {
    /// The defaults hold.
    UseDefaults,
    /// Somebody asked for that file: it is an error.
    Fail,
}
