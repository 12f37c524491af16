//! Writes a new line in the characters of the line it replaces.
//!
//! Where a line was found although its quotes or spaces differ, what did not change
//! keeps the quotes and spaces it has.

use super::align::align;
use super::fold::{Fold, Folded};

/// The new line, with what it shares with the old one as it is there. The old line and
/// the one that is there are the same but for what the fold overlooks.
pub(super) fn graft(old: &str, new: &str, there: &str, fold: Fold) -> String {
    let (old_folded, there_folded) = (Folded::new(old, fold), Folded::new(there, fold));
    if old_folded.text() != there_folded.text() {
        return new.to_owned();
    }
    let old_words: Vec<&str> = Words(old).collect();
    let new_words: Vec<&str> = Words(new).collect();
    let as_there = |start: usize, end: usize| {
        let start = there_folded.start(old_folded.place(start))?;
        there.get(start..there_folded.end(old_folded.place(end))?)
    };
    let mut line = String::with_capacity(new.len());
    let (mut old_at, mut new_at) = (Cursor::new(&old_words), Cursor::new(&new_words));
    for block in align(&old_words, &new_words) {
        let (start, end) = old_at.advance(block.old.start);
        let (new_start, new_end) = new_at.advance(block.new.start);
        if start < end {
            line.push_str(as_there(start, end).unwrap_or(&new[new_start..new_end]));
        }
        old_at.advance(block.old.end);
        let (new_start, new_end) = new_at.advance(block.new.end);
        line.push_str(&new[new_start..new_end]);
    }
    let (start, end) = old_at.advance(old_words.len());
    if start < end {
        let (new_start, new_end) = new_at.advance(new_words.len());
        line.push_str(as_there(start, end).unwrap_or(&new[new_start..new_end]));
    }
    line
}

/// Words, runs of whitespace, and every other character for itself.
pub(crate) struct Words<'a>(pub(crate) &'a str);

impl<'a> Iterator for Words<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let first = self.0.chars().next()?;
        let end = match kind(first) {
            Kind::Other => first.len_utf8(),
            run => self
                .0
                .find(|next| kind(next) != run)
                .unwrap_or(self.0.len()),
        };
        let (word, rest) = self.0.split_at(end);
        self.0 = rest;
        Some(word)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Word,
    Space,
    Other,
}

fn kind(character: char) -> Kind {
    match character {
        '0'..='9' | 'A'..='Z' | 'a'..='z' | '_' => Kind::Word,
        '\0'..='\u{7F}' if !character.is_whitespace() => Kind::Other,
        _ if character.is_whitespace() => Kind::Space,
        // Scripts that put no space between words start here.
        '\u{2E80}'.. => Kind::Other,
        _ if character.is_alphanumeric() => Kind::Word,
        _ => Kind::Other,
    }
}

/// Goes along words and knows how many bytes they take.
struct Cursor<'a> {
    words: &'a [&'a str],
    index: usize,
    bytes: usize,
}

impl<'a> Cursor<'a> {
    fn new(words: &'a [&'a str]) -> Self {
        Self {
            words,
            index: 0,
            bytes: 0,
        }
    }

    /// Goes to a word, and tells which bytes were passed.
    fn advance(&mut self, index: usize) -> (usize, usize) {
        let start = self.bytes;
        let passed = &self.words[self.index..index];
        self.bytes += passed.iter().map(|word| word.len()).sum::<usize>();
        self.index = index;
        (start, self.bytes)
    }
}
