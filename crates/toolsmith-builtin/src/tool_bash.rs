//! `bash`: runs a command in a shell.

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
use crate::shell::folder::{self, PRELUDE, SessionUse};
use crate::shell::launch::{LONGEST_ARGUMENT, Order};
use crate::shell::report::Ran;
use crate::shell::sessions::LONGEST_NAME;
use crate::shell_line;

/// The longest time a command may be given, in milliseconds.
const LONGEST: u64 = 300_000;

/// What a session is called that nobody named.
const UNNAMED: &str = "default";

/// Runs a command in a shell.
pub(crate) struct Bash(pub(crate) Shells);

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Arguments {
    /// The command, as bash reads it: one line or several.
    command: String,
    /// The session whose working folder is kept from one call to the next.
    #[serde(default)]
    session_id: Option<String>,
    /// After how many milliseconds time runs out. A job in the background has no limit.
    #[serde(default = "half_a_minute")]
    #[schemars(range(min = 1000, max = 300_000))]
    timeout: u64,
    /// Whether both outputs come as one, in the order they are written (merged), or each by itself (separate).
    #[serde(default = "merged")]
    streams: StreamsWord,
    #[serde(flatten)]
    common: Common,
}

fn half_a_minute() -> u64 {
    30_000
}

fn merged() -> StreamsWord {
    StreamsWord::Merged
}

impl Arguments {
    fn limit(&self) -> Duration {
        Duration::from_millis(self.timeout.clamp(1000, LONGEST))
    }

    fn check(&self) -> Result<(), Refusal> {
        let refuse =
            |reason, message: String, next: &str| Err(Refusal::new(reason, message).next(next));
        if self.command.trim().is_empty() {
            return refuse(
                Reason::BadArgument,
                "the command is empty".to_owned(),
                "Say what to run",
            );
        }
        if self.command.contains('\0') {
            let message =
                "the command holds a NUL character, which no shell can be given".to_owned();
            return refuse(Reason::BadArgument, message, "Remove it");
        }
        if self.command.len() > LONGEST_ARGUMENT {
            let message = format!(
                "the command has {} bytes, and a shell can be given {LONGEST_ARGUMENT}",
                self.command.len()
            );
            let next = "Write it to a file and run that with script, or pass data by stdin";
            return refuse(Reason::TooLarge, message, next);
        }
        if self
            .session_id
            .as_ref()
            .is_some_and(|name| name.len() > LONGEST_NAME)
        {
            let message = format!("session_id is longer than {LONGEST_NAME} bytes");
            return refuse(Reason::BadArgument, message, "Shorten it");
        }
        environment::added(&self.common.env).map(drop)
    }
}

impl ShellTool for Bash {
    type Arguments = Arguments;
    type Value = Ran;

    fn define() -> ToolDef {
        let definition = described("bash", "Run a command", "shell", &["command", "shell", "execute"])
            .with_kind(Kind::Execute)
            .with_hints(common::anything())
            .with_aliases("command", &["cmd", "script", "commands"])
            .with_aliases("cwd", &["workdir", "working_directory", "directory"])
            .with_aliases("timeout", &["timeout_ms"])
            .with_aliases("run_in_background", &["background", "is_background"])
            .with_description(
                "Runs a command in bash and returns what it wrote, in the order it was written.\n\n\
                 Each call is a fresh shell without start-up files; the working folder is kept from one call to \
                 the next, per session_id. There is no terminal and nothing to read unless stdin is given. What \
                 still runs when the command ends is ended, unless leave_running says otherwise.",
            )
            .with_returns("What the command wrote, its exit status or signal, and what was ended or goes on.")
            .with_example(example("Tests, of whose output the end matters.", json!({"command": "cargo test", "timeout": 120_000, "tail_lines": 60})))
            .with_example(example("A server that goes on as a job.", json!({"command": "python3 -m http.server 8000", "run_in_background": true})));
        noted(
            definition,
            &[
                "Use read, edit, grep and glob for files: they say more, and need no permission to run programs.",
                "A command that serves or watches goes into the background with run_in_background; shell_output reads it.",
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
        let plan = common.plan(&self.0, &arguments.command, arguments.limit())?;
        let commands = shell_line::split(&arguments.command);
        let commands = shell_line::with_variables(commands, &common.env);
        Ok(plan.running(CommandLine::new("command", commands)))
    }

    async fn call(&self, arguments: Arguments, context: &ToolContext) -> Result<Outcome, Refusal> {
        let (tool, here) = (Self(self.0.clone()), context.clone());
        let call = ready(move || tool.prepare(&arguments, &here)).await?;
        call.run(&self.0, context).await
    }
}

impl Bash {
    /// Gets everything ready that a call needs. Looks at files, and so may block.
    fn prepare(&self, arguments: &Arguments, context: &ToolContext) -> Result<Call, Refusal> {
        arguments.check()?;
        let inner = self.0.inner();
        let common = &arguments.common;
        let session = SessionUse {
            name: arguments
                .session_id
                .clone()
                .unwrap_or_else(|| UNNAMED.to_owned()),
            is_elsewhere: common.cwd.is_some(),
        };
        let folder = folder::of_session(&self.0, &session, common.cwd.as_deref(), context)?;
        let Some(program) = environment::find_program(&inner.variables, "bash") else {
            return Err(Refusal::new(Reason::NotFound, "bash is not installed here")
                .next("Install it, or use shell, which runs a program without one"));
        };
        let temporary = inner
            .temporary()
            .map_err(|error| Refusal::system("make", "a temporary folder", &error))?;
        let mut variables = inner.variables.clone();
        variables.extend(environment::added(&common.env)?);
        let prelude = temporary.path().join(PRELUDE);
        if let Some(text) = folder::prelude(temporary.path())
            && std::fs::write(&prelude, text).is_ok()
        {
            variables.push(("BASH_ENV".into(), prelude.into()));
        }
        let words = [
            "--noprofile",
            "--norc",
            "-c",
            "--",
            arguments.command.as_str(),
            // What it calls itself in messages.
            "bash",
        ];
        let order = Order {
            label: arguments.command.clone(),
            program: program.into(),
            arguments: words.iter().map(Into::into).collect(),
            folder: folder.path,
            shown_folder: folder.shown,
            variables,
            input: common.input()?,
            streams: arguments.streams.streams(),
            temporary,
            leaves: common.leave_running,
            sandbox: inner.sandbox(),
        };
        Ok(Call {
            tool: "bash",
            order,
            description: common.description.clone(),
            limit: arguments.limit(),
            view: common.view(),
            at_timeout: common.at_timeout(),
            background: common.run_in_background,
            session: Some(session),
            notes: folder.note.into_iter().collect(),
        })
    }
}
