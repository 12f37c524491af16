//! What a search of contents looks for, and how a file is searched for it.

use std::io;

use grep_searcher::{BinaryDetection, MmapChoice, Searcher, SearcherBuilder, Sink};
use serde_json::{Map, Value};

use super::count::Watched;
use super::globs::Case;
use super::over_lines::Everything;
use super::pattern::{Pattern, Span, Syntax, Unfound, Wanted};
use super::stop::Stop;
use crate::refusal::Refusal;
use crate::text::Encoding;

/// How long a line may be, or a file where matches go over lines, in bytes.
const MOST_HEAP: usize = 16 << 20;

/// What is looked for, and in which lines.
#[derive(Clone, Debug)]
pub(crate) struct Query {
    pub(super) pattern: Pattern,
    pub(super) span: Span,
    /// Lines that match this too do not count.
    but_not: Option<Pattern>,
    /// How what is searched is written, where that is known.
    encoding: Option<grep_searcher::Encoding>,
    /// What lines end with.
    line_end: u8,
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
            encoding: None,
            line_end: b'\n',
        }
    }

    /// Searches a file that is written so and begins so. What is marked as UTF-16 the
    /// searcher knows by itself.
    pub(crate) fn written_as(mut self, encoding: &Encoding, head: &[u8]) -> Self {
        if !encoding.has_bom() && *encoding != Encoding::UTF8 {
            self.encoding = grep_searcher::Encoding::new(&encoding.name()).ok();
        }
        let head = encoding.read_lossy(head);
        // Old files end lines with a carriage return alone; what ends the part that is
        // looked at may be half of a line's end.
        let whole = head.strip_suffix('\r').unwrap_or(&head);
        if whole.contains('\r') && !head.contains('\n') {
            self.line_end = b'\r';
        }
        self
    }

    pub(super) fn excludes(&self, line: &[u8], stop: &Stop<'_>) -> Result<bool, Unfound> {
        match &self.but_not {
            Some(pattern) => Ok(pattern.find_at(line, 0, stop)?.is_some()),
            None => Ok(false),
        }
    }

    /// What counts with it.
    pub(super) fn counter(&self) -> Searcher {
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
        if self.line_end != b'\n' {
            builder.line_terminator(grep_matcher::LineTerminator::byte(self.line_end));
        }
        if self.encoding.is_some() {
            builder.encoding(self.encoding.clone());
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
                searcher.search_reader(pattern.until(stop).ending(self.line_end), file, sink)
            }
            (Pattern::Backtracking(pattern), Span::Line) => {
                searcher.search_reader(pattern.until(stop), file, sink)
            }
        }
    }
}

/// What the tools that take a text or a regular expression look for.
pub(crate) fn text_query(
    query: &str,
    use_regex: bool,
    but_not: &str,
    given: &dyn Fn() -> Map<String, Value>,
) -> Result<Query, Refusal> {
    let syntax = if use_regex {
        Syntax::Regex
    } else {
        Syntax::Text
    };
    let read = |argument, text| {
        Pattern::new(Wanted {
            given,
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
