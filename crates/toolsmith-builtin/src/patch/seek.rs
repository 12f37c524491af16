//! Finds lines in a text, after what was found before, as strictly as they can be found.

use super::Fit;
use crate::edit::fold::{Fold, Folded};
use crate::edit::lines::Lines;

/// How many bytes may be searched in all.
const MOST_SEARCHED: usize = 2 << 30;

/// What was searched became too much.
#[derive(Debug)]
pub(super) struct TooMuch;

/// A text to find lines in.
pub(super) struct Seek<'a> {
    lines: &'a Lines<'a>,
    /// The text in the form each fit compares, once it was needed.
    forms: [Option<Form>; 4],
    searched: usize,
}

/// Where lines are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    /// The first line, counted from 0.
    pub(super) line: usize,
    pub(super) fit: Fit,
}

impl<'a> Seek<'a> {
    pub(super) fn new(lines: &'a Lines<'a>) -> Self {
        Self {
            lines,
            forms: [const { None }; 4],
            searched: 0,
        }
    }

    /// How many lines the text has; a last ending does not begin another.
    pub(super) fn count(&self) -> usize {
        self.lines.count() - usize::from(self.lines.has_final_ending())
    }

    /// Finds lines at or after one, the first place of the strictest fit that has any;
    /// or at the end only.
    pub(super) fn find(
        &mut self,
        wanted: &[&str],
        from: usize,
        at_end: bool,
    ) -> Result<Option<Seen>, TooMuch> {
        let Some(last) = self
            .count()
            .checked_sub(wanted.len())
            .filter(|last| *last >= from)
        else {
            return Ok(None);
        };
        let from = if at_end { last } else { from };
        for fit in [
            Fit::Exact,
            Fit::TrailingWhitespace,
            Fit::Trimmed,
            Fit::Unicode,
        ] {
            let form = self.forms[fit as usize].get_or_insert_with(|| Form::new(self.lines, fit));
            let needle = needle(wanted, fit);
            // Each line has its ending before it, so that only whole lines fit.
            let start = form.starts(from);
            let haystack = form.text.get(start..).unwrap_or_default();
            let cost = haystack.len().saturating_add(needle.len());
            self.searched = self.searched.saturating_add(cost);
            if self.searched > MOST_SEARCHED {
                return Err(TooMuch);
            }
            if let Some(place) = haystack.find(&needle) {
                let line = form.line_at(start + place);
                return Ok(Some(Seen { line, fit }));
            }
        }
        Ok(None)
    }
}

/// A text of whole lines in the form a fit compares: `\n` before each, and at the end.
struct Form {
    text: String,
    starts: Vec<usize>,
}

impl Form {
    fn new(lines: &Lines<'_>, fit: Fit) -> Self {
        let folded = folded(lines.plain(), fit);
        let mut text = String::with_capacity(folded.len() + 2);
        text.push('\n');
        text.push_str(&folded);
        if !text.ends_with('\n') {
            text.push('\n');
        }
        let starts = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let starts = starts.map(|(at, _)| at).collect();
        Self { text, starts }
    }

    fn starts(&self, line: usize) -> usize {
        self.starts.get(line).copied().unwrap_or(self.text.len())
    }

    fn line_at(&self, place: usize) -> usize {
        self.starts.partition_point(|start| *start < place)
    }
}

fn needle(wanted: &[&str], fit: Fit) -> String {
    let mut needle = String::from("\n");
    for line in wanted {
        needle.push_str(&folded(line, fit));
        needle.push('\n');
    }
    needle
}

fn folded(text: &str, fit: Fit) -> String {
    let by = |fold| Folded::new(text, fold).into_text();
    match fit {
        Fit::Exact => text.to_owned(),
        Fit::TrailingWhitespace => by(Fold::Trailing),
        Fit::Trimmed => by(Fold::Indentation),
        Fit::Unicode => Folded::new(&by(Fold::Indentation), Fold::Unicode).into_text(),
    }
}
