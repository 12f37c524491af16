//! How the indentation a model wrote becomes the indentation a text has.
//!
//! It is learnt from the lines that are otherwise the same, and has to hold for every
//! one of them: the same shift throughout, or tabs for so many spaces, or another width
//! of a step.

use std::collections::BTreeSet;

/// How wide a tab may be, the likeliest first.
const TABS: [usize; 8] = [4, 2, 8, 3, 1, 5, 6, 7];

/// More ways to indent than this in one place, or wider ones, are not learnt from.
const MOST: usize = 64;
const WIDEST: usize = 1000;
/// How many columns of the text a column as written may be.
const STEEPEST: usize = 16;

/// The way from one indentation to the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Indents {
    /// It is the same.
    Same,
    /// The text has this before it.
    More(String),
    /// The text lacks this before it.
    Less(String),
    /// It is as many columns, times a ratio, plus an offset.
    Columns(Columns),
}

/// A mapping of columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Columns {
    tab: usize,
    times: usize,
    by: usize,
    offset: isize,
    /// Whether the text is indented with tabs.
    with_tabs: bool,
    /// The indentations it was learnt from.
    known: Vec<(String, String)>,
}

impl Indents {
    /// Learns from pairs: as it was written, as it is in the text.
    pub(crate) fn learn<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> Option<Self> {
        let mut distinct: BTreeSet<(&str, &str)> = BTreeSet::new();
        let mut last = None;
        for (written, there) in pairs {
            // Mostly a line is indented as the one before it.
            if last.replace((written, there)) == Some((written, there)) {
                continue;
            }
            distinct.insert((written, there));
            if distinct.len() > MOST || written.len().max(there.len()) > WIDEST {
                return None;
            }
        }
        let pairs = distinct;
        if pairs.iter().all(|(written, there)| written == there) {
            return Some(Self::Same);
        }
        let (written, there) = pairs.first()?;
        if let Some(more) = there.strip_suffix(written) {
            let fits = |(written, there): &(&str, &str)| there.strip_suffix(written) == Some(more);
            if pairs.iter().all(fits) {
                return Some(Self::More(more.to_owned()));
            }
        }
        if let Some(less) = written.strip_suffix(there) {
            let fits = |(written, there): &(&str, &str)| written.strip_suffix(there) == Some(less);
            if pairs.iter().all(fits) {
                return Some(Self::Less(less.to_owned()));
            }
        }
        Columns::learn(&pairs).map(Self::Columns)
    }

    /// The indentation in the text; nothing where it would be left of its margin.
    pub(crate) fn apply(&self, written: &str) -> Option<String> {
        match self {
            Self::Same => Some(written.to_owned()),
            Self::More(more) => Some(format!("{more}{written}")),
            Self::Less(less) => written.strip_prefix(less.as_str()).map(str::to_owned),
            Self::Columns(columns) => columns.apply(written),
        }
    }
}

impl Columns {
    fn learn(pairs: &BTreeSet<(&str, &str)>) -> Option<Self> {
        let has_tabs = |text: &str| text.contains('\t');
        let tabs = match pairs
            .iter()
            .any(|(written, there)| has_tabs(written) || has_tabs(there))
        {
            true => &TABS[..],
            false => &TABS[..1],
        };
        let nothing_there = pairs.iter().all(|(_, there)| there.is_empty());
        let with_tabs = pairs.iter().any(|(written, there)| match nothing_there {
            true => has_tabs(written),
            false => has_tabs(there),
        });
        let known = pairs
            .iter()
            .map(|(written, there)| ((*written).to_owned(), (*there).to_owned()));
        let known: Vec<_> = known.collect();
        let learnt = |tab, times, by, offset| Self {
            tab,
            times,
            by,
            offset,
            with_tabs,
            known: known.clone(),
        };
        // The plainest mapping first: as many columns, then a shift, then other steps.
        let same = tabs.iter().map(|tab| learnt(*tab, 1, 1, 0));
        let shifted = tabs.iter().filter_map(|tab| {
            let (written, there) = pairs.first()?;
            let offset = width(there, *tab)?.checked_sub(width(written, *tab)?)?;
            Some(learnt(*tab, 1, 1, offset))
        });
        let stepped = tabs.iter().filter_map(|tab| {
            let columns = pairs
                .iter()
                .map(|(written, there)| Some((width(written, *tab)?, width(there, *tab)?)));
            let columns: Option<BTreeSet<(isize, isize)>> = columns.collect();
            let columns = columns?;
            let (first, last) = (columns.first()?, columns.last()?);
            let by = usize::try_from(last.0 - first.0)
                .ok()
                .filter(|by| *by > 0)?;
            let times = usize::try_from(last.1 - first.1)
                .ok()
                .filter(|times| *times > 0)?;
            if times > by.saturating_mul(STEEPEST) {
                return None;
            }
            let shift = first.0.checked_mul(isize::try_from(times).ok()?)?;
            let by_signed = isize::try_from(by).ok()?;
            let offset = (shift % by_signed == 0).then(|| first.1 - shift / by_signed)?;
            Some(learnt(*tab, times, by, offset))
        });
        let fits = |columns: &Self| {
            pairs.iter().all(|(written, there)| {
                columns
                    .column(written)
                    .is_some_and(|column| Some(column) == width(there, columns.tab))
            })
        };
        same.chain(shifted).chain(stepped).find(fits)
    }

    fn apply(&self, written: &str) -> Option<String> {
        if let Some((_, there)) = self.known.iter().find(|(known, _)| known == written) {
            return Some(there.clone());
        }
        let column = usize::try_from(self.column(written)?).ok()?;
        Some(match self.with_tabs {
            true => "\t".repeat(column / self.tab) + &" ".repeat(column % self.tab),
            false => " ".repeat(column),
        })
    }

    /// The column in the text of an indentation as it was written.
    fn column(&self, written: &str) -> Option<isize> {
        let (times, by) = (
            isize::try_from(self.times).ok()?,
            isize::try_from(self.by).ok()?,
        );
        let scaled = width(written, self.tab)?.checked_mul(times)?;
        let column = (scaled % by == 0)
            .then(|| scaled / by)?
            .checked_add(self.offset)?;
        (column >= 0).then_some(column)
    }
}

/// How many columns an indentation takes.
fn width(indent: &str, tab: usize) -> Option<isize> {
    let columns = indent
        .chars()
        .fold(0_usize, |column, character| match character {
            '\t' => column - column % tab + tab,
            _ => column + 1,
        });
    isize::try_from(columns)
        .ok()
        .filter(|_| columns <= WIDEST * TABS.len())
}
