//! `grep`: searches the content of files.

use std::time::{Duration, Instant};

use ignore::types::{Types, TypesBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolsmith_core::{Binding, Description, Kind, Plan, ToolContext, ToolDef};

use crate::built_in::{Answer, BuiltIn};
use crate::refusal::{Reason, Refusal};
use crate::search::define::{self, GRACE, LIMIT, example, idempotent, meta, reading};
use crate::search::{
    self, Case, FURTHEST, Glob, Line, Page, Pattern, Pushed, Query, Request, Source, Span, Stop,
    Syntax, Tally, View, WalkOptions, Wanted,
};
use crate::workspace::Workspace;

/// Other names of arguments, as they are known from the command line.
pub(crate) const ALIASES: &[(&str, &str)] = &[
    ("-i", "case_insensitive"),
    ("-n", "line_numbers"),
    ("-A", "context_after"),
    ("-B", "context_before"),
    ("-C", "context"),
];

/// How long a search that found nothing may look for other spellings.
const SECOND_LOOK: Duration = Duration::from_secs(1);

/// How many results there are at most where all were asked for.
const ALL: usize = 5000;

/// Searches the content of files.
pub(crate) struct Grep {
    workspace: Workspace,
}

impl Grep {
    pub(crate) fn new(workspace: Workspace) -> Self {
        Self { workspace }
    }
}

/// What is told of what was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OutputMode {
    /// The lines.
    Content,
    /// The files, the newest first.
    #[default]
    FilesWithMatches,
    /// How many matches each file has.
    Count,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub(crate) struct Arguments {
    /// The regular expression to look for, in Rust's syntax; look-around and backreferences work too.
    pattern: String,
    /// The folder or file to search; the workspace itself unless given. A file is searched even if ignore rules hide it.
    #[serde(default = "define::here")]
    path: String,
    /// A pattern for the files to search, such as `*.rs` or `src/**/*.{ts,tsx}`.
    #[serde(default)]
    glob: Option<String>,
    /// A type of files to search, such as `rust`, `py`, `js` or `md`.
    #[serde(default, rename = "type")]
    file_type: Option<String>,
    /// What to return.
    #[serde(default)]
    output_mode: OutputMode,
    /// Whether capital letters do not matter.
    #[serde(default)]
    case_insensitive: bool,
    /// Whether lines are told with their numbers, in the mode `content`.
    #[serde(default = "define::yes")]
    line_numbers: bool,
    /// How many lines before each match to show, in the mode `content`.
    #[serde(default)]
    #[schemars(range(min = 0, max = 100))]
    context_before: Option<usize>,
    /// How many lines after each match to show, in the mode `content`.
    #[serde(default)]
    #[schemars(range(min = 0, max = 100))]
    context_after: Option<usize>,
    /// How many lines before and after each match to show, in the mode `content`.
    #[serde(default)]
    #[schemars(range(min = 0, max = 100))]
    context: Option<usize>,
    /// How many results to return: matches, files or counts by the mode; 0 for only their number, -1 for all there is room for.
    #[serde(default = "hundred")]
    #[schemars(range(min = -1, max = 5000))]
    head_limit: i64,
    /// How many results to pass over, to continue an earlier answer.
    #[serde(default)]
    #[schemars(range(min = 0, max = 20000))]
    offset: usize,
    /// Whether a match may go on over several lines; `.` then matches line breaks.
    #[serde(default)]
    multiline: bool,
    /// Whether the pattern is the text itself.
    #[serde(default)]
    fixed_strings: bool,
    /// Patterns for files and folders that are not searched.
    #[serde(default)]
    #[schemars(length(max = 100))]
    exclude: Vec<String>,
    /// Whether files that ignore rules hide are searched too.
    #[serde(default)]
    include_ignored: bool,
    /// How many matches of one file to count and show.
    #[serde(default)]
    #[schemars(range(min = 1))]
    max_per_file: Option<u64>,
}

fn hundred() -> i64 {
    100
}

impl Arguments {
    fn query(&self, case: Case) -> Result<Query, Refusal> {
        let span = if self.multiline {
            Span::Lines
        } else {
            Span::Line
        };
        let syntax = if self.fixed_strings {
            Syntax::Text
        } else {
            Syntax::Regex
        };
        let pattern = Pattern::new(Wanted {
            argument: "pattern",
            text: &self.pattern,
            syntax,
            case,
            span,
        })?;
        Ok(Query {
            pattern,
            span,
            but_not: None,
        })
    }

    fn case(&self) -> Case {
        Case::sensitive_if(!self.case_insensitive)
    }

    fn request(&self) -> Result<Request, Refusal> {
        let glob = self.glob.as_deref().filter(|glob| !glob.is_empty());
        let glob = glob
            .map(|glob| Glob::new("glob", glob, Case::Sensitive))
            .transpose()?;
        Ok(Request {
            options: WalkOptions {
                include_ignored: self.include_ignored,
                way: glob
                    .as_ref()
                    .map(|glob| glob.way().clone())
                    .unwrap_or_default(),
                ..WalkOptions::default()
            },
            glob,
            types: self.file_type.as_deref().map(types).transpose()?,
            exclude: Glob::all("exclude", &self.exclude, Case::Sensitive)?,
            most_in_file: match self.output_mode {
                OutputMode::FilesWithMatches => Some(1),
                OutputMode::Content | OutputMode::Count => self.max_per_file,
            },
            newest_first: self.output_mode == OutputMode::FilesWithMatches,
            keep: self.offset() + self.limit(),
        })
    }

    fn view(&self) -> View {
        let around = self.context.unwrap_or(0);
        View {
            offset: self.offset(),
            take: self.limit(),
            before: self.context_before.unwrap_or(around),
            after: self.context_after.unwrap_or(around),
            most_in_file: self.max_per_file,
        }
    }

    fn offset(&self) -> usize {
        self.offset.min(FURTHEST)
    }

    fn limit(&self) -> usize {
        usize::try_from(self.head_limit).map_or(ALL, |limit| limit.min(ALL))
    }
}

/// The files of a type, by names ripgrep knows.
fn types(name: &str) -> Result<Types, Refusal> {
    let mut builder = TypesBuilder::new();
    builder.add_defaults();
    let known: Vec<String> = builder
        .definitions()
        .iter()
        .map(|known| known.name().to_owned())
        .collect();
    if known.iter().any(|known| known == name)
        && let Ok(types) = builder.select(name).build()
    {
        return Ok(types);
    }
    let shown: String = name.chars().take(40).collect();
    let mut nearest: Vec<(usize, &String)> = known
        .iter()
        .map(|known| (strsim::levenshtein(known, &shown), known))
        .collect();
    nearest.sort();
    let nearest: Vec<&str> = nearest
        .iter()
        .take(3)
        .map(|(_, known)| known.as_str())
        .collect();
    let message = format!("there is no type of files called {shown:?}");
    Err(Refusal::new(Reason::BadArgument, message)
        .next(format!(
            "Did you mean {}? Or use `glob`, such as `*.{}`",
            nearest.join(", "),
            shown.trim_start_matches('.')
        ))
        .detail("nearest", nearest))
}

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Results {
    /// The pattern that was looked for.
    search_pattern: String,
    /// The folder or file that was searched.
    search_path: String,
    /// What is told of it.
    output_mode: OutputMode,
    /// How many results there are in all: matches in the modes `content` and `count`, else files.
    total_matches: u64,
    /// How many files something was found in.
    total_files: u64,
    /// How many results were passed over.
    offset: usize,
    /// How many results were asked for.
    head_limit: i64,
    /// How many files were searched.
    files_searched: u64,
    /// How many files and folders ignore rules hid; what is in such a folder is not counted.
    hidden_by_ignore: u64,
    /// Whether there are more results than are here.
    truncated: bool,
    /// Whether time ran out before all files were searched.
    timed_out: bool,
    /// How many files would match if capital letters did not matter, where nothing was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    case_insensitive_files: Option<u64>,
    /// The files, in the mode `files_with_matches`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    files: Vec<String>,
    /// The files and their counts, in the mode `count`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    counts: Vec<Counted>,
    /// The lines, in the mode `content`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    matches: Vec<Shown>,
    /// The arguments that continue the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<Value>,
}

/// How many matches a file has.
#[derive(Debug, Serialize, JsonSchema)]
struct Counted {
    /// The file.
    path: String,
    /// How many matches it has.
    count: u64,
}

/// A line that is shown.
#[derive(Debug, Serialize, JsonSchema)]
struct Shown {
    /// The file.
    path: String,
    /// The number of the line, from 1; 0 where the file is not text.
    line_number: u64,
    /// The line.
    line: String,
    /// Whether it only stands near a match.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_context: bool,
}

impl Shown {
    fn new(path: &str, line_number: u64, line: &str, is_match: bool) -> Self {
        Self {
            path: path.to_owned(),
            line_number,
            line: line.to_owned(),
            is_context: !is_match,
        }
    }
}

impl BuiltIn for Grep {
    type Arguments = Arguments;
    type Value = Results;

    const HAS_METADATA: bool = true;

    fn define() -> ToolDef {
        let mut description = Description::from(
            "Searches the content of files for a regular expression, as ripgrep does.\n\n\
             By default it tells which files match, the newest first; output_mode = content shows the lines. Files that \
             .gitignore or .ignore hide are left out, and their number is told; `path` may name such a file or folder \
             all the same. Long lines are cut around the match, and files that are not text are only said to match.",
        );
        description.usage_notes = vec![
            "Set fixed_strings = true to look for text with brackets, dots or other special characters in it.".to_owned(),
            "Narrow the search with `glob`, `type` or `path` before asking for content.".to_owned(),
        ];
        ToolDef::new("grep")
            .expect("the name is a valid one")
            .with_title("Search in files")
            .with_kind(Kind::Search)
            .with_hints(idempotent())
            .with_description(description)
            .with_returns("Files, counts or lines by output_mode, how many there are in all, and how to continue.")
            .with_example(example("Which files mention a function.", json!({"pattern": "fn parse_header", "type": "rust"})))
            .with_example(example(
                "The lines, with two around each.",
                json!({"pattern": "TODO|FIXME", "output_mode": "content", "context": 2}),
            ))
            .with_example(example("The text itself.", json!({"pattern": "items[0].name", "fixed_strings": true})))
            .with_meta(meta("grep", "search", &["content", "regex", "ripgrep"]))
    }

    fn binding() -> Binding {
        Binding::default().with_timeout(LIMIT + GRACE)
    }

    fn plan(&self, arguments: &Arguments) -> Result<Plan, Refusal> {
        let pattern: String = arguments.pattern.chars().take(80).collect();
        reading(
            &self.workspace,
            "path",
            &arguments.path,
            &format!("search for {pattern:?}"),
        )
    }

    fn call(
        &self,
        arguments: Arguments,
        context: &ToolContext,
    ) -> Result<Answer<Results>, Refusal> {
        let query = arguments.query(arguments.case())?;
        let request = arguments.request()?;
        let source = Source::open(&self.workspace, &arguments.path)?;
        let began = Instant::now();
        let stop = Stop::after(LIMIT, context);
        let mut tally = source.tally(&query, &request, &stop);
        stop.check()?;
        let mut value = Results::new(&arguments, &source, &tally, &stop);
        let offset = arguments.offset();
        let mut page = Page::answering(&arguments);
        let shown = match arguments.output_mode {
            OutputMode::Content => {
                value.show_lines(&mut page, &arguments, &source, &mut tally, &query, &stop)
            }
            OutputMode::FilesWithMatches => value.show_files(&mut page, offset, &source, &tally),
            OutputMode::Count => value.show_counts(&mut page, offset, &source, &tally),
        };
        stop.check()?;
        let mut notes = Vec::new();
        let there = match arguments.output_mode {
            OutputMode::Content => tally.matches,
            OutputMode::FilesWithMatches | OutputMode::Count => tally.files,
        };
        if tally.files == 0 {
            if arguments.case() == Case::Sensitive
                && !stop.is_late()
                && began.elapsed() < SECOND_LOOK
            {
                value.case_insensitive_files = other_spellings(&arguments, &source, context)?;
            }
            notes.push(value.nothing());
        } else {
            value.truncated = value.truncated || ((offset + shown) as u64) < there;
            notes.push(value.amount(offset, shown, there));
        }
        if value.truncated && shown > 0 {
            value.next = search::continuing(&arguments, offset + shown);
        }
        if stop.is_late() {
            notes.push(format!(
                "Time ran out after {} s: {} of at least {} files were searched.",
                LIMIT.as_secs(),
                tally.searched,
                tally.met.max(tally.searched)
            ));
        }
        tally.skipped.tell(&mut notes);
        search::unseen(tally.unseen, &mut notes);
        let display = format!(
            "Searched for {:?} in {}: {}",
            arguments.pattern.chars().take(80).collect::<String>(),
            source.shown(),
            value.summary()
        );
        Ok(Answer::new(value, display).text(page.finish(&notes)))
    }
}

/// How many files would match if capital letters did not matter, if any would.
fn other_spellings(
    arguments: &Arguments,
    source: &Source,
    context: &ToolContext,
) -> Result<Option<u64>, Refusal> {
    if !arguments.pattern.chars().any(char::is_alphabetic) {
        return Ok(None);
    }
    let mut request = arguments.request()?;
    request.most_in_file = Some(1);
    request.keep = 0;
    let stop = Stop::after(SECOND_LOOK, context);
    let tally = source.tally(&arguments.query(Case::Insensitive)?, &request, &stop);
    stop.check()?;
    Ok(Some(tally.files).filter(|files| *files > 0))
}

impl Results {
    fn new(arguments: &Arguments, source: &Source, tally: &Tally, stop: &Stop<'_>) -> Self {
        Self {
            search_pattern: arguments.pattern.clone(),
            search_path: source.shown().to_owned(),
            output_mode: arguments.output_mode,
            total_matches: match arguments.output_mode {
                OutputMode::FilesWithMatches => tally.files,
                OutputMode::Content | OutputMode::Count => tally.matches,
            },
            total_files: tally.files,
            offset: arguments.offset(),
            head_limit: arguments.head_limit,
            files_searched: tally.searched,
            hidden_by_ignore: tally.unseen.ignored,
            truncated: false,
            timed_out: stop.is_late(),
            case_insensitive_files: None,
            files: Vec::new(),
            counts: Vec::new(),
            matches: Vec::new(),
            next: None,
        }
    }

    fn show_files(
        &mut self,
        page: &mut Page,
        offset: usize,
        source: &Source,
        tally: &Tally,
    ) -> usize {
        let hits = tally.hits.iter().skip(offset);
        let paths = hits.map(|hit| source.path(hit));
        let is_told = |path: &String| page.push(path, path) != Pushed::Later;
        self.files = paths.take_while(is_told).collect();
        self.files.len()
    }

    fn show_counts(
        &mut self,
        page: &mut Page,
        offset: usize,
        source: &Source,
        tally: &Tally,
    ) -> usize {
        let hits = tally.hits.iter().skip(offset);
        let counts = hits.map(|hit| Counted {
            path: source.path(hit),
            count: hit.count,
        });
        let is_told = |counted: &Counted| {
            let line = format!("{}:{}", counted.path, counted.count);
            page.push(&line, counted) != Pushed::Later
        };
        self.counts = counts.take_while(is_told).collect();
        self.counts.len()
    }

    fn show_lines(
        &mut self,
        page: &mut Page,
        arguments: &Arguments,
        source: &Source,
        tally: &mut Tally,
        query: &Query,
        stop: &Stop<'_>,
    ) -> usize {
        let view = arguments.view();
        let has_context = view.before + view.after > 0;
        let mut shown = 0;
        search::gather(source, tally, query, view, stop, |hit, path, lines| {
            if hit.is_binary {
                let line = Shown::new(path, 0, "binary file matches", true);
                if page.push(&format!("{path}: {}", line.line), &line) == Pushed::Later {
                    return false;
                }
                // Its matches count as shown: they are not lines anybody could read.
                let matches = usize::try_from(hit.count).unwrap_or(usize::MAX);
                shown += matches.min(view.take - shown);
                self.matches.push(line);
                return true;
            }
            for (index, line) in lines.iter().enumerate() {
                let is_apart =
                    has_context && (line.is_after_gap || index == 0) && !self.matches.is_empty();
                let text = told(path, line, arguments.line_numbers, is_apart);
                let line_value = Shown::new(path, line.number, &line.text, line.is_match);
                if page.push(&text, &line_value) == Pushed::Later {
                    return false;
                }
                shown += usize::from(line.begins);
                self.matches.push(line_value);
            }
            true
        });
        shown
    }

    /// Says that nothing was found, and what was looked at.
    fn nothing(&self) -> String {
        let files = search::many(self.files_searched, "file was", "files were");
        let mut note = format!(
            "No match for {:?} in {}; {files} searched.",
            self.search_pattern, self.search_path
        );
        if let Some(files) = self.case_insensitive_files {
            let files = search::many(files, "file matches", "files match");
            note = format!("{note} With case_insensitive = true {files}.");
        }
        note
    }

    /// Says how much was found, and how much of it is here.
    fn amount(&self, offset: usize, shown: usize, there: u64) -> String {
        let what = match self.output_mode {
            OutputMode::Content => "Matches",
            OutputMode::FilesWithMatches | OutputMode::Count => "Files",
        };
        format!(
            "{}: {}",
            self.summary(),
            search::window(offset, shown, there, what)
        )
    }

    fn summary(&self) -> String {
        let files = search::many(self.total_files, "file", "files");
        match self.output_mode {
            OutputMode::FilesWithMatches => format!("{files} found"),
            OutputMode::Content | OutputMode::Count => {
                format!(
                    "{} in {files}",
                    search::many(self.total_matches, "match", "matches")
                )
            }
        }
    }
}

/// How a line is told: as grep does, `:` after the path of a match, `-` near one.
fn told(path: &str, line: &Line, has_number: bool, is_apart: bool) -> String {
    let mark = if line.is_match { ':' } else { '-' };
    let gap = if is_apart { "--\n" } else { "" };
    match has_number {
        true => format!("{gap}{path}{mark}{}{mark}{}", line.number, line.text),
        false => format!("{gap}{path}{mark}{}", line.text),
    }
}
