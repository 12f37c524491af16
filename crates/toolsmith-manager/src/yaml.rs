//! YAML, read strictly: no tags, no key twice, bounded depth, size and aliases,
//! and every error with file, line, column and the line itself.

mod wording;

use std::fmt;

use serde::de::DeserializeOwned;
use serde_saphyr::granit_parser::{Scanner, StrInput, TokenType};
use serde_saphyr::options::{DuplicateKeyPolicy, MergeKeyPolicy};
use serde_saphyr::{Budget, Options};
use toolsmith_runtime::shape::clean;

/// How large a configuration file may be.
pub const MAX_BYTES: usize = 1 << 20;

/// How large a file that a program wrote may be.
pub const MAX_LARGE_BYTES: usize = 16 << 20;

/// How many characters of a line an error shows, and how many of them at most
/// stand before the place.
const SHOWN: usize = 160;
const BEFORE: usize = 80;
/// How many characters an error's message has at most.
const MESSAGE: usize = 480;

/// A file that cannot be used, and where it goes wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub struct YamlError {
    /// The file, as it was named.
    pub file: String,
    /// The line, from 1; 0 where the file as a whole is meant.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// The line itself, or the part of it around the place.
    pub excerpt: Option<String>,
    /// How many characters of the excerpt stand before the place.
    caret: usize,
}

impl YamlError {
    /// An error about a file as a whole.
    pub fn whole(file: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            file: file.into(),
            line: 0,
            column: 0,
            message: visible(&message.into(), MESSAGE),
            excerpt: None,
            caret: 0,
        }
    }

    pub(crate) fn at(file: &str, text: &str, line: usize, column: usize, message: &str) -> Self {
        let mut error = Self::whole(file, message);
        (error.line, error.column) = (line, column);
        if let Some(source) = line.checked_sub(1).and_then(|index| nth_line(text, index)) {
            let skipped = column.saturating_sub(1 + BEFORE);
            let mark = if skipped > 0 { "…" } else { "" };
            let rest: String = source.chars().skip(skipped).take(SHOWN + 1).collect();
            let excerpt = format!("{mark}{}", visible(&rest, SHOWN));
            error.caret = (column.saturating_sub(1 + skipped) + mark.chars().count())
                .min(excerpt.chars().count());
            error.excerpt = Some(excerpt);
        }
        error
    }
}

/// A line as YAML counts them: it may end in `\r` alone.
fn nth_line(text: &str, index: usize) -> Option<&str> {
    let mut rest = text;
    for _ in 0..index {
        let end = rest.find(['\r', '\n'])?;
        let width = if rest[end..].starts_with("\r\n") {
            2
        } else {
            1
        };
        rest = &rest[end + width..];
    }
    rest.split(['\r', '\n']).next()
}

/// `file:line:column: message`, the line, and a caret beneath the column.
impl fmt::Display for YamlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 {
            return write!(f, "{}: {}", self.file, self.message);
        }
        let (file, line, column) = (&self.file, self.line, self.column);
        write!(f, "{file}:{line}:{column}: {}", self.message)?;
        if let Some(excerpt) = &self.excerpt {
            let margin = " ".repeat(line.to_string().len());
            let indent = " ".repeat(self.caret);
            write!(f, "\n{margin} |\n{line} | {excerpt}\n{margin} | {indent}^")?;
        }
        Ok(())
    }
}

/// Reads a document into a type.
pub fn read<T: DeserializeOwned>(file: &str, bytes: &[u8]) -> Result<T, YamlError> {
    read_within(file, bytes, MAX_BYTES)
}

/// As [`read`], for files that programs write: they may be larger.
pub fn read_large<T: DeserializeOwned>(file: &str, bytes: &[u8]) -> Result<T, YamlError> {
    read_within(file, bytes, MAX_LARGE_BYTES)
}

fn read_within<T: DeserializeOwned>(
    file: &str,
    bytes: &[u8],
    limit: usize,
) -> Result<T, YamlError> {
    if bytes.len() > limit {
        return Err(YamlError::whole(file, too_large(limit)));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| not_utf8(file, bytes, &error))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    no_tags(file, text)?;
    serde_saphyr::from_str_with_options(text, options(limit)).map_err(|error| {
        let message = one_line(&wording::in_words(&error));
        match error.location() {
            Some(location) => {
                let (line, column) = (location.line() as usize, location.column() as usize);
                // The parser points at where the text began that the tab stands in.
                let (line, column) = match message == wording::INDENT {
                    true => tab_after(text, line, column),
                    false => (line, column),
                };
                YamlError::at(file, text, line, column, &message)
            }
            None => YamlError::whole(file, message),
        }
    })
}

