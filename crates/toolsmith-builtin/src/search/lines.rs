//! The lines of a file that match, with those around them: the second pass of a search.

use std::fs::File;
use std::io;
use std::ops::Range;

use grep_searcher::{BinaryDetection, Searcher, Sink, SinkContext, SinkContextKind, SinkMatch};

use super::count::Watched;
use super::over_lines;
use super::pattern::{Span, Unfound};
use super::query::Query;
use super::stop::Stop;

/// How many characters of a line are shown.
const LONGEST_LINE: usize = 500;

/// How many bytes one match over several lines may show.
const LONGEST_MATCH: usize = 64 << 10;

/// A line that is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) number: u64,
    pub(crate) text: String,
    /// Whether something was found in it, or near it.
    pub(crate) is_match: bool,
    /// Whether lines before it were left out.
    pub(crate) is_after_gap: bool,
    /// How many matches begin here and count.
    pub(crate) begins: usize,
}

/// What is shown of a file.
#[derive(Debug, Default)]
pub(crate) struct Excerpt {
    pub(crate) lines: Vec<Line>,
    /// Whether lines of a match were left out.
    pub(crate) is_cut: bool,
}

/// Which matches of a file are shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    pub(crate) skip: u64,
    pub(crate) take: u64,
    pub(crate) before: usize,
    pub(crate) after: usize,
    /// How many bytes of text may be shown.
    pub(crate) room: usize,
}

/// The lines of a file that are shown.
pub(crate) fn lines(file: &File, query: &Query, window: Window, stop: &Stop<'_>) -> Excerpt {
    let mut searcher = query.searcher();
    searcher
        .line_number(true)
        .before_context(window.before)
        .after_context(window.after)
        .binary_detection(BinaryDetection::quit(0));
    let mut lines = Lines {
        query,
        window,
        stop,
        seen: 0,
        size: 0,
        before: Vec::new(),
        has_gap: false,
        shown: Vec::new(),
        is_cut: false,
    };
    // What keeps it from being searched to its end was told by the first pass.
    let _ = query.search(&mut searcher.build(), Watched::new(file, stop), &mut lines);
    Excerpt {
        lines: lines.shown,
        is_cut: lines.is_cut,
    }
}

struct Lines<'a> {
    query: &'a Query,
    window: Window,
    stop: &'a Stop<'a>,
    /// How many matches there were so far.
    seen: u64,
    /// How many bytes are shown.
    size: usize,
    /// Lines that are shown if the next match is.
    before: Vec<Line>,
    has_gap: bool,
    shown: Vec<Line>,
    is_cut: bool,
}

impl Lines<'_> {
    fn is_shown(&self, seen: u64) -> bool {
        seen > self.window.skip && seen <= self.window.skip + self.window.take
    }

    fn line(&mut self, number: Option<u64>, bytes: &[u8], found: Option<&Range<usize>>) -> Line {
        Line {
            number: number.unwrap_or_default(),
            text: cut(bytes, found.unwrap_or(&(0..0))),
            is_match: found.is_some(),
            is_after_gap: std::mem::take(&mut self.has_gap),
            begins: 0,
        }
    }

    fn show(&mut self, line: Line) {
        self.size += line.text.len();
        self.shown.push(line);
    }

    /// Shows the lines of matches in a whole text, and those around them.
    fn over_lines(&mut self, text: &[u8]) -> Result<(), Unfound> {
        let Query { pattern, .. } = self.query;
        let mut place = Place {
            text,
            number: 1,
            at: 0,
        };
        // Up to where lines are shown, and how many are shown after that.
        let (mut shown_to, mut after) = (0, 0);
        over_lines::each(pattern, text, self.stop, |found| {
            self.seen += 1;
            if !self.is_shown(self.seen) {
                return self.seen <= self.window.skip;
            }
            let lines = over_lines::lines_of(text, found);
            shown_to = self.around(&mut place, shown_to, &mut after, lines.start);
            let mut from = lines.start;
            for _ in 0..self.window.before {
                if from <= shown_to {
                    break;
                }
                from = memchr::memrchr(b'\n', &text[..from - 1]).map_or(0, |newline| newline + 1);
            }
            let from = from.max(shown_to);
            self.has_gap = !self.shown.is_empty() && from > shown_to;
            let (mut at, mut size) = (from, 0);
            while at < lines.end && size <= LONGEST_MATCH {
                let line = line_at(text, at);
                let is_match = (at >= lines.start).then_some(&(0..0));
                let mut line_shown =
                    self.line(Some(place.number_at(at)), without_end(line), is_match);
                line_shown.begins = usize::from(at == lines.start);
                size += line_shown.text.len();
                self.show(line_shown);
                at += line.len();
            }
            // Another match has begun in a line that is shown already.
            if from > lines.start
                && let Some(last) = self.shown.last_mut()
            {
                last.begins += 1;
            }
            self.is_cut |= at < lines.end;
            shown_to = shown_to.max(at);
            after = self.window.after;
            self.size <= self.window.room
        })?;
        self.around(&mut place, shown_to, &mut after, text.len());
        Ok(())
    }

    /// Shows lines after a match, up to a place; tells where they end.
    fn around(
        &mut self,
        place: &mut Place<'_>,
        from: usize,
        after: &mut usize,
        to: usize,
    ) -> usize {
        let mut at = from;
        while *after > 0 && at < to {
            let line = line_at(place.text, at);
            let shown = self.line(Some(place.number_at(at)), without_end(line), None);
            self.show(shown);
            at += line.len();
            *after -= 1;
        }
        at
    }
}

