//! Searching the content of files, in two passes.
//!
//! The first walks the tree and only counts, so that its memory does not depend on how
//! much there is to find. The second reads again those few files whose lines are shown.

use std::cell::Cell;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use grep_searcher::Searcher;
use ignore::types::Types;

use super::count::{Binary, Count, Watched};
use super::folder::Kind;
use super::globs::Glob;
use super::kept::Kept;
use super::pattern::{STOPPED, TOO_LONG, TOO_MANY_STEPS};
use super::query::Query;
use super::start::Start;
use super::stop::Stop;
use super::walk::{Entry, Go, Unseen, Visitor, WalkOptions, walk};
use crate::time::Moment;

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
    /// They are not text, and nothing was found at their beginning.
    pub(crate) binary: u64,
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
        self.binary += other.binary;
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
        let read = Watched::new(&file, self.stop).unless(&binary);
        if let Err(error) = self.query.search(&mut self.searcher, read, &mut count) {
            self.tally.skipped.count(&error);
        }
        if count.count == 0 {
            self.tally.skipped.binary += u64::from(binary.get() == Binary::Cut);
            return;
        }
        self.tally.matches += count.results();
        self.tally.files += 1;
        let rank = match self.request.newest_first {
            true => rustix::fs::fstat(&file).map_or((0, 0), |stat| {
                let modified = Moment::modified(&stat);
                (modified.seconds.saturating_neg(), -modified.nanoseconds)
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
