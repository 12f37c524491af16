//! `script`: runs a script of the workspace, or one that is given.

use std::fs;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use toolsmith_core::{Binding, Kind, Outcome, Plan, ToolContext, ToolDef, Touch};

use crate::built_in::{described, example, noted};
use crate::missing;
use crate::refusal::{Reason, Refusal};
use crate::shell::Shells;
use crate::shell::call::Call;
use crate::shell::common::{self, Common, StreamsWord};
use crate::shell::define::{ShellTool, ready};
use crate::shell::environment;
use crate::shell::folder;
use crate::shell::interpreter::{self, Command};
use crate::shell::launch::Order;
use crate::shell::report::{Ran, one_line};
use crate::shell::temporary::Temporary;
use crate::tool_shell::quoted;

/// The longest time a script may be given, in milliseconds.
const LONGEST: u64 = 600_000;

/// How long a source may be.
const LONGEST_SOURCE: usize = 4 << 20;

/// Runs a script.
pub(crate) struct Script(pub(crate) Shells);

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Arguments {
    /// The script, a file of the workspace. Give this, or source and interpreter.
    #[serde(default)]
    script_path: Option<String>,
    /// The text of a script, instead of a file; interpreter says what runs it.
    #[serde(default)]
    source: Option<String>,
    /// What runs it: a name such as python3, node or bash, or the full path of a program. Without it the first line of the file (`#!`) or the ending of its name decide.
    #[serde(default)]
    interpreter: Option<String>,
    /// The arguments of the script.
    #[serde(default)]
    args: Vec<String>,
    /// After how many milliseconds time runs out. A job in the background has no limit.
    #[serde(default = "minute")]
    #[schemars(range(min = 1000, max = 600_000))]
    timeout: u64,
    /// Whether both outputs come as one, in the order they are written (merged), or each by itself (separate).
    #[serde(default = "merged")]
    streams: StreamsWord,
    #[serde(flatten)]
    common: Common,
}

fn minute() -> u64 {
    60_000
}

fn merged() -> StreamsWord {
    StreamsWord::Merged
}

/// Where a script comes from.
enum Origin<'a> {
    File(&'a str),
    Source { text: &'a str, interpreter: &'a str },
}

impl Arguments {
    fn limit(&self) -> Duration {
        Duration::from_millis(self.timeout.clamp(1000, LONGEST))
    }

    fn origin(&self) -> Result<Origin<'_>, Refusal> {
        environment::added(&self.common.env)?;
        let either = "Give either script_path, or source together with interpreter";
        match (&self.script_path, &self.source, &self.interpreter) {
            (Some(path), None, _) => Ok(Origin::File(path)),
            (None, Some(text), Some(interpreter)) if text.len() <= LONGEST_SOURCE => {
                Ok(Origin::Source { text, interpreter })
            }
            (None, Some(text), Some(_)) => {
                let message = format!(
                    "source has {} bytes, and may have {LONGEST_SOURCE}",
                    text.len()
                );
                Err(Refusal::new(Reason::TooLarge, message)
                    .next("Write it to a file and name that"))
            }
            (None, Some(_), None) => Err(Refusal::new(
                Reason::BadArgument,
                "source needs interpreter, which says what runs it",
            )
            .next(either)),
            (Some(_), Some(_), _) => Err(Refusal::new(
                Reason::BadArgument,
                "script_path and source are both given, and exactly one of them is needed",
            )
            .next(either)),
            (None, None, _) => Err(Refusal::new(
                Reason::BadArgument,
                "neither script_path nor source is given, and exactly one of them is needed",
            )
            .next(either)),
        }
    }

    /// The command as a person would type it: what runs the script, where that is said, and
    /// the script, where it is a file.
    fn label(&self, script: Option<&str>) -> String {
        let words = self.interpreter.as_deref().into_iter().chain(script);
        let words: Vec<String> = words.map(quoted).chain(self.words()).collect();
        words.join(" ")
    }

    /// The arguments of the script, as a person would type them.
    fn words(&self) -> Vec<String> {
        self.args.iter().map(|word| quoted(word)).collect()
    }
}

impl Script {
    /// Writes a source to a file of the job's own.
    fn write(
        &self,
        temporary: &Temporary,
        text: &str,
        interpreter: &str,
    ) -> Result<(Command, PathBuf), Refusal> {
        let (command, ending) = interpreter::named(&self.0.inner().variables, interpreter)?;
        let path = temporary.path().join(format!("script.{ending}"));
        fs::write(&path, text).map_err(|error| Refusal::system("write", "the script", &error))?;
        Ok((command, path))
    }

