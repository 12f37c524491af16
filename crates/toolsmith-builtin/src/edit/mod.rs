//! Finds what is to be replaced in a text, and replaces nothing else.
//!
//! A model remembers a text almost as it is: with other tabs, other line endings, other
//! quotes. [`find`] looks for what it wrote on a ladder of [`Rung`]s, the strictest
//! first, and the first rung with any hit decides. Nothing is guessed: a rung needs one
//! hit, or the caller asks for all of them. What is not found is explained well enough
//! for the next try to succeed, as a [`Miss`].
//!
//! Only text is known here. Files, encodings and byte order marks are the caller's.

pub(crate) mod align;
mod attempt;
mod choose;
mod diff;
pub(crate) mod fold;
mod graft;
pub(crate) mod indent;
mod ladder;
pub(crate) mod lines;
mod miss;
pub(crate) mod nearest;
mod numbers;
mod occur;
mod report;
mod rewrite;
mod sequence;
mod similar_lines;
mod unescape;
pub(crate) mod visible;
mod wanted;

use std::ops::Range;

pub use diff::{Diff, diff};
pub use ladder::find;
pub(crate) use ladder::find_until;
pub use miss::{Hit, Miss};
pub use nearest::Nearest;
pub use report::Report;
pub(crate) use sequence::apply_all_until;
pub use sequence::{AllMiss, Applied, apply_all};
pub use wanted::Wanted;

/// How strictly a text was matched, the strictest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Rung {
    /// As it was written, but for line endings.
    Exact,
    /// Without line numbers that were copied along.
    LineNumbers,
    /// But for whitespace at the ends of lines.
    TrailingWhitespace,
    /// But for indentation that differs in one way throughout.
    Indentation,
    /// But for quotes, dashes, spaces and accents that look the same.
    Unicode,
    /// Without escapes that were written once too often.
    Escapes,
    /// But for the amount of whitespace within lines.
    Whitespace,
    /// Similar only, which has to be asked for.
    Similar,
}

impl Rung {
    /// The stable word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::LineNumbers => "line_numbers",
            Self::TrailingWhitespace => "trailing_whitespace",
            Self::Indentation => "indentation",
            Self::Unicode => "unicode",
            Self::Escapes => "escapes",
            Self::Whitespace => "whitespace",
            Self::Similar => "similar",
        }
    }

    /// How it matched, as the end of a sentence.
    pub const fn phrase(self) -> &'static str {
        match self {
            Self::Exact => "exactly",
            Self::LineNumbers => "without its line numbers",
            Self::TrailingWhitespace => "ignoring whitespace at line ends",
            Self::Indentation => "with other indentation",
            Self::Unicode => "with other quotes, dashes, spaces or accents",
            Self::Escapes => "without its extra escapes",
            Self::Whitespace => "with other whitespace within lines",
            Self::Similar => "by similarity",
        }
    }
}

/// A piece of the text, and what stands there instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Where, in bytes of the text as it was.
    pub range: Range<usize>,
    /// What stands there now.
    pub text: String,
}

/// What was found, and what is to change.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Found {
    /// How strictly it was matched.
    pub rung: Rung,
    /// What changes, in order, none over another. One replacement may be several
    /// changes, or, where the text has it already, none.
    pub changes: Vec<Change>,
    /// The line each replacement begins in, counted from 1.
    pub lines: Vec<usize>,
}

impl Found {
    /// The text with the changes made. It has to be the text they were found in.
    pub fn apply(&self, text: &str) -> String {
        apply(text, &self.changes)
    }
}

/// Makes changes that are in order and do not overlap.
pub(crate) fn apply(text: &str, changes: &[Change]) -> String {
    let added: usize = changes.iter().map(|change| change.text.len()).sum();
    let mut whole = String::with_capacity(text.len() + added);
    let mut done = 0;
    for change in changes {
        // Ranges of another text may cut characters; they are passed over, not fatal.
        whole.push_str(text.get(done..change.range.start).unwrap_or_default());
        whole.push_str(&change.text);
        done = change.range.end;
    }
    whole.push_str(text.get(done..).unwrap_or_default());
    whole
}
