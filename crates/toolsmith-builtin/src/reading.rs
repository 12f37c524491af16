//! Reading lines of a file: what it costs is the bytes up to them, not the file.
//!
//! Lines are found in the bytes as they are; only what is shown is decoded.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use sha2::{Digest as _, Sha256};

use crate::refusal::{Reason, Refusal};
use crate::text::{Confidence, Encoding, HEAD};
use crate::workspace::{Digest, OpenFile};

/// Files up to this size are read whole: their lines are counted and their content is
/// hashed.
pub(crate) const WHOLE: u64 = 64 << 20;

/// How many bytes of lines are kept at most.
const KEPT: usize = 4 << 20;

/// How much is read at once.
const BLOCK: usize = 64 << 10;

/// Which lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lines {
    /// From a line, counted from 1, so many.
    From { first: u64, count: u64 },
    /// So many from the end on, at most `count` of them.
    Last { back: u64, count: u64 },
}

/// Lines of a file.
#[derive(Debug)]
pub(crate) struct Slice {
    /// The lines as they are in the file.
    pub(crate) bytes: Vec<u8>,
    pub(crate) encoding: Encoding,
    pub(crate) confidence: Confidence,
    /// The number of the first, unless the file is too large to count.
    pub(crate) first: Option<u64>,
    /// How many lines there are, unless the file is too large to count.
    pub(crate) total: Option<u64>,
    /// The hash of the whole content, unless the file is too large.
    pub(crate) digest: Option<Digest>,
    /// Whether the last line is cut, being too long to be kept.
    pub(crate) is_cut: bool,
    /// Whether more follows.
    pub(crate) has_more: bool,
    /// Whether the file ends with a line's end.
    pub(crate) ends_with_newline: bool,
    /// The character its lines end with.
    pub(crate) end: char,
}

impl Slice {
    /// Drops the rest of a UTF-8 character that was cut, at the end or at the beginning.
    fn keep_whole_characters(&mut self, at_beginning: bool) {
        if at_beginning {
            let rest = self
                .bytes
                .iter()
                .take(3)
                .take_while(|byte| **byte & 0xc0 == 0x80);
            let rest = rest.count();
            self.bytes.drain(..rest);
        }
        if let Err(error) = std::str::from_utf8(&self.bytes)
            && error.error_len().is_none()
        {
            self.bytes.truncate(error.valid_up_to());
        }
    }
}

/// The beginning of a file.
pub(crate) fn head(open: &OpenFile) -> Result<Vec<u8>, Refusal> {
    let mut head = vec![0; HEAD];
    let read = fill(&open.file, &mut head, 0).map_err(|error| unreadable(open, &error))?;
    head.truncate(read);
    Ok(head)
}

/// The hash of a file, unless it is too large.
pub(crate) fn digest(open: &OpenFile, is_cancelled: &dyn Fn() -> bool) -> Option<Digest> {
    let breaks = Breaks {
        end: b'\n',
        unit: 1,
        position: 0,
    };
    let size = u64::try_from(open.stat.st_size).unwrap_or(0);
    if size > WHOLE {
        return None;
    }
    forward(&open.file, size, breaks, 1, 0, is_cancelled)
        .ok()?
        .digest
}

/// A whole file of bearable size.
pub(crate) fn whole(open: &OpenFile, most: u64) -> Result<Vec<u8>, Refusal> {
    let mut bytes = Vec::new();
    let mut reader = io::Read::take(&open.file, most + 1);
    let read = io::Read::read_to_end(&mut reader, &mut bytes);
    read.map_err(|error| unreadable(open, &error))?;
    if bytes.len() as u64 > most {
        let message = format!(
            "{} has more than {} MiB, too much to be dealt with at once",
            open.shown,
            most >> 20
        );
        return Err(Refusal::new(Reason::TooLarge, message)
            .next("Read a part of it with offset and limit, or search it with grep"));
    }
    Ok(bytes)
}