    /// Finds what runs a file of the workspace, which is opened beneath its root. The
    /// interpreter opens it once more, by its path, so it must be the same there.
    fn open(
        &self,
        path: &str,
        interpreter: Option<&str>,
        context: &ToolContext,
    ) -> Result<(Command, PathBuf, String), Refusal> {
        let inner = self.0.inner();
        let open = inner
            .workspace
            .open_file(path)
            .map_err(|refusal| missing::explained(refusal, &inner.workspace, path, context))?;
        let mut beginning = vec![0; interpreter::FIRST_LINE];
        let read = open.file.read_at(&mut beginning, 0);
        let length = read.map_err(|error| Refusal::system("read", &open.shown, &error))?;
        beginning.truncate(length);
        let command = match interpreter {
            Some(word) => interpreter::named(&inner.variables, word)?.0,
            None => interpreter::of_file(&inner.variables, &open.shown, &beginning)?,
        };
        let whole = inner.workspace.whole(&inner.workspace.place(&open.shown)?);
        let is_same = fs::symlink_metadata(&whole)
            .is_ok_and(|there| (there.dev(), there.ino()) == (open.stat.st_dev, open.stat.st_ino));
        if !is_same {
            let message = format!("{} was exchanged while it was looked at", open.shown);
            return Err(Refusal::new(Reason::Stale, message).next("Look at it and try again"));
        }
        Ok((command, whole, open.shown))
    }
}

impl ShellTool for Script {
    type Arguments = Arguments;
    type Value = Ran;

    fn define() -> ToolDef {
        let definition = described("script", "Run a script", "shell", &["script", "program", "execute"])
            .with_kind(Kind::Execute)
            .with_hints(common::anything())
            .with_aliases("script_path", &["path", "file_path", "file", "script"])
            .with_aliases("source", &["code", "content"])
            .with_aliases("interpreter", &["language"])
            .with_aliases("args", &["arguments", "argv"])
            .with_aliases("cwd", &["workdir", "working_directory", "directory"])
            .with_aliases("timeout", &["timeout_ms"])
            .with_aliases("run_in_background", &["background", "is_background"])
            .with_description(
                "Runs a script of the workspace, or a source that is given, with what interprets it.\n\n\
                 What runs a file is told by interpreter, by its first line, or by the ending of its name. \
                 The arguments are the script's own.",
            )
            .with_returns("What the script wrote, its exit status or signal, and what was ended or goes on.")
            .with_example(example("A script of the workspace.", json!({"script_path": "scripts/build.sh", "args": ["--quick"]})))
            .with_example(example("A few lines of Python.", json!({"source": "print(sum(range(10)))", "interpreter": "python3"})));
        noted(
            definition,
            &["Exactly one of script_path and source is given; source needs interpreter."],
        )
    }

    fn binding() -> Binding {
        common::binding(Duration::from_millis(LONGEST))
    }

    fn shells(&self) -> &Shells {
        &self.0
    }

    fn plan(&self, arguments: &Arguments) -> Result<Plan, Refusal> {
        let common = &arguments.common;
        match arguments.origin()? {
            Origin::File(path) => {
                let workspace = &self.0.inner().workspace;
                let place = workspace.place(path)?;
                let touch = Touch::read(workspace.whole(&place)).from_argument("script_path");
                let label = arguments.label(Some(&workspace.shown(&place)));
                Ok(common
                    .plan(&self.0, &label, arguments.limit())?
                    .touching(touch))
            }
            Origin::Source { text, interpreter } => {
                let mut label = format!("{interpreter}: {}", one_line(text, 160));
                if !arguments.args.is_empty() {
                    label += &format!(" (given {})", arguments.words().join(" "));
                }
                common.plan(&self.0, &label, arguments.limit())
            }
        }
    }

    async fn call(&self, arguments: Arguments, context: &ToolContext) -> Result<Outcome, Refusal> {
        let (tool, here) = (Self(self.0.clone()), context.clone());
        let call = ready(move || tool.prepare(&arguments, &here)).await?;
        call.run(&self.0, context).await
    }
}

impl Script {
    /// Gets everything ready that a call needs. Looks at files, and so may block.
    fn prepare(&self, arguments: &Arguments, context: &ToolContext) -> Result<Call, Refusal> {
        let origin = arguments.origin()?;
        let inner = self.0.inner();
        let common = &arguments.common;
        let folder = folder::named(&self.0, common.cwd.as_deref(), context)?;
        let temporary = inner
            .temporary()
            .map_err(|error| Refusal::system("make", "a temporary folder", &error))?;
        let (command, path, label) = match origin {
            Origin::File(path) => {
                let word = arguments.interpreter.as_deref();
                let (command, whole, shown) = self.open(path, word, context)?;
                (command, whole, arguments.label(Some(&shown)))
            }
            Origin::Source { text, interpreter } => {
                let (command, path) = self.write(&temporary, text, interpreter)?;
                (command, path, arguments.label(None))
            }
        };
        let mut words = command.into_iter();
        let program = words.next().unwrap_or_default();
        let words = words.chain([path.into()]);
        let mut variables = inner.variables.clone();
        variables.extend(environment::added(&common.env)?);
        let order = Order {
            label,
            program,
            arguments: words.chain(arguments.args.iter().map(Into::into)).collect(),
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
            tool: "script",
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
