//! One file of records, read line by line as far as it goes, and further when it grows.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use super::place::{FileId, open_to_read};

/// The longest line that is read; what is longer is no record.
const MOST_READ: usize = 256 << 10;

/// A file that is read from its beginning.
#[derive(Debug)]
pub(super) struct Tail {
    reader: BufReader<File>,
    pub(super) id: FileId,
    pub(super) name: String,
    /// The number of the line that is being read.
    pub(super) line: u64,
    /// What was read of it.
    read: Vec<u8>,
    is_overlong: bool,
}

/// What was read.
#[derive(Debug, PartialEq)]
pub(super) enum Line {
    /// A line, without its end.
    Whole(Vec<u8>),
    /// A line that is longer than any record.
    Overlong,
    /// There is no more yet; a line may have begun.
    End,
}

impl Tail {
    /// Opens a file; none if there is no such file.
    pub(super) fn open(path: &Path) -> io::Result<Option<Self>> {
        let Some(file) = open_to_read(path)? else {
            return Ok(None);
        };
        let name = path.file_name().unwrap_or_default();
        Ok(Some(Self {
            id: FileId::of(&file.metadata()?),
            reader: BufReader::with_capacity(64 << 10, file),
            name: name.to_string_lossy().into_owned(),
            line: 0,
            read: Vec::new(),
            is_overlong: false,
        }))
    }

    /// The next line.
    pub(super) fn next(&mut self) -> io::Result<Line> {
        loop {
            let there = self.reader.fill_buf()?;
            if there.is_empty() {
                return Ok(Line::End);
            }
            let end = there.iter().position(|byte| *byte == b'\n');
            let piece = &there[..end.unwrap_or(there.len())];
            if self.read.len() + piece.len() > MOST_READ {
                self.is_overlong = true;
                self.read = Vec::new();
            }
            if !self.is_overlong {
                self.read.extend_from_slice(piece);
            }
            let taken = piece.len() + usize::from(end.is_some());
            self.reader.consume(taken);
            if end.is_some() {
                self.line += 1;
                let read = std::mem::take(&mut self.read);
                return Ok(match std::mem::take(&mut self.is_overlong) {
                    true => Line::Overlong,
                    false => Line::Whole(read),
                });
            }
        }
    }

    /// What was begun and has no end.
    pub(super) fn torn(&mut self) -> Option<Vec<u8>> {
        let is_torn = self.is_overlong || !self.read.is_empty();
        self.is_overlong = false;
        let read = std::mem::take(&mut self.read);
        is_torn.then(|| {
            self.line += 1;
            read
        })
    }
}
