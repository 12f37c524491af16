//! `multi_edit`: several changes to one or more files, all of them or none.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolsmith_core::{Hints, Kind, Plan, ToolContext, ToolDef, Touch};

use crate::built_in::{Answer, BuiltIn, described, example, noted};
use crate::edit::Wanted;
use crate::multi::{self, Piece};
use crate::patch::{self, FileChange};
use crate::refusal::{Reason, Refusal};
use crate::workspace::Workspace;

/// How many files are changed at once: each is held open until all are changed.
const MOST_FILES: usize = 200;

/// The tool.
#[derive(Debug)]
pub(crate) struct MultiEdit(pub(crate) Workspace);

/// What it is called with: `file_path` with `edits`, `files`, or `patch`.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Arguments {
    /// The file the edits are made to: relative to the workspace, or absolute within it.
    #[serde(default)]
    file_path: Option<String>,
    /// The edits, made one after another: each sees what the ones before it have done.
    #[serde(default)]
    #[schemars(length(min = 1, max = 1000))]
    edits: Option<Vec<OneEdit>>,
    /// Several files with edits of their own, instead of file_path and edits.
    #[serde(default)]
    #[schemars(length(min = 1, max = 200))]
    files: Option<Vec<OneFile>>,
    /// A patch from `*** Begin Patch` to `*** End Patch`, instead of the others: it can
    /// add, change, move and delete files.
    #[serde(default)]
    patch: Option<String>,
    /// Whether it is only told what would change.
    #[serde(default)]
    dry_run: bool,
}

/// A piece that is replaced by another.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct OneEdit {
    /// What is there now.
    #[schemars(length(min = 1))]
    old_string: String,
    /// What shall be there instead.
    new_string: String,
    /// Whether every place is meant.
    #[serde(default)]
    replace_all: bool,
}

/// A file with edits of its own.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct OneFile {
    /// The file.
    file_path: String,
    /// Its edits.
    #[schemars(length(min = 1, max = 1000))]
    edits: Vec<OneEdit>,
}

/// What it tells of the changes.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Facts {
    /// The file, where there is but one.
    #[serde(skip_serializing_if = "Option::is_none")]
    file_path: Option<String>,
    /// How many places were found, in all files.
    matches_found: usize,
    /// How many of them were replaced.
    replacements_made: usize,
    /// How many bytes the files had.
    original_size: u64,
    /// How many they have now.
    new_size: u64,
    /// The difference.
    size_diff: i64,
    /// What changed, as a unified diff.
    diff_snippet: String,
    /// Each file.
    files: Vec<multi::FileFacts>,
    /// Whether it was only told what would change.
    dry_run: bool,
}

impl BuiltIn for MultiEdit {
    type Arguments = Arguments;
    type Value = Facts;

    const HAS_METADATA: bool = true;

    fn define() -> ToolDef {
        let mut hints = Hints::default();
        (hints.destructive, hints.idempotent) = (Some(true), Some(false));
        let tags = ["file", "replace", "patch", "several"];
        let definition = described("multi_edit", "Multi-edit", "edit", &tags)
            .with_kind(Kind::Edit)
            .with_hints(hints)
            .with_description(
                "Makes several changes to one or more text files: all of them, or none.\n\n\
                 Give file_path and edits, or files, or a patch. Edits are matched as by edit. If \
                 one does not fit, nothing changes, and the answer says which and why.",
            )
            .with_returns("What was changed in each file, and a diff.")
            .with_example(example("Two edits in one file", json!({ "file_path": "src/a.rs", "edits": [
                    { "old_string": "one", "new_string": "two" },
                    { "old_string": "three", "new_string": "four", "replace_all": true },
                ] })))
            .with_example(example("A patch", json!({ "patch": "*** Begin Patch\n*** Update File: a.txt\n@@\n-old\n+new\n*** End Patch\n" })))
            .with_aliases("old_string", &["edits.old_str", "edits.oldText", "edits.old_text", "edits.oldString"])
            .with_aliases("new_string", &["edits.new_str", "edits.newText", "edits.new_text", "edits.newString"])
            .with_aliases("patch", &["input", "patch_text"]);
        noted(
            definition,
            &["For a single change, edit takes more hints about the place."],
        )
    }

    fn workspace(&self) -> &Workspace {
        &self.0
    }

