//! Reads a tape. What it says is somebody else's word: every line is bounded and read
//! strictly, and one that was torn when a recording was killed is left out with a note.

use std::io::{self, BufRead, Read};

use serde_json::Value;
use toolsmith_core::json;

use super::form::{Header, Line, VERSION};
use super::{MAX_LINE, MAX_LINES, MAX_TAPE, MAX_TOOLS};

/// Why a tape cannot be played.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TapeError {
    /// Reading failed.
    #[error("it cannot be read: {0}")]
    Io(#[from] io::Error),
    /// There is nothing in it.
    #[error("it is empty; record one with --record FILE")]
    Empty,
    /// The first line is not that of a tape.
    #[error("line 1: this is no tape; record one with --record FILE")]
    NoTape,
    /// A newer program wrote it.
    #[error(
        "line 1: it has version {found}, and this program reads version {VERSION}; use a newer toolsmith, or record it again"
    )]
    Newer {
        /// Its version.
        found: u64,
    },
    /// An older program wrote it.
    #[error("line 1: it has version {found}, which is no longer read; record it again")]
    Older {
        /// Its version.
        found: u64,
    },
    /// A line in the middle cannot be read.
    #[error("line {line}: {reason}; record it again")]
    Line {
        /// Which, counted from one.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// There is more than is read.
    #[error(
        "it has more than the {MAX_TAPE} bytes, {MAX_TOOLS} tools or {MAX_LINES} lines that are read"
    )]
    TooLarge,
}

/// The lines of a tape, and what is to be said of it.
pub(super) fn read(source: impl BufRead) -> Result<(Vec<Line>, Vec<String>), TapeError> {
    let mut source = source.take(MAX_TAPE + 1);
    let (mut lines, mut notes) = (Vec::new(), Vec::new());
    let mut tools = 0;
    // A line that cannot be read, which may be the last one.
    let mut broken: Option<(usize, String)> = None;
    let mut bytes = Vec::new();
    for number in 1.. {
        bytes.clear();
        let limit = MAX_LINE as u64 + 2;
        let length = source.by_ref().take(limit).read_until(b'\n', &mut bytes)?;
        if source.limit() == 0 {
            return Err(TapeError::TooLarge);
        }
        if length == 0 && number == 1 {
            return Err(TapeError::Empty);
        }
        if length == 0 {
            break;
        }
        let is_whole = bytes.last() == Some(&b'\n');
        if number == 1 {
            header(&bytes)?;
            continue;
        }
        if let Some((line, reason)) = broken.take() {
            return Err(TapeError::Line { line, reason });
        }
        match line(&bytes) {
            Ok(Line::Incomplete(incomplete)) => {
                let reason: String = incomplete.reason.chars().take(200).collect();
                notes.push(format!("the tape is incomplete: {reason}"));
            }
            Ok(line) if is_whole => {
                tools += usize::from(matches!(line, Line::Tool(_)));
                lines.push(line);
                if tools > MAX_TOOLS || lines.len() > MAX_LINES {
                    return Err(TapeError::TooLarge);
                }
            }
            Ok(_) => broken = Some((number, "it does not end".to_owned())),
            Err(reason) => broken = Some((number, reason)),
        }
    }
    if let Some((line, _)) = broken {
        notes.push(format!(
            "line {line}: the last line was torn and is left out"
        ));
    }
    Ok((lines, notes))
}

fn header(bytes: &[u8]) -> Result<(), TapeError> {
    let first = bytes.trim_ascii();
    if first.is_empty() && bytes.len() <= 2 {
        return Err(TapeError::Empty);
    }
    let value = json::parse(first, 1 << 10).map_err(|_| TapeError::NoTape)?;
    let header: Header = serde_json::from_value(value).map_err(|_| TapeError::NoTape)?;
    match header.toolsmith_tape {
        VERSION => Ok(()),
        found if found > VERSION => Err(TapeError::Newer { found }),
        found => Err(TapeError::Older { found }),
    }
}

fn line(bytes: &[u8]) -> Result<Line, String> {
    let bytes = bytes.trim_ascii();
    if bytes.len() > MAX_LINE {
        return Err(format!("it is longer than {MAX_LINE} bytes"));
    }
    let value: Value = json::parse(bytes, MAX_LINE).map_err(|error| error.to_string())?;
    serde_json::from_value(value).map_err(|error| error.to_string())
}
