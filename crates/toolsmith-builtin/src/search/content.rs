//! Searching the content of files, in two passes.
//!
//! The first walks the tree and only counts, so that its memory does not depend on how
//! much there is to find. The second reads again those few files whose lines are shown.

use std::cell::Cell;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use grep_searcher::{BinaryDetection, MmapChoice, Searcher, SearcherBuilder, Sink, SinkMatch};
use ignore::types::Types;

use super::folder::Kind;
use super::globs::{Case, Glob};
use super::kept::Kept;
use super::over_lines::{self, Everything};
use super::pattern::{Pattern, STOPPED, Span, Syntax, TOO_LONG, TOO_MANY_STEPS, Unfound, Wanted};
use super::start::Start;
use super::stop::Stop;
use super::walk::{Entry, Go, Unseen, Visitor, WalkOptions, walk};
use crate::refusal::Refusal;
use crate::time::Moment;

/// How long a line may be, or a file where matches go over lines, in bytes.
const MOST_HEAP: usize = 16 << 20;

/// How much of a file is read once it shows that it is not text.
const MOST_OF_BINARY: usize = 256 << 10;

/// What is looked for, and in which lines.
#[derive(Clone, Debug)]
pub(crate) struct Query {
    pub(super) pattern: Pattern,
    pub(super) span: Span,
    /// Lines that match this too do not count.
    but_not: Option<Pattern>,
}

impl Query {
    /// Looks for a pattern, over lines if it is so meant and can go over them.
    pub(crate) fn new(pattern: Pattern, span: Span, but_not: Option<Pattern>) -> Self {
        let span = match pattern.stays_in_line() {
            true => Span::Line,
            false => span,
        };
        Self {
            pattern,
            span,
            but_not,
        }
    }

    pub(super) fn excludes(&self, line: &[u8], stop: &Stop<'_>) -> Result<bool, Unfound> {
        match &self.but_not {
            Some(pattern) => Ok(pattern.find_at(line, 0, stop)?.is_some()),
            None => Ok(false),
        }
    }

    /// What counts with it.
    fn counter(&self) -> Searcher {
        // What is not text is searched all the same, and only said to match.
        let mut builder = self.searcher();
        builder
            .line_number(false)
            .binary_detection(BinaryDetection::convert(0));
        builder.build()
    }

    /// What searches with it, but for what is shown.
    pub(super) fn searcher(&self) -> SearcherBuilder {
        let mut builder = SearcherBuilder::new();
        builder
            .memory_map(MmapChoice::never())
            .heap_limit(Some(MOST_HEAP))
            .multi_line(self.span == Span::Lines);
        if let Pattern::Linear(pattern) = &self.pattern
            && pattern.has_crlf()
        {
            builder.line_terminator(grep_matcher::LineTerminator::crlf());
        }
        builder
    }

    /// Searches a file.
    pub(super) fn search<S: Sink<Error = io::Error>>(
        &self,
        searcher: &mut Searcher,
        file: Watched<'_>,
        sink: S,
    ) -> io::Result<()> {
        let stop = file.stop;
        match (&self.pattern, self.span) {
            (_, Span::Lines) => searcher.search_reader(Everything, file, sink),
            (Pattern::Linear(pattern), Span::Line) => {
                searcher.search_reader(pattern.until(stop), file, sink)
            }
            (Pattern::Backtracking(pattern), Span::Line) => {
                searcher.search_reader(pattern.until(stop), file, sink)
            }
        }
    }
}

/// What the tools that take a text or a regular expression look for.
pub(crate) fn text_query(query: &str, use_regex: bool, but_not: &str) -> Result<Query, Refusal> {
    let syntax = if use_regex {
        Syntax::Regex
    } else {
        Syntax::Text
    };
    let read = |argument, text| {
        Pattern::new(Wanted {
            argument,
            text,
            syntax,
            case: Case::Sensitive,
            span: Span::Line,
        })
    };
    let but_not = Some(but_not)
        .filter(|text| !text.is_empty())
        .map(|text| read("exclude_query", text))
        .transpose()?;
    Ok(Query::new(read("query", query)?, Span::Line, but_not))
}

