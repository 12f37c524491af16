//! The arguments that `bash`, `shell` and `script` share.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolsmith_core::{Binding, Hints, Plan, Touch};

use super::Shells;
use super::call::AtTimeout;
use super::launch::{Input, Streams};
use super::output::View;
use super::report::one_line;
use crate::refusal::{Reason, Refusal};

/// What a call may take beyond its time-out: to end everything, and to tell of it.
pub(crate) const GRACE: Duration = Duration::from_secs(5);

/// How much of a command a person is shown before it runs.
const SUMMARY: usize = 200;

/// How many characters an answer may show.
pub(crate) const MOST_OUTPUT: usize = 500_000;

/// How much a program may be given to read.
const MOST_INPUT: usize = 4 << 20;

// What may be said of every program. No documentation: it would be told to models as that of
// each tool's arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Common {
    /// The folder to run in.
    #[serde(default)]
    pub(crate) cwd: Option<String>,
    /// Variables to add; not those that decide what programs load or find, such as PATH.
    #[serde(default)]
    pub(crate) env: BTreeMap<String, String>,
    /// Whether to return at once, with the id of a job.
    #[serde(default)]
    pub(crate) run_in_background: bool,
    /// What it is for, in a few words.
    #[serde(default)]
    pub(crate) description: Option<String>,
    /// What it reads from its standard input; nothing unless given.
    #[serde(default)]
    pub(crate) stdin: Option<String>,
    /// Shows only so many lines of the beginning (and of the end, with tail_lines).
    #[serde(default)]
    #[schemars(range(min = 0, max = 100_000))]
    pub(crate) head_lines: Option<usize>,
    /// Shows only so many lines of the end (and of the beginning, with head_lines).
    #[serde(default)]
    #[schemars(range(min = 0, max = 100_000))]
    pub(crate) tail_lines: Option<usize>,
    /// How many characters of output are shown; of more, the middle is left out and all is kept in a file.
    #[serde(default = "usual_output")]
    #[schemars(range(min = 100, max = 500_000))]
    pub(crate) max_output: usize,
    /// What happens when time runs out: it is killed, or goes on as a job.
    #[serde(default)]
    pub(crate) on_timeout: OnTimeout,
    /// Whether what still runs when the command ends goes on as a job; otherwise it is ended.
    #[serde(default)]
    pub(crate) leave_running: bool,
}

fn usual_output() -> usize {
    View::default().characters
}

/// What happens when time runs out.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OnTimeout {
    #[default]
    Kill,
    Background,
}

/// How standard output and standard error come.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StreamsWord {
    Merged,
    Separate,
}

impl StreamsWord {
    pub(crate) fn streams(self) -> Streams {
        match self {
            Self::Merged => Streams::Merged,
            Self::Separate => Streams::Separate,
        }
    }
}

impl Common {
    pub(crate) fn view(&self) -> View {
        View {
            characters: self.max_output.clamp(100, MOST_OUTPUT),
            first: self.head_lines,
            last: self.tail_lines,
        }
    }

    pub(crate) fn at_timeout(&self) -> AtTimeout {
        match self.on_timeout {
            OnTimeout::Kill => AtTimeout::Kill,
            OnTimeout::Background => AtTimeout::Background,
        }
    }

    /// What the program reads.
    pub(crate) fn input(&self) -> Result<Input, Refusal> {
        match &self.stdin {
            Some(text) if text.len() > MOST_INPUT => {
                let message = format!("stdin has {} bytes, and may have {MOST_INPUT}", text.len());
                Err(Refusal::new(Reason::TooLarge, message)
                    .next("Write it to a file and let the command read that"))
            }
            Some(text) => Ok(Input::Text(text.clone())),
            None if self.run_in_background => Ok(Input::Typed),
            None => Ok(Input::Nothing),
        }
    }

    /// The plan of a call that runs a command, where it is to run, and how long it may take.
    pub(crate) fn plan(
        &self,
        shells: &Shells,
        command: &str,
        timeout: Duration,
    ) -> Result<Plan, Refusal> {
        let mut summary = format!("run {}", one_line(command, SUMMARY));
        if let Some(description) = self
            .description
            .as_deref()
            .map(str::trim)
            .filter(|it| !it.is_empty())
        {
            summary += &format!(" ({})", one_line(description, 80));
        }
        if self.run_in_background {
            summary += " in the background";
        }
        let workspace = &shells.inner().workspace;
        let place = workspace.place(self.cwd.as_deref().unwrap_or("."))?;
        let touch = Touch::read(workspace.whole(&place));
        let touch = match self.cwd {
            Some(_) => touch.from_argument("cwd"),
            None => touch,
        };
        Ok(Plan::new(summary).touching(touch).within(timeout + GRACE))
    }
}

/// How such a tool is run: the longest time-out it takes, and what ending takes.
pub(crate) fn binding(longest: Duration) -> Binding {
    Binding::default().with_timeout(longest + GRACE)
}

/// Hints of a tool that runs whatever it is told.
pub(crate) fn anything() -> Hints {
    let mut hints = Hints::default();
    hints.destructive = Some(true);
    hints.idempotent = Some(false);
    hints.open_world = Some(true);
    hints
}
