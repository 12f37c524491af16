//! `find`: finds files and folders by name, size, age and kind.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolsmith_core::{Binding, Description, Kind, Plan, ToolContext, ToolDef};

use crate::budget;
use crate::built_in::{Answer, BuiltIn, described, example, idempotent};
use crate::refusal::{Reason, Refusal};
use crate::search::define::{self, GRACE, LIMIT, walking};
use crate::search::{
    self, Case, Clock, FURTHEST, Glob, Match, Matches, Moment, Names, Order, Page, Start, Stop,
    WalkOptions,
};
use crate::workspace::Workspace;

/// How many patterns may be left out at once.
const MOST_EXCLUDED: usize = 100;

/// Finds files and folders by name, size, age and kind.
pub(crate) struct Find {
    workspace: Workspace,
    now: Clock,
}

impl Find {
    pub(crate) fn new(workspace: Workspace, now: Clock) -> Self {
        Self { workspace, now }
    }
}

/// What is looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Sought {
    /// Regular files only, and links that lead to one.
    File,
    /// Folders only.
    Directory,
    /// Files and folders.
    #[default]
    Both,
}

/// What comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Sort {
    /// By path.
    Path,
    /// The newest first.
    Mtime,
    /// The largest first.
    Size,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub(crate) struct Arguments {
    /// The name, or a pattern for it such as `*.rs` or `test_*`; with a slash it is about the path from `path` on.
    #[serde(default)]
    name: Option<String>,
    /// The folder to search; the workspace itself unless given.
    #[serde(default = "define::here")]
    path: String,
    /// What to find.
    #[serde(default, rename = "type")]
    sought: Sought,
    /// The least size in bytes; only files have one.
    #[serde(default)]
    size_min: Option<u64>,
    /// The largest size in bytes; only files have one.
    #[serde(default)]
    size_max: Option<u64>,
    /// Only what was changed at this time or later: 2026-01-31, 2026-01-31T14:30:00Z (UTC unless it names a zone), 2h, 3d or yesterday.
    #[serde(default)]
    modified_after: Option<String>,
    /// Only what was changed at this time or earlier, written as for modified_after.
    #[serde(default)]
    modified_before: Option<String>,
    /// What names end in, such as `rs`; with or without the dot.
    #[serde(default)]
    extension: Option<String>,
    /// Whether capital letters matter in the name and the patterns.
    #[serde(default)]
    case_sensitive: bool,
    /// How many folders deep to look; 0 is only what the folder itself holds.
    #[serde(default = "ten")]
    #[schemars(range(min = 0, max = 20))]
    max_depth: usize,
    /// How many matches to return.
    #[serde(default = "define::hundred")]
    #[schemars(range(min = 0, max = 1000))]
    max_results: usize,
    /// Patterns for what is left out, with all that is in it.
    #[serde(default)]
    #[schemars(length(max = 100))]
    exclude_patterns: Vec<String>,
    /// Whether the name's characters need only occur in the path in this order; the best matches come first.
    #[serde(default)]
    fuzzy: bool,
    /// What comes first: by path unless given, or how well a fuzzy name fits.
    #[serde(default)]
    sort: Option<Sort>,
    /// How many matches to pass over, to continue an earlier answer.
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

fn ten() -> usize {
    10
}

impl Arguments {
    /// What these arguments ask for.
    fn names(&self, now: Moment) -> Result<Names, Refusal> {
        let case = Case::sensitive_if(self.case_sensitive);
        if self.exclude_patterns.len() > MOST_EXCLUDED {
            let message = format!(
                "`exclude_patterns` has {} patterns, and may have {MOST_EXCLUDED}",
                self.exclude_patterns.len()
            );
            return Err(Refusal::new(Reason::BadArgument, message).next("Name fewer"));
        }
        let name = self.name.as_deref().filter(|name| !name.is_empty());
        let glob = name
            .filter(|_| !self.fuzzy)
            .map(|name| Glob::new("name", name, case))
            .transpose()?;
        let is_literal = |name: &&str| !name.contains(['*', '?', '[', '{', '/', '\\']);
        let part = name.filter(is_literal).map(str::to_lowercase);
        let fuzzy = name
            .filter(|_| self.fuzzy)
            .map(|name| search::fuzzy(name, self.case_sensitive));
        let time = |argument: &str, text: &Option<String>| {
            let text = text.as_deref();
            text.map(|text| search::read_time(argument, text, now))
                .transpose()
        };
        let (after, before) = (
            time("modified_after", &self.modified_after)?,
            time("modified_before", &self.modified_before)?,
        );
        ordered("size_min", self.size_min, "size_max", self.size_max)?;
        ordered("modified_after", after, "modified_before", before)?;
        let by_size = self.size_min.is_some() || self.size_max.is_some();
        let extension = self
            .extension
            .as_deref()
            .map(|extension| extension.trim_start_matches('.'));
        Ok(Names {
            options: WalkOptions {
                levels: self.max_depth.min(20) + 1,
                include_ignored: self.include_ignored,
                way: glob
                    .as_ref()
                    .map(|glob| glob.way().clone())
                    .unwrap_or_default(),
                ..WalkOptions::default()
            },
            order: match self.sort {
                Some(Sort::Path) => Order::Path,
                Some(Sort::Mtime) => Order::Newest,
                Some(Sort::Size) => Order::Largest,
                None if fuzzy.is_some() => Order::Best,
                None => Order::Path,
            },
            part: part.filter(|_| glob.is_some()),
            glob,
            fuzzy,
            extension: extension
                .filter(|extension| !extension.is_empty())
                .map(str::to_lowercase),
            files: self.sought != Sought::Directory,
            only_regular: self.sought == Sought::File,
            // The size of a folder says nothing about what is in it.
            folders: self.sought != Sought::File && !by_size,
            exclude: Glob::all("exclude_patterns", &self.exclude_patterns, case)?,
            size_min: self.size_min,
            size_max: self.size_max,
            after,
            before,
            keep: self.offset.min(FURTHEST) + self.max_results.min(1000),
        })
    }
}

/// Refuses bounds that nothing lies between.
fn ordered<T: PartialOrd>(
    low: &str,
    least: Option<T>,
    high: &str,
    most: Option<T>,
) -> Result<(), Refusal> {
    match (least, most) {
        (Some(least), Some(most)) if least > most => {
            let message = format!("`{low}` lies above `{high}`, so nothing can lie between them");
            Err(Refusal::new(Reason::BadArgument, message).next("Exchange them"))
        }
        _ => Ok(()),
    }
}

impl BuiltIn for Find {
    type Arguments = Arguments;
    type Value = Matches;

    const HAS_METADATA: bool = true;

    fn define() -> ToolDef {
        let mut description = Description::from(
            "Finds files and folders by name, size, time of change and kind.\n\n\
             All conditions that are given must hold. Files that .gitignore or .ignore hide are left out, and their \
             number is told. Links are found and not followed.",
        );
        description.usage_notes = vec![
            "A name without wildcards is the whole name; `*part*` finds what holds it, fuzzy = true what resembles it.".to_owned(),
            "Times are UTC unless they name a zone.".to_owned(),
        ];
        described("find", "Find files and folders", "search", &["files", "name", "size", "time"])
            .with_kind(Kind::Search)
            .with_hints(idempotent())
            .with_aliases("name", &["pattern", "name_pattern"])
            .with_description(description)
            .with_returns("Path, size and time of change of each, how many there are in all, and how many ignore rules hide.")
            .with_example(example("Large logs.", json!({"extension": "log", "size_min": 1_000_000, "sort": "size"})))
            .with_example(example("What changed since yesterday.", json!({"type": "file", "modified_after": "yesterday", "sort": "mtime"})))
            .with_example(example("A file whose name is only roughly known.", json!({"name": "usrctrl", "fuzzy": true})))
    }

    fn binding() -> Binding {
        Binding::default().with_timeout(LIMIT + GRACE)
    }

    fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    fn plan(&self, arguments: &Arguments) -> Result<Plan, Refusal> {
        let what = match &arguments.name {
            Some(name) => format!("find {name}"),
            None => "find files".to_owned(),
        };
        walking(&self.workspace, "path", &arguments.path, &what)
    }

    fn call(
        &self,
        arguments: Arguments,
        context: &ToolContext,
    ) -> Result<Answer<Matches>, Refusal> {
        let names = arguments.names((self.now)().into())?;
        let start = Start::open(&self.workspace, &arguments.path, context)?;
        let stop = Stop::after(LIMIT, context);
        let offset = arguments.offset.min(FURTHEST);
        let findings = search::look(&start, &names, &stop);
        stop.check()?;
        let page = Page::answering(&arguments, arguments.max_bytes);
        let mut told = search::tell(&start, &findings, offset, &stop, page, "Matches", |found| {
            (line(&found), found)
        });
        let mut value = Matches::new(&start, &findings, &mut told, &stop);
        value.next = told.next(&arguments, offset);
        let total = search::many(value.total_matches, "match", "matches");
        let mut notes = told.notes;
        if findings.total == 0 {
            let hint = names.glob.as_ref().map(Glob::hint).unwrap_or_default();
            let mut nothing = format!("Nothing in {} fits.{hint}", start.shown);
            if let (Some(name), 1..) = (&arguments.name, findings.partly) {
                nothing = format!(
                    "Nothing in {} is called {name}; {} hold it: use name = \"*{name}*\".",
                    start.shown,
                    search::many(findings.partly, "name does", "names").replace(" does", "")
                );
            }
            notes.insert(0, nothing);
        }
        let display = format!("Found {total} in {}", start.shown);
        Ok(Answer::new(value, display)
            .text(told.page.finish(&notes))
            .within(arguments.max_bytes))
    }
}

/// How a match is told: its path, and what is known of it.
fn line(found: &Match) -> String {
    match found.is_directory {
        true => format!("{}/\t{}", found.path, found.mtime),
        false => format!("{}\t{} bytes\t{}", found.path, found.size, found.mtime),
    }
}
