//! A text file with edits made to it, in memory: what `edit` and `multi_edit` share.

use toolsmith_core::ToolContext;

use crate::edit::{self, Found, Rung, Wanted};
use crate::missing;
use crate::refusal::{Reason, Refusal};
use crate::workspace::{Deed, Missing, Workspace};
use crate::writing::{self, Current, Freshness};

/// A file, and what it would become.
#[derive(Debug)]
pub(crate) struct Changed {
    pub(crate) current: Current,
    pub(crate) old: String,
    pub(crate) new: String,
    /// The new text as bytes.
    pub(crate) content: Vec<u8>,
    /// What was found for each edit.
    pub(crate) found: Vec<Found>,
    /// What the caller should know.
    pub(crate) notes: Vec<String>,
}

/// A file that must be there, as it is now.
pub(crate) fn existing(
    workspace: &Workspace,
    path: &str,
    context: &ToolContext,
) -> Result<Current, Refusal> {
    let current = Current::of(workspace, path, Missing::Refuse)
        .map_err(|refusal| missing::explained(refusal, workspace, path, context))?;
    if current.bytes.is_none() {
        let message = format!("cannot edit {path}: there is no such file or folder");
        let refusal = Refusal::new(Reason::NotFound, message);
        return Err(missing::explained(refusal, workspace, path, context));
    }
    Ok(current)
}

/// Makes edits to a file in memory. Where its caller has not seen it as it is, only what
/// is exactly there is changed: that proves that it knows the place.
pub(crate) fn changed(
    workspace: &Workspace,
    context: &ToolContext,
    path: &str,
    edits: &[Wanted<'_>],
    expected: Option<&str>,
) -> Result<Changed, Refusal> {
    let current = existing(workspace, path, context)?;
    let shown = current.target.shown.clone();
    let freshness = current.freshness(workspace, context, expected)?;
    let (old, encoding) = current.text()?;
    let is_cancelled = || context.is_cancelled();
    let (new, found, within) = match edits {
        [only] => {
            let found =
                edit::find_until(&old, only, &is_cancelled).map_err(|miss| miss.refusal(&shown))?;
            (found.apply(&old), vec![found], Vec::new())
        }
        edits => {
            let applied = edit::apply_all_until(&old, edits, &is_cancelled)
                .map_err(|miss| miss.refusal(&shown))?;
            (applied.text, applied.found, applied.within_earlier)
        }
    };
    if new == old {
        let message = format!("nothing in {shown} would change");
        return Err(Refusal::new(Reason::NoChange, message)
            .next("Leave the edit out, or look whether it was made before"));
    }
    let mut notes = fresh_enough(&freshness, &found, &old, &shown)?;
    notes.extend(within.iter().map(|(edit, earlier)| {
        let (edit, earlier) = (edit + 1, earlier + 1);
        format!("edit {edit} changed what edit {earlier} had put there")
    }));
    let content = writing::encoded(&new, &encoding, &shown)?;
    Ok(Changed {
        current,
        old,
        new,
        content,
        found,
        notes,
    })
}

/// Tells what a caller should know who has not seen the file as it is, or refuses.
fn fresh_enough(
    freshness: &Freshness,
    found: &[Found],
    text: &str,
    shown: &str,
) -> Result<Vec<String>, Refusal> {
    let is_exact = found.iter().all(|found| found.rung == Rung::Exact);
    match freshness {
        Freshness::Fresh => Ok(Vec::new()),
        Freshness::Unread if is_exact => Ok(Vec::new()),
        Freshness::Unread => Err(writing::not_read(shown)),
        Freshness::Stale { seen } if is_exact => {
            let note = match seen {
                Some(seen) => {
                    let diff = edit::diff(seen, text, shown, 1);
                    let lines = diff.added.max(diff.removed);
                    let lines = crate::search::many(lines as u64, "line differs", "lines differ");
                    format!("the file changed on disk since it was read; {lines}")
                }
                None => "the file changed on disk since it was read".to_owned(),
            };
            Ok(vec![note])
        }
        Freshness::Stale { .. } => {
            let message = format!(
                "{shown} changed since it was read, and old_string is not exactly in it any more"
            );
            Err(Refusal::new(Reason::Stale, message).next("Read it again, then repeat the edit"))
        }
    }
}

/// Writes text in the encoding of a file.
pub(crate) fn write(current: Current, content: Vec<u8>) -> Deed {
    Deed::Write {
        target: current.target,
        content,
        like: None,
    }
}
