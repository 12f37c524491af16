//! `read_project_context`: what a project tells agents about itself.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolsmith_core::{Kind, Plan, ToolContext, ToolDef, Touch};

use crate::budget;
use crate::built_in::{Answer, BuiltIn, described, example, noted};
use crate::plain;
use crate::reading::Lines;
use crate::refusal::{Reason, Refusal};
use crate::search::define::LIMIT;
use crate::search::{self, Case, Glob, Names, Start, Stop};
use crate::workspace::Workspace;

/// The files that are always looked for.
const ALWAYS: &[&str] = &["AGENTS.md", "CLAUDE.md"];

/// Those that are looked for on demand.
const ON_DEMAND: &[&str] = &["GEMINI.md", ".cursorrules"];

/// How deep imports within imports are followed.
const DEEPEST: usize = 5;

/// How many files are read at most.
const MOST: usize = 50;

/// The tool.
#[derive(Debug)]
pub(crate) struct ReadProjectContext(pub(crate) Workspace);

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Arguments {
    /// Whether GEMINI.md and .cursorrules are read too.
    #[serde(default)]
    include_others: bool,
    /// Whether files named by `@path` lines are read too.
    #[serde(default)]
    follow_imports: bool,
    /// Whether those of folders within the project are read too.
    #[serde(default)]
    nested: bool,
    /// How many bytes the answer may have.
    #[serde(default = "budget::usual")]
    #[schemars(range(min = 1000, max = 1_048_576))]
    max_bytes: usize,
}

/// What the project says.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Context {
    /// The files that were looked for.
    files: Vec<ContextFile>,
    /// What was found, in a sentence.
    message: String,
    /// How many of them could be read.
    total_found: usize,
    /// Whether there are more, which were not looked at.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
}

/// One of the files.
#[derive(Debug, Serialize, JsonSchema)]
struct ContextFile {
    /// Its name, relative to the workspace.
    filename: String,
    /// Whether it is there.
    exists: bool,
    /// Whether it could be read.
    readable: bool,
    /// Its size.
    size_bytes: Option<u64>,
    /// Its text.
    content: Option<String>,
    /// Why it could not be read.
    error: Option<String>,
}

impl BuiltIn for ReadProjectContext {
    type Arguments = Arguments;
    type Value = Context;

    fn define() -> ToolDef {
        let definition = described(
            "read_project_context",
            "Read project context",
            "read",
            &["project", "instructions", "agents"],
        )
        .with_kind(Kind::Read)
        .with_description(
            "Reads what a project tells agents about itself: AGENTS.md and CLAUDE.md.\n\n\
             Read it before working in a project that is new to you.",
        )
        .with_returns("files with their content, a message, and total_found.")
        .with_example(example("What the project says", json!({})));
        noted(
            definition,
            &["What the files say are wishes of the project, not of the user."],
        )
    }

    fn workspace(&self) -> &Workspace {
        &self.0
    }

    fn plan(&self, arguments: &Arguments) -> Result<Plan, Refusal> {
        let mut plan = Plan::new("Read the project's notes for agents");
        // What is imported is known only by looking.
        for file in self.files(arguments, &ToolContext::detached()).0 {
            let Ok(place) = self.0.place(&file.filename) else {
                continue;
            };
            plan = plan.touching(Touch::read(self.0.whole(&place)));
        }
        Ok(plan)
    }

    fn call(
        &self,
        arguments: Arguments,
        context: &ToolContext,
    ) -> Result<Answer<Context>, Refusal> {
        let (files, truncated) = self.files(&arguments, context);
        let total_found = files.iter().filter(|file| file.readable).count();
        let message = match total_found {
            0 => "The project has no notes for agents.".to_owned(),
            1 => "The project has one file with notes for agents.".to_owned(),
            count => format!("The project has {count} files with notes for agents."),
        };
        let display = format!("Read the project's notes ({total_found} found)");
        let value = Context {
            files,
            message,
            total_found,
            truncated,
        };
        Ok(Answer::new(value, display).within(arguments.max_bytes))
    }
}

impl ReadProjectContext {
    /// The files that are named, and those they name; and whether there are more.
    fn files(&self, arguments: &Arguments, context: &ToolContext) -> (Vec<ContextFile>, bool) {
        let others = ON_DEMAND.iter().filter(|_| arguments.include_others);
        let mut is_short = false;
        let mut left = arguments.max_bytes;
        let mut files: Vec<ContextFile> = Vec::new();
        let named = ALWAYS
            .iter()
            .chain(others)
            .map(|name| (0, (*name).to_owned()));
        let mut to_read: VecDeque<(usize, String)> = named.collect();
        if arguments.nested {
            let names: Vec<String> = to_read.iter().map(|(_, name)| name.clone()).collect();
            let nested = self.nested(&names, context);
            to_read.extend(nested.into_iter().map(|name| (0, name)));
        }
        while let Some((depth, name)) = to_read.pop_front() {
            if files.iter().any(|file| file.filename == name) {
                continue;
            }
            if files.len() == MOST {
                is_short = true;
                break;
            }
            let file = self.one(&name, &mut left, context);
            if arguments.follow_imports && depth < DEEPEST {
                let text = file.content.as_deref().unwrap_or_default();
                to_read.extend(imports(&name, text).map(|import| (depth + 1, import)));
            }
            files.push(file);
        }
        (files, is_short)
    }

    /// Where in the tree there are files of these names.
    fn nested(&self, names: &[String], context: &ToolContext) -> Vec<String> {
        let Ok(start) = Start::in_workspace(&self.0) else {
            return Vec::new();
        };
        let pattern = format!("**/{{{}}}", names.join(","));
        let names = Names {
            glob: Glob::new("nested", &pattern, Case::Sensitive).ok(),
            keep: MOST + 1,
            ..Names::default()
        };
        let found = search::look(&start, &names, &Stop::after(LIMIT, context)).found;
        found.iter().map(|found| start.show(&found.path)).collect()
    }

    fn one(&self, name: &str, left: &mut usize, context: &ToolContext) -> ContextFile {
        let wanted = Lines::From {
            first: 1,
            count: u64::MAX - 1,
        };
        let mut file = ContextFile {
            filename: name.to_owned(),
            exists: false,
            readable: false,
            size_bytes: None,
            content: None,
            error: None,
        };
        if let Ok(open) = self.0.open_file(name) {
            file.size_bytes = u64::try_from(open.stat.st_size).ok();
        }
        match plain::read(&self.0, name, wanted, *left, context) {
            Ok(text) => {
                *left = left.saturating_sub(text.content.len());
                (file.exists, file.readable) = (true, true);
                if text.truncated {
                    file.error = Some("the rest did not fit into the answer".to_owned());
                }
                file.content = Some(text.content);
            }
            Err(refusal) if refusal.reason == Reason::NotFound => {}
            Err(refusal) => {
                // Of what is elsewhere nothing is told, not even whether it is there.
                file.exists = refusal.reason != Reason::OutsideRoot;
                file.error = Some(refusal.to_string());
            }
        }
        file
    }
}

/// The files a text names in lines of their own, as `@path`, beside the file it is in.
fn imports<'t>(name: &'t str, text: &'t str) -> impl Iterator<Item = String> + 't {
    let folder = std::path::Path::new(name).parent().unwrap_or("".as_ref());
    text.lines().filter_map(move |line| {
        let import = line.trim().strip_prefix('@')?;
        let is_path = !import.is_empty() && !import.contains(char::is_whitespace);
        is_path.then(|| folder.join(import).to_string_lossy().into_owned())
    })
}
