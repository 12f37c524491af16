//! Reads the envelope.
//!
//! Models put it into here-documents and fences, and spaces around its markers; all of
//! that is passed over. What is left has to be whole: a patch without its end may be the
//! first half of one.

use super::{FileChange, Hunk, HunkLine};
use crate::refusal::{Reason, Refusal};

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const ADD: &str = "*** Add File:";
const DELETE: &str = "*** Delete File:";
const UPDATE: &str = "*** Update File:";
const MOVE: &str = "*** Move to:";
const END_OF_FILE: &str = "*** End of File";

/// How many characters of a line an error shows.
const SHOWN_WIDTH: usize = 80;

/// Why a patch cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the patch is {found}, but should be {expected}")]
#[non_exhaustive]
pub struct PatchError {
    /// The line of the patch, counted from 1.
    pub line: usize,
    /// What should be there.
    pub expected: &'static str,
    /// What is there.
    pub found: String,
}

impl PatchError {
    /// Why, and what to do next.
    pub fn refusal(&self) -> Refusal {
        Refusal::new(Reason::BadArgument, self.to_string())
            .next(
                "Begin with `*** Begin Patch`, then for each file `*** Add File: path`, `*** Delete \
                 File: path` or `*** Update File: path` with hunks of `@@`, ` `, `-` and `+` lines, \
                 and end with `*** End Patch`",
            )
            .detail("line", self.line)
    }
}

/// Reads a patch: what it does to each file, in order, and at least to one.
///
/// # Errors
///
/// A [`PatchError`] names the line that cannot be read and what should be there.
pub fn parse(patch: &str) -> Result<Vec<FileChange>, PatchError> {
    let lines: Vec<&str> = patch.lines().collect();
    let mut reader = Reader::within(&lines)?;
    let mut changes = Vec::new();
    while reader.skip_blank() {
        changes.push(reader.file()?);
    }
    if changes.is_empty() {
        return Err(reader.error(A_FILE));
    }
    Ok(changes)
}

const A_FILE: &str = "`*** Add File: path`, `*** Delete File: path` or `*** Update File: path`";
const A_HUNK_LINE: &str = "a line that starts with a space, `-`, `+` or `@@`";

/// Goes along the lines between the markers.
struct Reader<'a> {
    lines: &'a [&'a str],
    at: usize,
    end: usize,
}

