//! Matches that may go on over several lines, in a text that is read as a whole.
//!
//! The searcher would take matches that touch for one. So it only reads the text and tells
//! whether it is one; the matches are found here, and each of them counts.

use std::ops::Range;

use grep_matcher::{Match, Matcher, NoCaptures, NoError};

use super::pattern::{Pattern, Unfound};
use super::stop::Stop;

/// What matches a whole text, so that the searcher hands it over as it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Everything;

impl Matcher for Everything {
    type Captures = NoCaptures;
    type Error = NoError;

    fn find_at(&self, text: &[u8], at: usize) -> Result<Option<Match>, NoError> {
        Ok(Some(Match::new(at, text.len())))
    }

    fn new_captures(&self) -> Result<NoCaptures, NoError> {
        Ok(NoCaptures::new())
    }
}

/// Shows all matches of a text, one after the other, as long as they are wanted.
pub(super) fn each(
    pattern: &Pattern,
    text: &[u8],
    stop: &Stop<'_>,
    mut wants_more: impl FnMut(Match) -> bool,
) -> Result<(), Unfound> {
    let mut at = 0;
    let mut last = None;
    while at <= text.len() {
        let Some(found) = pattern.find_at(text, at, stop)? else {
            break;
        };
        at = found.end();
        if found.is_empty() {
            at += 1;
            while text.get(at).is_some_and(|byte| byte & 0xC0 == 0x80) {
                at += 1;
            }
            // Nothing is no match where one ended, nor behind the last line.
            let is_behind = found.end() == text.len() && text.ends_with(b"\n");
            if last == Some(found.end()) || is_behind {
                continue;
            }
        }
        last = Some(found.end());
        if !wants_more(found) {
            break;
        }
    }
    Ok(())
}

/// The lines a match lies in, the last with its line break.
pub(super) fn lines_of(text: &[u8], found: Match) -> Range<usize> {
    let start = memchr::memrchr(b'\n', &text[..found.start()]).map_or(0, |newline| newline + 1);
    // A match that ends in a line break does not reach into the next line.
    let last = match found.is_empty() {
        true => found.end(),
        false => found.end() - 1,
    };
    let end = memchr::memchr(b'\n', &text[last..]).map_or(text.len(), |newline| last + newline + 1);
    start..end
}
