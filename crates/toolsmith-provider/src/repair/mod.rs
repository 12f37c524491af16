//! Repair: JSON as models write it, mended step by step, every step named.
//!
//! A strict reading comes first, so valid JSON is never altered. Then one tolerant pass
//! (`reader`) reads what can only have meant one thing; where a text could mean two
//! things, or where a key stands twice, it is an error: a call that was misread is worse
//! than one the model must write again. What text stands around the value is judged here.

mod quotes;
mod reader;
mod step;
mod strings;

use serde_json::Value;
use toolsmith_core::json::{self, JsonError};

use reader::Reader;
pub use step::Step;
use step::Steps;

/// The longest text that is read.
pub(crate) const LONGEST: usize = 16 << 20;

/// What is said of text with a quote too many: it may be the end of a string that lost
/// its beginning.
const LOST_QUOTE: &str = "text with half a pair of quotes";

/// A text that was mended.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Repaired {
    /// What it says.
    pub value: Value,
    /// Whether its end was missing, so that what it says may not be all.
    pub truncated: bool,
    /// Whether closing brackets were all that was missing at its end: where something
    /// else tells that it was said to the end, it is whole.
    pub(crate) brackets_only: bool,
    steps: Vec<Step>,
}

impl Repaired {
    /// What was done to it, in order, in words.
    pub fn steps(&self) -> Vec<String> {
        self.steps.iter().map(Step::to_string).collect()
    }

    /// What was done to it, in order.
    pub fn kinds(&self) -> &[Step] {
        &self.steps
    }
}

/// Why a text cannot be mended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RepairError(String);

impl RepairError {
    fn at(position: usize, what: impl std::fmt::Display) -> Self {
        Self(format!("{what} at byte {position}"))
    }
}

/// Reads a text as JSON, mending what can only have meant one thing.
///
/// ```
/// use serde_json::json;
/// use toolsmith_provider::repair::repair;
///
/// let repaired = repair("Sure: {'city': 'Paris', days: 3,}").unwrap();
/// assert_eq!(repaired.value, json!({ "city": "Paris", "days": 3 }));
/// assert!(!repaired.truncated);
///
/// assert!(repair(r#"{"path": "a", "path": "b"}"#).is_err());
/// ```
pub fn repair(text: &str) -> Result<Repaired, RepairError> {
    if ends_otherwise(text) {
        return mend(text);
    }
    match json::parse(text.as_bytes(), LONGEST) {
        Ok(value) => Ok(Repaired {
            value,
            truncated: false,
            brackets_only: false,
            steps: Vec::new(),
        }),
        Err(_) => mend(text),
    }
}

/// Whether a text cannot be valid because it ends otherwise than it begins. A long text
/// that was cut off need not be read twice then.
pub(crate) fn ends_otherwise(text: &str) -> bool {
    let bytes = text.as_bytes().trim_ascii();
    let (first, last) = (bytes.first(), bytes.last());
    match first {
        Some(b'{') => last != Some(&b'}'),
        Some(b'[') => last != Some(&b']'),
        _ => false,
    }
}

/// Reads what is known not to be valid.
pub(crate) fn mend(text: &str) -> Result<Repaired, RepairError> {
    if text.len() > LONGEST {
        let error = JsonError::TooLarge {
            bytes: text.len(),
            limit: LONGEST,
        };
        return Err(RepairError(error.to_string()));
    }
    let mut steps = Steps::default();
    let begin = beginning(text, &mut steps)?;
    if let Some(inner) = escaped_twice(&text[begin..]) {
        steps.add(Step::EscapedTwice);
        return read(&inner, 0, steps);
    }
    read(text, begin, steps)
}

