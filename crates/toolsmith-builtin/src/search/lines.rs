//! The lines of a file that match, with those around them: the second pass of a search.

use std::fs::File;
use std::io;
use std::ops::Range;

use grep_searcher::{BinaryDetection, Searcher, Sink, SinkContext, SinkContextKind, SinkMatch};

use super::content::{Query, Watched};
use super::pattern::Span;
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
    /// Whether a match begins here, so that it counts.
    pub(crate) begins: bool,
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
pub(crate) fn lines(
    file: &File,
    query: &Query,
    window: Window,
    stop: &Stop<'_>,
) -> io::Result<Vec<Line>> {
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
    };
    query.search(&mut searcher.build(), Watched::new(file, stop), &mut lines)?;
    Ok(lines.shown)
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
            begins: false,
        }
    }

    fn show(&mut self, line: Line) {
        self.size += line.text.len();
        self.shown.push(line);
    }
}

impl Sink for Lines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        if self.query.but_not.is_some() && self.query.excludes(found.bytes()) {
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
        let first = self.shown.len();
        let mut size = 0;
        for (number, bytes) in (found.line_number().unwrap_or(1)..).zip(found.lines()) {
            if size > LONGEST_MATCH {
                break;
            }
            let bytes = without_end(bytes);
            let place = match self.query.span {
                Span::Line => self
                    .query
                    .pattern
                    .find(bytes)
                    .map(|found| found.start()..found.end()),
                Span::Lines => None,
            };
            let line = self.line(Some(number), bytes, Some(&place.unwrap_or(0..0)));
            size += line.text.len();
            self.show(line);
        }
        if let Some(line) = self.shown.get_mut(first) {
            line.begins = true;
        }
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
