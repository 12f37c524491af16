//! Reading records: oldest first, one by one, from file to file.
//!
//! A line that is no record is passed over and counted: a process may have been killed
//! while it wrote, and a file may have been touched by anything. Where another process
//! went on behind half a line, its record is found all the same, since no text within a
//! record can hold what every record begins with.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::path::PathBuf;

use serde::Deserialize;
use toolsmith_core::record::{CallRecord, VERSION};

use super::place::{FileId, RecordPlace};
use super::tail::{Line, Tail};

/// What every record begins with. Within a text its quotes would be escaped.
const BEGINNING: &[u8] = b"{\"v\":";
/// How many files that were read are looked at again for what was written late.
const MOST_BEFORE: usize = 8;
/// How often a folder is listed until it stays the same for a moment.
const MOST_LOOKS: usize = 20;

/// Reads the records of a project, and goes on where it stopped when there are more.
#[derive(Debug)]
pub struct RecordReader {
    place: RecordPlace,
    current: Option<Tail>,
    /// The files before it, which a process that has not noticed may still write to.
    before: VecDeque<Tail>,
    /// The files that were read, as far as they are still there.
    left: Vec<FileId>,
    found: VecDeque<Stored>,
    skipped: Skipped,
}

/// A record as it was found.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Stored {
    /// The record.
    pub record: CallRecord<'static>,
    /// The line it was read from.
    pub text: String,
}

/// What was passed over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Skipped {
    /// Lines, or parts of them, that are no records.
    pub unreadable: u64,
    /// The file and the number of the first such line.
    pub first: Option<(String, u64)>,
    /// Records of a version this program does not know.
    pub newer: u64,
}

impl RecordReader {
    /// Reads the records of a place. Whether there are any shows when they are asked for.
    pub fn new(place: RecordPlace) -> Self {
        Self {
            place,
            current: None,
            before: VecDeque::new(),
            left: Vec::new(),
            found: VecDeque::new(),
            skipped: Skipped::default(),
        }
    }