fn read(text: &str, begin: usize, steps: Steps) -> Result<Repaired, RepairError> {
    let mut read = Reader::new(text, begin, steps).read()?;
    if !read.truncated {
        let scalar = !matches!(read.value, Value::Object(_) | Value::Array(_));
        if scalar && !text[read.end..].trim().is_empty() {
            // `None of these` is prose, not null.
            return Err(RepairError::at(read.end, "text follows a bare value"));
        }
        after(text, read.end, &mut read.steps)?;
    }
    Ok(Repaired {
        value: read.value,
        truncated: read.truncated,
        brackets_only: read.brackets_only,
        steps: read.steps.into_vec(),
    })
}

/// Where the value begins: at the first bracket, where it is not a bare scalar.
fn beginning(text: &str, steps: &mut Steps) -> Result<usize, RepairError> {
    let blank = |c: char| c.is_whitespace() || c == '\u{feff}';
    let begin = text.len() - text.trim_start_matches(blank).len();
    if text[..begin].contains(is_no_space) {
        steps.add(Step::Spaces);
    }
    let first = text[begin..].chars().next();
    let scalar = first.is_some_and(|c| c == '(' || quotes::Quote::of(c).is_some());
    if scalar {
        return Ok(begin);
    }
    let Some(bracket) = memchr::memchr2(b'{', b'[', &text.as_bytes()[begin..]) else {
        // A bare literal is read where it stands, or refused there.
        return match first {
            Some(_) => Ok(begin),
            None => Err(RepairError("the text is empty".to_owned())),
        };
    };
    let before = &text[begin..begin + bracket];
    if before.contains("```") {
        steps.add(Step::Fence);
    }
    // What stands on the line of a fence is the name of a language.
    let prose = before.split("```").enumerate().any(|(index, piece)| {
        let words = match index {
            0 => piece,
            _ => piece.split_once('\n').map_or("", |(_, words)| words),
        };
        !words.trim().is_empty()
    });
    if prose {
        steps.add(Step::TextBefore);
    }
    Ok(begin + bracket)
}

/// Whether a character is none of the spaces JSON knows.
fn is_no_space(c: char) -> bool {
    !matches!(c, ' ' | '\t' | '\n' | '\r')
}

/// Judges what stands behind the value. What looks as if the value went on, or as if
/// there were a second one, leaves open what was meant.
fn after(text: &str, end: usize, steps: &mut Steps) -> Result<(), RepairError> {
    let mut rest = text[end..].trim();
    if rest.is_empty() {
        if text[end..].contains(is_no_space) {
            steps.add(Step::Spaces);
        }
        return Ok(());
    }
    let closers =
        rest.trim_start_matches(|c: char| matches!(c, '}' | ']' | ')') || c.is_whitespace());
    if closers.len() < rest.len() {
        steps.add(Step::ExtraBrackets);
        rest = closers;
    }
    if let Some(fenced) = rest.strip_prefix("```") {
        steps.add(Step::Fence);
        rest = fenced.trim();
    }
    let Some(first) = rest.chars().next() else {
        return Ok(());
    };
    if matches!(first, ',' | ':') || quotes::Quote::of(first).is_some() {
        return Err(RepairError::at(end, "the value goes on behind its end"));
    }
    let bytes = rest.as_bytes();
    let second = memchr::memchr2_iter(b'{', b'[', bytes).any(|at| {
        // `[DONE]` and `[/INST]` are marks, not lists.
        let mark = |next: &u8| next.is_ascii_alphabetic() || *next == b'/';
        bytes[at] == b'{' || !bytes.get(at + 1).is_some_and(mark)
    });
    if second {
        return Err(RepairError::at(
            end,
            "another value follows the one that ends",
        ));
    }
    if quotes::are_odd(rest) {
        return Err(RepairError::at(end, LOST_QUOTE));
    }
    steps.add(Step::TextAfter);
    Ok(())
}

/// JSON whose every quote was escaped, as if it stood in a string: read as that string.
fn escaped_twice(text: &str) -> Option<String> {
    let inside = text.strip_prefix(['{', '['])?;
    if !inside.trim_start().starts_with("\\\"") {
        return None;
    }
    let end = text.rfind(['}', ']'])? + 1;
    serde_json::from_str(&format!("\"{}\"", &text[..end])).ok()
}