/// Which files are searched, and what is kept of what is found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Request {
    pub(crate) options: WalkOptions,
    pub(crate) glob: Option<Glob>,
    pub(crate) types: Option<Types>,
    pub(crate) exclude: Vec<Glob>,
    /// How many matches are counted in one file.
    pub(crate) most_in_file: Option<u64>,
    /// Whether the newest files come first, in place of the order of their paths.
    pub(crate) newest_first: bool,
    /// How many files are kept.
    pub(crate) keep: usize,
}

impl Request {
    /// Tells whether a file is to be searched.
    fn wants(&self, entry: &Entry<'_>) -> bool {
        entry.kind == Kind::File
            && self.types.as_ref().is_none_or(|types| {
                let name = Path::new(OsStr::from_bytes(entry.name));
                types.matched(name, false).is_whitelist()
            })
            && self.glob.as_ref().is_none_or(|glob| glob.fits(entry))
    }
}

/// A file in which something was found.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Hit {
    /// What comes first.
    rank: (i64, i64),
    /// Its path from where the search began.
    pub(crate) path: Box<[u8]>,
    pub(crate) count: u64,
    pub(crate) is_binary: bool,
}

/// What was found in all files.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// The first files, in order.
    pub(crate) hits: Vec<Hit>,
    pub(crate) matches: u64,
    pub(crate) files: u64,
    /// How many files were to be searched, and how many were.
    pub(crate) met: u64,
    pub(crate) searched: u64,
    pub(crate) skipped: Skipped,
    pub(crate) unseen: Unseen,
}

/// Files that were to be searched and were not, or not to their end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Skipped {
    pub(crate) unreadable: u64,
    /// A line, or a whole file where matches go over lines, was too long.
    pub(crate) too_long: u64,
    /// The pattern took too many steps.
    pub(crate) too_many_steps: u64,
}

impl Skipped {
    /// Counts what an error means.
    pub(super) fn count(&mut self, error: &io::Error) {
        let said = error.to_string();
        if said == TOO_MANY_STEPS {
            self.too_many_steps += 1;
        } else if said == TOO_LONG || said.contains("allocation limit") {
            self.too_long += 1;
        } else if said != STOPPED && error.kind() != io::ErrorKind::TimedOut {
            self.unreadable += 1;
        }
    }

    fn add(&mut self, other: Self) {
        self.unreadable += other.unreadable;
        self.too_long += other.too_long;
        self.too_many_steps += other.too_many_steps;
    }

    /// Says what was skipped, if anything was.
    pub(crate) fn tell(self, notes: &mut Vec<String>) {
        let reasons = [
            (self.unreadable, "they cannot be read"),
            (self.too_long, "they, or lines in them, are too long"),
            (
                self.too_many_steps,
                "the pattern takes too many steps in them",
            ),
        ];
        for (count, why) in reasons.into_iter().filter(|(count, _)| *count > 0) {
            notes.push(format!(
                "Files not searched to their end, because {why}: {count}."
            ));
        }
    }
}

/// Counts what is found beneath a folder.
pub(crate) fn tally(start: &Start, query: &Query, request: &Request, stop: &Stop<'_>) -> Tally {
    let (counters, unseen) = walk(start, &request.options, stop, || {
        Counter::new(query, request, stop)
    });
    let mut tally = Tally {
        unseen,
        ..Tally::default()
    };
    let mut kept = Vec::new();
    for counter in counters {
        tally.matches += counter.tally.matches;
        tally.files += counter.tally.files;
        tally.met += counter.tally.met;
        tally.searched += counter.tally.searched;
        tally.skipped.add(counter.tally.skipped);
        kept.push(counter.kept);
    }
    tally.hits = Kept::merge(kept);
    tally
}

