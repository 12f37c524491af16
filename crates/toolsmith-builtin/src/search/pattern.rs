//! Patterns for text: regular expressions, or the text itself.
//!
//! What the linear engine can do, it does. Look-around and backreferences go to the
//! backtracking engine, with a limit on its steps. A pattern that cannot be read is
//! refused with a mark under the fault.

use grep_matcher::{Match, Matcher, NoCaptures};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use regex_syntax::ast;

use super::globs::{Case, marked};
use super::stop::Stop;
use crate::refusal::{Reason, Refusal};

/// The longest pattern that is read.
const LONGEST: usize = 4000;

/// How large a compiled pattern may be, in bytes.
const LARGEST: usize = 10 << 20;

/// How deep groups may lie in each other.
const DEEPEST: u32 = 100;

/// How many steps back one match may take, in a line and in a whole file.
const STEPS_IN_LINE: usize = 250_000;
const STEPS_IN_FILE: usize = 10_000_000;

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
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<'a> {
    /// The argument it came in.
    pub(crate) argument: &'a str,
    pub(crate) text: &'a str,
    pub(crate) syntax: Syntax,
    pub(crate) case: Case,
    pub(crate) span: Span,
}

/// A pattern that is ready to be looked for.
#[derive(Clone, Debug)]
pub(crate) enum Pattern {
    Linear {
        matcher: RegexMatcher,
        /// Whether a line may also end in a carriage return, which `$` has to know.
        has_crlf: bool,
    },
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
        if wanted.syntax == Syntax::Regex {
            match fault(text) {
                None => {}
                Some(Fault::NeedsBacktracking) => {
                    return Backtracking::new(wanted).map(Self::Backtracking);
                }
                Some(Fault::At(at, what)) => return Err(unreadable(wanted, at, &what)),
            }
        }
        Self::linear(wanted)
    }

    fn linear(wanted: Wanted<'_>) -> Result<Self, Refusal> {
        let has_crlf = wanted.syntax == Syntax::Regex
            && wanted.text.contains('$')
            && wanted.span == Span::Line;
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
            Ok(matcher) => Ok(Self::Linear { matcher, has_crlf }),
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

    /// The first match in a piece of text; none too where that cannot be said.
    pub(crate) fn find(&self, text: &[u8]) -> Option<Match> {
        match self {
            Self::Linear { matcher, .. } => matcher.find(text).ok().flatten(),
            Self::Backtracking(matcher) => matcher.find_at(text, 0).ok().flatten(),
        }
    }
}

/// A pattern with look-around or backreferences.
#[derive(Clone, Debug)]
pub(crate) struct Backtracking(fancy_regex::Regex);

impl Backtracking {
    fn new(wanted: Wanted<'_>) -> Result<Self, Refusal> {
        let built = fancy_regex::RegexBuilder::new(wanted.text)
            .bytes_mode(fancy_regex::BytesMode::UnicodeBytes)
            .case_insensitive(wanted.case == Case::Insensitive)
            .multi_line(true)
            .dot_matches_new_line(wanted.span == Span::Lines)
            .crlf(wanted.span == Span::Line)
            .backtrack_limit(match wanted.span {
                Span::Line => STEPS_IN_LINE,
                Span::Lines => STEPS_IN_FILE,
            })
            .delegate_size_limit(LARGEST)
            .delegate_dfa_size_limit(LARGEST)
            .build();
        match built {
            Ok(regex) => Ok(Self(regex)),
            Err(fancy_regex::Error::ParseError(at, what)) => {
                Err(unreadable(wanted, at, &what.to_string()))
            }
            Err(_) => Err(too_large(wanted)),
        }
    }
}

/// Why a match could not be found.
#[derive(Clone, Copy, Debug, thiserror::Error)]
pub(crate) enum Unfound {
    #[error("{TOO_MANY_STEPS}")]
    TooManySteps,
    #[error("{STOPPED}")]
    Stopped,
}

/// What such errors say, by which they are known again once the searcher has passed
/// them on.
pub(crate) const TOO_MANY_STEPS: &str = "the pattern takes too many steps";
pub(crate) const STOPPED: &str = "the search was stopped";

/// A pattern that takes its time, so that each line is asked for whether to go on.
#[derive(Debug)]
pub(super) struct Patient<'a> {
    pub(super) pattern: &'a Backtracking,
    pub(super) stop: &'a Stop<'a>,
}

impl Matcher for Patient<'_> {
    type Captures = NoCaptures;
    type Error = Unfound;

    fn find_at(&self, text: &[u8], at: usize) -> Result<Option<Match>, Unfound> {
        if self.stop.is_due() {
            return Err(Unfound::Stopped);
        }
        self.pattern.find_at(text, at)
    }

    fn new_captures(&self) -> Result<NoCaptures, Unfound> {
        Ok(NoCaptures::new())
    }
}

impl Backtracking {
    fn find_at(&self, text: &[u8], at: usize) -> Result<Option<Match>, Unfound> {
        match self.0.find_from_pos(text, at) {
            Ok(found) => Ok(found.map(|found| Match::new(found.start(), found.end()))),
            Err(_) => Err(Unfound::TooManySteps),
        }
    }
}

/// What keeps the linear engine from reading a pattern.
enum Fault {
    NeedsBacktracking,
    At(usize, String),
}

fn fault(pattern: &str) -> Option<Fault> {
    let parsed = regex_syntax::ParserBuilder::new()
        .nest_limit(DEEPEST)
        .multi_line(true)
        .utf8(false)
        .build()
        .parse(pattern);
    let error = parsed.err()?;
    let at = |at: usize, what: &dyn ToString| Some(Fault::At(at, what.to_string()));
    match &error {
        regex_syntax::Error::Parse(error) => match error.kind() {
            ast::ErrorKind::UnsupportedLookAround | ast::ErrorKind::UnsupportedBackreference => {
                Some(Fault::NeedsBacktracking)
            }
            // What this parser does not know, the other engine may.
            ast::ErrorKind::EscapeUnrecognized if is_fancy_escape(pattern, error.span()) => {
                Some(Fault::NeedsBacktracking)
            }
            kind => at(error.span().start.offset, kind),
        },
        regex_syntax::Error::Translate(error) => at(error.span().start.offset, error.kind()),
        other => at(0, other),
    }
}

/// Whether an escape is a named backreference or the like.
fn is_fancy_escape(pattern: &str, span: &ast::Span) -> bool {
    let escape = pattern
        .get(span.start.offset..span.end.offset)
        .unwrap_or_default();
    matches!(escape, "\\k" | "\\K" | "\\G" | "\\h" | "\\Z" | "\\R")
}

fn unreadable(wanted: Wanted<'_>, at: usize, what: &str) -> Refusal {
    let Wanted { argument, text, .. } = wanted;
    let message = format!(
        "`{argument}` is no regular expression:\n{}",
        marked(text, at, what)
    );
    literally(wanted, Refusal::new(Reason::BadPattern, message))
}

fn too_large(wanted: Wanted<'_>) -> Refusal {
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
    let arguments = serde_json::json!({ wanted.argument: wanted.text, switch.0: switch.1 });
    refusal.next(next).detail("next_arguments", arguments)
}

fn across_lines(argument: &str) -> &'static str {
    match argument {
        "query" | "exclude_query" => "Look for one line of it, or use grep with multiline = true",
        _ => "Set multiline to true",
    }
}
