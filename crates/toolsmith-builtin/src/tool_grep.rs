//! `grep`: searches the content of files.

use std::time::{Duration, Instant};

use ignore::types::{Types, TypesBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolsmith_core::{Binding, Description, Kind, Plan, ToolContext, ToolDef};

use crate::budget;
use crate::built_in::{Answer, BuiltIn, described, example, idempotent};
use crate::refusal::{Reason, Refusal};
use crate::search::define::{self, GRACE, LIMIT, walking};
use crate::search::{
    self, Case, FURTHEST, Glob, NotSearched, OutputMode, Page, Pattern, Query, Request, Results,
    Source, Span, Stop, Syntax, Tally, View, WalkOptions, Wanted,
};
use crate::workspace::Workspace;

/// How long a search that found nothing may have taken, and may take again, to look for
/// other spellings. A large tree is not read twice.
const SECOND_LOOK: Duration = Duration::from_millis(250);

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

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub(crate) struct Arguments {
    /// The regular expression to look for, in Rust's syntax; look-around and backreferences work too.
    pattern: String,
    /// The folder or file to search; the workspace itself unless given. A file is searched even if ignore rules hide it.
    #[serde(default = "define::here")]
    path: String,
    /// A pattern for the files to search, such as `*.rs` or `src/**/*.{ts,tsx}`; with `!` before it, for those not to.
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
    /// How many bytes the answer may have.
    #[serde(default = "budget::usual")]
    #[schemars(range(min = 1000, max = 1_048_576))]
    max_bytes: usize,
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
            given: &|| search::given(self),
            argument: "pattern",
            text: &self.pattern,
            syntax,
            case,
            span,
        })?;
        Ok(Query::new(pattern, span, None))
    }

    fn case(&self) -> Case {
        Case::sensitive_if(!self.case_insensitive)
    }

    fn request(&self) -> Result<Request, Refusal> {
        let glob = self.glob.as_deref().filter(|glob| !glob.is_empty());
        let glob = glob.map(|glob| Glob::or_not("glob", glob)).transpose()?;
        let (glob, mut exclude) = glob.unwrap_or_default();
        exclude.extend(Glob::all("exclude", &self.exclude, Case::Sensitive)?);
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
            exclude,
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
            bytes: self.max_bytes,
        }
    }

    /// Says that there was no file to search, where that is so.
    fn none_fits(&self, request: &Request, tally: &Tally, source: &Source) -> Option<String> {
        let asked: Vec<String> = [("glob", &self.glob), ("type", &self.file_type)]
            .into_iter()
            .filter_map(|(name, asked)| Some(format!("{name} = {:?}", asked.as_ref()?)))
            .collect();
        if tally.met > 0 || asked.is_empty() {
            return None;
        }
        let hint = request.glob.as_ref().map(Glob::hint).unwrap_or_default();
        let asked = asked.join(" and ");
        Some(format!(
            "No file in {} fits {asked}, so nothing was searched.{hint}",
            source.shown()
        ))
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
        described("grep", "Search in files", "search", &["content", "regex", "ripgrep"])
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
            .with_aliases("case_insensitive", &["-i"])
            .with_aliases("line_numbers", &["-n"])
            .with_aliases("context_after", &["-A"])
            .with_aliases("context_before", &["-B"])
            .with_aliases("context", &["-C"])
    }

    fn binding() -> Binding {
        Binding::default().with_timeout(LIMIT + GRACE)
    }

    fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    fn plan(&self, arguments: &Arguments) -> Result<Plan, Refusal> {
        let pattern: String = arguments.pattern.chars().take(80).collect();
        walking(
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
        let source = Source::open(&self.workspace, &arguments.path, context)?;
        let began = Instant::now();
        let stop = Stop::after(LIMIT, context);
        let mut tally = source.tally(&query, &request, &stop);
        stop.check()?;
        let mut value = Results::new(
            &arguments.pattern,
            arguments.output_mode,
            &source,
            &tally,
            &stop,
        );
        (value.offset, value.head_limit) = (arguments.offset(), arguments.head_limit);
        let offset = arguments.offset();
        let mut page = Page::answering(&arguments, arguments.max_bytes);
        let shown = match arguments.output_mode {
            OutputMode::Content => value.show_lines(
                &mut page,
                (arguments.view(), arguments.line_numbers),
                &source,
                &mut tally,
                &query,
                &stop,
            ),
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
            let none_fits = arguments.none_fits(&request, &tally, &source);
            notes.push(value.nothing(none_fits));
        } else {
            let has_more = ((offset + shown) as u64) < there;
            value.truncated |= has_more;
            if has_more && shown > 0 {
                value.next = search::continuing(&arguments, offset + shown);
            }
            notes.push(value.amount(offset, shown, there));
        }
        if stop.is_late() {
            notes.push(format!(
                "Time ran out after {} s: {} of at least {} files were searched.",
                LIMIT.as_secs(),
                tally.searched,
                tally.met.max(tally.searched)
            ));
        }
        let not_searched = NotSearched::in_search(tally.unseen, tally.skipped);
        value.end(not_searched);
        not_searched.tell(&mut notes);
        search::hidden(tally.unseen.ignored, &mut notes);
        let display = format!(
            "Searched for {:?} in {}: {}",
            arguments.pattern.chars().take(80).collect::<String>(),
            source.shown(),
            value.summary()
        );
        Ok(Answer::new(value, display)
            .text(page.finish(&notes))
            .within(arguments.max_bytes))
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
