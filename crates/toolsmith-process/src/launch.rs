//! What to start: a program, its arguments, its folder, its environment.
//!
//! Arguments are an array and never a line for a shell. How the child is separated from
//! its parent is told in `spawn.rs`, how it is confined in `sandbox/` and `helper/`.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::Stdio;

use tokio::process::{ChildStdout, Command};
use tokio::runtime::Handle;

use crate::error::LaunchError;
use crate::helper::{self, Begun};
use crate::running::Running;
use crate::sandbox::{Order, Sandbox};
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
    sandbox: Option<Box<Sandbox>>,
    keep_descendants: bool,
}

/// What a child reads from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Input {
    Piped,
    Nothing,
}

/// Where a child writes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Output {
    /// Output can be taken; of the errors the end is kept.
    Tail,
    /// Output and errors can be taken apart from one another.
    Apart,
    /// Output and errors can be taken as one stream.
    Merged,
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
            output: Output::Tail,
            sandbox: None,
            keep_descendants: false,
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
        self.input = Input::Nothing;
        self
    }

    /// Gives the child a pipe to read from, as is done without being asked for.
    #[must_use]
    pub fn stdin_piped(mut self) -> Self {
        self.input = Input::Piped;
        self
    }

    /// Joins output and errors in one stream, which keeps the order they are written in.
    ///
    /// [`Running::take_stdout`] gives that stream.
    #[must_use]
    pub fn merge_output(mut self) -> Self {
        self.output = Output::Merged;
        self
    }

    /// Lets the standard error be read by [`Running::take_stderr`], instead of keeping its end.
    #[must_use]
    pub fn separate_output(mut self) -> Self {
        self.output = Output::Apart;
        self
    }

    /// Confines the child, and all that it starts.
    ///
    /// The program that launches must have called [`helper`](crate::helper) first in its
    /// `main`, or have named one that does.
    #[must_use]
    pub fn sandbox(mut self, sandbox: Sandbox) -> Self {
        self.sandbox = Some(Box::new(sandbox));
        self
    }

    /// Lets what a sandboxed child started live on when the child has ended.
    ///
    /// They live until the [`Running`] ends; [`Running::wait_for_all`] waits for them.
    /// Without this, and within a sandbox, they end with the child, before
    /// [`Running::wait`] says how it ended, and no [`Ending`](crate::Ending) names them.
    /// Outside of a sandbox they live on in any case.
    #[must_use]
    pub fn keep_descendants(mut self) -> Self {
        self.keep_descendants = true;
        self
    }

    /// Starts the program in a session of its own, with pipes for its three streams.
    ///
    /// Blocks for as long as the system takes to start a process, and within a sandbox
    /// until the program itself has started, which takes some milliseconds. The child also
    /// gets the variable [`MARK`](crate::MARK), by which its descendants are found.
    ///
    /// # Errors
    /// When there is no such program or folder, when the file may not be executed, when
    /// the system has no room for another process, when this machine cannot give what the
    /// sandbox asks for, or outside of a tokio runtime.
    pub fn start(&self) -> Result<Running, LaunchError> {
        let runtime = Handle::try_current().ok();
        let Some(runtime) = runtime.filter(|_| spawn::can_watch_pipes()) else {
            let program = self.program.clone();
            return Err(LaunchError::NoRuntime { program });
        };
        let explain =
            |source| LaunchError::explain(&self.program, self.current_dir.as_deref(), source);
        let mark = spawn::new_mark().map_err(explain)?;
        let Some(sandbox) = &self.sandbox else {
            let command = self.command();
            return self
                .spawn(command, Vec::new(), runtime, mark)
                .map_err(explain);
        };
        let program = || self.program.clone();
        let helper =
            helper::program().ok_or_else(|| LaunchError::NoHelper { program: program() })?;
        let Begun {
            command,
            handed,
            listener,
        } = helper::begin(&helper, self.order(&mark), sandbox)?;
        let kept = sandbox.witness.as_ref().map(|it| it.starts(sandbox));
        let running = self.spawn(command, handed, runtime, mark);
        let mut running = running.map_err(|source| LaunchError::Helper {
            program: program(),
            helper,
            source,
        })?;
        running.keep(kept);
        // A helper that failed is ended with what it may have started.
        let (layers, watch) = listener.listen()?;
        running.confine(layers, watch, self.keep_descendants);
        Ok(running)
    }

    /// Starts the program as [`start`](Self::start) does, without holding up the runtime.
    ///
    /// When the returned future is dropped, the program is ended as soon as it has started.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub async fn begin(&self) -> Result<Running, LaunchError> {
        let launch = self.clone();
        let started = tokio::task::spawn_blocking(move || launch.start()).await;
        // A runtime that shuts down starts nothing any more.
        started.unwrap_or_else(|_| {
            Err(LaunchError::NoRuntime {
                program: self.program.clone(),
            })
        })
    }

    /// The program itself, to be started without a sandbox.
    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .env_clear()
            .envs(&self.environment);
        if let Some(folder) = &self.current_dir {
            command.current_dir(folder);
        }
        command
    }

    /// What a helper is to start; the sandbox is not filled in.
    fn order(&self, mark: &str) -> Order {
        let mut order = Order::to_try_namespaces(std::process::id());
        order.task = crate::sandbox::Task::Start;
        order.program.clone_from(&self.program);
        order.arguments.clone_from(&self.arguments);
        let mut environment = self.environment.clone();
        environment.insert(MARK.into(), mark.into());
        order.environment = environment.into_iter().collect();
        order.current_dir.clone_from(&self.current_dir);
        order.keep_descendants = self.keep_descendants;
        order
    }

    fn spawn(
        &self,
        mut command: Command,
        handed: Vec<OwnedFd>,
        runtime: Handle,
        mark: String,
    ) -> io::Result<Running> {
        command.env(MARK, &mark);
        command.stdin(match self.input {
            Input::Piped => Stdio::piped(),
            Input::Nothing => Stdio::null(),
        });
        let merged = if self.output == Output::Merged {
            let (reader, writer) = io::pipe()?;
            command.stdout(writer.try_clone()?).stderr(writer);
            let reader = std::process::ChildStdout::from(OwnedFd::from(reader));
            Some(ChildStdout::from_std(reader)?)
        } else {
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            None
        };
        let (child, tree) = spawn::spawn(command, handed, runtime, mark)?;
        Ok(Running::new(child, tree, self.output, merged))
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
            .field("input", &self.input)
            .field("output", &self.output)
            .field("sandbox", &self.sandbox)
            .field("keep_descendants", &self.keep_descendants)
            .finish()
    }
}
