//! Counting the matches of one file, read as long as the search may go on.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read};

use grep_searcher::{Searcher, Sink, SinkMatch};

use super::over_lines;
use super::pattern::Span;
use super::query::Query;
use super::stop::Stop;

/// How much of a file is read once it shows that it is not text.
const MOST_OF_BINARY: usize = 256 << 10;

/// Whether a file is text, and how much of it is read if it is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Binary {
    Text,
    /// It is not, and so many bytes more are read.
    Left(usize),
    /// It is not, and has more than is read.
    Cut,
}

/// Counts the matches in one file.
pub(super) struct Count<'a> {
    query: &'a Query,
    most: Option<u64>,
    stop: &'a Stop<'a>,
    binary: &'a Cell<Binary>,
    pub(super) count: u64,
}

impl<'a> Count<'a> {
    pub(super) fn new(
        query: &'a Query,
        most: Option<u64>,
        stop: &'a Stop<'a>,
        binary: &'a Cell<Binary>,
    ) -> Self {
        Self {
            query,
            most,
            stop,
            binary,
            count: 0,
        }
    }
}

impl Count<'_> {
    /// Counts a match; tells whether more are wanted.
    fn one_more(&mut self) -> bool {
        self.count += 1;
        if self.binary.get() != Binary::Text || self.most.is_some_and(|most| self.count >= most) {
            return false;
        }
        // Many matches may lie in one piece that was read.
        !self.count.is_multiple_of(1024) || !self.stop.is_due()
    }

    /// How many results the file has: one that is not text is one.
    pub(super) fn results(&self) -> u64 {
        match self.binary.get() {
            Binary::Text => self.count,
            Binary::Left(_) | Binary::Cut => self.count.min(1),
        }
    }
}

impl Sink for Count<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        match self.query.span {
            Span::Line if self.query.excludes(found.bytes(), self.stop)? => Ok(true),
            Span::Line => Ok(self.one_more()),
            Span::Lines => {
                let Query { pattern, .. } = self.query;
                over_lines::each(pattern, found.bytes(), self.stop, |_| self.one_more())?;
                Ok(true)
            }
        }
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> io::Result<bool> {
        self.binary.set(Binary::Left(MOST_OF_BINARY));
        // That it matches is all that is told of it.
        Ok(self.count == 0)
    }
}

/// A file that is read only as long as the search may go on, and if it is not text only
/// so far.
pub(super) struct Watched<'a> {
    file: &'a File,
    pub(super) stop: &'a Stop<'a>,
    binary: Option<&'a Cell<Binary>>,
}

impl<'a> Watched<'a> {
    /// A file that is read to its end, text or not.
    pub(super) fn new(file: &'a File, stop: &'a Stop<'a>) -> Self {
        Self {
            file,
            stop,
            binary: None,
        }
    }

    /// The same, read only so far once it shows that it is no text.
    pub(super) fn unless(self, binary: &'a Cell<Binary>) -> Self {
        Self {
            binary: Some(binary),
            ..self
        }
    }
}

impl Read for Watched<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.is_due() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let read = self.file.read(buffer)?;
        let Some(binary) = self.binary else {
            return Ok(read);
        };
        match binary.get() {
            Binary::Text => Ok(read),
            Binary::Left(left) if read <= left => {
                binary.set(Binary::Left(left - read));
                Ok(read)
            }
            Binary::Left(left) => {
                binary.set(Binary::Cut);
                Ok(left)
            }
            Binary::Cut => Ok(0),
        }
    }
}
