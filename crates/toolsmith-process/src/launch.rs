//! What to start: a program, its arguments, its folder, its environment.
//!
//! Arguments are an array and never a line for a shell. How the child is separated from
//! its parent is told in `spawn.rs`.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::Stdio;

use tokio::process::{ChildStdout, Command};
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
    input: Input,
    output: Output,
}

/// What a child reads from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Input {
    Piped,
    Null,
}

/// Where a child's two outputs go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Output {
    /// The standard output to a pipe, the end of the standard error to a [`Tail`](crate::Tail).
    Tailed,
    /// Both to one pipe, which keeps the order in which they were written.
    Merged,
    /// Each to a pipe of its own.
    Separate,
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
            input: Input::Piped,
            output: Output::Tailed,
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

    /// Gives the child nothing to read.
    #[must_use]
    pub fn stdin_null(mut self) -> Self {
        self.input = Input::Null;
        self
    }

    /// Sends the standard error into the pipe of the standard output, so that what is
    /// written to both is read in the order it was written.
    #[must_use]
    pub fn merge_output(mut self) -> Self {
        self.output = Output::Merged;
        self
    }

    /// Gives the standard error a pipe of its own, for
    /// [`Running::take_stderr`](crate::Running::take_stderr), instead of keeping its end.
    #[must_use]
    pub fn separate_output(mut self) -> Self {
        self.output = Output::Separate;
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
            .stdin(match self.input {
                Input::Piped => Stdio::piped(),
                Input::Null => Stdio::null(),
            })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut merged = None;
        if self.output == Output::Merged {
            let (reader, writer) = std::io::pipe().map_err(explain)?;
            let second = writer.try_clone().map_err(explain)?;
            command.stdout(writer).stderr(second);
            merged = Some(reader);
        }
        if let Some(folder) = &self.current_dir {
            command.current_dir(folder);
        }
        let (mut child, tree) = spawn::spawn(command, runtime, mark).map_err(explain)?;
        if let Some(reader) = merged {
            let reader = std::process::ChildStdout::from(OwnedFd::from(reader));
            child.stdout = ChildStdout::from_std(reader).ok();
        }
        Ok(Running::new(child, tree, self.output))
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
