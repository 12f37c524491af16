//! What a host says before the files are read.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use tokio::runtime::Handle;
use toolsmith_core::AnyTool;
use toolsmith_mcp::client::Questions;
use toolsmith_runtime::permit::Rule;
use toolsmith_runtime::tape::{Recording, Replay};
use toolsmith_runtime::{BuildError, Mode};

use crate::appeared::Withholding;
use crate::approvals::FileApprovals;
use crate::config::{Config, WebTerms};
use crate::files::{IfGone, Kept};
use crate::loader::{ConfigLoader, FileLoader};
use crate::manager::Manager;
use crate::records::RecordFile;
use crate::references::References;
use crate::sandbox::ProjectSandbox;
use crate::servers::ServerEntry;
use crate::spill::FileSpills;
use crate::telemetry::TelemetryHost;
use crate::tool_example;
use crate::yaml::{self, YamlError};

/// The name of the configuration file.
pub const CONFIG_FILE: &str = "toolsmith.yaml";

/// Gathers what a [`Manager`] begins with.
pub struct Setup {
    pub(crate) loader: Arc<dyn ConfigLoader>,
    pub(crate) root: PathBuf,
    pub(crate) config: Kept<Config>,
    pub(crate) mode: Option<Mode>,
    pub(crate) rules: Vec<Rule>,
    pub(crate) prefix: Option<String>,
    pub(crate) spills: Option<FileSpills>,
    pub(crate) records: Option<RecordFile>,
    pub(crate) approvals: Option<FileApprovals>,
    pub(crate) telemetry: Option<TelemetryHost>,
    pub(crate) runtime: Option<Handle>,
    pub(crate) tools: Vec<(String, Vec<AnyTool>)>,
    pub(crate) servers: Vec<ServerEntry>,
    pub(crate) references: References,
    pub(crate) questions: Questions,
    pub(crate) now: fn() -> SystemTime,
    pub(crate) recording: Option<Arc<Recording>>,
    pub(crate) replay: Option<Arc<Replay>>,
    pub(crate) web: Option<TellWeb>,
    pub(crate) sandbox: Option<ProjectSandbox>,
}

/// Takes in what the configuration lets web tools do, each time that changes.
pub(crate) type TellWeb = Box<dyn Fn(&WebTerms) + Send + Sync>;

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

/// What a missing configuration file means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfMissing {
    /// The defaults hold.
    UseDefaults,
    /// Somebody asked for that file: it is an error.
    Fail,
}

impl Setup {
    /// Reads the configuration of a folder, if it has one.
    pub fn open(root: &Path) -> Result<Self, ManagerError> {
        let file = root.join(CONFIG_FILE);
        Self::open_with(Arc::new(FileLoader), &file, IfMissing::UseDefaults)
    }

    /// Reads a configuration file that must be there.
    pub fn open_file(file: &Path) -> Result<Self, ManagerError> {
        Self::open_with(Arc::new(FileLoader), file, IfMissing::Fail)
    }

    /// Reads the configuration through a loader of the host's. What else there is to
    /// read is looked for in the configuration's folder.
    pub fn open_with(
        loader: Arc<dyn ConfigLoader>,
        file: &Path,
        if_missing: IfMissing,
    ) -> Result<Self, ManagerError> {
        // Where nobody tells the time, files are compared by what is in them.
        let now = || SystemTime::UNIX_EPOCH;
        let mut config = Kept::new(file.to_owned(), IfGone::Keep);
        config.refresh(&*loader, &read_config, now);
        if let Some(error) = config.problem() {
            return Err(error.clone().into());
        }
        if config.good().is_none() && if_missing == IfMissing::Fail {
            let name = file.display().to_string();
            return Err(YamlError::whole(name, "there is no such file").into());
        }
        let root = file.parent().unwrap_or(Path::new("")).to_owned();
        Ok(Self {
            loader,
            references: References::new(&[], &root),
            root,
            config,
            mode: None,
            rules: Vec::new(),
            prefix: None,
            spills: None,
            records: None,
            approvals: None,
            telemetry: None,
            runtime: None,
            tools: Vec::new(),
            servers: Vec::new(),
            questions: Questions::NONE,
            now,
            recording: None,
            replay: None,
            web: None,
            sandbox: None,
        })
    }

