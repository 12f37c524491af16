//! `find_recently_modified_files`: finds files that were changed lately.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolsmith_core::{Binding, Kind, Plan, ToolContext, ToolDef};

use crate::budget;
use crate::built_in::{Answer, BuiltIn, described, example, idempotent, noted};
use crate::refusal::Refusal;
use crate::search::define::{self, GRACE, LIMIT, walking};
use crate::search::{
    self, Clock, FURTHEST, Glob, Moment, Names, NotSearched, Order, Page, Start, Stop, WalkOptions,
};
use crate::workspace::Workspace;

/// Finds files that were changed lately.
pub(crate) struct FindRecentlyModifiedFiles {
    workspace: Workspace,
    now: Clock,
}

impl FindRecentlyModifiedFiles {
    pub(crate) fn new(workspace: Workspace, now: Clock) -> Self {
        Self { workspace, now }
    }
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub(crate) struct Arguments {
    /// How many hours ago a file may have been changed last.
    #[schemars(range(min = 1, max = 1_000_000))]
    hours_ago: u32,
    /// The folder to search; the workspace itself unless given.
    #[serde(default = "define::here")]
    path: String,
    /// A pattern for the files, such as `*.py` or `src/**/*.rs`; with `!` before it, for those to leave out.
    #[serde(default = "any")]
    file_pattern: String,
    /// How many files to return.
    #[serde(default = "thousand")]
    #[schemars(range(min = 0, max = 5000))]
    max_results: usize,
    /// How many files to pass over, to continue an earlier answer.
    #[serde(default)]
    #[schemars(range(min = 0, max = 20000))]
    offset: usize,
    /// Whether files that ignore rules hide are found too.
    #[serde(default)]
    include_ignored: bool,
    /// How many bytes the answer may have.
    #[serde(default = "budget::usual")]
    #[schemars(range(min = 1000, max = 1_048_576))]
    max_bytes: usize,
}

fn any() -> String {
    "*".to_owned()
}

fn thousand() -> usize {
    1000
}

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Results {
    /// The files, the newest first.
    files: Vec<Changed>,
    /// How many there are in all.
    total_found: u64,
    /// Whether there are more than are here, or may be.
    truncated: bool,
    /// Whether time ran out, so that there may be more than was found.
    timed_out: bool,
    /// What was not searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_searched: Option<NotSearched>,
    /// How many files and folders ignore rules hid; what is in such a folder is not counted.
    hidden_by_ignore: u64,
    /// The arguments that continue the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<Value>,
}

/// A file that was changed.
#[derive(Debug, Serialize, JsonSchema)]
struct Changed {
    /// Its path, as other tools take it.
    path: String,
    /// When it was last changed, in UTC.
    mtime: String,
    /// False where the name holds what cannot be told, so that the path cannot be given back.
    #[serde(skip_serializing_if = "search::is_true")]
    is_exact: bool,
}

impl BuiltIn for FindRecentlyModifiedFiles {
    type Arguments = Arguments;
    type Value = Results;

    fn define() -> ToolDef {
        let definition = described(
            "find_recently_modified_files",
            "Find recently changed files",
            "search",
            &["files", "time", "recent"],
        )
        .with_kind(Kind::Search)
        .with_hints(idempotent())
        .with_description(
            "Finds files that were changed within the last hours, the newest first.\n\n\
                 Files that .gitignore or .ignore hide are left out, and their number is told.",
        )
        .with_returns("Path and time of change of each file, and how many there are in all.")
        .with_example(example("What changed today.", json!({"hours_ago": 24})));
        noted(
            definition,
            &["Use it to see what a build, a test or a person has just changed."],
        )
    }

    fn binding() -> Binding {
        Binding::default().with_timeout(LIMIT + GRACE)
    }

    fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    fn plan(&self, arguments: &Arguments) -> Result<Plan, Refusal> {
        let what = format!(
            "find what changed in the last {}",
            search::many(arguments.hours_ago.into(), "hour", "hours")
        );
        walking(&self.workspace, "path", &arguments.path, &what)
    }

    fn call(
        &self,
        arguments: Arguments,
        context: &ToolContext,
    ) -> Result<Answer<Results>, Refusal> {
        let (glob, exclude) = Glob::or_not("file_pattern", &arguments.file_pattern)?;
        let start = Start::open(&self.workspace, &arguments.path, context)?;
        let stop = Stop::after(LIMIT, context);
        let offset = arguments.offset.min(FURTHEST);
        let mut since = Moment::from((self.now)());
        since.seconds -= 3600 * i64::from(arguments.hours_ago.max(1));
        let names = Names {
            options: WalkOptions {
                include_ignored: arguments.include_ignored,
                way: glob
                    .as_ref()
                    .map(|glob| glob.way().clone())
                    .unwrap_or_default(),
                ..WalkOptions::default()
            },
            glob,
            exclude,
            after: Some(since),
            order: Order::Newest,
            keep: offset + arguments.max_results,
            ..Names::default()
        };
        let findings = search::look(&start, &names, &stop);
        stop.check()?;
        let page = Page::answering(&arguments, arguments.max_bytes);
        let told = search::tell(&start, &findings, offset, &stop, page, "Matches", |found| {
            let line = format!("{}\t{}", found.path, found.mtime);
            let changed = Changed {
                path: found.path,
                mtime: found.mtime,
                is_exact: found.is_exact,
            };
            (line, changed)
        });
        let value = Results {
            next: told.next(&arguments, offset),
            files: told.rows,
            total_found: findings.total,
            truncated: told.truncated,
            timed_out: stop.is_late(),
            not_searched: told.not_searched.told(),
            hidden_by_ignore: findings.unseen.ignored,
        };
        let mut notes = told.notes;
        let hours = search::many(arguments.hours_ago.into(), "hour", "hours");
        if findings.total == 0 {
            notes.insert(
                0,
                format!(
                    "No file in {} was changed within the last {hours}.{}",
                    start.shown,
                    names.glob.as_ref().map(Glob::hint).unwrap_or_default()
                ),
            );
        }
        let display = format!(
            "Found {} changed within {hours} in {}",
            search::many(findings.total, "file", "files"),
            start.shown
        );
        Ok(Answer::new(value, display)
            .text(told.page.finish(&notes))
            .within(arguments.max_bytes))
    }
}
