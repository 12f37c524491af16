//! The steps of a repair, and the words they are told in.

use std::fmt;

/// A kind of mending. Each is named once, however often it was needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Step {
    /// A byte order mark, or spaces that JSON does not know.
    Spaces,
    /// A code fence around it.
    Fence,
    /// Text before it.
    TextBefore,
    /// Text after it.
    TextAfter,
    /// JSON that was escaped as if it stood in a string.
    EscapedTwice,
    /// Comments.
    Comments,
    /// Commas with nothing behind them.
    ExtraCommas,
    /// Commas that were missing.
    MissingCommas,
    /// Strings in single quotes.
    SingleQuotes,
    /// Strings in typographic quotes.
    TypographicQuotes,
    /// `True`, `False` and `None`.
    PythonLiterals,
    /// Lists in round brackets.
    Tuples,
    /// Numbers such as `+1` and `.5`.
    Numbers,
    /// Keys without quotes.
    UnquotedKeys,
    /// Newlines and control characters in strings.
    ControlCharacters,
    /// Quotes inside strings.
    InnerQuotes,
    /// Backslashes before what needs none.
    Escapes,
    /// Brackets that were closed by one further out.
    MissingBrackets,
    /// More closing brackets than opening ones.
    ExtraBrackets,
    /// Strings and brackets that were open at the end.
    Unclosed,
}

impl Step {
    /// What was done, in words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Spaces => "replaced spaces that JSON does not know",
            Self::Fence => "took it out of a code fence",
            Self::TextBefore => "left out the text before it",
            Self::TextAfter => "left out the text after it",
            Self::EscapedTwice => "unescaped it once more",
            Self::Comments => "removed comments",
            Self::ExtraCommas => "removed extra commas",
            Self::MissingCommas => "added missing commas",
            Self::SingleQuotes => "replaced single quotes",
            Self::TypographicQuotes => "replaced typographic quotes",
            Self::PythonLiterals => "replaced Python literals",
            Self::Tuples => "replaced round brackets",
            Self::Numbers => "rewrote numbers",
            Self::UnquotedKeys => "quoted keys",
            Self::ControlCharacters => "escaped control characters in strings",
            Self::InnerQuotes => "escaped quotes inside strings",
            Self::Escapes => "corrected escapes",
            Self::MissingBrackets => "added missing brackets",
            Self::ExtraBrackets => "removed extra brackets",
            Self::Unclosed => "closed what was open at its end",
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words())
    }
}

/// The steps taken so far, in the order in which each was first needed.
#[derive(Debug, Default)]
pub(super) struct Steps(Vec<Step>);

impl Steps {
    pub(super) fn add(&mut self, step: Step) {
        // There are a score of kinds: looking is faster than hashing.
        if !self.0.contains(&step) {
            self.0.push(step);
        }
    }

    pub(super) fn into_vec(self) -> Vec<Step> {
        self.0
    }
}
