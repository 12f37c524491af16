//! One way to read what is wanted, and every place that fits it.

use std::borrow::Cow;

use unicode_normalization::char::is_combining_mark;

use super::Rung;
use super::fold::{Fold, Folded, leading};
use super::indent::Indents;
use super::lines::Lines;
use super::occur::Occurrences;
use super::report::Count;

/// More places than this are not kept.
const MOST_SPOTS: usize = 1 << 20;
/// How many lines may be looked at to compare indentation, in all.
const MOST_COMPARED: usize = 2 << 20;

/// What to look for, and how.
#[derive(Debug)]
pub(super) struct Attempt<'a> {
    pub(super) rung: Rung,
    /// What is there, with `\n` only.
    pub(super) old: Cow<'a, str>,
    /// What shall be there, with `\n` for line endings.
    pub(super) new: Cow<'a, str>,
    /// What is overlooked.
    pub(super) fold: Option<Fold>,
    /// Whether it has to start where a line does.
    pub(super) at_line_start: bool,
}

/// A place in the text, in bytes, and the line it starts in, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) line: usize,
}

/// The places that fit.
#[derive(Debug, Default)]
pub(super) struct Spots {
    pub(super) spots: Vec<Spot>,
    /// Whether there are more than could be kept or compared.
    pub(super) more: bool,
    /// Places that differ in indentation, but not in one way throughout.
    pub(super) uneven: Count,
}

impl Attempt<'_> {
    /// Every place that fits, in the text or in its folded form.
    pub(super) fn spots(&self, lines: &Lines<'_>, folded: Option<&Folded>) -> Spots {
        match (self.fold, folded) {
            (Some(fold), Some(folded)) => self.folded(lines, folded, fold),
            _ => self.exact(lines),
        }
    }

    /// How the indentation of what is wanted becomes that of a place.
    pub(super) fn indents(&self, lines: &Lines<'_>, spot: &Spot) -> Option<Indents> {
        let whole_first = spot.start == lines.start(spot.line);
        self.learn(lines, spot.line, usize::from(!whole_first))
    }

    fn exact(&self, lines: &Lines<'_>) -> Spots {
        let mut found = Spots::default();
        for place in Occurrences::new(lines.plain(), &self.old) {
            let line = lines.at_plain(place);
            if self.at_line_start && lines.plain_start(line) != place {
                continue;
            }
            if found.spots.len() == MOST_SPOTS {
                found.more = true;
                break;
            }
            found.spots.push(Spot {
                start: lines.start(line) + (place - lines.plain_start(line)),
                end: lines.original(place + self.old.len()),
                line,
            });
        }
        found
    }

    fn folded(&self, lines: &Lines<'_>, folded: &Folded, fold: Fold) -> Spots {
        let mut found = Spots::default();
        let needle = Folded::new(&self.old, fold);
        // Nothing but whitespace is everywhere once whitespace is overlooked.
        if needle.text().trim().is_empty() {
            return found;
        }
        let edges = Edges::new(&self.old, fold);
        let cost = self.old.split('\n').count() + self.new.split('\n').count();
        let mut compared = 0;
        // One line may have very many places, and be indented by megabytes.
        let mut indented_to = (usize::MAX, 0);
        for place in Occurrences::new(folded.text(), needle.text()) {
            let Some((start, end)) = edges.fit(folded, place, place + needle.text().len()) else {
                continue;
            };
            let line = lines.at_plain(start);
            let mut spot = Spot {
                start: lines.original(start),
                end: lines.original(end),
                line,
            };
            if edges.cut_start {
                spot.start = lines.start(line);
            }
            if indented_to.0 != line {
                indented_to = (line, lines.start(line) + leading(lines.content(line)).len());
            }
            let starts_line = spot.start <= indented_to.1;
            if self.at_line_start && !starts_line {
                continue;
            }
            if found.spots.len() == MOST_SPOTS || compared > MOST_COMPARED {
                found.more = true;
                break;
            }
            if fold.drops_indentation() {
                compared += cost;
                match self.indented(lines, &spot, starts_line, &edges) {
                    Some(start) => spot.start = start,
                    None => {
                        found.uneven.add(line);
                        continue;
                    }
                }
            }
            found.spots.push(spot);
        }
        found
    }

    /// Where a place starts if its indentation differs in one way throughout: with its
    /// line's indentation, or, where that alone does not fit because what is wanted
    /// starts within the line, after it.
    fn indented(
        &self,
        lines: &Lines<'_>,
        spot: &Spot,
        starts_line: bool,
        edges: &Edges,
    ) -> Option<usize> {
        let whole = (starts_line && !edges.blank_start)
            .then(|| (self.learn(lines, spot.line, 0), lines.start(spot.line), 0));
        let within = (!edges.cut_start).then(|| (self.learn(lines, spot.line, 1), spot.start, 1));
        let ways = whole.into_iter().chain(within);
        let mut ways = ways.filter_map(|(indents, start, from)| Some((indents?, start, from)));
        let (_, start, _) = ways.find(|(indents, _, from)| {
            let new = self.new.split('\n').skip(*from);
            let mut new = new.filter(|line| !line.trim().is_empty());
            new.all(|line| indents.apply(leading(line)).is_some())
        })?;
        Some(start)
    }

    fn learn(&self, lines: &Lines<'_>, line: usize, from: usize) -> Option<Indents> {
        let written = self.old.split('\n').enumerate().skip(from);
        let written = written.filter(|(_, written)| !written.trim().is_empty());
        Indents::learn(
            written
                .map(|(index, written)| (leading(written), leading(lines.content(line + index)))),
        )
    }
}

/// What folding took off both ends of what is wanted, where it has to be met with.
#[derive(Debug)]
struct Edges {
    /// Whitespace was taken off its start, so that it starts where a line does.
    cut_start: bool,
    /// Whitespace was taken off its end, so that it ends where a line does.
    cut_end: bool,
    /// Its first line is blank, and says nothing about indentation.
    blank_start: bool,
    /// Accents may have been taken off a character it starts or ends with.
    splits_characters: bool,
}

impl Edges {
    fn new(old: &str, fold: Fold) -> Self {
        let first = old.split('\n').next().unwrap_or_default();
        let last = old.rsplit('\n').next().unwrap_or_default();
        let blank_start = first.trim().is_empty();
        Self {
            cut_start: !leading(first).is_empty() && (fold.drops_indentation() || blank_start),
            cut_end: last.trim_end() != last,
            blank_start,
            splits_characters: !matches!(fold, Fold::Trailing | Fold::Indentation),
        }
    }

    /// The place in the plain text, if it fits at both ends.
    fn fit(&self, folded: &Folded, start: usize, end: usize) -> Option<(usize, usize)> {
        let text = folded.text();
        let starts_line = text[..start].is_empty() || text[..start].ends_with('\n');
        let ends_line = text[end..].is_empty() || text[end..].starts_with('\n');
        if (self.cut_start && !starts_line) || (self.cut_end && !ends_line) {
            return None;
        }
        if self.splits_characters && text[end..].chars().next().is_some_and(is_combining_mark) {
            return None;
        }
        let end = if self.cut_end {
            folded.start(end)
        } else {
            folded.end(end)
        };
        Some((folded.start(start)?, end?))
    }
}