    fn plan(&self, arguments: &Arguments) -> Result<Plan, Refusal> {
        let pieces = pieces(arguments)?;
        let mut plan = Plan::new(match pieces.as_slice() {
            [only] => format!("Edit {}", only.path()),
            pieces => format!("Edit {} files", pieces.len()),
        });
        for (path, deletes) in pieces.iter().flat_map(Piece::touched) {
            let whole = self.0.whole(&self.0.place(path)?);
            let touch = match (arguments.dry_run, deletes) {
                (true, _) => Touch::read(whole),
                (false, true) => Touch::delete(whole),
                (false, false) => Touch::write(whole),
            };
            plan = plan.touching(match (&arguments.file_path, &arguments.patch) {
                (Some(_), _) => touch.from_argument("file_path"),
                (None, Some(_)) => touch.from_argument("patch").standing_for("file_path"),
                (None, None) => touch.from_argument("files").standing_for("file_path"),
            });
        }
        Ok(plan)
    }

    fn call(&self, arguments: Arguments, context: &ToolContext) -> Result<Answer<Facts>, Refusal> {
        let pieces = pieces(&arguments)?;
        let files = multi::carry_out(&self.0, context, &pieces, arguments.dry_run)?;
        let sum = |of: fn(&multi::FileFacts) -> u64| files.iter().map(of).sum::<u64>();
        let (original_size, new_size) = (sum(|file| file.original_size), sum(|file| file.new_size));
        let replaced = files.iter().map(|file| file.replacements_made).sum();
        let diffs: Vec<&str> = files
            .iter()
            .map(|file| file.diff_snippet.as_str())
            .collect();
        let facts = Facts {
            file_path: match files.as_slice() {
                [only] => Some(only.file_path.clone()),
                _ => None,
            },
            matches_found: replaced,
            replacements_made: replaced,
            original_size,
            new_size,
            size_diff: new_size.cast_signed() - original_size.cast_signed(),
            diff_snippet: diffs.join("\n"),
            dry_run: arguments.dry_run,
            files,
        };
        let deed = if facts.dry_run {
            "Would change"
        } else {
            "Changed"
        };
        let display = match &facts.file_path {
            Some(path) => format!("{deed} {path} ({replaced} replaced)"),
            None => format!("{deed} {} files ({replaced} replaced)", facts.files.len()),
        };
        let mut text = display.clone();
        for file in &facts.files {
            text += &format!("\n{}", file.told());
        }
        Ok(Answer::new(facts, display).text(text))
    }
}

/// What is to be done to each file, in whichever form it was given.
fn pieces(arguments: &Arguments) -> Result<Vec<Piece<'_>>, Refusal> {
    let refused = |message: &str| {
        Refusal::new(Reason::BadArgument, message)
            .next("Give file_path with edits, or files, or patch, and only one of the three")
    };
    match arguments {
        Arguments {
            file_path: Some(path),
            edits: Some(edits),
            files: None,
            patch: None,
            ..
        } => Ok(vec![edited(path, edits)]),
        Arguments {
            file_path: None,
            edits: None,
            files: Some(files),
            patch: None,
            ..
        } => Ok(files
            .iter()
            .map(|file| edited(&file.file_path, &file.edits))
            .collect()),
        Arguments {
            file_path: None,
            edits: None,
            files: None,
            patch: Some(patch),
            ..
        } => {
            let changes = patch::parse(patch).map_err(|error| error.refusal())?;
            if changes.len() > MOST_FILES {
                let count = changes.len();
                let message =
                    format!("the patch changes {count} files, and may change {MOST_FILES}");
                return Err(Refusal::new(Reason::TooLarge, message)
                    .next("Send it as several patches, each of which fits by itself"));
            }
            Ok(changes.into_iter().map(Piece::Patched).collect())
        }
        Arguments {
            file_path: None,
            edits: None,
            files: None,
            patch: None,
            ..
        } => Err(refused("nothing says what to change")),
        Arguments {
            files: None,
            patch: None,
            ..
        } => Err(refused("file_path and edits are given together")),
        _ => Err(refused("what to change is said in more than one way")),
    }
}

fn edited<'a>(path: &'a str, edits: &'a [OneEdit]) -> Piece<'a> {
    let wanted = |edit: &'a OneEdit| {
        Wanted::new(&edit.old_string, &edit.new_string).with_replace_all(edit.replace_all)
    };
    Piece::Edited {
        path,
        edits: edits.iter().map(wanted).collect(),
    }
}

/// What a patch does to a file, and whether its path is gone afterwards.
impl Piece<'_> {
    fn touched(&self) -> Vec<(&str, bool)> {
        match self {
            Self::Edited { path, .. } => vec![(path, false)],
            Self::Patched(FileChange::Delete { path }) => vec![(path, true)],
            Self::Patched(FileChange::Update {
                path,
                move_to: Some(to),
                ..
            }) => vec![(path, true), (to, false)],
            Self::Patched(change) => vec![(change.path(), false)],
        }
    }
}
