//! `search_in_files`: searches files for a text.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolsmith_core::{Binding, Kind, Plan, ToolContext, ToolDef};

use crate::budget;
use crate::built_in::{Answer, BuiltIn, described, example, idempotent, noted};
use crate::refusal::Refusal;
use crate::search::define::{self, GRACE, walking};
use crate::search::{
    self, FURTHEST, Glob, NotSearched, Page, Pushed, Request, Source, Stop, View, WalkOptions,
    text_query,
};
use crate::workspace::Workspace;

/// The longest time a search may be given, in seconds.
const LONGEST: u64 = 600;

/// Searches files for a text.
pub(crate) struct SearchInFiles {
    workspace: Workspace,
}

impl SearchInFiles {
    pub(crate) fn new(workspace: Workspace) -> Self {
        Self { workspace }
    }
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub(crate) struct Arguments {
    /// The text to look for, or a regular expression.
    query: String,
    /// A pattern for the files to search, such as `*.py` or `src/**/*.rs`; with `!` before it, for those not to.
    #[serde(default = "any")]
    file_pattern: String,
    /// The folder to search; the workspace itself unless given.
    #[serde(default = "define::here")]
    path: String,
    /// Whether query and exclude_query are regular expressions.
    #[serde(default)]
    use_regex: bool,
    /// Lines in which this is found too are left out.
    #[serde(default)]
    exclude_query: String,
    /// After how many seconds what was found so far is the answer.
    #[serde(default = "minute")]
    #[schemars(range(min = 1, max = 600))]
    timeout: u64,
    /// How many matches to return.
    #[serde(default = "thousand")]
    #[schemars(range(min = 0, max = 5000))]
    max_results: usize,
    /// How many matches to pass over, to continue an earlier answer.
    #[serde(default)]
    #[schemars(range(min = 0, max = 20000))]
    offset: usize,
    /// Whether files that ignore rules hide are searched too.
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

fn minute() -> u64 {
    60
}

fn thousand() -> usize {
    1000
}

impl Arguments {
    fn limit(&self) -> Duration {
        Duration::from_secs(self.timeout.clamp(1, LONGEST))
    }
}

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Results {
    /// The lines that match, by file and number.
    matches: Vec<Match>,
    /// How many there are in all, as far as was searched.
    total_matches: u64,
    /// Whether time ran out before all files were searched.
    timed_out: bool,
    /// Whether there are more than are here, or may be.
    truncated: bool,
    /// What was not searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_searched: Option<NotSearched>,
    /// How many files were searched.
    files_searched: u64,
    /// How many files and folders ignore rules hid; what is in such a folder is not counted.
    hidden_by_ignore: u64,
    /// The arguments that continue the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<Value>,
}

/// A line that matches.
#[derive(Debug, Serialize, JsonSchema)]
struct Match {
    /// The file.
    file_path: String,
    /// The number of the line, from 1; 0 where the file is not text.
    line_number: u64,
    /// The line; a long one is cut around the match.
    line_content: String,
    /// False where the name holds what cannot be told, so that the path cannot be given back.
    #[serde(skip_serializing_if = "search::is_true")]
    is_exact: bool,
}

impl BuiltIn for SearchInFiles {
    type Arguments = Arguments;
    type Value = Results;

    fn define() -> ToolDef {
        let definition = described("search_in_files", "Search in files for text", "search", &["content", "files"])
            .with_kind(Kind::Search)
            .with_hints(idempotent())
            .with_description(
                "Searches all files in a folder for a text or a regular expression, and returns the lines.\n\n\
                 Capital letters matter; a regular expression that begins with (?i) ignores them. Files that .gitignore \
                 or .ignore hide are left out, and their number is told.",
            )
            .with_returns("File, number and content of each line that matches, and how many there are in all.")
            .with_example(example("A text in Python files.", json!({"query": "import requests", "file_pattern": "*.py"})))
            .with_example(example(
                "A regular expression, but not in comments.",
                json!({"query": "TODO|FIXME", "use_regex": true, "exclude_query": "^\\s*//", "path": "src"}),
            ));
        noted(
            definition,
            &["Narrow it with path and file_pattern before raising the time-out."],
        )
    }

    fn binding() -> Binding {
        Binding::default().with_timeout(Duration::from_secs(LONGEST) + GRACE)
    }

    fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    fn plan(&self, arguments: &Arguments) -> Result<Plan, Refusal> {
        let query: String = arguments.query.chars().take(80).collect();
        let plan = walking(
            &self.workspace,
            "path",
            &arguments.path,
            &format!("search for {query:?}"),
        )?;
        Ok(plan.within(arguments.limit() + GRACE))
    }

    fn call(
        &self,
        arguments: Arguments,
        context: &ToolContext,
    ) -> Result<Answer<Results>, Refusal> {
        let query = text_query(
            &arguments.query,
            arguments.use_regex,
            &arguments.exclude_query,
            &|| search::given(&arguments),
        )?;
        let (glob, exclude) = Glob::or_not("file_pattern", &arguments.file_pattern)?;
        let source = Source::open(&self.workspace, &arguments.path, context)?;
        let stop = Stop::after(arguments.limit(), context);
        let offset = arguments.offset.min(FURTHEST);
        let view = View::plain(offset, arguments.max_results, arguments.max_bytes);
        let request = Request {
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
            keep: offset + arguments.max_results,
            ..Request::default()
        };
        let mut tally = source.tally(&query, &request, &stop);
        stop.check()?;
        let mut page = Page::answering(&arguments, arguments.max_bytes);
        let mut matches = Vec::new();
        let mut shown = 0;
        search::gather(
            &source,
            &mut tally,
            &query,
            view,
            &stop,
            |hit, path, excerpt| {
                let mut show = |number: u64, content: &str| {
                    let found = Match {
                        file_path: path.text.clone(),
                        line_number: number,
                        line_content: content.to_owned(),
                        is_exact: path.is_exact,
                    };
                    let pushed = page.push(&format!("{}:{number}:{content}", path.text), &found);
                    if pushed != Pushed::Later {
                        matches.push(found);
                    }
                    pushed != Pushed::Later
                };
                if hit.is_binary {
                    let has_room = show(0, "binary file matches");
                    shown += usize::from(has_room);
                    return has_room;
                }
                excerpt.lines.iter().all(|line| {
                    let has_room = show(line.number, &line.text);
                    shown += usize::from(has_room);
                    has_room
                })
            },
        );
        stop.check()?;
        let end = offset.saturating_add(shown);
        let has_more = (end as u64) < tally.matches;
        let mut notes = Vec::new();
        let not_searched = NotSearched::in_search(tally.unseen, tally.skipped);
        match tally.matches {
            0 if tally.met == 0 && arguments.file_pattern != any() => {
                let hint = request.glob.as_ref().map(Glob::hint).unwrap_or_default();
                notes.push(format!(
                    "No file in {} fits file_pattern = {:?}, so nothing was searched.{hint}",
                    source.shown(),
                    arguments.file_pattern
                ));
            }
            0 => notes.push(format!(
                "No match for {:?} in {}; {} searched.",
                arguments.query,
                source.shown(),
                search::many(tally.searched, "file was", "files were")
            )),
            total => notes.push(search::window(offset, shown, total, "Matches")),
        }
        if stop.is_late() {
            notes.push(format!(
                "Time ran out after {} s: {} of at least {} files were searched.",
                arguments.limit().as_secs(),
                tally.searched,
                tally.met.max(tally.searched)
            ));
        }
        not_searched.tell(&mut notes);
        search::hidden(tally.unseen.ignored, &mut notes);
        let display = format!(
            "Searched {}: {} in {}",
            source.shown(),
            search::many(tally.matches, "match", "matches"),
            search::many(tally.files, "file", "files")
        );
        let value = Results {
            next: (has_more && shown > 0)
                .then(|| search::continuing(&arguments, end))
                .flatten(),
            matches,
            total_matches: tally.matches,
            timed_out: stop.is_late(),
            truncated: has_more || stop.is_late() || not_searched.is_missed(),
            not_searched: not_searched.told(),
            files_searched: tally.searched,
            hidden_by_ignore: tally.unseen.ignored,
        };
        Ok(Answer::new(value, display)
            .text(page.finish(&notes))
            .within(arguments.max_bytes))
    }
}
