//! `glob`: finds files whose paths fit a pattern.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolsmith_core::{Binding, Description, Kind, Plan, ToolContext, ToolDef};

use crate::budget;
use crate::built_in::{Answer, BuiltIn, described, example, idempotent};
use crate::refusal::Refusal;
use crate::search::define::{self, GRACE, LIMIT, walking};
use crate::search::{self, Case, FURTHEST, Matches, Names, Order, Page, Start, Stop, WalkOptions};
use crate::workspace::Workspace;

/// Finds files whose paths fit a pattern.
pub(crate) struct Glob {
    workspace: Workspace,
}

impl Glob {
    pub(crate) fn new(workspace: Workspace) -> Self {
        Self { workspace }
    }
}

/// What comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Sort {
    /// The newest first.
    #[default]
    Mtime,
    /// By path.
    Path,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub(crate) struct Arguments {
    /// The pattern: `*` and `?` within a name, `**` across folders, `{a,b}`, `[a-z]`. Without a slash it is about names at any depth.
    pattern: String,
    /// The folder to search; the workspace itself unless given.
    #[serde(default = "define::here")]
    path: String,
    /// How many matches to return.
    #[serde(default = "define::hundred")]
    #[schemars(range(min = 0, max = 1000))]
    max_results: usize,
    /// Whether folders are matched too.
    #[serde(default)]
    include_directories: bool,
    /// Whether capital letters matter.
    #[serde(default)]
    case_sensitive: bool,
    /// What comes first.
    #[serde(default)]
    sort: Sort,
    /// How many matches to pass over, to continue an earlier answer.
    #[serde(default)]
    #[schemars(range(min = 0, max = 20000))]
    offset: usize,
    /// Whether files that ignore rules hide are matched too.
    #[serde(default)]
    include_ignored: bool,
    /// Whether names that begin with a dot are matched.
    #[serde(default = "define::yes")]
    hidden: bool,
    /// How many bytes the answer may have.
    #[serde(default = "budget::usual")]
    #[schemars(range(min = 1000, max = 1_048_576))]
    max_bytes: usize,
}

impl Arguments {
    /// The argument that names the folder, the folder, and the pattern from there on. A
    /// pattern that is a whole path names the folder itself.
    fn split(&self) -> (&'static str, &str, &str) {
        let is_wild = |name: &str| name.contains(['*', '?', '[', '{', '\\']);
        if !self.pattern.starts_with('/') || self.path != define::here() {
            return ("path", &self.path, &self.pattern);
        }
        let mut slash = 0;
        for (at, _) in self.pattern.match_indices('/').skip(1) {
            if is_wild(&self.pattern[slash..at]) {
                break;
            }
            slash = at;
        }
        match slash {
            0 => ("path", &self.path, &self.pattern),
            slash => (
                "pattern",
                &self.pattern[..slash],
                &self.pattern[slash + 1..],
            ),
        }
    }
}

impl BuiltIn for Glob {
    type Arguments = Arguments;
    type Value = Matches;

    const HAS_METADATA: bool = true;

    fn define() -> ToolDef {
        let mut description = Description::from(
            "Finds files by a pattern for their paths, such as `src/**/*.rs` or `*.{ts,tsx}`, the newest first.\n\n\
             A pattern without a slash is about names at any depth. Files that .gitignore or .ignore hide are left \
             out, and their number is told; a pattern that names an ignored folder literally, such as `dist/**`, \
             finds what is in it. Links are not followed.",
        );
        description.usage_notes = vec![
            "Use it when you know what a file is called; to search in files, use grep.".to_owned(),
            "Patterns begin in `path`; they do not climb, and are not absolute.".to_owned(),
        ];
        described("glob", "Find files by pattern", "search", &["files", "pattern", "find"])
            .with_kind(Kind::Search)
            .with_hints(idempotent())
            .with_description(description)
            .with_returns("The paths that fit, one to a line, how many there are in all, and how many ignore rules hide.")
            .with_example(example("All Rust files under src.", json!({"pattern": "src/**/*.rs"})))
            .with_example(example(
                "Folders called tests, by path.",
                json!({"pattern": "tests", "include_directories": true, "sort": "path"}),
            ))
    }

    fn binding() -> Binding {
        Binding::default().with_timeout(LIMIT + GRACE)
    }

    fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    fn plan(&self, arguments: &Arguments) -> Result<Plan, Refusal> {
        let (argument, path, pattern) = arguments.split();
        let mut plan = walking(&self.workspace, "path", path, &format!("find {pattern}"))?;
        // A pattern that is a whole path stands for both arguments.
        if argument != "path" {
            let touches = plan.touches.clone().into_iter();
            let touches = touches.map(|touch| touch.from_argument(argument));
            plan.touches.extend(touches.collect::<Vec<_>>());
        }
        Ok(plan)
    }

    fn call(
        &self,
        arguments: Arguments,
        context: &ToolContext,
    ) -> Result<Answer<Matches>, Refusal> {
        let (argument, path, pattern) = arguments.split();
        let case = Case::sensitive_if(arguments.case_sensitive);
        let glob = search::Glob::new("pattern", pattern, case)?;
        let start = Start::open(&self.workspace, path, context)?;
        let stop = Stop::after(LIMIT, context);
        let offset = arguments.offset.min(FURTHEST);
        let names = Names {
            options: WalkOptions {
                // In a whole path a name is about one folder, not about any depth.
                levels: match argument == "pattern" && !pattern.contains('/') {
                    true => 1,
                    false => usize::MAX,
                },
                include_ignored: arguments.include_ignored,
                hidden: arguments.hidden,
                way: glob.way().clone(),
                ..WalkOptions::default()
            },
            glob: Some(glob),
            folders: arguments.include_directories,
            order: match arguments.sort {
                Sort::Mtime => Order::Newest,
                Sort::Path => Order::Path,
            },
            keep: offset + arguments.max_results,
            ..Names::default()
        };
        let mut findings = search::look(&start, &names, &stop);
        stop.check()?;
        // Nobody asked for what is deeper than the pattern.
        findings.unseen.deeper = 0;
        let page = Page::answering(&arguments, arguments.max_bytes);
        let mut told = search::tell(&start, &findings, offset, &stop, page, "Matches", |found| {
            (found.path.clone(), found)
        });
        let mut value = Matches::new(&start, &findings, &mut told, &stop);
        value.next = told.next(&arguments, offset);
        let display = format!(
            "Found {} for {} in {}",
            search::many(value.total_matches, "match", "matches"),
            arguments.pattern,
            start.shown
        );
        let mut notes = told.notes;
        if findings.total == 0 {
            notes.insert(
                0,
                format!(
                    "Nothing in {} fits {}.{}",
                    start.shown,
                    arguments.pattern,
                    names
                        .glob
                        .as_ref()
                        .map(search::Glob::hint)
                        .unwrap_or_default()
                ),
            );
        }
        Ok(Answer::new(value, display)
            .text(told.page.finish(&notes))
            .within(arguments.max_bytes))
    }
}
