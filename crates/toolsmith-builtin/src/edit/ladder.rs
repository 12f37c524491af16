//! The ladder: every rung in turn, and the first with any hit decides.

use std::borrow::Cow;

use super::attempt::{Attempt, Spot, Spots};
use super::choose::choose;
use super::fold::{Fold, Folded};
use super::lines::{Lines, plain, unified};
use super::miss::Miss;
use super::numbers::without_numbers;
use super::report::{Count, Report, Uneven};
use super::rewrite::{MOST_WRITTEN, changes};
use super::similar_lines::similar;
use super::unescape::unescaped;
use super::{Found, Rung, Wanted};

/// The longest text that is edited, in bytes.
const LONGEST_TEXT: usize = 64 << 20;
/// The longest text that is searched by more than the first rungs, which take memory.
const LONGEST_FOLDED: usize = 16 << 20;
/// The longest argument.
const LONGEST_ARGUMENT: usize = 8 << 20;

/// Finds what is to be replaced, and says what changes.
///
/// The text has its own line endings, which may differ from line to line, and no byte
/// order mark; `\n` in what is wanted means whichever ending is there. Nothing but the
/// lines that differ is changed, and only as far as they were meant.
///
/// # Errors
///
/// A [`Miss`] says why nothing is replaced: it is not there, or too often, or already so.
pub fn find(text: &str, wanted: &Wanted<'_>) -> Result<Found, Miss> {
    find_until(text, wanted, &|| false)
}

/// As [`find`], until nobody wants it any more.
pub(crate) fn find_until(
    text: &str,
    wanted: &Wanted<'_>,
    is_cancelled: &dyn Fn() -> bool,
) -> Result<Found, Miss> {
    search(text, wanted, Explain::Fully, is_cancelled)
}

/// How much is told of what is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Explain {
    /// All that helps to find it.
    Fully,
    /// Nothing, since nobody reads it.
    Not,
}

/// Finds what is to be replaced, and explains a miss as far as it is asked for: that
/// costs more than the search.
pub(super) fn search(
    text: &str,
    wanted: &Wanted<'_>,
    explain: Explain,
    is_cancelled: &dyn Fn() -> bool,
) -> Result<Found, Miss> {
    let lines = check(text, wanted)?;
    let old = plain(wanted.old);
    let new = unified(wanted.new);
    if old == plain(wanted.new) {
        return Err(Miss::NoChange { line: None });
    }
    let ladder = Ladder {
        lines: &lines,
        wanted,
        numbers: without_numbers(&old, &new),
        old,
        new,
        explain,
        is_cancelled,
    };
    ladder.climb()
}

fn check<'a>(text: &'a str, wanted: &Wanted<'_>) -> Result<Lines<'a>, Miss> {
    if wanted.old.is_empty() {
        return Err(Miss::Empty);
    }
    let too_large = |what: String| Err(Miss::TooLarge { what });
    if text.len() > LONGEST_TEXT {
        return too_large(format!(
            "it has {} bytes, and may have {LONGEST_TEXT}",
            text.len()
        ));
    }
    for (name, argument) in [("old_string", wanted.old), ("new_string", wanted.new)] {
        if argument.len() > LONGEST_ARGUMENT {
            let length = argument.len();
            return too_large(format!(
                "{name} has {length} bytes, and may have {LONGEST_ARGUMENT}"
            ));
        }
    }
    match Lines::new(text) {
        Some(lines) => Ok(lines),
        None => too_large("it has too many lines".to_owned()),
    }
}

struct Ladder<'a> {
    lines: &'a Lines<'a>,
    wanted: &'a Wanted<'a>,
    old: Cow<'a, str>,
    new: Cow<'a, str>,
    /// Both without line numbers, if they have any.
    numbers: Option<(String, String)>,
    explain: Explain,
    is_cancelled: &'a dyn Fn() -> bool,
}

