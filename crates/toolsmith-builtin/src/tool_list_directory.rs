//! `list_directory`: lists what a folder holds.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolsmith_core::{Binding, Kind, Plan, ToolContext, ToolDef};

use crate::budget;
use crate::built_in::{Answer, BuiltIn, described, example, idempotent, noted};
use crate::refusal::Refusal;
use crate::search::define::{self, GRACE, LIMIT, reading};
use crate::search::{
    self, FURTHEST, Match, Names, NotSearched, Order, Page, Start, Stop, WalkOptions,
};
use crate::workspace::{Opened, Workspace};

/// How many entries there are at most where all were asked for.
const ALL: usize = 5000;

/// Lists what a folder holds.
pub(crate) struct ListDirectory {
    workspace: Workspace,
}

/// A folder as a model reads it.
pub(crate) fn listing(
    workspace: &Workspace,
    path: &str,
    max_bytes: usize,
    context: &ToolContext,
) -> Result<Answer<Entries>, Refusal> {
    let arguments = Arguments {
        path: path.to_owned(),
        sort_by: SortBy::Name,
        order: Direction::Asc,
        limit: all(),
        offset: 0,
        max_bytes,
    };
    ListDirectory::new(workspace.clone()).call(arguments, context)
}

impl ListDirectory {
    pub(crate) fn new(workspace: Workspace) -> Self {
        Self { workspace }
    }
}

/// What entries are sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum SortBy {
    /// The name.
    #[default]
    Name,
    /// The size in bytes.
    Size,
    /// The time of the last change.
    Time,
    /// The same as time.
    Mtime,
}

/// Which end comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Direction {
    /// The smallest, the oldest, the first of the alphabet.
    #[default]
    Asc,
    /// The largest, the newest, the last of the alphabet.
    Desc,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub(crate) struct Arguments {
    /// The folder; the workspace itself unless given.
    #[serde(default = "define::here")]
    path: String,
    /// What entries are sorted by.
    #[serde(default)]
    sort_by: SortBy,
    /// Which end comes first.
    #[serde(default)]
    order: Direction,
    /// How many entries to return; -1 for all there is room for, 0 for only their number.
    #[serde(default = "all")]
    #[schemars(range(min = -1))]
    limit: i64,
    /// How many entries to pass over, to continue an earlier answer.
    #[serde(default)]
    #[schemars(range(min = 0, max = 20000))]
    offset: usize,
    /// How many bytes the answer may have.
    #[serde(default = "budget::usual")]
    #[schemars(range(min = 1000, max = 1_048_576))]
    max_bytes: usize,
}

fn all() -> i64 {
    -1
}

impl Arguments {
    fn order(&self) -> Order {
        match (self.sort_by, self.order) {
            (SortBy::Name, Direction::Asc) => Order::Path,
            (SortBy::Name, Direction::Desc) => Order::PathBackwards,
            (SortBy::Size, Direction::Asc) => Order::Smallest,
            (SortBy::Size, Direction::Desc) => Order::Largest,
            (SortBy::Time | SortBy::Mtime, Direction::Asc) => Order::Oldest,
            (SortBy::Time | SortBy::Mtime, Direction::Desc) => Order::Newest,
        }
    }
}

/// What the folder holds.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Entries {
    /// The entries, in order.
    pub(crate) entries: Vec<Entry>,
    /// How many there are in all.
    pub(crate) total: u64,
    /// Whether there are more than are here, or may be.
    pub(crate) truncated: bool,
    /// Whether time ran out, so that there may be more than was found.
    timed_out: bool,
    /// What was not searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_searched: Option<NotSearched>,
    /// The arguments that continue the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<Value>,
}

/// A file or folder.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Entry {
    /// Its name.
    name: String,
    /// What it is, or what a link leads to: `file` or `dir`.
    #[serde(rename = "type")]
    kind: &'static str,
    /// How many bytes it has.
    size: u64,
    /// When it was last changed, in UTC.
    mtime: String,
    /// Its path, as other tools take it.
    path: String,
    /// Whether it is a link.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_link: bool,
    /// False where the name holds what cannot be told, so that the path cannot be given back.
    #[serde(skip_serializing_if = "search::is_true")]
    is_exact: bool,
}

