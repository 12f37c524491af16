//! Patterns the linear engine can search for.
//!
//! It takes time in proportion to the text, and at worst to the size of the expression as
//! well. What it can do in a moment is left to it. What may take longer is given to it in
//! pieces of whole lines, and a line that is still too long goes to [`Steps`].

use std::sync::{Arc, OnceLock};

use grep_matcher::{ByteSet, LineMatchKind, LineTerminator, Match, Matcher, NoCaptures};
use grep_regex::RegexMatcher;
use regex_syntax::hir::{Class, Hir, HirKind, Look};

use super::pattern::Unfound;
use super::steps::{End, Steps};
use super::stop::Stop;

/// How long one search may take that cannot be stopped, in nanoseconds.
pub(super) const MOMENT: u64 = 50_000_000;

/// So many free positions and fewer have so few states that all of them are known soon.
const FEW: u64 = 8;

/// And so many of any kind.
const NOT_MANY: u64 = 1000;

/// What a byte takes for each position otherwise, in nanoseconds.
const FOR_POSITION: u64 = 5;

/// How much text is searched at once without asking.
const UNASKED: usize = 64 << 10;

/// A pattern for the linear engine.
#[derive(Clone, Debug)]
pub(crate) struct Linear(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    matcher: RegexMatcher,
    /// Whether a line may also end in a carriage return, which `$` has to know.
    has_crlf: bool,
    expression: Hir,
    largest: usize,
    /// How many bytes are searched in a moment, whatever they are.
    reach: usize,
    steps: OnceLock<Option<Steps>>,
}

impl Linear {
    /// A pattern that was read, as the engine and as the expression it is of.
    pub(super) fn new(
        matcher: RegexMatcher,
        expression: Hir,
        has_crlf: bool,
        largest: usize,
    ) -> Self {
        let reach = match expression.kind() {
            HirKind::Literal(_) => usize::MAX,
            _ => weight(&expression).reach(),
        };
        Self(Arc::new(Inner {
            matcher,
            has_crlf,
            expression,
            largest,
            reach,
            steps: OnceLock::new(),
        }))
    }

    pub(super) fn has_crlf(&self) -> bool {
        self.0.has_crlf
    }

    /// Whether a match never has a line break in it.
    pub(super) fn stays_in_line(&self) -> bool {
        let never = self.0.matcher.non_matching_bytes();
        never.is_some_and(|bytes| bytes.contains(b'\n'))
    }

    /// The pattern, for a search that may have to end.
    pub(super) fn until<'a>(&'a self, stop: &'a Stop<'a>) -> Watching<'a> {
        Watching {
            pattern: &self.0,
            stop,
            line_end: b'\n',
        }
    }
}

/// How much work a pattern is at worst.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Weight {
    /// How many places a match can be in at once: characters and classes, each as often as
    /// it is repeated.
    pub(super) positions: u64,
    /// How many of them are no single character, so that a text can be in any set of them.
    pub(super) free: u64,
    /// Whether it asks where words end, which the fast engine knows in ASCII only.
    pub(super) has_words: bool,
}

impl Weight {
    pub(super) const CLASS: Self = Self {
        positions: 1,
        free: 1,
        has_words: false,
    };

    /// So many characters, one after the other.
    pub(super) fn characters(count: usize) -> Self {
        Self {
            positions: count as u64,
            ..Self::default()
        }
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self {
            positions: self.positions.saturating_add(other.positions),
            free: self.free.saturating_add(other.free),
            has_words: self.has_words || other.has_words,
        }
    }

    /// As often as it is repeated; each time there is the choice to go on or not.
    pub(super) fn times(self, times: u64) -> Self {
        let sum = self.and(Self::CLASS);
        Self {
            positions: sum.positions.saturating_mul(times),
            free: sum.free.saturating_mul(times),
            ..sum
        }
    }

    /// How many bytes are searched in a moment, whatever they are.
    pub(super) fn reach(self) -> usize {
        let bytes = MOMENT / self.nanoseconds();
        usize::try_from(bytes).unwrap_or(usize::MAX).max(1)
    }

    /// What a byte takes at worst, in nanoseconds.
    pub(super) fn nanoseconds(self) -> u64 {
        match self.free <= FEW && self.positions <= NOT_MANY && !self.has_words {
            true => 1,
            false => FOR_POSITION.saturating_mul(self.positions).max(1),
        }
    }
}

fn weight(expression: &Hir) -> Weight {
    let of_all = |parts: &[Hir], each: Weight| {
        let parts = parts.iter().map(|part| weight(part).and(each));
        parts.fold(Weight::default(), Weight::and)
    };
    match expression.kind() {
        HirKind::Empty => Weight::default(),
        HirKind::Literal(literal) => Weight::characters(literal.0.len()),
        HirKind::Class(class) if is_letter(class) => Weight::characters(1),
        HirKind::Class(_) => Weight::CLASS,
        HirKind::Look(_) => Weight {
            has_words: has_words(expression),
            ..Weight::characters(1)
        },
        HirKind::Repetition(repetition) => {
            let times = repetition.max.unwrap_or(repetition.min.saturating_add(1));
            weight(&repetition.sub).times(times.max(1).into())
        }
        HirKind::Capture(capture) => weight(&capture.sub),
        HirKind::Concat(parts) => of_all(parts, Weight::default()),
        HirKind::Alternation(parts) => of_all(parts, Weight::CLASS),
    }
}

