//! The header of a script: the comment at its top that says what tool it is.

use std::str;

/// How many bytes of a file are looked at, which is also how long a header may be.
const BYTES: usize = 64 << 10;
/// How many lines may stand before it: a line about the encoding, a licence.
const LINES_BEFORE: usize = 100;
/// What the header's first and last line say, after what makes them comments.
const FENCE: &str = "---";
/// What comments begin with, in one language or another.
const MARKS: [&str; 3] = ["#", "//", "--"];

/// What a script says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Header {
    /// The header as YAML. Every line and every column is where it is in the script:
    /// what stands before it is blank, and so is what makes its lines comments.
    pub yaml: String,
    /// The line of the script its first line of YAML is, from 1.
    pub line: usize,
}

/// Why a script's header cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
#[non_exhaustive]
pub struct HeaderError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it, and what to write.
    pub message: String,
}

/// Finds the header of a script; nothing where there is none, as in any file that is no
/// tool. Other comments may stand before it, but no line that does something.
///
/// ```
/// use toolsmith_rest::script;
///
/// let header = script::header(b"#!/bin/sh\n# ---\n# name: greet\n# ---\n")?.unwrap();
/// assert_eq!(header.yaml, "\n\n  name: greet\n");
/// assert_eq!(header.line, 3);
/// assert_eq!(script::header(b"#!/bin/sh\necho hello\n")?, None);
/// # Ok::<(), script::HeaderError>(())
/// ```
///
/// # Errors
/// When a header begins and does not end, or is none in between.
pub fn header(bytes: &[u8]) -> Result<Option<Header>, HeaderError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let is_cut = bytes.len() > BYTES;
    let mut lines = bytes[..bytes.len().min(BYTES)]
        .split(|byte| *byte == b'\n')
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
        .zip(1_usize..)
        .peekable();
    let mut yaml = String::new();
    lines.next_if(|(line, _)| line.starts_with(b"#!"));
    let Some((mark, begin)) = fence(&mut lines) else {
        return Ok(None);
    };
    yaml.extend(std::iter::repeat_n('\n', begin));
    for (line, at) in lines {
        let wrong = |message: String| HeaderError { line: at, message };
        let Some(inside) = line.strip_prefix(mark.as_bytes()) else {
            return Err(wrong(format!(
                "the header ends without `{mark} {FENCE}`; begin each of its lines with `{mark}`, \
                 and end it with `{mark} {FENCE}`"
            )));
        };
        let inside = str::from_utf8(inside)
            .map_err(|_| wrong("the header is not UTF-8; save the file as UTF-8".to_owned()))?;
        if inside.trim() == FENCE {
            let line = begin + 1;
            return Ok(Some(Header { yaml, line }));
        }
        if !inside.trim().is_empty() {
            yaml.extend(std::iter::repeat_n(' ', mark.len()));
            yaml.push_str(inside);
        }
        yaml.push('\n');
    }
    let message = if is_cut {
        format!("the header is longer than {} KiB", BYTES >> 10)
    } else {
        format!("the header does not end; write `{mark} {FENCE}` after its last line")
    };
    Err(HeaderError {
        line: begin,
        message,
    })
}

/// Goes on to the line that begins the header, and tells what makes it a comment and which
/// line it is. Before it stand comments of the same kind and blank lines only.
fn fence<'a>(lines: &mut impl Iterator<Item = (&'a [u8], usize)>) -> Option<(&'static str, usize)> {
    let mut style = None;
    for (line, at) in lines.take(LINES_BEFORE) {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let begins = |mark: &&str| line.starts_with(mark.as_bytes());
        let mark = MARKS.into_iter().find(begins)?;
        if *style.get_or_insert(mark) != mark {
            return None;
        }
        if opens(mark, &line[mark.len()..]) {
            return Some((mark, at));
        }
    }
    None
}

/// Tells whether a comment begins a header.
fn opens(mark: &str, inside: &[u8]) -> bool {
    // Five dashes in a row are a line that somebody drew.
    let may_touch = mark != "--";
    inside.trim_ascii() == FENCE.as_bytes() && (may_touch || inside.starts_with(b" "))
}
