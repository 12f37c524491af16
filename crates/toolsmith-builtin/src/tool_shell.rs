//! `shell`: runs a program with arguments, and no shell in between.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use toolsmith_core::{Binding, CommandLine, Kind, Outcome, Plan, ToolContext, ToolDef};

use crate::built_in::{described, example, noted};
use crate::refusal::{Reason, Refusal};
use crate::shell::Shells;
use crate::shell::call::Call;
use crate::shell::common::{self, Common, StreamsWord};
use crate::shell::define::{ShellTool, ready};
use crate::shell::environment;
use crate::shell::folder;
use crate::shell::launch::{Order, Streams};
use crate::shell::report::Ran;
use crate::shell_line;

/// The longest time a program may be given, in milliseconds.
const LONGEST: u64 = 300_000;

/// Runs a program.
pub(crate) struct Shell(pub(crate) Shells);

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Arguments {
    /// The program: a name, or a path; not a line for a shell.
    command: String,
    /// Its arguments, each as the program gets it; nothing is split, expanded or quoted.
    #[serde(default)]
    args: Vec<String>,
    /// After how many milliseconds time runs out. A job in the background has no limit.
    #[serde(default = "half_a_minute")]
    #[schemars(range(min = 1000, max = 300_000))]
    timeout: u64,
    /// Whether the standard error is shown too.
    #[serde(default = "yes")]
    capture_stderr: bool,
    /// Whether both outputs come as one, in the order they are written (merged), or each by itself (separate).
    #[serde(default = "separate")]
    streams: StreamsWord,
    #[serde(flatten)]
    common: Common,
}

fn half_a_minute() -> u64 {
    30_000
}

fn yes() -> bool {
    true
}

fn separate() -> StreamsWord {
    StreamsWord::Separate
}

impl Arguments {
    fn limit(&self) -> Duration {
        Duration::from_millis(self.timeout.clamp(1000, LONGEST))
    }

    /// The words as a person would type them.
    fn label(&self) -> String {
        let words = std::iter::once(&self.command).chain(&self.args);
        let words: Vec<String> = words.map(|word| quoted(word)).collect();
        words.join(" ")
    }

    fn check(&self) -> Result<(), Refusal> {
        if self.command.trim().is_empty() {
            return Err(
                Refusal::new(Reason::BadArgument, "the command is empty").next("Name a program")
            );
        }
        let looks_like_a_line = self.args.is_empty()
            && self.command.contains(char::is_whitespace)
            && !self.command.contains('/');
        if looks_like_a_line {
            let message = format!(
                "there is no program {:?}: it is a line for a shell",
                self.command
            );
            return Err(Refusal::new(Reason::BadArgument, message)
                .next("Put the program in command and each argument in args, or use bash"));
        }
        environment::added(&self.common.env).map(drop)
    }

    fn streams(&self) -> Streams {
        match (self.capture_stderr, self.streams) {
            (false, _) => Streams::OutputOnly,
            (true, word) => word.streams(),
        }
    }
}

/// A word as a shell would take it for one, for people to read.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,:@%=".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

impl ShellTool for Shell {
    type Arguments = Arguments;
    type Value = Ran;

    fn define() -> ToolDef {
        let definition = described("shell", "Run a program", "shell", &["command", "program", "execute"])
            .with_kind(Kind::Execute)
            .with_hints(common::anything())
            .with_aliases("command", &["program", "cmd"])
            .with_aliases("args", &["arguments", "argv"])
            .with_aliases("cwd", &["workdir", "working_directory", "directory"])
            .with_aliases("timeout", &["timeout_ms"])
            .with_aliases("run_in_background", &["background", "is_background"])
            .with_description(
                "Runs a program with a list of arguments, and no shell in between.\n\n\
                 Nothing is expanded: no quotes, variables, globs, pipes or redirections. Standard output and \
                 standard error come separately; together they are shown in the order they arrived.",
            )
            .with_returns("What the program wrote to each of its outputs, and its exit status or signal.")
            .with_example(example("Arguments with blanks need no quotes.", json!({"command": "git", "args": ["commit", "-m", "Fix the build"]})))
            .with_example(example("Only the output, not the errors.", json!({"command": "ls", "args": ["-l", "src"], "capture_stderr": false})));
        noted(
            definition,
            &[
                "Take bash where a shell is needed: for pipes, globs, variables or several commands.",
            ],
        )
    }

    fn binding() -> Binding {
        common::binding(Duration::from_millis(LONGEST))
    }

    fn shells(&self) -> &Shells {
        &self.0
    }

    fn plan(&self, arguments: &Arguments) -> Result<Plan, Refusal> {
        arguments.check()?;
        let common = &arguments.common;
        let label = arguments.label();
        let plan = common.plan(&self.0, &label, arguments.limit())?;
        // Quoted as a shell would read it back, so that a program which starts others is
        // seen through as in a line.
        let commands = shell_line::split(&label);
        let commands = shell_line::with_variables(commands, &common.env);
        Ok(plan.running(CommandLine::new("command", commands)))
    }

    async fn call(&self, arguments: Arguments, context: &ToolContext) -> Result<Outcome, Refusal> {
        let (tool, here) = (Self(self.0.clone()), context.clone());
        let call = ready(move || tool.prepare(&arguments, &here)).await?;
        call.run(&self.0, context).await
    }
}

impl Shell {
    /// Gets everything ready that a call needs. Looks at files, and so may block.
    fn prepare(&self, arguments: &Arguments, context: &ToolContext) -> Result<Call, Refusal> {
        arguments.check()?;
        let inner = self.0.inner();
        let common = &arguments.common;
        let folder = folder::named(&self.0, common.cwd.as_deref(), context)?;
        let temporary = inner
            .temporary()
            .map_err(|error| Refusal::system("make", "a temporary folder", &error))?;
        let mut variables = inner.variables.clone();
        variables.extend(environment::added(&common.env)?);
        let order = Order {
            label: arguments.label(),
            program: arguments.command.clone().into(),
            arguments: arguments.args.iter().map(Into::into).collect(),
            folder: folder.path,
            shown_folder: folder.shown,
            variables,
            input: common.input()?,
            streams: arguments.streams(),
            temporary,
            leaves: common.leave_running,
            sandbox: inner.sandbox(),
        };
        Ok(Call {
            tool: "shell",
            order,
            description: common.description.clone(),
            limit: arguments.limit(),
            view: common.view(),
            at_timeout: common.at_timeout(),
            background: common.run_in_background,
            session: None,
            notes: Vec::new(),
        })
    }
}
