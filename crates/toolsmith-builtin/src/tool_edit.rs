//! `edit`: a piece of a file is replaced by another, and nothing else changes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolsmith_core::{Hints, Kind, Plan, ToolContext, ToolDef, Touch};

use crate::built_in::{Answer, BuiltIn, described, example, noted};
use crate::changing::{self, Changed};
use crate::edit::{Wanted, diff};
use crate::missing;
use crate::refusal::Refusal;
use crate::workspace::{Digest, Done, Missing, Workspace};
use crate::writing;

/// How many lines of a diff are shown.
pub(crate) const DIFF: usize = 200;

/// The tool.
#[derive(Debug)]
pub(crate) struct Edit(pub(crate) Workspace);

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Arguments {
    /// The file: relative to the workspace, or absolute within it.
    file_path: String,
    /// What is there now: whole lines where possible, with enough of them to be found in
    /// one place only.
    #[schemars(length(min = 1))]
    old_string: String,
    /// What shall be there instead; empty to remove it.
    new_string: String,
    /// Whether every place is meant.
    #[serde(default)]
    replace_all: bool,
    /// How many places there are; all of them are meant.
    #[serde(default)]
    #[schemars(range(min = 1))]
    expected_count: Option<usize>,
    /// The line the place is nearest to, where there are several.
    #[serde(default)]
    #[schemars(range(min = 1))]
    near_line: Option<usize>,
    /// Whether a text that is only similar will do.
    #[serde(default)]
    fuzzy: bool,
    /// The hash the file's content must have now, whole or its first 12 digits.
    #[serde(default)]
    expected_sha256: Option<String>,
    /// Whether it is only told what would change.
    #[serde(default)]
    dry_run: bool,
}

/// What it tells of the change.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Facts {
    /// The file, relative to the workspace.
    file_path: String,
    /// How many places were found.
    matches_found: usize,
    /// How many of them were replaced.
    replacements_made: usize,
    /// How many bytes the file had.
    original_size: u64,
    /// How many it has now.
    new_size: u64,
    /// The difference.
    size_diff: i64,
    /// What changed, as a unified diff.
    diff_snippet: String,
    /// How strictly the place was matched.
    matched: String,
    /// The lines the replacements begin in.
    lines: Vec<usize>,
    /// The hash of its content now.
    sha256: String,
    /// Whether it was only told what would change.
    dry_run: bool,
    /// What should be known besides.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

impl BuiltIn for Edit {
    type Arguments = Arguments;
    type Value = Facts;

    const HAS_METADATA: bool = true;

    fn define() -> ToolDef {
        let mut hints = Hints::default();
        (hints.destructive, hints.idempotent) = (Some(true), Some(false));
        let definition = described("edit", "Edit", "edit", &["file", "replace", "change"])
            .with_kind(Kind::Edit)
            .with_hints(hints)
            .with_description(
                "Replaces a piece of a text file by another; nothing else in it changes.\n\n\
                 old_string must be in one place only, unless replace_all, expected_count or \
                 near_line say which are meant. Line ends, copied line numbers, spaces at line \
                 ends, indentation, look-alike characters and needless escapes may differ: the \
                 answer says how the place was matched. What is not found is explained.",
            )
            .with_returns("How the place was matched, and a diff of what changed.")
            .with_example(example("One place", json!({ "file_path": "src/main.rs", "old_string": "let limit = 10;", "new_string": "let limit = 20;" })))
            .with_example(example("Every place", json!({ "file_path": "src/lib.rs", "old_string": "old_name", "new_string": "new_name", "replace_all": true })))
            .with_aliases("old_string", &["old_str", "oldText", "old_text", "oldString"])
            .with_aliases("new_string", &["new_str", "newText", "new_text", "newString"]);
        noted(
            definition,
            &[
                "Read the file first, and copy old_string from it without the line numbers.",
                "To change several places of one or more files at once, use multi_edit.",
            ],
        )
    }

    fn workspace(&self) -> &Workspace {
        &self.0
    }

    fn plan(&self, arguments: &Arguments) -> Result<Plan, Refusal> {
        let place = self.0.place(&arguments.file_path)?;
        let touch = match arguments.dry_run {
            true => Touch::read(self.0.whole(&place)),
            false => Touch::write(self.0.whole(&place)),
        };
        let summary = format!("Edit {}", self.0.shown(&place));
        Ok(Plan::new(summary).touching(touch.from_argument("file_path")))
    }

    fn call(&self, arguments: Arguments, context: &ToolContext) -> Result<Answer<Facts>, Refusal> {
        let path = &arguments.file_path;
        let held_for = self
            .0
            .target(path, Missing::Refuse)
            .map_err(|refusal| missing::explained(refusal, &self.0, path, context))?;
        let _held = self.0.hold(&[&held_for], || context.is_cancelled())?;
        let wanted = Wanted::new(&arguments.old_string, &arguments.new_string)
            .with_replace_all(arguments.replace_all)
            .with_expected_count(arguments.expected_count)
            .with_near_line(arguments.near_line)
            .with_fuzzy(arguments.fuzzy);
        let expected = arguments.expected_sha256.as_deref();
        let changed = changing::changed(&self.0, context, path, &[wanted], expected)?;
        let mut facts = facts(&changed, arguments.dry_run);
        if !arguments.dry_run {
            let deed = changing::write(changed.current, changed.content);
            let done = writing::commit(&self.0, context, &[deed])?;
            if done.contains(&Done::InPlace) {
                facts.notes.push(writing::IN_PLACE.to_owned());
            }
        }
        let deed = if facts.dry_run {
            "Would edit"
        } else {
            "Edited"
        };
        let (shown, made) = (&facts.file_path, facts.replacements_made);
        let display = format!("{deed} {shown} ({made} replaced)");
        let text = told(&facts, deed);
        Ok(Answer::new(facts, display).text(text))
    }
}

fn facts(changed: &Changed, dry_run: bool) -> Facts {
    let shown = changed.current.target.shown.clone();
    let found = changed.found.iter();
    let lines: Vec<usize> = found
        .flat_map(|found| found.lines.iter().copied())
        .collect();
    let old_size = changed.current.bytes.as_ref().map_or(0, Vec::len);
    let (old_size, new_size) = (old_size as u64, changed.content.len() as u64);
    let rungs = changed.found.iter().map(|found| found.rung);
    Facts {
        diff_snippet: diff(&changed.old, &changed.new, &shown, DIFF).text,
        file_path: shown,
        matches_found: lines.len(),
        replacements_made: lines.len(),
        original_size: old_size,
        new_size,
        size_diff: new_size.cast_signed() - old_size.cast_signed(),
        matched: rungs.max().map_or("", crate::edit::Rung::word).to_owned(),
        lines,
        sha256: Digest::of(&changed.content).hex(),
        dry_run,
        notes: changed.notes.clone(),
    }
}

fn told(facts: &Facts, deed: &str) -> String {
    let mut text = format!(
        "{deed} {}: {} replaced, matched {}, sha256 {}",
        facts.file_path,
        facts.replacements_made,
        facts.matched.replace('_', " "),
        &facts.sha256[..12]
    );
    for note in &facts.notes {
        text += &format!("\nNote: {note}.");
    }
    format!("{text}\n{}", facts.diff_snippet)
}