/// Reads lines. `encoding` is found out from the beginning unless it is given.
pub(crate) fn lines(
    open: &OpenFile,
    head: &[u8],
    wanted: Lines,
    encoding: Option<Encoding>,
    is_cancelled: &dyn Fn() -> bool,
) -> Result<Slice, Refusal> {
    let size = u64::try_from(open.stat.st_size).unwrap_or(0);
    let is_whole = head.len() < HEAD;
    let (found, confidence) = match encoding {
        Some(encoding) => (encoding, Confidence::Sure),
        None => Encoding::of(head, is_whole),
    };
    let breaks = Breaks::of(&found, head);
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::Interrupted => Refusal::new(
            Reason::Cancelled,
            format!("reading {} was given up", open.shown),
        ),
        _ => unreadable(open, &error),
    };
    let mut slice = match wanted {
        Lines::From { first, count } => {
            forward(&open.file, size, breaks, first, count, is_cancelled).map_err(failed)?
        }
        Lines::Last { back, count } if size <= WHOLE => {
            let counted = forward(&open.file, size, breaks, 1, 0, is_cancelled).map_err(failed)?;
            let total = counted.total.unwrap_or(0);
            let first = (total + 1).saturating_sub(back).max(1);
            forward(&open.file, size, breaks, first, count, is_cancelled).map_err(failed)?
        }
        Lines::Last { back, count } => {
            backward(&open.file, size, breaks, back, count, is_cancelled).map_err(failed)?
        }
    };
    // Only who came to the end of the file knows how it ends.
    if slice.total.is_none() {
        let unit = breaks.unit as u64;
        let mut last = vec![0; breaks.unit];
        let at = (size - size % unit).saturating_sub(unit);
        fill(&open.file, &mut last, at).map_err(failed)?;
        slice.ends_with_newline = breaks.ends(&last);
    }
    (slice.encoding, slice.confidence) = (found, confidence);
    if found.unit() == 1 && slice.is_cut {
        slice.keep_whole_characters(matches!(wanted, Lines::Last { .. }));
    }
    // What began as UTF-8 may go on otherwise.
    if encoding.is_none() && found == Encoding::UTF8 && std::str::from_utf8(&slice.bytes).is_err() {
        let (other, confidence) = Encoding::of(&slice.bytes, true);
        if other.unit() == 1 {
            (slice.encoding, slice.confidence) = (other, confidence);
        }
    }
    Ok(slice)
}

fn unreadable(open: &OpenFile, error: &io::Error) -> Refusal {
    Refusal::system("read", &open.shown, error)
}

/// Where lines end, in bytes.
#[derive(Clone, Copy, Debug)]
struct Breaks {
    /// The character that ends a line.
    end: u8,
    /// How many bytes a character has at least.
    unit: usize,
    /// Which of two bytes holds the character.
    position: usize,
}

impl Breaks {
    fn of(encoding: &Encoding, head: &[u8]) -> Self {
        let unit = encoding.unit();
        let position = usize::from(unit == 2 && encoding.ascii(b'a')[0] == 0);
        let mut breaks = Self {
            end: b'\n',
            unit,
            position,
        };
        // What ends the part that is looked at may be half of a line's end.
        let head = match head.len() < HEAD {
            true => head,
            false => &head[..head.len() - unit],
        };
        // Old files end lines with a carriage return alone.
        if breaks.next(head, 0).is_none() {
            breaks.end = b'\r';
            if breaks.next(head, 0).is_none() {
                breaks.end = b'\n';
            }
        }
        breaks
    }

    /// Where the line that goes on at `from` ends, behind its end. Blocks begin at whole
    /// characters.
    fn next(&self, block: &[u8], mut from: usize) -> Option<usize> {
        loop {
            let found = from + memchr::memchr(self.end, block.get(from..)?)?;
            if self.unit == 1 {
                return Some(found + 1);
            }
            let begin = found - found % 2;
            let other = block.get(begin + 1 - self.position)?;
            if found % 2 == self.position && *other == 0 {
                return Some(begin + 2);
            }
            from = found + 1;
        }
    }

