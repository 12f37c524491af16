//! Patterns for text: regular expressions, or the text itself.
//!
//! What the linear engine can do, it does (`linear`). Look-around and backreferences go to
//! the backtracking engine (`backtracking`). Both can be stopped at any time. A pattern that cannot be read is
//! refused with a mark under the fault.

use grep_matcher::{Match, Matcher};
use grep_regex::RegexMatcherBuilder;
use regex_syntax::ast;
use regex_syntax::hir::Hir;
use serde_json::{Map, Value};

use super::backtracking::Backtracking;
use super::globs::{Case, marked};
use super::linear::Linear;
use super::stop::Stop;
use crate::refusal::{Reason, Refusal};

/// The longest pattern that is read.
const LONGEST: usize = 4000;

/// How large a compiled pattern may be, in bytes.
const LARGEST: usize = 10 << 20;

/// How deep groups may lie in each other.
const DEEPEST: u32 = 100;

/// How a pattern is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Syntax {
    Regex,
    /// The text itself.
    Text,
}

/// Whether a match may go on over the end of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Span {
    Line,
    Lines,
}

/// What is looked for.
#[derive(Clone, Copy)]
pub(crate) struct Wanted<'a> {
    /// All arguments of the call, for one that succeeds.
    pub(crate) given: &'a dyn Fn() -> Map<String, Value>,
    /// The argument it came in.
    pub(crate) argument: &'a str,
    pub(crate) text: &'a str,
    pub(crate) syntax: Syntax,
    pub(crate) case: Case,
    pub(crate) span: Span,
}

impl Wanted<'_> {
    /// Whether the end of a line may be asked for, which may be a carriage return too.
    fn has_crlf(&self) -> bool {
        self.syntax == Syntax::Regex && self.text.contains('$') && self.span == Span::Line
    }
}

/// A pattern that is ready to be looked for.
#[derive(Clone, Debug)]
pub(crate) enum Pattern {
    Linear(Linear),
    Backtracking(Backtracking),
}

impl Pattern {
    /// Reads a pattern.
    pub(crate) fn new(wanted: Wanted<'_>) -> Result<Self, Refusal> {
        let Wanted { argument, text, .. } = wanted;
        if text.is_empty() {
            let message = format!("`{argument}` is empty, and would match everything");
            return Err(Refusal::new(Reason::BadPattern, message).next("Say what to look for"));
        }
        if text.len() > LONGEST {
            let message = format!(
                "`{argument}` has {} bytes, and may have {LONGEST}",
                text.len()
            );
            return Err(Refusal::new(Reason::BadPattern, message).next("Look for a part of it"));
        }
        if wanted.span == Span::Line && text.contains('\n') {
            let message =
                format!("`{argument}` has a line break in it, and lines are searched one by one");
            return Err(Refusal::new(Reason::BadPattern, message).next(across_lines(argument)));
        }
        match parse(wanted) {
            Ok(expression) => Self::linear(wanted, expression),
            Err(Fault::NeedsBacktracking) => Backtracking::new(wanted).map(Self::Backtracking),
            Err(Fault::At(at, what)) => Err(unreadable(wanted, at, &what)),
        }
    }

    fn linear(wanted: Wanted<'_>, expression: Hir) -> Result<Self, Refusal> {
        let has_crlf = wanted.has_crlf();
        let mut builder = RegexMatcherBuilder::new();
        builder
            .case_insensitive(wanted.case == Case::Insensitive)
            .multi_line(true)
            .fixed_strings(wanted.syntax == Syntax::Text)
            .dot_matches_new_line(wanted.span == Span::Lines)
            .nest_limit(DEEPEST)
            .size_limit(LARGEST)
            .dfa_size_limit(LARGEST);
        match (wanted.span, has_crlf) {
            (Span::Line, true) => builder.crlf(true),
            (Span::Line, false) => builder.line_terminator(Some(b'\n')),
            (Span::Lines, _) => &mut builder,
        };
        match builder.build(wanted.text) {
            Ok(matcher) => Ok(Self::Linear(Linear::new(
                matcher, expression, has_crlf, LARGEST,
            ))),
            Err(error) => Err(match error.kind() {
                grep_regex::ErrorKind::NotAllowed(_) => {
                    let argument = wanted.argument;
                    let message = format!(
                        "`{argument}` asks for a line break, and lines are searched one by one"
                    );
                    Refusal::new(Reason::BadPattern, message).next(across_lines(argument))
                }
                _ => too_large(wanted),
            }),
        }
    }

    /// Whether a match never goes on over the end of a line.
    pub(crate) fn stays_in_line(&self) -> bool {
        match self {
            Self::Linear(pattern) => pattern.stays_in_line(),
            Self::Backtracking(_) => false,
        }
    }

