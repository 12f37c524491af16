//! Finding files and folders by what they are called and what the system knows of them.

use std::cmp::Ordering;

use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

use super::folder::Kind;
use super::globs::Glob;
use super::kept::Kept;
use super::start::Start;
use super::stop::Stop;
use super::walk::{Entry, Go, Unseen, Visitor, WalkOptions, walk};
use crate::time::Moment;

/// What comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Path,
    PathBackwards,
    Newest,
    Oldest,
    Largest,
    Smallest,
    /// What fits a fuzzy name best.
    Best,
}

/// What is looked for.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    pub(crate) options: WalkOptions,
    pub(crate) glob: Option<Glob>,
    /// A text whose characters occur in the path in this order.
    pub(crate) fuzzy: Option<Pattern>,
    /// A name without wildcards, in small letters: names that merely hold it are counted.
    pub(crate) part: Option<String>,
    /// What a name ends in, after its last dot, in small letters.
    pub(crate) extension: Option<String>,
    pub(crate) files: bool,
    /// Whether only regular files are, and links that lead to one.
    pub(crate) only_regular: bool,
    pub(crate) folders: bool,
    pub(crate) exclude: Vec<Glob>,
    pub(crate) size_min: Option<u64>,
    pub(crate) size_max: Option<u64>,
    pub(crate) after: Option<Moment>,
    pub(crate) before: Option<Moment>,
    pub(crate) order: Order,
    /// How many are kept.
    pub(crate) keep: usize,
}

impl Default for Names {
    fn default() -> Self {
        Self {
            options: WalkOptions::default(),
            glob: None,
            fuzzy: None,
            part: None,
            extension: None,
            files: true,
            only_regular: false,
            folders: false,
            exclude: Vec::new(),
            size_min: None,
            size_max: None,
            after: None,
            before: None,
            order: Order::Path,
            keep: 0,
        }
    }
}

impl Names {
    fn needs_stat(&self) -> bool {
        let by_size = self.size_min.is_some() || self.size_max.is_some();
        by_size
            || self.after.is_some()
            || self.before.is_some()
            || !matches!(self.order, Order::Path | Order::PathBackwards | Order::Best)
    }
}

/// Something that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    rank: (i64, i64),
    is_backwards: bool,
    /// Its path from where the search began.
    pub(crate) path: Box<[u8]>,
    pub(crate) kind: Kind,
    pub(crate) size: u64,
    pub(crate) modified: Moment,
}

impl Found {
    /// How something of such a rank and path stands to this.
    fn compare(&self, rank: (i64, i64), path: &[u8]) -> Ordering {
        let by_path = match self.is_backwards {
            true => (*self.path).cmp(path),
            false => path.cmp(&self.path),
        };
        rank.cmp(&self.rank).then(by_path)
    }
}

impl Ord for Found {
    fn cmp(&self, other: &Self) -> Ordering {
        other.compare(self.rank, &self.path)
    }
}

impl PartialOrd for Found {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// All that was found.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// The first of it, in order.
    pub(crate) found: Vec<Found>,
    pub(crate) total: u64,
    /// How many names hold what was to be the whole name.
    pub(crate) partly: u64,
    pub(crate) unseen: Unseen,
}

/// Looks for names beneath a folder.
pub(crate) fn look(start: &Start, names: &Names, stop: &Stop<'_>) -> Findings {
    let (lookers, unseen) = walk(start, &names.options, stop, || Looker {
        start,
        names,
        kept: Kept::new(names.keep),
        fuzzy: names
            .fuzzy
            .as_ref()
            .map(|_| Matcher::new(Config::DEFAULT.match_paths())),
        characters: Vec::new(),
        total: 0,
        partly: 0,
    });
    let mut findings = Findings {
        unseen,
        ..Findings::default()
    };
    let mut kept = Vec::new();
    for looker in lookers {
        findings.total += looker.total;
        findings.partly += looker.partly;
        kept.push(looker.kept);
    }
    findings.found = Kept::merge(kept);
    findings
}

