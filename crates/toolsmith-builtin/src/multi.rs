//! Changes to several files: all are worked out before the first is made.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;
use toolsmith_core::ToolContext;

use crate::changing::{self, Changed};
use crate::edit::{Wanted, diff};
use crate::missing;
use crate::patch::{self, FileChange, Hunk};
use crate::refusal::{Reason, Refusal};
use crate::tool_edit::DIFF;
use crate::workspace::{Deed, Done, FileKey, Missing, Target, Targets, Workspace};
use crate::writing::{self, Current, Freshness};

/// How many of the other files are named where one is refused.
const MOST_NAMED: usize = 10;

/// What is to be done to one file.
#[derive(Debug)]
pub(crate) enum Piece<'a> {
    /// Pieces of it are replaced.
    Edited {
        path: &'a str,
        edits: Vec<Wanted<'a>>,
    },
    /// A patch says what.
    Patched(FileChange),
}

impl Piece<'_> {
    pub(crate) fn path(&self) -> &str {
        match self {
            Self::Edited { path, .. } => path,
            Self::Patched(change) => change.path(),
        }
    }
}

/// What was done to one file.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct FileFacts {
    /// The file, relative to the workspace.
    pub(crate) file_path: String,
    /// `edited`, `added`, `replaced`, `deleted` or `moved`.
    action: String,
    /// Where it is now, if it was moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    moved_to: Option<String>,
    /// How many places were replaced.
    pub(crate) replacements_made: usize,
    /// What was found for each edit.
    edits: Vec<EditFacts>,
    /// How many bytes it had.
    pub(crate) original_size: u64,
    /// How many it has now.
    pub(crate) new_size: u64,
    /// What changed, as a unified diff.
    pub(crate) diff_snippet: String,
    /// What should be known besides.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

/// What was found for one edit.
#[derive(Debug, Serialize, JsonSchema)]
struct EditFacts {
    /// How many places were found.
    matches_found: usize,
    /// How many of them were replaced.
    replacements_made: usize,
    /// How strictly they were matched.
    matched: String,
    /// The lines they begin in.
    lines: Vec<usize>,
}

impl FileFacts {
    /// What is told of the file.
    pub(crate) fn told(&self) -> String {
        let to = self.moved_to.as_ref().map(|to| format!(" to {to}"));
        let mut text = format!(
            "{} {}{}",
            self.action,
            self.file_path,
            to.unwrap_or_default()
        );
        for note in &self.notes {
            text += &format!("\nNote: {note}.");
        }
        match self.diff_snippet.is_empty() {
            true => text,
            false => format!("{text}\n{}", self.diff_snippet),
        }
    }
}

