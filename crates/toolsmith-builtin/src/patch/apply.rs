//! Applies hunks to a text, in order, each after the one before.
//!
//! Only lines that are added or removed change; lines that are kept stay as they are in
//! the text, however loosely they were matched.

use super::miss::{HunkMiss, Missing};
use super::seek::{Seek, TooMuch};
use super::{Fit, Hunk, HunkLine};
use crate::edit::Change;
use crate::edit::fold::leading;
use crate::edit::indent::Indents;
use crate::edit::lines::Lines;
use crate::edit::nearest::Nearest;

/// The longest text that is patched, in bytes: it is held in several forms.
const LONGEST_TEXT: usize = 16 << 20;

/// A text with hunks applied.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Patched {
    /// The text.
    pub text: String,
    /// What changed, in order, none over another, in bytes of the text as it was.
    pub changes: Vec<Change>,
    /// The line of the text as it was that each hunk begins at, counted from 1.
    pub lines: Vec<usize>,
    /// How strictly the loosest hunk was matched.
    pub fit: Fit,
}

/// Applies hunks to a text, which has its own line endings and no byte order mark.
///
/// # Errors
///
/// A [`HunkMiss`] names the hunk whose lines are not there, and what comes nearest.
pub fn apply(text: &str, hunks: &[Hunk]) -> Result<Patched, HunkMiss> {
    let lines = (text.len() <= LONGEST_TEXT)
        .then(|| Lines::new(text))
        .flatten();
    let Some(lines) = lines else {
        return Err(HunkMiss::new(0, hunks.first(), Missing::TooLarge));
    };
    let mut applied = Applied {
        lines: &lines,
        seek: Seek::new(&lines),
        next: 0,
        changes: Vec::new(),
        starts: Vec::with_capacity(hunks.len()),
        fit: Fit::Exact,
    };
    for (index, hunk) in hunks.iter().enumerate() {
        let missing = |missing| HunkMiss::new(index, Some(hunk), missing);
        applied.hunk(hunk).map_err(missing)?;
    }
    // Lines added at one place come in the order of their hunks.
    applied.changes.sort_by_key(|change| change.range.start);
    Ok(Patched {
        text: crate::edit::apply(text, &applied.changes),
        changes: applied.changes,
        lines: applied.starts,
        fit: applied.fit,
    })
}

struct Applied<'a> {
    lines: &'a Lines<'a>,
    seek: Seek<'a>,
    /// The first line the next hunk may be at.
    next: usize,
    changes: Vec<Change>,
    starts: Vec<usize>,
    fit: Fit,
}

impl Applied<'_> {
    fn hunk(&mut self, hunk: &Hunk) -> Result<(), Missing> {
        for context in &hunk.context {
            let seen = self.seek.find(&[context.trim_end()], self.next, false)?;
            let Some(seen) = seen else {
                return Err(self.missing(&[context], true));
            };
            self.next = seen.line + 1;
            self.fit = self.fit.max(seen.fit);
        }
        let mut wanted = hunk.lines.as_slice();
        let mut old = before(wanted);
        if old.is_empty() {
            let at = if hunk.context.is_empty() || hunk.at_end {
                self.seek.count()
            } else {
                self.next
            };
            self.starts.push(at + 1);
            self.change(wanted, at, Fit::Exact);
            // What is added at the end leaves the rest to the hunks that follow.
            return Ok(());
        }
        let mut seen = self.seek.find(&old, self.next, hunk.at_end)?;
        // Empty lines at its end may only set it apart from what follows.
        while let (None, [lines @ .., HunkLine::Keep(last)]) = (seen, wanted)
            && last.is_empty()
            && old.len() > 1
        {
            wanted = lines;
            old.pop();
            seen = self.seek.find(&old, self.next, hunk.at_end)?;
        }
        let Some(seen) = seen else {
            return Err(self.missing(&before(&hunk.lines), false));
        };
        self.starts.push(seen.line + 1);
        self.fit = self.fit.max(seen.fit);
        self.change(wanted, seen.line, seen.fit);
        self.next = seen.line + old.len();
        Ok(())
    }

    /// Changes the lines of a place.
    fn change(&mut self, hunk: &[HunkLine], first: usize, fit: Fit) {
        let indents = self.indents(hunk, first).filter(|_| fit >= Fit::Trimmed);
        let mut line = first;
        let mut index = 0;
        while index < hunk.len() {
            if let HunkLine::Keep(_) = hunk[index] {
                (line, index) = (line + 1, index + 1);
                continue;
            }
            let from = line;
            let mut added: Vec<&str> = Vec::new();
            while let Some(changed) = hunk.get(index) {
                match changed {
                    HunkLine::Keep(_) => break,
                    HunkLine::Remove(_) => line += 1,
                    HunkLine::Add(text) => added.push(text),
                }
                index += 1;
            }
            self.replace(from, line, &added, indents.as_ref());
        }
    }

    /// Replaces whole lines by others, each with its own ending.
    fn replace(&mut self, from: usize, until: usize, added: &[&str], indents: Option<&Indents>) {
        let range = self.lines.start(from)..self.lines.start(until);
        let mut text = String::new();
        let last = self.lines.text().len();
        let unended = range.start == last && !self.lines.has_final_ending();
        if unended && !added.is_empty() {
            text.push_str(self.lines.local_ending(from.saturating_sub(1)));
        }
        for (index, line) in added.iter().enumerate() {
            let (indent, rest) = line.split_at(leading(line).len());
            let moved = indents
                .and_then(|indents| indents.apply(indent))
                .filter(|_| !rest.is_empty());
            text.push_str(moved.as_deref().unwrap_or(indent));
            text.push_str(rest);
            let like = if from == until {
                from.saturating_sub(1)
            } else {
                (from + index).min(until - 1)
            };
            text.push_str(self.lines.local_ending(like));
        }
        self.changes.push(Change { range, text });
    }

    fn indents(&self, hunk: &[HunkLine], first: usize) -> Option<Indents> {
        let old = before(hunk).into_iter().enumerate();
        let old = old.filter(|(_, line)| !line.trim().is_empty());
        Indents::learn(
            old.map(|(index, line)| (leading(line), leading(self.lines.content(first + index)))),
        )
    }

    /// What is missing, where it is nearly, and whether it is there, but too early.
    fn missing(&mut self, wanted: &[&str], is_context: bool) -> Missing {
        let earlier = match self.seek.find(wanted, 0, false) {
            Ok(seen) => seen.map(|seen| seen.line + 1),
            Err(TooMuch) => return Missing::TooLarge,
        };
        Missing::Lines {
            is_context,
            first: wanted
                .iter()
                .find(|line| !line.trim().is_empty())
                .map(|line| (*line).to_owned()),
            after: self.next,
            elsewhere: earlier,
            nearest: Nearest::find(self.lines, wanted),
        }
    }
}

/// The lines that are there before a hunk is applied.
fn before(hunk: &[HunkLine]) -> Vec<&str> {
    let there = hunk.iter().filter_map(|line| match line {
        HunkLine::Keep(line) | HunkLine::Remove(line) => Some(line.as_str()),
        HunkLine::Add(_) => None,
    });
    there.collect()
}