/// The place of the next tab; the given one where there is none.
fn tab_after(text: &str, line: usize, column: usize) -> (usize, usize) {
    let lines = text.lines().zip(1..).skip(line.saturating_sub(1));
    let mut tabs = lines.filter_map(|(source, at)| {
        let skipped = if at == line {
            column.saturating_sub(1)
        } else {
            0
        };
        let mut rest = source.chars().skip(skipped);
        let tab = rest.position(|c| c == '\t')?;
        Some((at, skipped + tab + 1))
    });
    tabs.next().unwrap_or((line, column))
}

/// Tells whether a file has nothing but white space and comments. It says nothing, which
/// is allowed.
pub(crate) fn is_blank(bytes: &[u8]) -> bool {
    bytes.len() <= MAX_BYTES
        && std::str::from_utf8(bytes).is_ok_and(|text| {
            text.trim_start_matches('\u{feff}')
                .lines()
                .map(str::trim)
                .all(|line| line.is_empty() || line.starts_with('#'))
        })
}

/// What is said of a file beyond the limit.
pub(crate) fn too_large(limit: usize) -> String {
    format!("it is larger than {limit} bytes")
}

/// Refuses every tag, `!!str` among them: no value here needs one, and what a tag
/// means is up to whoever reads it. What the scanner cannot read is left to the
/// parser, which says so better.
fn no_tags(file: &str, text: &str) -> Result<(), YamlError> {
    // Most files have nothing a tag could begin with, and need not be gone through twice.
    if !text.contains('!') {
        return Ok(());
    }
    for token in Scanner::new(StrInput::new(text)) {
        let Ok(token) = token else {
            return Ok(());
        };
        if let TokenType::Tag(handle, suffix) = token.token_type() {
            let start = token.span().start;
            let message = format!("tags such as `{handle}{suffix}` are not supported");
            return Err(YamlError::at(
                file,
                text,
                start.line(),
                start.col() + 1,
                &one_line(&message),
            ));
        }
    }
    Ok(())
}

fn options(limit: usize) -> Options {
    let times = limit / MAX_BYTES;
    let mut budget = Budget::default();
    budget.max_depth = 64;
    budget.max_nodes = 100_000 * times;
    budget.max_events = 200_000 * times;
    budget.max_documents = 1;
    budget.max_aliases = 100;
    budget.max_anchors = 100;
    budget.max_total_scalar_bytes = limit;
    let mut options = Options::default();
    options.budget = Some(budget);
    options.alias_limits.max_total_replayed_events = 10_000;
    options.alias_limits.max_replay_stack_depth = 8;
    options.alias_limits.max_alias_expansions_per_anchor = 100;
    options.duplicate_keys = DuplicateKeyPolicy::Error;
    options.merge_keys = MergeKeyPolicy::Error;
    options.strict_booleans = true;
    options.reject_unsupported_tags = true;
    options.with_snippet = false;
    options
}

fn not_utf8(file: &str, bytes: &[u8], error: &std::str::Utf8Error) -> YamlError {
    let before = &bytes[..error.valid_up_to()];
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    let start = before
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |at| at + 1);
    let column = String::from_utf8_lossy(&before[start..]).chars().count() + 1;
    let readable = String::from_utf8_lossy(before);
    let message = "it is not UTF-8 from here on";
    YamlError::at(file, &readable, line, column, message)
}

/// A message in one line; the parser writes line feeds out.
fn one_line(message: &str) -> String {
    let message = message.replace("\\n", " ");
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A text that steers no terminal, at most so many characters of it. Each character
/// that would steer or hide leaves one in its place, so that columns stay right.
pub(crate) fn visible(text: &str, limit: usize) -> String {
    let mut buffer = [0; 4];
    let mut visible: String = text
        .chars()
        .take(limit)
        .map(|c| match c {
            '\t' => '→',
            '\n' => ' ',
            c if clean(c.encode_utf8(&mut buffer)).is_empty() => '·',
            c => c,
        })
        .collect();
    if text.chars().nth(limit).is_some() {
        visible.push('…');
    }
    visible
}