impl Ladder<'_> {
    fn climb(&self) -> Result<Found, Miss> {
        let strict = [
            Self::exact(Rung::Exact, &self.old, &self.new),
            self.unnumbered(Rung::LineNumbers, None),
        ];
        for attempt in strict.iter().flatten() {
            if let Some(found) = self.decide(attempt, attempt.spots(self.lines, None)) {
                return found;
            }
        }
        if self.lines.text().len() > LONGEST_FOLDED {
            return Err(Miss::NoMatch(Box::new(Report::of_note(format!(
                "of a file of more than {LONGEST_FOLDED} bytes only exact text is found"
            )))));
        }
        let mut uneven = Uneven::default();
        for (rung, fold) in [
            (Rung::TrailingWhitespace, Fold::Trailing),
            (Rung::Indentation, Fold::Indentation),
            (Rung::Unicode, Fold::Unicode),
        ] {
            self.is_wanted()?;
            if let Some(found) = self.folded(rung, fold, &mut uneven.indentation) {
                return found;
            }
        }
        if let Some(found) = self.unescaped() {
            return found;
        }
        self.is_wanted()?;
        if let Some(found) = self.folded(Rung::Whitespace, Fold::Whitespace, &mut uneven.whitespace)
        {
            return found;
        }
        self.is_wanted()?;
        if let Some(found) = self.similar() {
            return found;
        }
        self.is_wanted()?;
        if self.explain == Explain::Not {
            return Err(Miss::NoMatch(Box::default()));
        }
        // A place that is uneven in its indentation is so with all whitespace overlooked.
        if uneven.indentation.places > 0 {
            uneven.whitespace = Count::default();
        }
        let (old, new) = match &self.numbers {
            Some((old, new)) => (old.as_str(), new.as_str()),
            None => (&*self.old, &*self.new),
        };
        Err(Miss::NoMatch(Box::new(Report::new(
            self.lines, old, new, uneven,
        ))))
    }

    /// Each rung passes over the whole text, so it is asked before each.
    fn is_wanted(&self) -> Result<(), Miss> {
        match (self.is_cancelled)() {
            true => Err(Miss::Cancelled),
            false => Ok(()),
        }
    }

    fn exact<'b>(rung: Rung, old: &'b str, new: &'b str) -> Option<Attempt<'b>> {
        (!old.is_empty()).then_some(Attempt {
            rung,
            old: Cow::Borrowed(old),
            new: Cow::Borrowed(new),
            fold: None,
            at_line_start: false,
        })
    }

    /// Without line numbers, which stand at line starts only.
    fn unnumbered(&self, rung: Rung, fold: Option<Fold>) -> Option<Attempt<'_>> {
        let (old, new) = self.numbers.as_ref()?;
        (!old.trim().is_empty()).then_some(Attempt {
            rung,
            old: Cow::Borrowed(old),
            new: Cow::Borrowed(new),
            fold,
            at_line_start: true,
        })
    }

    fn folded(&self, rung: Rung, fold: Fold, uneven: &mut Count) -> Option<Result<Found, Miss>> {
        let ascii = self.lines.text().is_ascii() && self.old.is_ascii();
        if fold == Fold::Unicode && ascii {
            return None;
        }
        let literal = Attempt {
            fold: Some(fold),
            ..Self::exact(rung, &self.old, &self.new)?
        };
        let mut folded = Folded::new(self.lines.plain(), fold);
        folded.end_last_line();
        for attempt in [Some(literal), self.unnumbered(rung, Some(fold))]
            .iter()
            .flatten()
        {
            let spots = attempt.spots(self.lines, Some(&folded));
            if spots.uneven.places > uneven.places {
                *uneven = spots.uneven;
            }
            if let Some(found) = self.decide(attempt, spots) {
                return Some(found);
            }
        }
        None
    }

    fn unescaped(&self) -> Option<Result<Found, Miss>> {
        for (old, new) in unescaped(&self.old, &self.new) {
            let (old, new) = (plain(&old), unified(&new));
            if old.trim().is_empty() {
                continue;
            }
            let attempt = Self::exact(Rung::Escapes, &old, &new)?;
            if let Some(found) = self.decide(&attempt, attempt.spots(self.lines, None)) {
                return Some(found);
            }
        }
        None
    }

    fn similar(&self) -> Option<Result<Found, Miss>> {
        if !self.wanted.fuzzy {
            return None;
        }
        let attempt = Self::exact(Rung::Similar, &self.old, &self.new)?;
        let spots = similar(self.lines, &attempt).into_iter().collect();
        self.decide(
            &attempt,
            Spots {
                spots,
                ..Spots::default()
            },
        )
    }

    /// What is found if there are any places; nothing sends to the next rung.
    fn decide(&self, attempt: &Attempt<'_>, spots: Spots) -> Option<Result<Found, Miss>> {
        if spots.spots.is_empty() && !spots.more {
            return None;
        }
        let spots = choose(self.lines, self.wanted, attempt, spots);
        Some(spots.and_then(|spots| self.found(attempt, &spots)))
    }

    fn found(&self, attempt: &Attempt<'_>, spots: &[Spot]) -> Result<Found, Miss> {
        let Some(changes) = changes(self.lines, attempt, spots) else {
            return Err(Miss::TooLarge {
                what: format!("the replacements have more than {MOST_WRITTEN} bytes in all"),
            });
        };
        let lines: Vec<usize> = spots.iter().map(|spot| spot.line + 1).collect();
        if changes.is_empty() {
            return Err(Miss::NoChange {
                line: lines.first().copied(),
            });
        }
        Ok(Found {
            rung: attempt.rung,
            changes,
            lines,
        })
    }
}
