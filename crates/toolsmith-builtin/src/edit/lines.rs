//! A text cut into lines, each with its own ending: `\n`, `\r\n` or `\r`.
//!
//! Arguments have `\n` only, so a text is searched in its plain form, in which every
//! ending is `\n`, and positions are led back to the text itself through its lines.

use std::borrow::Cow;

/// More lines than this are not dealt with: each costs up to eight bytes here.
const MOST_LINES: usize = 16 << 20;

/// A text and its lines. The piece after the last ending counts as a line, even empty.
#[derive(Debug)]
pub(crate) struct Lines<'a> {
    text: &'a str,
    plain: Cow<'a, str>,
    plain_starts: Vec<u32>,
    /// Where lines start in the text itself, if elsewhere than in its plain form.
    text_starts: Option<Vec<u32>>,
}

impl<'a> Lines<'a> {
    /// Cuts a text; nothing if it has too many lines or bytes.
    pub(crate) fn new(text: &'a str) -> Option<Self> {
        u32::try_from(text.len()).ok()?;
        let plain = plain(text);
        let plain_starts = starts(plain.as_bytes(), |bytes, at| {
            usize::from(bytes[at] == b'\n')
        })?;
        let text_starts = match &plain {
            Cow::Borrowed(_) => None,
            Cow::Owned(_) => Some(starts(text.as_bytes(), ending_at)?),
        };
        Some(Self {
            text,
            plain,
            plain_starts,
            text_starts,
        })
    }

    /// The text itself.
    pub(crate) fn text(&self) -> &'a str {
        self.text
    }

    /// The text with every ending as `\n`.
    pub(crate) fn plain(&self) -> &str {
        &self.plain
    }

    /// How many lines there are, at least one.
    pub(crate) fn count(&self) -> usize {
        self.plain_starts.len()
    }

    /// The line, counted from 0, a place in the plain text is in.
    pub(crate) fn at_plain(&self, place: usize) -> usize {
        line_at(&self.plain_starts, place)
    }

    /// The place in the text itself of a place in its plain form.
    pub(crate) fn original(&self, place: usize) -> usize {
        let line = self.at_plain(place);
        self.start(line) + (place - self.plain_start(line))
    }

    /// Where a line starts in the plain text; at its end for lines past the last.
    pub(crate) fn plain_start(&self, line: usize) -> usize {
        start(&self.plain_starts, line, self.plain.len())
    }

    /// Where a line starts in the text; at its end for lines past the last.
    pub(crate) fn start(&self, line: usize) -> usize {
        let starts = self.text_starts.as_ref().unwrap_or(&self.plain_starts);
        start(starts, line, self.text.len())
    }

    /// A line without its ending.
    pub(crate) fn content(&self, line: usize) -> &str {
        let whole = &self.plain[self.plain_start(line)..self.plain_start(line + 1)];
        whole.strip_suffix('\n').unwrap_or(whole)
    }

    /// A line's ending, which the last line has none of.
    pub(crate) fn ending(&self, line: usize) -> &'a str {
        let start = self.start(line) + self.content(line).len();
        &self.text[start..self.start(line + 1)]
    }

    /// The ending a new line at this place gets: that of the line, or the one before.
    pub(crate) fn local_ending(&self, line: usize) -> &'a str {
        let line = line.min(self.count() - 1);
        let endings = [self.ending(line), self.ending(line.saturating_sub(1))];
        endings
            .into_iter()
            .find(|ending| !ending.is_empty())
            .unwrap_or("\n")
    }

    /// Tells whether the text ends with its last line's ending. An empty text does.
    pub(crate) fn has_final_ending(&self) -> bool {
        self.plain.is_empty() || self.plain.ends_with('\n')
    }
}

/// A text with every ending as `\n`.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    if text.contains('\r') {
        Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"))
    } else {
        Cow::Borrowed(text)
    }
}

/// A text with `\r\n` as `\n`, in which a `\r` that stands alone is meant as it is.
pub(crate) fn unified(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") {
        Cow::Owned(text.replace("\r\n", "\n"))
    } else {
        Cow::Borrowed(text)
    }
}

/// The text cut after each of its endings of any kind.
pub(crate) fn pieces(text: &str) -> Vec<&str> {
    let bytes = text.as_bytes();
    let mut pieces = Vec::new();
    let (mut from, mut at) = (0, 0);
    while at < bytes.len() {
        match ending_at(bytes, at) {
            0 => at += 1,
            width => {
                at += width;
                pieces.push(&text[from..at]);
                from = at;
            }
        }
    }
    if from < bytes.len() {
        pieces.push(&text[from..]);
    }
    pieces
}

/// How many endings of any kind a text has.
pub(crate) fn endings(text: &str) -> usize {
    let bytes = text.as_bytes();
    let counts = |at: &usize| bytes[*at] == b'\n' || bytes.get(at + 1) != Some(&b'\n');
    memchr::memchr2_iter(b'\n', b'\r', bytes)
        .filter(counts)
        .count()
}

/// How many bytes of a line ending are at a place.
fn ending_at(bytes: &[u8], at: usize) -> usize {
    match (bytes[at], bytes.get(at + 1)) {
        (b'\r', Some(b'\n')) => 2,
        (b'\r' | b'\n', _) => 1,
        _ => 0,
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the length was seen to fit"
)]
fn starts(bytes: &[u8], ending_at: impl Fn(&[u8], usize) -> usize) -> Option<Vec<u32>> {
    let mut starts = vec![0];
    let mut at = 0;
    while at < bytes.len() {
        match ending_at(bytes, at) {
            0 => at += 1,
            width => {
                at += width;
                starts.push(at as u32);
            }
        }
        if starts.len() > MOST_LINES {
            return None;
        }
    }
    Some(starts)
}

fn start(starts: &[u32], line: usize, end: usize) -> usize {
    starts.get(line).map_or(end, |start| *start as usize)
}

fn line_at(starts: &[u32], place: usize) -> usize {
    starts.partition_point(|start| *start as usize <= place) - 1
}