/// Whether a class is one letter, small or capital.
fn is_letter(class: &Class) -> bool {
    let Class::Unicode(class) = class else {
        return false;
    };
    let mut letters = class
        .ranges()
        .iter()
        .take(5)
        .flat_map(|range| (range.start()..=range.end()).take(5));
    let Some(first) = letters.next() else {
        return false;
    };
    let first = first.to_lowercase().to_string();
    letters.all(|letter| letter.to_lowercase().to_string() == first)
}

/// Whether it asks for the ends of words, which the fast engine only knows in ASCII.
fn has_words(expression: &Hir) -> bool {
    let looks = expression.properties().look_set();
    [
        Look::WordUnicode,
        Look::WordUnicodeNegate,
        Look::WordStartUnicode,
        Look::WordEndUnicode,
        Look::WordStartHalfUnicode,
        Look::WordEndHalfUnicode,
    ]
    .into_iter()
    .any(|look| looks.contains(look))
}

/// A pattern whose search is given up when it is over.
#[derive(Clone, Copy, Debug)]
pub(super) struct Watching<'a> {
    pattern: &'a Inner,
    stop: &'a Stop<'a>,
    line_end: u8,
}

impl Watching<'_> {
    /// The same in a text whose lines end otherwise.
    pub(super) fn ending(self, line_end: u8) -> Self {
        Self { line_end, ..self }
    }

    /// Whether so much text is searched in a moment.
    fn is_near(&self, length: usize) -> Result<bool, Unfound> {
        if length > UNASKED && self.stop.is_due() {
            return Err(Unfound::Stopped);
        }
        Ok(length <= self.pattern.reach)
    }

    fn steps(&self) -> Result<&Steps, Unfound> {
        let Inner {
            expression,
            largest,
            steps,
            ..
        } = self.pattern;
        let steps = steps.get_or_init(|| {
            let positions = usize::try_from(weight(expression).positions);
            Steps::new(expression, positions.unwrap_or(usize::MAX), *largest)
        });
        steps.as_ref().ok_or(Unfound::TooLong)
    }

    /// The first line with a match among many, of which only some are searched at once.
    fn far(&self, text: &[u8]) -> Result<Option<LineMatchKind>, Unfound> {
        let mut at = 0;
        while at < text.len() {
            if self.stop.is_due() {
                return Err(Unfound::Stopped);
            }
            let rest = &text[at..];
            let lines = match rest.get(..self.pattern.reach) {
                Some(near) => memchr::memrchr(self.line_end, near).map(|newline| newline + 1),
                None => Some(rest.len()),
            };
            let Some(length) = lines else {
                let end = memchr::memchr(self.line_end, rest).unwrap_or(rest.len());
                let line = &rest[..end];
                let line = match self.pattern.has_crlf {
                    true => line.strip_suffix(b"\r").unwrap_or(line),
                    false => line,
                };
                if self.shortest_match_at(line, 0)?.is_some() {
                    return Ok(Some(LineMatchKind::Confirmed(at)));
                }
                at += end + 1;
                continue;
            };
            let is_last = at + length == text.len();
            match self.pattern.matcher.find_candidate_line(&rest[..length]) {
                // What is found behind the last line break belongs to the next piece.
                Ok(Some(LineMatchKind::Confirmed(place))) if is_last || place < length => {
                    return Ok(Some(LineMatchKind::Confirmed(at + place)));
                }
                Ok(Some(LineMatchKind::Candidate(place))) if is_last || place < length => {
                    return Ok(Some(LineMatchKind::Candidate(at + place)));
                }
                _ => at += length,
            }
        }
        Ok(None)
    }
}

impl Matcher for Watching<'_> {
    type Captures = NoCaptures;
    type Error = Unfound;

    fn find_at(&self, text: &[u8], at: usize) -> Result<Option<Match>, Unfound> {
        match self.is_near(text.len() - at)? {
            true => Ok(self.pattern.matcher.find_at(text, at).ok().flatten()),
            false => self.steps()?.find(text, at, self.stop),
        }
    }

    fn new_captures(&self) -> Result<NoCaptures, Unfound> {
        Ok(NoCaptures::new())
    }

    fn shortest_match_at(&self, text: &[u8], at: usize) -> Result<Option<usize>, Unfound> {
        match self.is_near(text.len() - at)? {
            true => Ok(self
                .pattern
                .matcher
                .shortest_match_at(text, at)
                .ok()
                .flatten()),
            false => self.steps()?.end(text, at, End::First, self.stop),
        }
    }

    fn non_matching_bytes(&self) -> Option<&ByteSet> {
        self.pattern.matcher.non_matching_bytes()
    }

    fn line_terminator(&self) -> Option<LineTerminator> {
        let usual = self.pattern.matcher.line_terminator();
        usual.filter(|_| self.line_end == b'\n')
    }

    fn find_candidate_line(&self, text: &[u8]) -> Result<Option<LineMatchKind>, Unfound> {
        match text.len() <= self.pattern.reach {
            true => Ok(self
                .pattern
                .matcher
                .find_candidate_line(text)
                .ok()
                .flatten()),
            false => self.far(text),
        }
    }
}
