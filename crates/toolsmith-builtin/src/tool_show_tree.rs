//! `show_tree`: shows the upper levels of a tree.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolsmith_core::{Binding, Kind, Plan, ToolContext, ToolDef};

use crate::budget;
use crate::built_in::{Answer, BuiltIn, described, example, idempotent, noted};
use crate::refusal::Refusal;
use crate::search::define::{self, GRACE, LIMIT, walking};
use crate::search::{self, NotSearched, Page, Pushed, Start, Stop, Tree};
use crate::workspace::Workspace;

/// Shows the upper levels of a tree.
pub(crate) struct ShowTree {
    workspace: Workspace,
}

impl ShowTree {
    pub(crate) fn new(workspace: Workspace) -> Self {
        Self { workspace }
    }
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub(crate) struct Arguments {
    /// The folder; the workspace itself unless given.
    #[serde(default = "define::here")]
    path: String,
    /// How many levels to show.
    #[serde(default = "three")]
    #[schemars(range(min = 1, max = 10))]
    max_depth: usize,
    /// Whether files that ignore rules hide are shown too.
    #[serde(default)]
    include_ignored: bool,
    /// How many bytes the answer may have.
    #[serde(default = "budget::usual")]
    #[schemars(range(min = 1000, max = 1_048_576))]
    max_bytes: usize,
}

fn three() -> usize {
    3
}

/// The tree.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Shown {
    /// The folder, and what is in it.
    tree: Node,
    /// Whether there are folders deeper than max_depth.
    max_depth_reached: bool,
    /// Whether something was left out because there is too much, or could not be read.
    truncated: bool,
    /// Whether time ran out, so that there may be more.
    timed_out: bool,
    /// What could not be looked into.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_searched: Option<NotSearched>,
    /// How many files and folders ignore rules hid; what is in such a folder is not counted.
    hidden_by_ignore: u64,
}

/// A file or folder.
#[derive(Debug, Serialize, JsonSchema)]
struct Node {
    /// Its name; of the first its path.
    name: String,
    /// What it is: `file`, `dir`, `link` or `other`.
    #[serde(rename = "type")]
    kind: &'static str,
    /// How many levels beneath the first it is.
    depth: usize,
    /// What is in it, by name.
    children: Vec<Node>,
    /// How much more is in it than is shown.
    #[serde(skip_serializing_if = "is_none")]
    more: u64,
    /// False where the name holds what cannot be told, so that it cannot be given back.
    #[serde(skip_serializing_if = "search::is_true")]
    is_exact: bool,
}

fn is_none(more: &u64) -> bool {
    *more == 0
}

impl BuiltIn for ShowTree {
    type Arguments = Arguments;
    type Value = Shown;

    fn define() -> ToolDef {
        let definition = described("show_tree", "Show a tree", "navigation", &["files", "folder", "tree", "overview"])
            .with_kind(Kind::Read)
            .with_hints(idempotent())
            .with_description(
                "Shows the files and folders in a folder as a tree, some levels deep.\n\n\
                 Up to 1000 entries, and up to 100 of one folder; what is left out is counted. Files that .gitignore or \
                 .ignore hide are left out, and their number is told.",
            )
            .with_returns("The tree, whether it goes deeper, and how many entries were left out.")
            .with_example(example("Get to know a project.", json!({"max_depth": 2})));
        noted(
            definition,
            &["Begin with a small max_depth in a project that is new to you."],
        )
    }

    fn binding() -> Binding {
        Binding::default().with_timeout(LIMIT + GRACE)
    }

    fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    fn plan(&self, arguments: &Arguments) -> Result<Plan, Refusal> {
        walking(&self.workspace, "path", &arguments.path, "show the tree")
    }

    fn call(&self, arguments: Arguments, context: &ToolContext) -> Result<Answer<Shown>, Refusal> {
        let start = Start::open(&self.workspace, &arguments.path, context)?;
        let stop = Stop::after(LIMIT, context);
        let levels = arguments.max_depth.clamp(1, 10);
        let tree = search::grow(
            &start,
            (levels, arguments.max_bytes),
            arguments.include_ignored,
            &stop,
        );
        stop.check()?;
        let mut page = Page::answering(&arguments, arguments.max_bytes);
        let mut is_cut =
            page.push(&format!("{}/", start.shown.trim_end_matches('/')), &()) != Pushed::In;
        is_cut |= !draw(&tree, 0, "", &mut page);
        let mut notes = Vec::new();
        if tree.is_deeper {
            notes.push(format!("Folders at level {levels} are not opened; a larger max_depth, or their path, shows more."));
        }
        if stop.is_late() {
            notes.push("Time ran out: there may be more.".to_owned());
        }
        if is_cut {
            notes.push(
                "There is more than there is room for: show the tree of a folder within."
                    .to_owned(),
            );
        }
        let not_searched = NotSearched::in_walk(tree.unseen);
        not_searched.tell(&mut notes);
        search::hidden(tree.unseen.ignored, &mut notes);
        let value = Shown {
            tree: node(&tree, 0),
            max_depth_reached: tree.is_deeper,
            truncated: tree.is_cut || is_cut || stop.is_late() || not_searched.is_missed(),
            timed_out: stop.is_late(),
            not_searched: not_searched.told(),
            hidden_by_ignore: tree.unseen.ignored,
        };
        let shown = search::many(tree.branches.len() as u64 - 1, "entry", "entries");
        let display = format!("Showed {} of {}", shown, start.shown);
        Ok(Answer::new(value, display)
            .text(page.finish(&notes))
            .within(arguments.max_bytes))
    }
}

/// The value of a branch. It calls itself once for each level, of which there are ten.
fn node(tree: &Tree, index: usize) -> Node {
    let branch = &tree.branches[index];
    Node {
        name: branch.name.clone(),
        kind: word(branch),
        depth: branch.depth,
        children: branch
            .inner
            .iter()
            .map(|inner| node(tree, *inner))
            .collect(),
        more: branch.more,
        is_exact: branch.is_exact,
    }
}

fn word(branch: &search::Branch) -> &'static str {
    match search::word(branch.kind) {
        "directory" => "dir",
        other => other,
    }
}

/// Draws what is in a branch; tells whether there was room.
fn draw(tree: &Tree, index: usize, indent: &str, page: &mut Page) -> bool {
    let branch = &tree.branches[index];
    let last = branch.inner.len();
    for (place, inner) in branch.inner.iter().enumerate() {
        let is_last = place + 1 == last && branch.more == 0;
        let (fork, beneath) = if is_last {
            ("└── ", "    ")
        } else {
            ("├── ", "│   ")
        };
        let inner_branch = &tree.branches[*inner];
        let end = match word(inner_branch) {
            "dir" if inner_branch.is_closed => "/ …",
            "dir" => "/",
            "link" => "@",
            _ => "",
        };
        if page.push(&format!("{indent}{fork}{}{end}", inner_branch.name), &()) != Pushed::In {
            return false;
        }
        if !draw(tree, *inner, &format!("{indent}{beneath}"), page) {
            return false;
        }
    }
    branch.more == 0 || page.push(&format!("{indent}└── … {} more", branch.more), &()) == Pushed::In
}
