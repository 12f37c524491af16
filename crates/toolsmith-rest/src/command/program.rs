//! The tool that starts a program: what it is, what a call would do, and the call.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use toolsmith_core::{
    Arguments, Binding, ErrorKind, Hints, Kind, Outcome, Plan, Source, Tool, ToolContext, ToolDef,
    ToolError,
};
use toolsmith_process::{Launch, Sandbox};

use super::argv::Argv;
use super::confine::{self, Confinement};
use super::environment::Environment;
use super::output::{Output, Watched};
use super::report::report;
use super::run::run;
use super::script::variables::Variables;
use super::text::{Text, plain};
use crate::form::{Entry, ExitCodes, OutputForm};
use crate::make::Problem;

/// How much of a command line people are shown.
const SHOWN: usize = 200;
/// How much of one word of it.
const SHOWN_WORD: usize = 60;

/// A tool that starts a program.
pub(super) struct Program {
    definition: Arc<ToolDef>,
    binding: Binding,
    input: Input,
    environment: Environment,
    output: OutputForm,
    exit_codes: ExitCodes,
    confinement: Confinement,
}

/// How a call's arguments reach the program.
pub(super) enum Input {
    /// In the words of a command and the text it reads.
    Words {
        /// The command.
        argv: Argv,
        /// What it reads; nothing unless set.
        stdin: Option<Text>,
    },
    /// As JSON on standard input, and in variables.
    Script {
        /// The file.
        path: PathBuf,
        /// What starts it: the file itself, or its interpreter and what goes with it.
        command: Vec<OsString>,
        /// The variables.
        variables: Variables,
    },
}

/// What a call comes to, before anything is started.
struct Order {
    program: OsString,
    arguments: Vec<OsString>,
    variables: Vec<(String, String)>,
    stdin: Vec<u8>,
    sandbox: Option<Sandbox>,
}

/// The definition of such a tool.
pub(super) fn definition(entry: &Entry, confinement: &Confinement) -> Result<ToolDef, Problem> {
    let mut definition = entry.definition(Source::Native, Kind::Execute, Hints::default())?;
    let note = confinement.note().to_owned();
    definition.description.important.push(note);
    Ok(definition)
}

impl Program {
    pub(super) fn new(
        definition: ToolDef,
        entry: &Entry,
        input: Input,
        environment: Environment,
        confinement: Confinement,
    ) -> Self {
        Self {
            definition: Arc::new(definition),
            binding: entry.binding(),
            input,
            environment,
            output: entry.output.unwrap_or_default(),
            exit_codes: entry.exit_codes.clone(),
            confinement,
        }
    }

    /// Refuses what may not be started, and makes the order for what may.
    fn order(&self, arguments: &Arguments) -> Result<Order, ToolError> {
        let sandbox = self.confinement.now()?;
        match &self.input {
            Input::Words { argv, stdin } => {
                let words = argv.fill(arguments)?;
                Ok(Order {
                    program: argv.program().into(),
                    arguments: words.into_iter().map(Into::into).collect(),
                    variables: Vec::new(),
                    stdin: stdin
                        .as_ref()
                        .map_or_else(Vec::new, |text| text.fill(arguments).into_bytes()),
                    sandbox,
                })
            }
            Input::Script {
                command, variables, ..
            } => {
                let (program, rest) = command
                    .split_first()
                    .ok_or_else(|| ToolError::internal("the script has nothing to start it"))?;
                Ok(Order {
                    program: program.clone(),
                    arguments: rest.to_vec(),
                    variables: variables.fill(arguments)?,
                    stdin: arguments.as_value().to_string().into_bytes(),
                    sandbox,
                })
            }
        }
    }

    /// What a person reads of a call: the program, and everything the call hands to it.
    fn summary(&self, order: &Order, arguments: &Arguments) -> String {
        let mut line = Line::new(&confine::told(order.sandbox.as_ref()));
        match &self.input {
            Input::Words { .. } => {
                let words = std::iter::once(&order.program).chain(&order.arguments);
                words.for_each(|word| line.add("", &word.to_string_lossy()));
                if !order.stdin.is_empty() {
                    line.add("reading ", &String::from_utf8_lossy(&order.stdin));
                }
            }
            Input::Script { path, .. } => {
                line.add("the script ", &path.to_string_lossy());
                for (name, value) in arguments.iter() {
                    line.add(&format!("{}=", shown(name)), &plain(value));
                }
            }
        }
        line.text
    }
}

