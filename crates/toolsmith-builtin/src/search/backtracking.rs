//! Patterns with look-around or backreferences, and the engine that goes back.
//!
//! Its work is bounded twice. One search goes back only so often that it ends in a moment,
//! by what a step costs in a text of that length. What does not end so is searched again
//! from one place after the other, and before each it is asked whether to go on.

use std::sync::{Arc, OnceLock};

use fancy_regex::{BytesMode, Expr, Regex, RegexBuilder, RegexInput};
use grep_matcher::{Match, Matcher, NoCaptures};

use super::expense;
use super::globs::Case;
use super::linear::MOMENT;
use super::pattern::{self, Span, Unfound, Wanted};
use super::stop::Stop;
use crate::refusal::Refusal;

/// How many steps back one search may take however little they cost.
const MOST_STEPS: u64 = 250_000;

/// How many characters and classes a pattern may have, each as often as it is repeated.
/// A part of it may be compiled many times over.
const MOST_POSITIONS: u64 = 500;

/// How large a compiled part may be, in bytes.
const LARGEST: usize = 10 << 20;

/// How long texts are that a pattern is compiled for; each allows for fewer steps.
const LENGTHS: [usize; 9] = [
    16,
    64,
    256,
    1 << 10,
    4 << 10,
    32 << 10,
    256 << 10,
    2 << 20,
    16 << 20,
];

/// A pattern with look-around or backreferences.
#[derive(Clone, Debug)]
pub(crate) struct Backtracking(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    text: String,
    case: Case,
    span: Span,
    tree: Expr,
    /// How long a text is that may be searched at once. A pattern that needs no going back
    /// after all is left to the linear engine, which does not count.
    reach: usize,
    by_length: [OnceLock<Option<Regex>>; LENGTHS.len()],
}

impl Backtracking {
    /// Reads a pattern.
    pub(super) fn new(wanted: Wanted<'_>) -> Result<Self, Refusal> {
        let tree = match Expr::parse_tree(wanted.text) {
            Ok(tree) => tree.expr,
            Err(error) => return Err(unreadable(wanted, &error)),
        };
        let weight = match expense::weight(&tree) {
            Some(weight) if weight.positions <= MOST_POSITIONS => weight,
            Some(_) => return Err(pattern::too_large(wanted)),
            None => {
                let what = "of what goes beyond regular expressions, only look-around and backreferences are known";
                return Err(pattern::unreadable(wanted, place(wanted.text), what));
            }
        };
        let inner = Inner {
            text: wanted.text.to_owned(),
            case: wanted.case,
            span: wanted.span,
            tree,
            reach: weight.reach(),
            by_length: Default::default(),
        };
        // What is wrong with it is told before anything is searched.
        match inner.build(LENGTHS[0]) {
            Ok(Some(regex)) => {
                let _ = inner.by_length[0].set(Some(regex));
                Ok(Self(Arc::new(inner)))
            }
            Ok(None) => Err(pattern::too_large(wanted)),
            Err(error) => Err(unreadable(wanted, &error)),
        }
    }

    /// The pattern, for a search that may have to end.
    pub(super) fn until<'a>(&'a self, stop: &'a Stop<'a>) -> Patient<'a> {
        Patient {
            pattern: &self.0,
            stop,
        }
    }
}

impl Inner {
    /// How many steps back a search in so long a text may take; none where even one takes
    /// too long.
    fn steps(&self, length: usize) -> Option<usize> {
        let cost = expense::between_steps(&self.tree, length)?;
        let steps = (MOMENT / cost.max(1)).min(MOST_STEPS);
        (steps > 0).then(|| usize::try_from(steps).unwrap_or(usize::MAX))
    }

    /// The pattern for texts up to a length, if they do not take too long.
    fn build(&self, length: usize) -> Result<Option<Regex>, fancy_regex::Error> {
        let steps = self.steps(length);
        let built = RegexBuilder::new(&self.text)
            .bytes_mode(BytesMode::UnicodeBytes)
            .case_insensitive(self.case == Case::Insensitive)
            .multi_line(true)
            .dot_matches_new_line(self.span == Span::Lines)
            .crlf(self.span == Span::Line)
            .delegate_size_limit(LARGEST)
            .delegate_dfa_size_limit(LARGEST)
            .backtrack_limit(steps.unwrap_or(1))
            .build()?;
        Ok(steps.map(|_| built))
    }

    /// The pattern for a text of a length; none where such a text takes too long.
    fn for_length(&self, length: usize) -> Option<&Regex> {
        let index = LENGTHS.iter().position(|most| length <= *most)?;
        let built = self.by_length[index].get_or_init(|| {
            // Where it takes too long it need not be compiled.
            self.steps(LENGTHS[index])?;
            self.build(LENGTHS[index]).ok().flatten()
        });
        built.as_ref()
    }
}

/// Says what keeps a pattern from being compiled.
fn unreadable(wanted: Wanted<'_>, error: &fancy_regex::Error) -> Refusal {
    match error {
        fancy_regex::Error::ParseError(at, what) => {
            pattern::unreadable(wanted, *at, &what.to_string())
        }
        fancy_regex::Error::CompileError(what) => match &**what {
            fancy_regex::CompileError::InnerError(_) => pattern::too_large(wanted),
            what => pattern::unreadable(wanted, place(wanted.text), &what.to_string()),
        },
        _ => pattern::too_large(wanted),
    }
}

/// Where the first backreference or look-around of a pattern is, which a fault without a
/// place is most likely about.
fn place(pattern: &str) -> usize {
    let mut characters = pattern.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        match (character, characters.peek()) {
            ('\\', Some((_, '1'..='9' | 'k' | 'g'))) => return at,
            ('\\', Some(_)) => {
                characters.next();
            }
            _ => {}
        }
    }
    pattern.find("(?").unwrap_or(0)
}

/// A pattern that takes its time, and so asks over and over whether to go on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patient<'a> {
    pattern: &'a Inner,
    stop: &'a Stop<'a>,
}

impl Matcher for Patient<'_> {
    type Captures = NoCaptures;
    type Error = Unfound;

    fn find_at(&self, text: &[u8], at: usize) -> Result<Option<Match>, Unfound> {
        if self.stop.is_due() {
            return Err(Unfound::Stopped);
        }
        let Some(regex) = self.pattern.for_length(text.len()) else {
            return Err(Unfound::TooManySteps);
        };
        // Nearly all is found, or not, in the steps one search has.
        if text.len() - at <= self.pattern.reach
            && let Ok(found) = regex.find_input(RegexInput::new(text).from_pos(at))
        {
            return Ok(found.map(|found| Match::new(found.start(), found.end())));
        }
        for place in at..=text.len() {
            if self.stop.is_due() {
                return Err(Unfound::Stopped);
            }
            // A match does not begin within a character.
            if text.get(place).is_some_and(|byte| byte & 0xC0 == 0x80) {
                continue;
            }
            let input = RegexInput::new(text).from_pos(place).anchored(true);
            match regex.find_input(input) {
                Ok(None) => {}
                Ok(Some(found)) => return Ok(Some(Match::new(found.start(), found.end()))),
                Err(_) => return Err(Unfound::TooManySteps),
            }
        }
        Ok(None)
    }

    fn new_captures(&self) -> Result<NoCaptures, Unfound> {
        Ok(NoCaptures::new())
    }
}