    /// As [`Setup::open_with`], with programs in a sandbox, on the terms of the configuration.
    /// What they make that decides about tools is not read, at this start or a later one,
    /// until somebody accepts it. Without a sandbox, programs run only where their files say
    /// that they may do so without.
    pub fn open_in(
        sandbox: ProjectSandbox,
        loader: Arc<dyn ConfigLoader>,
        file: &Path,
        if_missing: IfMissing,
    ) -> Result<Self, ManagerError> {
        let loader = match loader.reads_files() {
            true => Arc::new(Withholding::new(loader, sandbox.appeared().clone())),
            false => loader,
        };
        let mut setup = Self::open_with(loader, file, if_missing)?;
        setup.sandbox = Some(sandbox);
        Ok(setup)
    }

    /// The configuration as it was read.
    pub fn config(&self) -> Arc<Config> {
        self.config.good().cloned().unwrap_or_default()
    }

    /// The file it was read from, if there was one.
    pub fn file(&self) -> Option<&Path> {
        self.config.good().map(|_| self.config.path())
    }

    pub(crate) fn config_path(&self) -> &Path {
        self.config.path()
    }

    /// Looks for tools, sets, agents and servers in this folder instead of the
    /// configuration's own.
    #[must_use]
    pub fn with_root(mut self, root: &Path) -> Self {
        root.clone_into(&mut self.root);
        self.references = References::new(self.references.environment(), root);
        self
    }

    /// Adds upstream servers before all others; one of the same name gives way.
    #[must_use]
    pub fn with_servers(mut self, entries: impl IntoIterator<Item = ServerEntry>) -> Self {
        self.servers.extend(entries);
        self
    }

    /// Hands over the environment that references are looked up in.
    #[must_use]
    pub fn with_environment(mut self, environment: &[(OsString, OsString)]) -> Self {
        self.references = References::new(environment, &self.root);
        self
    }

    /// Sets what upstream servers may ask of whoever calls.
    #[must_use]
    pub fn with_questions(mut self, questions: Questions) -> Self {
        self.questions = questions;
        self
    }

    /// Tells the time, so that files which were left alone need not be read again to
    /// know that they are the same.
    #[must_use]
    pub fn with_clock(mut self, now: fn() -> SystemTime) -> Self {
        self.now = now;
        self
    }

    /// Sets the mode instead of the configured one, also for agents.
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

    /// Keeps a record of each call, on the terms of the configuration.
    #[must_use]
    pub fn with_records(mut self, records: Option<RecordFile>) -> Self {
        self.records = records;
        self
    }

    /// Keeps what a person approves for the project.
    #[must_use]
    pub fn with_approvals(mut self, approvals: Option<FileApprovals>) -> Self {
        self.approvals = approvals;
        self
    }

    /// Tells the collector of the configuration of each call; without one there, that of
    /// the host, if it has one.
    #[must_use]
    pub fn with_telemetry(mut self, telemetry: Option<TelemetryHost>) -> Self {
        self.telemetry = telemetry;
        self
    }

    /// Adds tools that come with the program; of two with one name the first stays, and
    /// what the user wrote down comes before them.
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

    /// Records what every tool says and does.
    #[must_use]
    pub fn with_recording(mut self, recording: Option<Arc<Recording>>) -> Self {
        self.recording = recording;
        self
    }

    /// Takes all tools from a tape, and none from anywhere else: no server is reached, no
    /// program started, no file made into a tool. What files say of permission, limits,
    /// sets and agents holds.
    #[must_use]
    pub fn with_replay(mut self, replay: Option<Arc<Replay>>) -> Self {
        self.replay = replay;
        self
    }

    /// Tells the host what its web tools may do: before anything can be called, and again
    /// when the configuration changes.
    #[must_use]
    pub fn with_web(mut self, tell: impl Fn(&WebTerms) + Send + Sync + 'static) -> Self {
        self.web = Some(Box::new(tell));
        self
    }

    /// Adds the example tools.
    #[must_use]
    pub fn with_examples(self) -> Self {
        self.with_tools("examples", tool_example::tools())
    }

    /// Reads all files and builds the toolbox.
    pub fn load(self) -> Result<Manager, ManagerError> {
        Manager::new(self)
    }
}

impl fmt::Debug for Setup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Setup")
            .field("root", &self.root)
            .field("config", &self.config.path())
            .finish_non_exhaustive()
    }
}

/// Reads `toolsmith.yaml`. One with nothing in it says nothing, which is allowed.
pub(crate) fn read_config(_: &Path, name: &Arc<str>, bytes: &[u8]) -> Result<Config, YamlError> {
    match yaml::is_blank(bytes) {
        true => Ok(Config::default()),
        false => yaml::read(name, bytes),
    }
}
