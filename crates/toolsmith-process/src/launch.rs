//! What to start: a program, its arguments, its folder, its environment.
//!
//! Arguments are an array and never a line for a shell. How the child is separated from
//! its parent is told in `spawn.rs`.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;
use std::process::Stdio;

use tokio::process::Command;
use tokio::runtime::Handle;

use crate::error::LaunchError;
use crate::running::Running;
use crate::spawn;
use crate::tree::MARK;

/// A program to start, with an environment that is empty until something is added.
#[derive(Clone)]
pub struct Launch {
    program: OsString,
    arguments: Vec<OsString>,
    current_dir: Option<PathBuf>,
    environment: BTreeMap<OsString, OsString>,
}

impl Launch {
    /// The program and its arguments.
    pub fn words(&self) -> Vec<&OsStr> {
        let arguments = self.arguments.iter().map(OsString::as_os_str);
        std::iter::once(self.program.as_os_str())
            .chain(arguments)
            .collect()
    }

    /// Names the program: a path, or a name to look for in the `PATH` given to the child.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
            arguments: Vec::new(),
            current_dir: None,
            environment: BTreeMap::new(),
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn argument(mut self, argument: impl Into<OsString>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn arguments<A: Into<OsString>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Names the folder to start in; without one it is the parent's.
    ///
    /// A program named by a relative path is looked for in this folder.
    #[must_use]
    pub fn current_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.current_dir = Some(folder.into());
        self
    }

    /// Adds variables; of two with the same name the later one stays.
    #[must_use]
    pub fn environment<N, V>(mut self, pairs: impl IntoIterator<Item = (N, V)>) -> Self
    where
        N: Into<OsString>,
        V: Into<OsString>,
    {
        let pairs = pairs
            .into_iter()
            .map(|(name, value)| (name.into(), value.into()));
        self.environment.extend(pairs);
        self
    }

    /// Starts the program in a session of its own, with pipes for its three streams.
    ///
    /// Blocks for as long as the system takes to start a process. The child also gets the
    /// variable [`MARK`](crate::MARK), by which its descendants are found.
    ///
    /// # Errors
    /// When there is no such program or folder, when the file may not be executed, when
    /// the system has no room for another process, or outside of a tokio runtime.
    pub fn start(&self) -> Result<Running, LaunchError> {
        let Ok(runtime) = Handle::try_current() else {
            let program = self.program.clone();
            return Err(LaunchError::NoRuntime { program });
        };
        let explain =
            |source| LaunchError::explain(&self.program, self.current_dir.as_deref(), source);
        let mark = spawn::new_mark().map_err(explain)?;
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .env_clear()
            .envs(&self.environment)
            .env(MARK, &mark)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(folder) = &self.current_dir {
            command.current_dir(folder);
        }
        let (child, tree) = spawn::spawn(command, runtime, mark).map_err(explain)?;
        Ok(Running::new(child, tree))
    }
}

/// Shows neither values of the environment nor arguments: both may hold secrets.
impl fmt::Debug for Launch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.environment.keys().collect();
        formatter
            .debug_struct("Launch")
            .field("program", &self.program)
            .field("arguments", &self.arguments.len())
            .field("current_dir", &self.current_dir)
            .field("environment", &names)
            .finish()
    }
}
