//! What a host says about the tools that run programs: the environment they may see a
//! part of, where jobs get their temporary folders, and where long outputs are kept.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use toolsmith_process::Sandbox;

/// Makes a new file for an output, readable by its owner only, named after the stem.
pub type NewFile = dyn Fn(&str) -> io::Result<(PathBuf, File)> + Send + Sync;

/// Takes secrets out of a text.
pub type Redaction = dyn Fn(&str) -> String + Send + Sync;

/// What programs may do at the moment.
pub type SandboxNow = dyn Fn() -> Sandbox + Send + Sync;

/// What a host says about the tools that run programs.
#[derive(Clone)]
#[non_exhaustive]
pub struct ShellOptions {
    /// The host's environment. Programs see what is on the list of what they need, and of
    /// that nothing that looks like a secret.
    pub environment: Vec<(OsString, OsString)>,
    /// What programs may do, asked for whenever one is started. The workspace's roots and a
    /// job's own temporary folder are added to what may be written; where the machine
    /// cannot give it, nothing runs.
    pub sandbox: Arc<SandboxNow>,
    /// Where each job gets a folder of its own for temporary files, which goes with it.
    pub temporary: PathBuf,
    /// Makes files for outputs that are longer than an answer; without it the middle of
    /// such an output is gone.
    pub files: Option<Arc<NewFile>>,
}

impl ShellOptions {
    /// Programs that are kept in this sandbox, see a part of this environment, and have
    /// temporary folders in there.
    pub fn new(
        sandbox: Sandbox,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
        temporary: impl Into<PathBuf>,
    ) -> Self {
        Self {
            sandbox: Arc::new(move || sandbox.clone()),
            environment: environment.into_iter().collect(),
            temporary: temporary.into(),
            files: None,
        }
    }

    /// Asks for the sandbox whenever a program is started, where it may change meanwhile.
    #[must_use]
    pub fn with_sandbox_now(mut self, sandbox: Arc<SandboxNow>) -> Self {
        self.sandbox = sandbox;
        self
    }

    /// Keeps long outputs in files that are made by this.
    #[must_use]
    pub fn with_files(mut self, files: Arc<NewFile>) -> Self {
        self.files = Some(files);
        self
    }
}

/// Shows no values of the environment.
impl fmt::Debug for ShellOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShellOptions")
            .field("sandbox", &(self.sandbox)())
            .field("temporary", &self.temporary)
            .field("keeps_files", &self.files.is_some())
            .finish_non_exhaustive()
    }
}

/// What outputs need of the host.
pub(crate) struct Hooks {
    files: Option<Arc<NewFile>>,
    /// Known once there is a toolbox, which the tools are made before.
    pub(super) redaction: OnceLock<Arc<Redaction>>,
}

impl Hooks {
    pub(super) fn new(files: Option<Arc<NewFile>>) -> Self {
        Self {
            files,
            redaction: OnceLock::new(),
        }
    }

    /// Whether there are files for outputs.
    pub(crate) fn keeps_files(&self) -> bool {
        self.files.is_some()
    }

    /// Makes a file.
    pub(crate) fn file(&self, stem: &str) -> io::Result<(PathBuf, File)> {
        match &self.files {
            Some(files) => files(stem),
            None => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    /// A text without secrets.
    pub(crate) fn redacted<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.redaction.get() {
            Some(redaction) => Cow::Owned(redaction(text)),
            None => Cow::Borrowed(text),
        }
    }
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hooks").finish_non_exhaustive()
    }
}