impl BuiltIn for ListDirectory {
    type Arguments = Arguments;
    type Value = Entries;

    fn define() -> ToolDef {
        let definition = described("list_directory", "List a folder", "navigation", &["files", "folder", "list"])
            .with_kind(Kind::Read)
            .with_hints(idempotent())
            .with_description(
                "Lists the files and folders in a folder, with size and time of change.\n\n\
                 Only what the folder itself holds, hidden and ignored files too; show_tree shows more levels, find and \
                 glob search them.",
            )
            .with_returns("Each entry's name, type, size and time of change, and how many there are in all.")
            .with_example(example("The workspace itself.", json!({})))
            .with_example(example("The ten newest.", json!({"path": "src", "sort_by": "time", "order": "desc", "limit": 10})));
        noted(
            definition,
            &["For one level only; show_tree shows several, glob and find search all."],
        )
    }

    fn binding() -> Binding {
        Binding::default().with_timeout(LIMIT + GRACE)
    }

    fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    fn plan(&self, arguments: &Arguments) -> Result<Plan, Refusal> {
        reading(&self.workspace, "path", &arguments.path, "list what is")
    }

    fn call(
        &self,
        arguments: Arguments,
        context: &ToolContext,
    ) -> Result<Answer<Entries>, Refusal> {
        let start = Start::open_one_level(&self.workspace, &arguments.path, context)?;
        let stop = Stop::after(LIMIT, context);
        let limit = usize::try_from(arguments.limit).map_or(ALL, |limit| limit.min(ALL));
        let offset = arguments.offset.min(FURTHEST);
        let names = Names {
            options: WalkOptions {
                levels: 1,
                include_ignored: true,
                git: true,
                ..WalkOptions::default()
            },
            folders: true,
            order: arguments.order(),
            keep: offset + limit,
            ..Names::default()
        };
        let mut findings = search::look(&start, &names, &stop);
        stop.check()?;
        // Nobody asked for what is in its folders.
        findings.unseen.deeper = 0;
        let page = Page::answering(&arguments, arguments.max_bytes);
        let told = search::tell(&start, &findings, offset, &stop, page, "Entries", |found| {
            (line(&found), self.entry(found))
        });
        let value = Entries {
            next: told.next(&arguments, offset),
            entries: told.rows,
            total: findings.total,
            truncated: told.truncated,
            timed_out: stop.is_late(),
            not_searched: told.not_searched.told(),
        };
        let mut notes = told.notes;
        if findings.total == 0 {
            notes.push(format!("{} is empty.", start.shown));
        }
        let display = format!(
            "Listed {}: {}",
            start.shown,
            search::many(findings.total, "entry", "entries")
        );
        Ok(Answer::new(value, display)
            .text(told.page.finish(&notes))
            .within(arguments.max_bytes))
    }
}

impl ListDirectory {
    fn entry(&self, found: Match) -> Entry {
        let is_link = found.kind == "link";
        // A link that leads nowhere, or out, is a file nobody can read.
        let is_folder = found.is_directory
            || (is_link
                && matches!(
                    self.workspace.open_any(&found.path),
                    Ok(Opened::Directory(_))
                ));
        Entry {
            name: found.relative_path,
            kind: if is_folder { "dir" } else { "file" },
            size: found.size,
            mtime: found.mtime,
            is_exact: found.is_exact,
            path: found.path,
            is_link,
        }
    }
}

/// How an entry is told.
fn line(found: &Match) -> String {
    let Match {
        relative_path: name,
        size,
        mtime,
        ..
    } = found;
    match found.kind {
        "directory" => format!("{mtime}  {:>12}  {name}/", "dir"),
        "link" => format!("{mtime}  {:>12}  {name}", "link"),
        _ => format!("{mtime}  {size:>12}  {name}"),
    }
}