impl Tool for Program {
    fn definition(&self) -> Arc<ToolDef> {
        Arc::clone(&self.definition)
    }

    fn binding(&self) -> Binding {
        self.binding.clone()
    }

    /// What cannot be started is refused here already, before anybody is asked.
    fn plan(&self, arguments: &Arguments) -> Result<Plan, ToolError> {
        let order = self.order(arguments)?;
        Ok(Plan::new(self.summary(&order, arguments)))
    }

    async fn call(&self, arguments: Arguments, context: ToolContext) -> Outcome {
        let order = match self.order(&arguments) {
            Ok(order) => order,
            Err(error) => return Outcome::failure(error),
        };
        if let Some(missing) = &self.environment.missing {
            let message = format!("{missing}; set it, and load the tools again");
            return Outcome::failure(ToolError::new(ErrorKind::Unavailable, message));
        }
        if context.is_cancelled() {
            let error = ToolError::new(
                ErrorKind::Cancelled,
                "the call was given up before it began",
            );
            return Outcome::failure(error);
        }
        let mut launch = Launch::new(order.program)
            .arguments(order.arguments)
            .current_dir(&self.environment.folder)
            .environment(self.environment.variables.iter().cloned())
            .environment(order.variables);
        let mut scratch = None;
        if let Some(sandbox) = order.sandbox {
            let folder = match Scratch::new(self.confinement.temporary()) {
                Ok(folder) => folder,
                Err(error) => return Outcome::failure(error),
            };
            launch = launch
                .environment([("TMPDIR", folder.path())])
                .sandbox(sandbox.scratch(folder.path()));
            scratch = Some(folder);
        }
        let watched = match self.output {
            OutputForm::Text => Watched::Yes,
            OutputForm::Json => Watched::No,
        };
        let ran = run(&launch, order.stdin, Output::new(watched), &context).await;
        drop(scratch);
        match ran {
            Ok(finished) => report(&finished, self.output, &self.exit_codes),
            Err(error) => Outcome::failure(error),
        }
    }
}

/// A folder for the temporary files of one call, which goes with it.
struct Scratch(Option<tempfile::TempDir>);

impl Scratch {
    fn new(beneath: &Path) -> Result<Self, ToolError> {
        let made = tempfile::Builder::new()
            .prefix("toolsmith-")
            .tempdir_in(beneath);
        made.map(|folder| Self(Some(folder))).map_err(|error| {
            let message = format!(
                "no folder for temporary files can be made in {beneath:?}: {error}; make room \
                 there, or set TMPDIR to another folder"
            );
            ToolError::new(ErrorKind::Unavailable, message)
        })
    }

    fn path(&self) -> &Path {
        self.0
            .as_ref()
            .map_or(Path::new(""), |folder| folder.path())
    }
}

impl Drop for Scratch {
    /// A program may leave much behind, which is removed where nobody waits for it.
    fn drop(&mut self) {
        let folder = self.0.take();
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(move || drop(folder))),
            Err(_) => drop(folder),
        }
    }
}

/// A line that people read, which ends where it gets long.
struct Line {
    text: String,
}

impl Line {
    fn new(beginning: &str) -> Self {
        let text = beginning.to_owned();
        Self { text }
    }

    fn add(&mut self, before: &str, word: &str) {
        if self.text.len() <= SHOWN {
            self.text.push(' ');
            self.text.push_str(before);
            self.text.push_str(&shown(word));
        } else if !self.text.ends_with(" …") {
            self.text.push_str(" …");
        }
    }
}

/// A word written so that it can be taken for no other: quoted where it is not plain, and
/// shortened where it is long.
fn shown(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=@%+,".contains(c);
    let (word, rest) = match word.char_indices().nth(SHOWN_WORD) {
        Some((end, _)) => (&word[..end], "…"),
        None => (word, ""),
    };
    if !word.is_empty() && word.chars().all(is_plain) {
        format!("{word}{rest}")
    } else {
        format!("{word:?}{rest}")
    }
}