/// Works everything out, then does all of it or nothing.
pub(crate) fn carry_out(
    workspace: &Workspace,
    context: &ToolContext,
    pieces: &[Piece<'_>],
    is_dry: bool,
) -> Result<Vec<FileFacts>, Refusal> {
    let missing = match is_dry {
        true => Missing::Foresee,
        false => Missing::Make,
    };
    let mut held_for = Targets::default();
    for piece in pieces {
        held_for.0.push(
            workspace
                .target(piece.path(), Missing::Refuse)
                .or_else(|refusal| match piece {
                    Piece::Patched(FileChange::Add { path, .. }) => workspace.target(path, missing),
                    _ => Err(missing::explained(
                        refusal,
                        workspace,
                        piece.path(),
                        context,
                    )),
                })?,
        );
        if let Piece::Patched(FileChange::Update {
            move_to: Some(to), ..
        }) = piece
        {
            held_for.0.push(workspace.target(to, missing)?);
        }
    }
    apart(&held_for.0)?;
    let held: Vec<&Target> = held_for.0.iter().collect();
    let _held = workspace.hold(&held, || context.is_cancelled())?;
    let (mut deeds, mut facts) = (Vec::new(), Vec::new());
    for (index, piece) in pieces.iter().enumerate() {
        if context.is_cancelled() {
            return Err(Refusal::new(Reason::Cancelled, "the call was given up"));
        }
        match work_out(workspace, context, piece, missing, &mut deeds) {
            Ok(worked_out) => facts.push(worked_out),
            Err(refusal) if pieces.len() == 1 => return Err(refusal),
            Err(refusal) => return Err(beside(refusal, index, pieces, workspace, context)),
        }
    }
    if !is_dry {
        let done = writing::commit(workspace, context, &deeds)?;
        for (deed, done) in deeds.iter().zip(done) {
            let shown = &deed.target().shown;
            let is_it = |facts: &&mut FileFacts| {
                facts.moved_to.as_ref().unwrap_or(&facts.file_path) == shown
            };
            if let (Done::InPlace, Some(facts)) = (done, facts.iter_mut().find(is_it)) {
                facts.notes.push(writing::IN_PLACE.to_owned());
            }
        }
    }
    Ok(facts)
}

/// The refusal of one of several files: which it is, and what would become of the others.
fn beside(
    mut refusal: Refusal,
    failed: usize,
    pieces: &[Piece<'_>],
    workspace: &Workspace,
    context: &ToolContext,
) -> Refusal {
    let (mut fit, mut do_not) = (Vec::new(), Vec::new());
    for (index, piece) in pieces.iter().enumerate() {
        let others = match index.cmp(&failed) {
            Ordering::Less => &mut fit,
            Ordering::Equal => continue,
            Ordering::Greater => {
                let foreseen = Missing::Foresee;
                match work_out(workspace, context, piece, foreseen, &mut Vec::new()) {
                    Ok(_) => &mut fit,
                    Err(_) => &mut do_not,
                }
            }
        };
        others.push(piece.path());
    }
    let mut told = format!("file {} of {}: ", failed + 1, pieces.len());
    told += &refusal.message;
    told += match told.ends_with('\n') {
        true => "No file was changed",
        false => "; no file was changed",
    };
    for (paths, what) in [(&fit, "would be"), (&do_not, "would not be either")] {
        if !paths.is_empty() {
            let more = paths.len().saturating_sub(MOST_NAMED);
            let named = paths[..paths.len() - more].join(", ");
            let more = match more {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            told += &format!("; {named}{more} {what}");
        }
    }
    refusal.message = told;
    refusal
        .detail("file_index", failed)
        .detail("others_that_fit", fit)
        .detail("others_that_do_not", do_not)
}

/// Refuses changes to one file in two places: what the second sees would depend on what
/// the first has not done yet.
fn apart(targets: &[Target]) -> Result<(), Refusal> {
    let mut keys: BTreeSet<FileKey> = BTreeSet::new();
    for target in targets {
        if !keys.insert(target.key()?) {
            let message = format!("{} is named twice", target.shown);
            return Err(Refusal::new(Reason::BadArgument, message)
                .next("Put all changes to one file together"));
        }
    }
    Ok(())
}

fn work_out(
    workspace: &Workspace,
    context: &ToolContext,
    piece: &Piece<'_>,
    missing: Missing,
    deeds: &mut Vec<Deed>,
) -> Result<FileFacts, Refusal> {
    match piece {
        Piece::Edited { path, edits } => {
            let changed = changing::changed(workspace, context, path, edits, None)?;
            Ok(edited(changed, deeds))
        }
        Piece::Patched(FileChange::Add { path, content }) => {
            let current = Current::of(workspace, path, missing)?;
            add(workspace, context, current, content, deeds)
        }
        Piece::Patched(FileChange::Delete { path }) => {
            let current = changing::existing(workspace, path, context)?;
            may_lose(workspace, context, &current)?;
            let old = current.text().map(|(text, _)| text).unwrap_or_default();
            let facts = FileFacts {
                action: "deleted".to_owned(),
                original_size: current.bytes.as_ref().map_or(0, Vec::len) as u64,
                diff_snippet: diff(&old, "", &current.target.shown, DIFF).text,
                file_path: current.target.shown.clone(),
                ..FileFacts::default()
            };
            deeds.push(Deed::Remove {
                target: current.target,
            });
            Ok(facts)
        }
        Piece::Patched(FileChange::Update {
            path,
            move_to,
            hunks,
        }) => {
            let current = changing::existing(workspace, path, context)?;
            let to = match move_to {
                Some(to) => Some(Current::of(workspace, to, missing)?),
                None => None,
            };
            patched(workspace, context, current, to, hunks, deeds)
        }
    }
}

fn edited(changed: Changed, deeds: &mut Vec<Deed>) -> FileFacts {
    let shown = changed.current.target.shown.clone();
    let edits: Vec<EditFacts> = changed
        .found
        .iter()
        .map(|found| EditFacts {
            matches_found: found.lines.len(),
            replacements_made: found.lines.len(),
            matched: found.rung.word().to_owned(),
            lines: found.lines.clone(),
        })
        .collect();
    let facts = FileFacts {
        action: "edited".to_owned(),
        replacements_made: edits.iter().map(|edit| edit.replacements_made).sum(),
        edits,
        original_size: changed.current.bytes.as_ref().map_or(0, Vec::len) as u64,
        new_size: changed.content.len() as u64,
        diff_snippet: diff(&changed.old, &changed.new, &shown, DIFF).text,
        file_path: shown,
        notes: changed.notes,
        ..FileFacts::default()
    };
    deeds.push(changing::write(changed.current, changed.content));
    facts
}

fn add(
    workspace: &Workspace,
    context: &ToolContext,
    current: Current,
    content: &str,
    deeds: &mut Vec<Deed>,
) -> Result<FileFacts, Refusal> {
    may_lose(workspace, context, &current)?;
    let old = current.text().map(|(text, _)| text).unwrap_or_default();
    let is_there = current.bytes.is_some();
    let action = if is_there { "replaced" } else { "added" };
    let facts = FileFacts {
        action: action.to_owned(),
        notes: is_there
            .then(|| format!("{} was there, and is replaced", current.target.shown))
            .into_iter()
            .collect(),
        original_size: current.bytes.as_ref().map_or(0, Vec::len) as u64,
        new_size: content.len() as u64,
        diff_snippet: diff(&old, content, &current.target.shown, DIFF).text,
        file_path: current.target.shown.clone(),
        ..FileFacts::default()
    };
    deeds.push(changing::write(current, content.as_bytes().to_vec()));
    Ok(facts)
}

fn patched(
    workspace: &Workspace,
    context: &ToolContext,
    current: Current,
    to: Option<Current>,
    hunks: &[Hunk],
    deeds: &mut Vec<Deed>,
) -> Result<FileFacts, Refusal> {
    let shown = current.target.shown.clone();
    let (old, encoding) = current.text()?;
    let patched = patch::apply(&old, hunks).map_err(|miss| miss.refusal(&shown))?;
    let is_exact = patched.fit == patch::Fit::Exact;
    match current.freshness(workspace, context, None)? {
        Freshness::Unread if !is_exact => return Err(writing::not_read(&shown)),
        Freshness::Stale { .. } if !is_exact => {
            let message =
                format!("{shown} changed since it was read, and the patch does not fit exactly");
            return Err(Refusal::new(Reason::Stale, message).next("Read it again"));
        }
        _ => {}
    }
    if to.is_none() && patched.text == old {
        let message = format!("nothing in {shown} would change");
        return Err(Refusal::new(Reason::NoChange, message).next("Leave it out of the patch"));
    }
    let content = writing::encoded(&patched.text, &encoding, &shown)?;
    let mut facts = FileFacts {
        action: "edited".to_owned(),
        replacements_made: hunks.len(),
        edits: vec![EditFacts {
            matches_found: hunks.len(),
            replacements_made: hunks.len(),
            matched: patched.fit.word().to_owned(),
            lines: patched.lines,
        }],
        original_size: current.bytes.as_ref().map_or(0, Vec::len) as u64,
        new_size: content.len() as u64,
        diff_snippet: diff(&old, &patched.text, &shown, DIFF).text,
        file_path: shown,
        ..FileFacts::default()
    };
    match to {
        Some(to) => {
            may_lose(workspace, context, &to)?;
            facts.action = "moved".to_owned();
            facts.moved_to = Some(to.target.shown.clone());
            if to.bytes.is_some() {
                let lost = to.text().map(|(text, _)| text).unwrap_or_default();
                let shown = &to.target.shown;
                facts
                    .notes
                    .push(format!("{shown} was there, and is replaced"));
                facts.diff_snippet += &diff(&lost, &patched.text, shown, DIFF).text;
            }
            deeds.push(Deed::Write {
                target: to.target,
                content,
                like: current.target.stat,
            });
            deeds.push(Deed::Remove {
                target: current.target,
            });
        }
        None => deeds.push(changing::write(current, content)),
    }
    Ok(facts)
}

/// Refuses to lose what its caller has not seen as it is.
fn may_lose(
    workspace: &Workspace,
    context: &ToolContext,
    current: &Current,
) -> Result<(), Refusal> {
    let shown = &current.target.shown;
    match current.freshness(workspace, context, None)? {
        Freshness::Fresh => Ok(()),
        Freshness::Unread => Err(writing::not_read(shown)),
        Freshness::Stale { .. } => {
            let message = format!("{shown} changed since it was read");
            Err(Refusal::new(Reason::Stale, message).next("Read it again, then repeat the change"))
        }
    }
}
