//! The one place where a program is started.
//!
//! An [`Order`] says what to start; everything a program of these tools may and may not
//! do is decided here, so that no tool can forget it.

use std::ffi::OsString;
use std::path::PathBuf;

use toolsmith_process::{Launch, LaunchError, Running, Sandbox};

use super::temporary::Temporary;
use crate::refusal::{Reason, Refusal};

/// How long one argument may be: Linux takes 128 KiB with the NUL at its end.
pub(crate) const LONGEST_ARGUMENT: usize = (128 << 10) - 1;

/// How many bytes all of them may have; the environment needs room beside them.
const MOST_BYTES: usize = 1 << 20;

/// How many there may be.
const MOST_ARGUMENTS: usize = 32 << 10;

/// What to start.
#[derive(Debug)]
pub(crate) struct Order {
    /// What it is called in answers and lists.
    pub(crate) label: String,
    pub(crate) program: OsString,
    pub(crate) arguments: Vec<OsString>,
    /// The folder to start in, and how it is shown.
    pub(crate) folder: PathBuf,
    pub(crate) shown_folder: String,
    /// The whole environment but for the job's own folder.
    pub(crate) variables: Vec<(OsString, OsString)>,
    pub(crate) input: Input,
    pub(crate) streams: Streams,
    pub(crate) temporary: Temporary,
    /// Whether what it leaves running goes on.
    pub(crate) leaves: bool,
    /// What it may do.
    pub(crate) sandbox: Sandbox,
}

/// What a program reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    /// Nothing.
    Nothing,
    /// A text, and then nothing.
    Text(String),
    /// Whatever is typed while it runs.
    Typed,
}

/// How the two outputs of a program come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Streams {
    /// Through one pipe, in the order they were written.
    Merged,
    /// Through one pipe each, in the order they arrive.
    Separate,
    /// As `Separate`, and the standard error is only counted.
    OutputOnly,
}

impl Streams {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Merged => "merged",
            Self::Separate | Self::OutputOnly => "separate",
        }
    }
}

impl Order {
    /// Starts it. Blocks for as long as the system takes.
    pub(crate) fn start(&self) -> Result<Running, Refusal> {
        self.check()?;
        let launch = Launch::new(&self.program)
            .arguments(&self.arguments)
            .current_dir(&self.folder)
            .environment(self.variables.iter().cloned())
            .environment([("TMPDIR", self.temporary.path())])
            .sandbox(self.sandbox.clone().scratch(self.temporary.path()))
            // What is left is named before it is ended.
            .keep_descendants();
        let launch = match self.input {
            Input::Nothing => launch.stdin_null(),
            Input::Text(_) | Input::Typed => launch,
        };
        let launch = match self.streams {
            Streams::Merged => launch.merge_output(),
            Streams::Separate | Streams::OutputOnly => launch.separate_output(),
        };
        launch.start().map_err(|error| self.refused(&error))
    }

    fn check(&self) -> Result<(), Refusal> {
        let words = || std::iter::once(&self.program).chain(&self.arguments);
        if words().any(|word| word.as_encoded_bytes().contains(&0)) {
            let message = "the command holds a NUL character, which no program can be given";
            return Err(Refusal::new(Reason::BadArgument, message).next("Remove it"));
        }
        let longest = words().map(|word| word.len()).max().unwrap_or(0);
        let bytes: usize = words().map(|word| word.len() + 1).sum();
        if longest > LONGEST_ARGUMENT || bytes > MOST_BYTES || words().count() > MOST_ARGUMENTS {
            let message = format!(
                "the command is more than a program can be given: it has {} words of {bytes} bytes, \
                 the longest of {longest}; {MOST_ARGUMENTS} words of {MOST_BYTES} bytes, and \
                 {LONGEST_ARGUMENT} bytes in one, are the most",
                words().count()
            );
            return Err(Refusal::new(Reason::TooLarge, message)
                .next("Write it to a file and run that with script, or pass data by stdin"));
        }
        Ok(())
    }

    fn refused(&self, error: &LaunchError) -> Refusal {
        let program = self.program.to_string_lossy();
        match error {
            LaunchError::NotFound { .. } => {
                let message = format!("there is no program `{program}`");
                Refusal::new(Reason::NotFound, message)
                    .next("Check the spelling, install it, or name it by its full path")
            }
            LaunchError::NotExecutable { .. } => {
                let message = format!("`{program}` may not be executed");
                Refusal::new(Reason::Denied, message).next(
                    "Make it executable (chmod +x), or run it with script and its interpreter",
                )
            }
            LaunchError::NoInterpreter { .. } => {
                let message = format!(
                    "the interpreter that `{program}` names in its first line is not there"
                );
                Refusal::new(Reason::NotFound, message)
                    .next("Correct its first line, or install the interpreter")
            }
            LaunchError::NoFolder { .. } => {
                let message = format!("the folder {} is gone", self.shown_folder);
                Refusal::new(Reason::NotFound, message).next("Name another with cwd")
            }
            LaunchError::TooLong { .. } => {
                let message = "the command and its environment are longer than the system takes";
                Refusal::new(Reason::TooLarge, message)
                    .next("Write it to a file and run that with script, or pass data by stdin")
            }
            LaunchError::Unsupported {
                layer, why, remedy, ..
            } => {
                let message = format!(
                    "nothing was run: the sandbox needs {layer}, and this machine has none ({why})"
                );
                Refusal::new(Reason::Denied, message).next(*remedy)
            }
            LaunchError::Refused { source, .. } | LaunchError::Helper { source, .. }
                if source.kind() == std::io::ErrorKind::WouldBlock =>
            {
                let message = "nothing was run: this machine has no room for another process";
                Refusal::new(Reason::Busy, message)
                    .next("Try again later, or end a job with shell_kill")
            }
            LaunchError::NoHelper { .. }
            | LaunchError::Helper { .. }
            | LaunchError::HelperLost { .. }
            | LaunchError::Sandbox { .. } => {
                let message = format!("nothing was run: the sandbox could not be set up ({error})");
                Refusal::new(Reason::Denied, message)
                    .next("Tell the user; `toolsmith doctor` shows what this machine can do")
            }
            LaunchError::Refused { source, .. } => {
                let message = format!("`{program}` could not be started: {source}");
                Refusal::new(Reason::Failed, message)
                    .next("Try again later, or with fewer arguments and variables")
            }
            other => Refusal::new(Reason::Failed, other.to_string()),
        }
    }
}