    fn ends(&self, block: &[u8]) -> bool {
        let Some(begin) = block.len().checked_sub(self.unit) else {
            return false;
        };
        self.next(block, begin) == Some(block.len())
    }
}

/// Fills a buffer from a position, as far as the file goes.
fn fill(file: &File, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read_at(&mut buffer[filled..], at + filled as u64) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

fn forward(
    file: &File,
    size: u64,
    breaks: Breaks,
    first: u64,
    count: u64,
    is_cancelled: &dyn Fn() -> bool,
) -> io::Result<Slice> {
    let reads_whole = size <= WHOLE;
    let last = first.saturating_add(count);
    let mut hasher = reads_whole.then(Sha256::new);
    let mut block = vec![0; BLOCK];
    let (mut at, mut line, mut kept) = (0_u64, 1_u64, Vec::new());
    let (mut is_cut, mut ends, mut reached_end) = (false, true, false);
    loop {
        if is_cancelled() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let read = fill(file, &mut block, at)?;
        let bytes = &block[..read];
        if let Some(hasher) = &mut hasher {
            hasher.update(bytes);
        }
        let mut from = 0;
        while from < read {
            let end = breaks.next(bytes, from);
            let piece = &bytes[from..end.unwrap_or(read)];
            if (first..last).contains(&line) {
                let room = KEPT - kept.len();
                is_cut |= piece.len() > room;
                kept.extend_from_slice(&piece[..piece.len().min(room)]);
            }
            from += piece.len();
            ends = end.is_some();
            line += u64::from(ends);
        }
        at += read as u64;
        if read < block.len() {
            reached_end = true;
            break;
        }
        if !reads_whole && (line >= last || is_cut) {
            break;
        }
    }
    let total = (line - 1) + u64::from(!ends);
    Ok(Slice {
        bytes: kept,
        encoding: Encoding::UTF8,
        confidence: Confidence::Sure,
        first: Some(first),
        total: reached_end.then_some(total),
        digest: hasher.filter(|_| reached_end).map(Digest::finish),
        is_cut,
        has_more: !reached_end || total >= last,
        ends_with_newline: ends && at > 0,
        end: char::from(breaks.end),
    })
}

/// Reads the last lines of a large file, from its end.
fn backward(
    file: &File,
    size: u64,
    breaks: Breaks,
    back: u64,
    count: u64,
    is_cancelled: &dyn Fn() -> bool,
) -> io::Result<Slice> {
    let mut tail: Vec<u8> = Vec::new();
    // Blocks begin at whole characters.
    let mut at = size - size % breaks.unit as u64;
    let mut ends: Vec<usize> = Vec::new();
    let mut block = vec![0; BLOCK];
    while at > 0 && (ends.len() as u64) <= back && tail.len() < KEPT {
        if is_cancelled() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let length = at.min(BLOCK as u64) as usize;
        at -= length as u64;
        let read = fill(file, &mut block[..length], at)?;
        tail.splice(0..0, block[..read].iter().copied());
        ends.clear();
        let mut from = 0;
        while let Some(end) = breaks.next(&tail, from) {
            ends.push(end);
            from = end;
        }
    }
    let ends_with_newline = breaks.ends(&tail);
    let lines = ends.len() as u64 + u64::from(!ends_with_newline);
    let skipped = lines.saturating_sub(back);
    let start = match usize::try_from(skipped)
        .unwrap_or(usize::MAX)
        .checked_sub(1)
    {
        Some(index) => ends.get(index).copied().unwrap_or(0),
        None => 0,
    };
    let shown = skipped.saturating_add(count);
    let stop = match usize::try_from(shown).unwrap_or(usize::MAX).checked_sub(1) {
        Some(index) => ends.get(index).copied().unwrap_or(tail.len()),
        None => start,
    };
    Ok(Slice {
        bytes: tail[start..stop.max(start)].to_vec(),
        encoding: Encoding::UTF8,
        confidence: Confidence::Sure,
        first: None,
        total: None,
        digest: None,
        is_cut: at > 0 && lines <= back,
        has_more: stop < tail.len(),
        ends_with_newline,
        end: char::from(breaks.end),
    })
}
