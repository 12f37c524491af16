//! The values the host knows to be secret, and where a text holds them.
//!
//! However many and long they are, they are found in one pass: the automaton knows the
//! beginnings only, and what follows one is compared. What looks like a key without
//! being known is found by [`Redactor`](super::Redactor).

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use aho_corasick::{AhoCorasick, AhoCorasickKind, BuildError, Input, MatchKind};

use super::spelling::spellings;

/// What stands where a secret stood.
pub(super) const REDACTED: &str = "[redacted]";

/// Shorter values are too common to be replaced wherever they occur.
pub(super) const SHORTEST_SECRET: usize = 6;

/// How much of a spelling the automaton knows. A text that agrees with a secret for so
/// long tells of it, so it is replaced as far as it agrees, wherever it departs.
const LONGEST_HEAD: usize = 256;

/// Beginnings that are longer than this together are searched with less memory, and
/// somewhat slower.
const MANY_HEADS: usize = 16 << 10;

/// The values the host knows to be secret.
#[derive(Default)]
pub(super) struct Known {
    /// As they were given.
    values: BTreeSet<Arc<str>>,
    /// How they may be written, in order.
    spellings: Vec<String>,
    finder: Finder,
}

/// What finds spellings.
#[derive(Default)]
enum Finder {
    /// There are none.
    #[default]
    Nothing,
    /// Finds their beginnings.
    Heads {
        automaton: AhoCorasick,
        /// By the number of a beginning, the spellings that begin like this.
        begun: Vec<Range<usize>>,
    },
    /// There are some, and they cannot be searched for.
    Unable,
}

/// A place of a text.
struct Found {
    place: Range<usize>,
    /// The text ends here, and a spelling goes on.
    is_open: bool,
}

impl std::fmt::Debug for Known {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} spellings", self.spellings.len())
    }
}

impl Known {
    /// These values, but for the short ones.
    pub(super) fn new(values: impl IntoIterator<Item = Arc<str>>) -> Self {
        let values = values.into_iter();
        let values: BTreeSet<Arc<str>> = values.filter(|value| !is_short(value)).collect();
        if values.is_empty() {
            return Self::default();
        }
        let written: BTreeSet<String> = values.iter().flat_map(|it| spellings(it)).collect();
        let spellings: Vec<String> = written.into_iter().collect();
        // In order, all that begin alike stand side by side.
        let (mut heads, mut begun): (Vec<&str>, Vec<Range<usize>>) = (Vec::new(), Vec::new());
        for (at, spelling) in spellings.iter().enumerate() {
            let head = &spelling[..spelling.floor_char_boundary(LONGEST_HEAD)];
            match begun.last_mut() {
                Some(range) if heads.last() == Some(&head) => range.end = at + 1,
                _ => {
                    heads.push(head);
                    begun.push(at..at + 1);
                }
            }
        }
        let finder = Finder::new(automaton(&heads), begun);
        Self {
            values,
            spellings,
            finder,
        }
    }

    /// The values, and these.
    pub(super) fn and(&self, fresh: &[Arc<str>]) -> Self {
        Self::new(self.values.iter().chain(fresh).cloned())
    }

    /// Tells whether there is nothing to look for.
    pub(super) fn is_empty(&self) -> bool {
        matches!(self.finder, Finder::Nothing)
    }

    /// Tells whether a value is known, or too short to be looked for.
    pub(super) fn covers(&self, value: &str) -> bool {
        is_short(value) || self.values.contains(value)
    }