/// A place in a text, and the number of its line.
struct Place<'a> {
    text: &'a [u8],
    number: u64,
    at: usize,
}

impl Place<'_> {
    /// The number of the line that begins at a place, none of which lies before another.
    fn number_at(&mut self, at: usize) -> u64 {
        let passed = &self.text[self.at.min(at)..at];
        self.number += memchr::memchr_iter(b'\n', passed).count() as u64;
        self.at = at;
        self.number
    }
}

/// The line that begins at a place, with its line break.
fn line_at(text: &[u8], at: usize) -> &[u8] {
    let end = memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |newline| at + newline + 1);
    &text[at..end]
}

impl Sink for Lines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        if self.query.span == Span::Lines {
            self.over_lines(found.bytes())?;
            return Ok(false);
        }
        if self.query.excludes(found.bytes(), self.stop)? {
            self.before.clear();
            self.has_gap = true;
            return Ok(true);
        }
        self.seen += 1;
        if self.seen > self.window.skip + self.window.take
            || self.size > self.window.room
            || self.stop.is_due()
        {
            return Ok(false);
        }
        let before = std::mem::take(&mut self.before);
        if !self.is_shown(self.seen) {
            return Ok(true);
        }
        before.into_iter().for_each(|line| self.show(line));
        let bytes = without_end(found.bytes());
        let place = self.query.pattern.find_at(bytes, 0, self.stop);
        let place = place.ok().flatten().map(|found| found.start()..found.end());
        let mut line = self.line(found.line_number(), bytes, Some(&place.unwrap_or(0..0)));
        line.begins = 1;
        self.show(line);
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        let line = self.line(context.line_number(), without_end(context.bytes()), None);
        match context.kind() {
            SinkContextKind::Before => self.before.push(line),
            _ if self.is_shown(self.seen) => self.show(line),
            _ => {}
        }
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> io::Result<bool> {
        self.has_gap = !self.shown.is_empty();
        Ok(true)
    }
}

fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// The text of a line; of a long one the part around what was found.
fn cut(line: &[u8], found: &Range<usize>) -> String {
    if line.len() <= LONGEST_LINE {
        return String::from_utf8_lossy(line).into_owned();
    }
    // A character has four bytes at most, so that no more of a huge line is looked at.
    let middle = (found.start + (found.len() / 2).min(LONGEST_LINE / 2)).min(line.len());
    let from = boundary(line, middle.saturating_sub(4 * LONGEST_LINE));
    let to = boundary(line, (middle + 4 * LONGEST_LINE).min(line.len()));
    let middle = boundary(line, middle);
    let before: Vec<char> = String::from_utf8_lossy(&line[from..middle])
        .chars()
        .collect();
    let after: Vec<char> = String::from_utf8_lossy(&line[middle..to]).chars().collect();
    let half = LONGEST_LINE / 2;
    let of_before = before.len().min(LONGEST_LINE - after.len().min(half));
    let of_after = after.len().min(LONGEST_LINE - of_before);
    let shown: String = before[before.len() - of_before..]
        .iter()
        .chain(&after[..of_after])
        .collect();
    let left_of = middle - length(&before[before.len() - of_before..]).min(middle);
    let right_of = (line.len() - middle).saturating_sub(length(&after[..of_after]));
    match (left_of, right_of) {
        (0, 0) => shown,
        (0, right) => format!("{shown} [… {right} more bytes]"),
        (left, 0) => format!("[{left} bytes …] {shown}"),
        (left, right) => format!("[{left} bytes …] {shown} [… {right} more bytes]"),
    }
}

fn length(characters: &[char]) -> usize {
    characters
        .iter()
        .map(|character| character.len_utf8())
        .sum()
}

/// The beginning of the character a place lies in.
fn boundary(line: &[u8], at: usize) -> usize {
    let is_inside = |at: &usize| line.get(*at).is_some_and(|byte| byte & 0xC0 == 0x80);
    (at.saturating_sub(3)..=at)
        .rev()
        .find(|at| !is_inside(at))
        .unwrap_or(at)
}
