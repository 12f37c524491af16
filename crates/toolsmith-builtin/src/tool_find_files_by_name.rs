//! `find_files_by_name`: finds files by their names.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolsmith_core::{Binding, Kind, Plan, ToolContext, ToolDef};

use crate::budget;
use crate::built_in::{Answer, BuiltIn, described, example, idempotent, noted};
use crate::refusal::Refusal;
use crate::search::define::{self, GRACE, LIMIT, walking};
use crate::search::{
    self, Case, FURTHEST, Glob, Match, Names, NotSearched, Page, Start, Stop, WalkOptions,
};
use crate::workspace::Workspace;

/// Finds files by their names.
pub(crate) struct FindFilesByName {
    workspace: Workspace,
}

impl FindFilesByName {
    pub(crate) fn new(workspace: Workspace) -> Self {
        Self { workspace }
    }
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub(crate) struct Arguments {
    /// The name, or a pattern for it such as `*.py` or `test_*`.
    name_pattern: String,
    /// The folder to search; the workspace itself unless given.
    #[serde(default = "define::here")]
    path: String,
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

fn thousand() -> usize {
    1000
}

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Results {
    /// The files, by path.
    files: Vec<String>,
    /// Those of them whose names hold what cannot be told, so that they cannot be given back.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_exact: Vec<String>,
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

/// A file that was found, of which only the path is told.
struct Named(Match);

impl Serialize for Named {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.path.serialize(serializer)
    }
}

impl BuiltIn for FindFilesByName {
    type Arguments = Arguments;
    type Value = Results;

    fn define() -> ToolDef {
        let definition = described("find_files_by_name", "Find files by name", "search", &["files", "name"])
            .with_kind(Kind::Search)
            .with_hints(idempotent())
            .with_description(
                "Finds files by name or by a pattern such as `*.py`, at any depth.\n\n\
                 Capital letters matter. Files that .gitignore or .ignore hide are left out, and their number is told.",
            )
            .with_returns("The paths, and how many there are in all.")
            .with_example(example("All Python tests.", json!({"name_pattern": "test_*.py"})));
        noted(definition, &["Use find for sizes, times and depths."])
    }

    fn binding() -> Binding {
        Binding::default().with_timeout(LIMIT + GRACE)
    }

    fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    fn plan(&self, arguments: &Arguments) -> Result<Plan, Refusal> {
        walking(
            &self.workspace,
            "path",
            &arguments.path,
            &format!("find {}", arguments.name_pattern),
        )
    }

    fn call(
        &self,
        arguments: Arguments,
        context: &ToolContext,
    ) -> Result<Answer<Results>, Refusal> {
        let glob = Glob::new("name_pattern", &arguments.name_pattern, Case::Sensitive)?;
        let start = Start::open(&self.workspace, &arguments.path, context)?;
        let stop = Stop::after(LIMIT, context);
        let offset = arguments.offset.min(FURTHEST);
        let names = Names {
            options: WalkOptions {
                include_ignored: arguments.include_ignored,
                way: glob.way().clone(),
                ..WalkOptions::default()
            },
            glob: Some(glob),
            keep: offset + arguments.max_results,
            ..Names::default()
        };
        let findings = search::look(&start, &names, &stop);
        stop.check()?;
        let page = Page::answering(&arguments, arguments.max_bytes);
        let told = search::tell(&start, &findings, offset, &stop, page, "Matches", |found| {
            (found.path.clone(), Named(found))
        });
        let not_exact = told.rows.iter().filter(|Named(found)| !found.is_exact);
        let not_exact = not_exact.map(|Named(found)| found.path.clone()).collect();
        let value = Results {
            next: told.next(&arguments, offset),
            not_exact,
            files: told
                .rows
                .into_iter()
                .map(|Named(found)| found.path)
                .collect(),
            total_found: findings.total,
            truncated: told.truncated,
            timed_out: stop.is_late(),
            not_searched: told.not_searched.told(),
            hidden_by_ignore: findings.unseen.ignored,
        };
        let mut notes = told.notes;
        if findings.total == 0 {
            notes.insert(
                0,
                format!(
                    "No file in {} is called {}.{}",
                    start.shown,
                    arguments.name_pattern,
                    names.glob.as_ref().map(Glob::hint).unwrap_or_default()
                ),
            );
        }
        let display = format!(
            "Found {} in {}",
            search::many(findings.total, "file", "files"),
            start.shown
        );
        Ok(Answer::new(value, display)
            .text(told.page.finish(&notes))
            .within(arguments.max_bytes))
    }
}
