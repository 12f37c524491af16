//! Turns places that were found into changes, as small as they can be.
//!
//! Lines that are the same in what is wanted and in what shall be are not touched at
//! all, so they keep their endings, their indentation and their characters. The others
//! are written the way the text around them is.

use super::align::{Block, align};
use super::attempt::{Attempt, Spot};
use super::fold::{Fold, leading};
use super::graft::graft;
use super::indent::Indents;
use super::lines::Lines;
use super::{Change, Rung};

/// What all changes together may write.
pub(super) const MOST_WRITTEN: usize = 64 << 20;

/// The changes at these places, which are in order and do not overlap. Nothing if they
/// would write too much.
pub(super) fn changes(
    lines: &Lines<'_>,
    attempt: &Attempt<'_>,
    spots: &[Spot],
) -> Option<Vec<Change>> {
    let rewrite = Rewrite::new(lines, attempt, &attempt.old, &attempt.new);
    let mut changes = Vec::new();
    let mut written = 0;
    for spot in spots {
        let spot_changes = if ends_without_ending(lines, attempt, spot) {
            // The last line has no ending, before and after.
            let old = attempt.old.strip_suffix('\n').unwrap_or(&attempt.old);
            let new = attempt.new.strip_suffix('\n').unwrap_or(&attempt.new);
            Rewrite::new(lines, attempt, old, new).at(spot, &mut written)?
        } else {
            rewrite.at(spot, &mut written)?
        };
        changes.extend(spot_changes);
    }
    Some(changes)
}

fn ends_without_ending(lines: &Lines<'_>, attempt: &Attempt<'_>, spot: &Spot) -> bool {
    let at_end = spot.end == lines.text().len() && !lines.has_final_ending();
    at_end && attempt.fold.is_some() && attempt.old.ends_with('\n')
}

/// What differs between what is wanted and what shall be, line by line.
struct Rewrite<'a> {
    lines: &'a Lines<'a>,
    attempt: &'a Attempt<'a>,
    old: Vec<&'a str>,
    new: Vec<&'a str>,
    blocks: Vec<Block>,
}

impl<'a> Rewrite<'a> {
    fn new(lines: &'a Lines<'a>, attempt: &'a Attempt<'a>, old: &'a str, new: &'a str) -> Self {
        let old: Vec<&str> = old.split_inclusive('\n').collect();
        let new: Vec<&str> = new.split_inclusive('\n').collect();
        let blocks = align(&old, &new);
        Self {
            lines,
            attempt,
            old,
            new,
            blocks,
        }
    }

    fn at(&self, spot: &Spot, written: &mut usize) -> Option<Vec<Change>> {
        let reindents = match self.attempt.fold {
            Some(fold) => fold.drops_indentation(),
            None => self.attempt.rung == Rung::Similar,
        };
        let indents = reindents
            .then(|| self.attempt.indents(self.lines, spot))
            .flatten();
        let indents = indents.unwrap_or(Indents::Same);
        let mut changes = Vec::new();
        for block in &self.blocks {
            let range = self.start(spot, block.old.start)..self.end(spot, &block.old);
            let mut text = String::new();
            for index in block.new.clone() {
                self.write(spot, block, index, &indents, &mut text);
                if *written + text.len() > MOST_WRITTEN {
                    return None;
                }
            }
            *written += text.len();
            if self.lines.text()[range.clone()] != text {
                changes.push(Change { range, text });
            }
        }
        Some(changes)
    }

    /// Writes a new line.
    fn write(
        &self,
        spot: &Spot,
        block: &Block,
        index: usize,
        indents: &Indents,
        text: &mut String,
    ) {
        let piece = self.new[index];
        let line = piece.strip_suffix('\n').unwrap_or(piece);
        // The old line it stands for, if it stands for one.
        let before = block.old.start + (index - block.new.start);
        let before = (before < block.old.end).then_some(before);
        self.write_line(spot, line, index, before, indents, text);
        if piece.ends_with('\n') {
            let like = match before {
                Some(before) => spot.line + before,
                None if block.old.is_empty() => (spot.line + block.old.start).saturating_sub(1),
                None => spot.line + block.old.end - 1,
            };
            text.push_str(self.lines.local_ending(like));
        }
    }

    fn write_line(
        &self,
        spot: &Spot,
        line: &str,
        index: usize,
        before: Option<usize>,
        indents: &Indents,
        text: &mut String,
    ) {
        let old = before.map(|before| {
            (
                self.old[before].trim_end_matches('\n'),
                self.there(spot, before),
            )
        });
        if let (Some(Fold::Unicode), Some((old, there))) = (self.attempt.fold, old) {
            text.push_str(&graft(old, line, there, Fold::Unicode));
            return;
        }
        let (indent, rest) = line.split_at(leading(line).len());
        let from_start = index > 0 || spot.start == self.lines.start(spot.line);
        match indents
            .apply(indent)
            .filter(|_| from_start && !rest.is_empty())
        {
            Some(indent) => text.push_str(&indent),
            None => text.push_str(indent),
        }
        match (self.attempt.fold, old) {
            (Some(Fold::Whitespace), Some((old, there))) => {
                let (old, there) = (old.trim_start(), there.trim_start());
                text.push_str(&graft(old, rest, there, Fold::Whitespace));
            }
            _ => text.push_str(rest),
        }
    }

    /// A line of the place, as far as it belongs to it, without its ending.
    fn there(&self, spot: &Spot, index: usize) -> &str {
        let there =
            &self.lines.text()[self.start(spot, index)..self.end(spot, &(index..index + 1))];
        there.trim_end_matches(['\r', '\n'])
    }

    fn start(&self, spot: &Spot, index: usize) -> usize {
        match index {
            0 => spot.start,
            _ if index >= self.old.len() => spot.end,
            _ => self.lines.start(spot.line + index),
        }
    }

    fn end(&self, spot: &Spot, lines: &std::ops::Range<usize>) -> usize {
        if lines.is_empty() {
            return self.start(spot, lines.start);
        }
        self.start(spot, lines.end)
    }
}