/// Counts what is found in one file that was asked for by name.
pub(crate) fn tally_file(file: &File, query: &Query, most: Option<u64>, stop: &Stop<'_>) -> Tally {
    let mut tally = Tally {
        met: 1,
        searched: 1,
        ..Tally::default()
    };
    let binary = Cell::new(Binary::Text);
    let mut count = Count::new(query, most, stop, &binary);
    let file = Watched::new(file, stop);
    if let Err(error) = query.search(&mut query.counter(), file, &mut count) {
        tally.skipped.count(&error);
    }
    tally.matches = count.results();
    if count.count > 0 {
        tally.files = 1;
        tally.hits.push(Hit {
            rank: (0, 0),
            path: Box::default(),
            count: count.results(),
            is_binary: binary.get() != Binary::Text,
        });
    }
    tally
}

/// One thread's part of the first pass.
struct Counter<'a> {
    query: &'a Query,
    request: &'a Request,
    stop: &'a Stop<'a>,
    searcher: Searcher,
    kept: Kept<Hit>,
    tally: Tally,
}

impl<'a> Counter<'a> {
    fn new(query: &'a Query, request: &'a Request, stop: &'a Stop<'a>) -> Self {
        Self {
            query,
            request,
            stop,
            searcher: query.counter(),
            kept: Kept::new(request.keep),
            tally: Tally::default(),
        }
    }
}

impl Visitor for Counter<'_> {
    fn meet(&mut self, entry: &Entry<'_>) -> Go {
        if self.request.exclude.iter().any(|glob| glob.fits(entry)) {
            return Go::Past;
        }
        if !self.request.wants(entry) {
            return Go::On;
        }
        self.tally.met += 1;
        Go::Search
    }

    fn search(&mut self, entry: &Entry<'_>) {
        let file = match entry.open() {
            Ok(file) => file,
            Err(_) => {
                self.tally.skipped.unreadable += 1;
                return;
            }
        };
        self.tally.searched += 1;
        let binary = Cell::new(Binary::Text);
        let mut count = Count::new(self.query, self.request.most_in_file, self.stop, &binary);
        let read = Watched {
            binary: Some(&binary),
            ..Watched::new(&file, self.stop)
        };
        if let Err(error) = self.query.search(&mut self.searcher, read, &mut count) {
            self.tally.skipped.count(&error);
        }
        if count.count == 0 {
            return;
        }
        self.tally.matches += count.results();
        self.tally.files += 1;
        let rank = match self.request.newest_first {
            true => rustix::fs::fstat(&file).map_or((0, 0), |stat| {
                let modified = Moment::modified(&stat);
                (-modified.seconds, -modified.nanoseconds)
            }),
            false => (0, 0),
        };
        if self
            .kept
            .admits(|last| (rank, entry.path) < (last.rank, &last.path))
        {
            self.kept.push(Hit {
                rank,
                path: entry.path.into(),
                count: count.results(),
                is_binary: binary.get() != Binary::Text,
            });
        }
    }
}

/// Whether a file is text, and how much of it is read if it is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Binary {
    Text,
    /// It is not, and so many bytes more are read.
    Left(usize),
}

/// Counts the matches in one file.
struct Count<'a> {
    query: &'a Query,
    most: Option<u64>,
    stop: &'a Stop<'a>,
    binary: &'a Cell<Binary>,
    count: u64,
}

impl<'a> Count<'a> {
    fn new(
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
    fn results(&self) -> u64 {
        match self.binary.get() {
            Binary::Text => self.count,
            Binary::Left(_) => self.count.min(1),
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
    stop: &'a Stop<'a>,
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
}

impl Read for Watched<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.is_due() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let read = self.file.read(buffer)?;
        if let Some(binary) = self.binary
            && let Binary::Left(left) = binary.get()
        {
            let left_then = left.saturating_sub(read);
            binary.set(Binary::Left(left_then));
            return Ok(read.min(left));
        }
        Ok(read)
    }
}