    /// The text without them. Where they cannot be looked for, nothing of it is told.
    pub(super) fn replace<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.finder {
            Finder::Nothing => return Cow::Borrowed(text),
            Finder::Unable if text.is_empty() => return Cow::Borrowed(text),
            Finder::Unable => return Cow::Borrowed(REDACTED),
            Finder::Heads { .. } => {}
        }
        let (mut clean, mut told) = (String::new(), 0);
        while let Some(Found { place, .. }) = self.find(text, told) {
            clean.push_str(&text[told..place.start]);
            clean.push_str(REDACTED);
            told = place.end;
        }
        if told == 0 {
            return Cow::Borrowed(text);
        }
        clean.push_str(&text[told..]);
        Cow::Owned(clean)
    }

    /// How many bytes at the end of a text may be the beginning of one, of which at
    /// least `least` must be there to count.
    pub(super) fn open_end(&self, text: &str, least: usize) -> usize {
        if !matches!(self.finder, Finder::Heads { .. }) || text.len() < least.max(1) {
            return 0;
        }
        // What is longer than a head is found like whole ones.
        let is_long = |spelling: &String| spelling.len() > LONGEST_HEAD;
        if self.spellings.iter().any(is_long) {
            let mut from = 0;
            while let Some(Found { place, is_open }) = self.find(text, from) {
                if is_open {
                    return place.len();
                }
                from = place.end;
            }
        }
        let begins = |start: &usize| {
            let end = &text[*start..];
            let next = self.spellings.partition_point(|it| it.as_str() <= end);
            self.spellings
                .get(next)
                .is_some_and(|it| it.starts_with(end))
        };
        let first = text.len().saturating_sub(LONGEST_HEAD);
        let last = text.len() - least.max(1);
        let mut starts = (first..=last).filter(|at| text.is_char_boundary(*at));
        starts.find(begins).map_or(0, |start| text.len() - start)
    }

    /// This place of a text, or where the one begins that it is in the middle of.
    pub(super) fn floor_boundary(&self, text: &str, at: usize) -> usize {
        let mut from = 0;
        while let Some(Found { place, .. }) = self.find(text, from) {
            if place.start >= at {
                break;
            }
            if at < place.end {
                return place.start;
            }
            from = place.end;
        }
        at
    }

    /// The first place from here on, of those the longest.
    fn find(&self, text: &str, from: usize) -> Option<Found> {
        let Finder::Heads { automaton, begun } = &self.finder else {
            return None;
        };
        let head = automaton.find(Input::new(text).range(from..))?;
        let rest = &text[head.start()..];
        let candidates = &self.spellings[begun[head.pattern().as_usize()].clone()];
        let agreed = candidates.iter().map(|it| agreement(rest, it)).max();
        let end = head.start() + agreed.unwrap_or_default().max(head.len());
        let goes_on = |it: &String| it.len() > rest.len() && it.starts_with(rest);
        Some(Found {
            place: head.start()..end,
            is_open: candidates.iter().any(goes_on),
        })
    }
}

impl Finder {
    fn new(automaton: Result<AhoCorasick, BuildError>, begun: Vec<Range<usize>>) -> Self {
        match automaton {
            Ok(automaton) => Self::Heads { automaton, begun },
            Err(_) => Self::Unable,
        }
    }
}

fn automaton(heads: &[&str]) -> Result<AhoCorasick, BuildError> {
    let bytes: usize = heads.iter().map(|head| head.len()).sum();
    AhoCorasick::builder()
        // A secret that contains another is replaced whole.
        .match_kind(MatchKind::LeftmostLongest)
        .kind((bytes > MANY_HEADS).then_some(AhoCorasickKind::ContiguousNFA))
        .build(heads)
}

fn is_short(value: &str) -> bool {
    value.len() < SHORTEST_SECRET
}

/// For how many bytes a text goes like a spelling; whole characters.
fn agreement(text: &str, spelling: &str) -> usize {
    // Nearly always the one holds the other, which is told at once.
    let shorter = text.len().min(spelling.len());
    if text.as_bytes()[..shorter] == spelling.as_bytes()[..shorter] {
        return shorter;
    }
    let pairs = text.bytes().zip(spelling.bytes());
    text.floor_char_boundary(pairs.take_while(|(a, b)| a == b).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_cannot_look_for_secrets_tells_nothing() {
        let known = Known {
            finder: Finder::Unable,
            ..Known::new([Arc::from("hunter2hunter2")])
        };
        assert!(!known.is_empty());
        assert_eq!(known.replace("anything"), REDACTED);
        assert_eq!(known.replace(""), "");
        assert_eq!(known.open_end("hunter2", 1), 0);
    }
}