/// A fuzzy name as it is looked for.
pub(crate) fn fuzzy(text: &str, is_sensitive: bool) -> Pattern {
    let case = match is_sensitive {
        true => CaseMatching::Respect,
        false => CaseMatching::Ignore,
    };
    // What its own syntax means something else by is meant literally.
    Pattern::new(text, case, Normalization::Smart, AtomKind::Fuzzy)
}

/// One thread's part.
struct Looker<'a> {
    start: &'a Start,
    names: &'a Names,
    kept: Kept<Found>,
    fuzzy: Option<Matcher>,
    characters: Vec<char>,
    total: u64,
    partly: u64,
}

impl Visitor for Looker<'_> {
    fn meet(&mut self, entry: &Entry<'_>) -> Go {
        let names = self.names;
        if names.exclude.iter().any(|glob| glob.fits(entry)) {
            return Go::Past;
        }
        let is_wanted = match entry.kind {
            Kind::Folder => names.folders,
            // A link is not followed, and counts as what it is called.
            Kind::File | Kind::Link => names.files,
            Kind::Other => names.files && !names.only_regular,
        };
        if is_wanted {
            self.judge(entry);
        }
        Go::On
    }
}

impl Looker<'_> {
    fn judge(&mut self, entry: &Entry<'_>) {
        let names = self.names;
        if names
            .extension
            .as_deref()
            .is_some_and(|wanted| !has_extension(entry.name, wanted))
        {
            return;
        }
        if names.glob.as_ref().is_some_and(|glob| !glob.fits(entry)) {
            let name = String::from_utf8_lossy(entry.name);
            let part = names.part.as_deref();
            if part.is_some_and(|part| name.to_lowercase().contains(part)) {
                self.partly += 1;
            }
            return;
        }
        if entry.kind == Kind::Link && names.only_regular && !self.start.leads_to_file(entry.path) {
            return;
        }
        let mut rank = (0, 0);
        if let (Some(pattern), Some(matcher)) = (&names.fuzzy, &mut self.fuzzy) {
            let path = String::from_utf8_lossy(entry.path);
            let text = Utf32Str::new(&path, &mut self.characters);
            match pattern.score(text, matcher) {
                Some(score) => rank = (-i64::from(score), 0),
                None => return,
            }
        }
        if !names.needs_stat() {
            self.total += 1;
            if !self
                .kept
                .admits(|last| last.compare(rank, entry.path).is_lt())
            {
                return;
            }
        }
        let stat = entry.stat();
        let (size, modified) = match &stat {
            Ok(stat) => (
                u64::try_from(stat.st_size).unwrap_or_default(),
                Moment::modified(stat),
            ),
            // It is gone already, or only the name may be known.
            Err(_) if names.needs_stat() => return,
            Err(_) => (0, Moment::default()),
        };
        if names.needs_stat() {
            let fits = names.size_min.is_none_or(|least| size >= least)
                && names.size_max.is_none_or(|most| size <= most)
                && names.after.is_none_or(|after| modified >= after)
                && names.before.is_none_or(|before| modified <= before);
            if !fits {
                return;
            }
            self.total += 1;
            match names.order {
                Order::Newest => rank = (modified.seconds.saturating_neg(), -modified.nanoseconds),
                Order::Oldest => rank = (modified.seconds, modified.nanoseconds),
                Order::Smallest => rank = (i64::try_from(size).unwrap_or(i64::MAX), 0),
                Order::Largest => rank = (i64::try_from(size).map_or(i64::MIN, |size| -size), 0),
                Order::Path | Order::PathBackwards | Order::Best => {}
            }
            if !self
                .kept
                .admits(|last| last.compare(rank, entry.path).is_lt())
            {
                return;
            }
        }
        self.kept.push(Found {
            rank,
            is_backwards: names.order == Order::PathBackwards,
            path: entry.path.into(),
            kind: entry.kind,
            size,
            modified,
        });
    }
}

/// Whether a name ends in a dot and this.
fn has_extension(name: &[u8], wanted: &str) -> bool {
    name.len() > wanted.len()
        && name[..name.len() - wanted.len()].ends_with(b".")
        && name[name.len() - wanted.len()..].eq_ignore_ascii_case(wanted.as_bytes())
}