    /// The next record; none if there is no more, or not yet.
    #[expect(
        clippy::should_implement_trait,
        reason = "an iterator does not go on after its end, and does not fail"
    )]
    pub fn next(&mut self) -> io::Result<Option<Stored>> {
        loop {
            if let Some(found) = self.found.pop_front() {
                return Ok(Some(found));
            }
            let Some(current) = &mut self.current else {
                self.current = self.open_next(None)?;
                match self.current {
                    Some(_) => continue,
                    None => return Ok(None),
                }
            };
            match current.next()? {
                Line::Whole(line) => {
                    let (name, number) = (current.name.clone(), current.line);
                    self.take(&line, &name, number);
                }
                Line::Overlong => {
                    let (name, number) = (current.name.clone(), current.line);
                    self.skip(&name, number);
                }
                Line::End => {
                    let id = current.id;
                    if !self.take_late()? && !self.go_on(id)? {
                        return Ok(None);
                    }
                }
            }
        }
    }

    /// Ends the reading, for who does not wait for more: what is left of the records, and
    /// what was passed over, a line without an end included.
    pub fn finish(mut self) -> (Vec<Stored>, Skipped) {
        let before = std::mem::take(&mut self.before);
        for mut tail in before.into_iter().chain(self.current.take()) {
            self.leave(&mut tail);
        }
        (self.found.into(), self.skipped)
    }

    /// What was passed over so far.
    pub fn skipped(&self) -> &Skipped {
        &self.skipped
    }

    /// Takes what was written to the files before the current one after they were left;
    /// tells whether there was something.
    fn take_late(&mut self) -> io::Result<bool> {
        for at in 0..self.before.len() {
            let before = &mut self.before[at];
            let (line, name, number) = (before.next()?, before.name.clone(), before.line);
            match line {
                Line::Whole(line) => self.take(&line, &name, number),
                Line::Overlong => self.skip(&name, number),
                Line::End => continue,
            }
            return Ok(true);
        }
        Ok(false)
    }

    /// Goes on to the file after this one, if there is one by now.
    fn go_on(&mut self, id: FileId) -> io::Result<bool> {
        let Some(next) = self.open_next(Some(id))? else {
            return Ok(false);
        };
        self.before.extend(self.current.replace(next));
        self.left.push(id);
        if self.before.len() > MOST_BEFORE
            && let Some(mut before) = self.before.pop_front()
        {
            self.leave(&mut before);
        }
        Ok(true)
    }

    /// Nothing is read from it any more.
    fn leave(&mut self, tail: &mut Tail) {
        if let Some(torn) = tail.torn() {
            // A whole record without a line break is a record all the same.
            let (name, number) = (tail.name.clone(), tail.line);
            self.take(&torn, &name, number);
        }
    }

    /// Opens the file after one, or the oldest.
    fn open_next(&mut self, after: Option<FileId>) -> io::Result<Option<Tail>> {
        let Some(files) = self.steady_files()? else {
            return Ok(None);
        };
        self.left
            .retain(|left| files.iter().any(|(_, id)| id == left));
        let is_after = after.and_then(|after| files.iter().position(|(_, id)| *id == after));
        let next = match is_after {
            Some(at) => files.get(at + 1),
            // The one before is gone, or there was none.
            None => files.iter().find(|(_, id)| !self.left.contains(id)),
        };
        match next {
            Some((path, _)) => Tail::open(path).map_err(|error| {
                let told = format!("{}: {error}", path.display());
                io::Error::new(error.kind(), told)
            }),
            None => Ok(None),
        }
    }

    /// The files there are, each with what it is, as they are while nobody rotates.
    fn steady_files(&self) -> io::Result<Option<Vec<(PathBuf, FileId)>>> {
        let look = || -> io::Result<Vec<(PathBuf, FileId)>> {
            let files = self.place.files()?.into_iter();
            let known = files.filter_map(|path| {
                let metadata = std::fs::symlink_metadata(&path).ok()?;
                Some((path, FileId::of(&metadata)))
            });
            Ok(known.collect())
        };
        let mut before = look()?;
        for _ in 0..MOST_LOOKS {
            let now = look()?;
            if now == before {
                return Ok(Some(now));
            }
            before = now;
        }
        // Looked at again when more is asked for.
        Ok(None)
    }

    /// Takes the records of a line.
    fn take(&mut self, line: &[u8], name: &str, number: u64) {
        if line.is_empty() {
            return;
        }
        if self.take_one(line) {
            return;
        }
        let mut begins = beginnings(line);
        if begins.is_empty() || begins[0] > 0 {
            self.skip(name, number);
        }
        begins.push(line.len());
        for piece in begins.windows(2) {
            if !self.take_one(&line[piece[0]..piece[1]]) {
                self.skip(name, number);
            }
        }
    }

    /// Takes a text that should be one record; tells whether it was one.
    fn take_one(&mut self, text: &[u8]) -> bool {
        /// What every version has.
        #[derive(Deserialize)]
        struct Versioned {
            v: u32,
        }

        let Ok(text) = std::str::from_utf8(text) else {
            return false;
        };
        match serde_json::from_str::<CallRecord<'static>>(text) {
            Ok(record) if (1..=VERSION).contains(&record.v) => {
                let text = text.trim_ascii().to_owned();
                self.found.push_back(Stored { record, text });
                true
            }
            _ => {
                let version = serde_json::from_str::<Versioned>(text);
                let is_newer = version.is_ok_and(|versioned| versioned.v > VERSION);
                self.skipped.newer += u64::from(is_newer);
                is_newer
            }
        }
    }

    fn skip(&mut self, name: &str, line: u64) {
        self.skipped.unreadable += 1;
        let place = || (name.to_owned(), line);
        self.skipped.first.get_or_insert_with(place);
    }
}

/// Where records begin in a line that is not one.
fn beginnings(line: &[u8]) -> Vec<usize> {
    let windows = line.windows(BEGINNING.len()).enumerate();
    let found = windows.filter(|(_, window)| *window == BEGINNING);
    found.map(|(at, _)| at).collect()
}

impl Skipped {
    /// Tells whether anything was passed over.
    pub fn is_empty(&self) -> bool {
        self.unreadable == 0 && self.newer == 0
    }
}

/// In words for a person.
impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((file, line)) = &self.first {
            let lines = match self.unreadable {
                1 => "1 line that is no whole record was skipped".to_owned(),
                n => format!("{n} lines that are no whole records were skipped, the first"),
            };
            write!(f, "{lines} ({file}, line {line})")?;
        }
        if self.newer > 0 {
            let and = if self.first.is_some() { "; " } else { "" };
            let records = match self.newer {
                1 => "1 record was".to_owned(),
                n => format!("{n} records were"),
            };
            write!(
                f,
                "{and}{records} written by a newer toolsmith and skipped; use that one to read them"
            )?;
        }
        Ok(())
    }
}