impl<'a> Reader<'a> {
    /// Passes over what is around the envelope, and checks that it is whole.
    fn within(lines: &'a [&'a str]) -> Result<Self, PatchError> {
        let said = |line: &&str| !line.trim().is_empty();
        let mut first = lines.iter().position(said).unwrap_or(lines.len());
        let mut last = lines.iter().rposition(said).map_or(first, |last| last + 1);
        if let Some(close) = lines.get(first).and_then(|line| wrapper(line)) {
            first += 1;
            if last > first && lines[last - 1].trim() == close {
                last -= 1;
            }
        }
        let mut reader = Self {
            lines,
            at: first,
            end: last,
        };
        if !reader.skip_blank() || reader.lines[reader.at].trim() != BEGIN {
            return Err(reader.error("`*** Begin Patch`"));
        }
        reader.at += 1;
        while reader.end > reader.at && reader.lines[reader.end - 1].trim().is_empty() {
            reader.end -= 1;
        }
        if reader.end == reader.at || reader.lines[reader.end - 1].trim() != END {
            reader.at = reader.end;
            return Err(reader.error("`*** End Patch`"));
        }
        reader.end -= 1;
        Ok(reader)
    }

    fn file(&mut self) -> Result<FileChange, PatchError> {
        let header = self.lines[self.at].trim();
        if let Some(path) = header.strip_prefix(ADD) {
            let path = self.path(path)?;
            self.at += 1;
            return Ok(FileChange::Add {
                path,
                content: self.content(),
            });
        }
        if let Some(path) = header.strip_prefix(DELETE) {
            let path = self.path(path)?;
            self.at += 1;
            return Ok(FileChange::Delete { path });
        }
        if let Some(path) = header.strip_prefix(UPDATE) {
            let path = self.path(path)?;
            self.at += 1;
            return self.update(path);
        }
        Err(self.error(A_FILE))
    }

    fn path(&self, path: &str) -> Result<String, PatchError> {
        match path.trim() {
            "" => Err(self.error("a marker with a path after it")),
            path => Ok(path.to_owned()),
        }
    }

    fn content(&mut self) -> String {
        let mut content = String::new();
        while let Some(line) = self.peek().and_then(|line| line.strip_prefix('+')) {
            content.push_str(line);
            content.push('\n');
            self.at += 1;
        }
        content
    }

    fn update(&mut self, path: String) -> Result<FileChange, PatchError> {
        let moved = self.peek().and_then(|line| line.trim().strip_prefix(MOVE));
        let move_to = moved.map(|path| self.path(path)).transpose()?;
        self.at += usize::from(move_to.is_some());
        let mut hunks = Vec::new();
        while self.skip_blank() && !self.at_file() {
            hunks.push(self.hunk()?);
        }
        // A file may be moved as it is.
        if hunks.is_empty() && move_to.is_none() {
            return Err(self.error("a hunk: `@@`, then lines that start with a space, `-` or `+`"));
        }
        Ok(FileChange::Update {
            path,
            move_to,
            hunks,
        })
    }

    fn hunk(&mut self) -> Result<Hunk, PatchError> {
        let mut hunk = Hunk {
            line: self.at + 1,
            ..Hunk::default()
        };
        while let Some(header) = self
            .peek()
            .and_then(|line| line.trim_end().strip_prefix("@@"))
        {
            hunk.context.extend(context(header));
            self.at += 1;
        }
        while let Some(line) = self.peek() {
            if line.trim_end() == END_OF_FILE {
                hunk.at_end = true;
                self.at += 1;
                break;
            }
            if line.starts_with("@@") || line.starts_with("***") {
                break;
            }
            let rest = line.get(1..).unwrap_or_default().to_owned();
            hunk.lines.push(match line.bytes().next() {
                // An empty line that lost its space.
                None => HunkLine::Keep(String::new()),
                Some(b' ') => HunkLine::Keep(rest),
                Some(b'-') => HunkLine::Remove(rest),
                Some(b'+') => HunkLine::Add(rest),
                Some(_) => return Err(self.error(A_HUNK_LINE)),
            });
            self.at += 1;
        }
        // Empty lines before the next marker belong to nothing, and would match nothing.
        let changes = |line: &HunkLine| !matches!(line, HunkLine::Keep(_));
        if !hunk.lines.iter().any(changes) {
            return Err(self.error("a line of this hunk that starts with `-` or `+`"));
        }
        Ok(hunk)
    }

    fn peek(&self) -> Option<&'a str> {
        self.lines[..self.end].get(self.at).copied()
    }

    /// Tells whether a line is left that is not blank, and goes there.
    fn skip_blank(&mut self) -> bool {
        while self.peek().is_some_and(|line| line.trim().is_empty()) {
            self.at += 1;
        }
        self.at < self.end
    }

    fn at_file(&self) -> bool {
        let line = self.peek().unwrap_or_default();
        // With spaces before it, it may be a line to keep only within a hunk.
        [ADD, DELETE, UPDATE]
            .iter()
            .any(|marker| line.trim().starts_with(marker))
    }

    fn error(&self, expected: &'static str) -> PatchError {
        let found = match self.lines.get(self.at) {
            Some(line) => format!("`{}`", crate::edit::visible::start_of(line, SHOWN_WIDTH)),
            None => "missing".to_owned(),
        };
        PatchError {
            line: self.at + 1,
            expected,
            found,
        }
    }
}

/// What closes a here-document or a fence that starts with this line.
fn wrapper(line: &str) -> Option<&str> {
    let line = line.trim();
    if line.starts_with("```") {
        return Some("```");
    }
    let (_, word) = line.split_once("<<")?;
    let word = word.strip_prefix('-').unwrap_or(word).trim();
    Some(word.trim_matches(['\'', '"']))
}

/// The context a header names. Line numbers, which other formats put there, name none.
fn context(header: &str) -> Option<String> {
    let context = header.strip_prefix(' ').unwrap_or(header);
    let numbers = context
        .trim_start()
        .strip_prefix('-')
        .and_then(|rest| rest.split_once("@@"));
    let is_numbers = |numbers: &str| {
        let mut characters = numbers.chars();
        characters.all(|character| character.is_ascii_digit() || " ,+".contains(character))
    };
    if context.trim().is_empty() || numbers.is_some_and(|(numbers, _)| is_numbers(numbers)) {
        return None;
    }
    Some(context.to_owned())
}