    /// The first match in a piece of text, from a place on.
    pub(crate) fn find_at(
        &self,
        text: &[u8],
        at: usize,
        stop: &Stop<'_>,
    ) -> Result<Option<Match>, Unfound> {
        match self {
            Self::Linear(pattern) => pattern.until(stop).find_at(text, at),
            Self::Backtracking(pattern) => pattern.until(stop).find_at(text, at),
        }
    }
}

/// Why a match could not be found.
#[derive(Clone, Copy, Debug, thiserror::Error)]
pub(crate) enum Unfound {
    #[error("{TOO_MANY_STEPS}")]
    TooManySteps,
    #[error("{TOO_LONG}")]
    TooLong,
    #[error("{STOPPED}")]
    Stopped,
}

impl From<Unfound> for std::io::Error {
    fn from(unfound: Unfound) -> Self {
        Self::other(unfound)
    }
}

/// What such errors say, by which they are known again once the searcher has passed
/// them on.
pub(crate) const TOO_MANY_STEPS: &str = "the pattern takes too many steps";
pub(crate) const TOO_LONG: &str = "a line is too long for the pattern";
pub(crate) const STOPPED: &str = "the search was stopped";

/// What keeps the linear engine from reading a pattern.
enum Fault {
    NeedsBacktracking,
    At(usize, String),
}

fn parse(wanted: Wanted<'_>) -> Result<Hir, Fault> {
    let plain;
    let pattern = match wanted.syntax {
        Syntax::Regex => wanted.text,
        Syntax::Text => {
            plain = regex_syntax::escape(wanted.text);
            &plain
        }
    };
    let parsed = regex_syntax::ParserBuilder::new()
        .nest_limit(DEEPEST)
        .multi_line(true)
        .case_insensitive(wanted.case == Case::Insensitive)
        .dot_matches_new_line(wanted.span == Span::Lines)
        .crlf(wanted.has_crlf())
        .utf8(false)
        .build()
        .parse(pattern);
    let error = match parsed {
        Ok(expression) => return Ok(expression),
        Err(error) => error,
    };
    let at = |at: usize, what: &dyn ToString| Fault::At(at, what.to_string());
    Err(match &error {
        regex_syntax::Error::Parse(error) => match error.kind() {
            ast::ErrorKind::UnsupportedLookAround | ast::ErrorKind::UnsupportedBackreference => {
                Fault::NeedsBacktracking
            }
            // What this parser does not know, the other engine may.
            ast::ErrorKind::EscapeUnrecognized if is_fancy_escape(pattern, error.span()) => {
                Fault::NeedsBacktracking
            }
            kind => at(error.span().start.offset, kind),
        },
        regex_syntax::Error::Translate(error) => at(error.span().start.offset, error.kind()),
        other => at(0, other),
    })
}

/// Whether an escape is a named backreference or the like.
fn is_fancy_escape(pattern: &str, span: &ast::Span) -> bool {
    let escape = pattern
        .get(span.start.offset..span.end.offset)
        .unwrap_or_default();
    matches!(escape, "\\k" | "\\K" | "\\h" | "\\Z" | "\\R")
}

pub(super) fn unreadable(wanted: Wanted<'_>, at: usize, what: &str) -> Refusal {
    let Wanted { argument, text, .. } = wanted;
    let message = format!(
        "`{argument}` is no regular expression:\n{}",
        marked(text, at, what)
    );
    literally(wanted, Refusal::new(Reason::BadPattern, message))
}

pub(super) fn too_large(wanted: Wanted<'_>) -> Refusal {
    let message = format!(
        "`{}` is too large a regular expression once it is compiled",
        wanted.argument
    );
    literally(wanted, Refusal::new(Reason::BadPattern, message))
}

/// Offers the search for the text itself.
fn literally(wanted: Wanted<'_>, refusal: Refusal) -> Refusal {
    let (next, switch) = match wanted.argument {
        "query" | "exclude_query" => (
            "To look for the text itself, set use_regex to false",
            ("use_regex", false),
        ),
        _ => (
            "To look for the text itself, set fixed_strings to true",
            ("fixed_strings", true),
        ),
    };
    let mut arguments = (wanted.given)();
    arguments.insert(switch.0.to_owned(), switch.1.into());
    refusal.next(next).detail("next_arguments", arguments)
}

fn across_lines(argument: &str) -> &'static str {
    match argument {
        "query" | "exclude_query" => "Look for one line of it, or use grep with multiline = true",
        _ => "Set multiline to true",
    }
}
