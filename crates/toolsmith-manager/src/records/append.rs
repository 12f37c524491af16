//! Appending: one line, one write, and another file when this one is full.
//!
//! Several processes may write the same file. Each appends whole lines through a
//! descriptor of its own, and the system puts them one behind the other. Whoever finds
//! the file full rotates, if nobody else does: under a lock, and only if the file is still
//! the one it wrote to. Whoever did not notice writes one more line to what is now the
//! last but one file, sees that it is full, and goes on to the current one. So nothing is
//! lost and nothing is there twice.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};

use super::file::RecordTerms;
use super::place::{FileId, RecordPlace, is_removed, open_own};

/// The file that is written to.
#[derive(Debug, Default)]
pub(super) struct Appender {
    file: Option<File>,
    /// Whether the last line has no end, and the next must begin on one of its own.
    is_torn: bool,
}

impl Appender {
    /// Appends a line. `line` begins and ends with a line break; the first is written
    /// where the line before it was left unfinished. What went wrong after the line was
    /// written is the value.
    pub(super) fn append(
        &mut self,
        line: &[u8],
        place: &RecordPlace,
        terms: &RecordTerms,
    ) -> io::Result<Option<io::Error>> {
        // Once more where somebody has removed the file meanwhile.
        for _ in 0..2 {
            let mut file = match self.file.take() {
                Some(file) => file,
                None => self.open(place)?,
            };
            let line = if self.is_torn { line } else { &line[1..] };
            // After an error it is opened anew: the descriptor may be at fault.
            let length = write_once(&mut file, line)?;
            self.is_torn = length < line.len();
            if self.is_torn {
                self.file = Some(file);
                return Err(io::Error::new(
                    ErrorKind::StorageFull,
                    "the disk took only a part of a record",
                ));
            }
            let metadata = match file.metadata() {
                Ok(metadata) => metadata,
                Err(error) => return Ok(Some(error)),
            };
            if is_removed(&metadata) {
                continue;
            }
            if metadata.len() >= terms.bytes {
                drop(file);
                return Ok(rotate(place, FileId::of(&metadata), terms).err());
            }
            self.file = Some(file);
            return Ok(None);
        }
        Ok(None)
    }

    fn open(&mut self, place: &RecordPlace) -> io::Result<File> {
        place.make()?;
        let mut options = OpenOptions::new();
        let file = open_own(
            options.read(true).append(true).create(true),
            &place.current(),
        )?;
        // A process that was killed may have left half a line.
        self.is_torn = !ends_whole(&file)?;
        Ok(file)
    }
}

/// One write, so that lines of several processes do not mix.
fn write_once(file: &mut File, line: &[u8]) -> io::Result<usize> {
    loop {
        match file.write(line) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            written => return written,
        }
    }
}

fn ends_whole(file: &File) -> io::Result<bool> {
    let length = file.metadata()?.len();
    if length == 0 {
        return Ok(true);
    }
    let mut last = [0];
    #[cfg(unix)]
    let read = std::os::unix::fs::FileExt::read_at(file, &mut last, length - 1)?;
    #[cfg(not(unix))]
    let read = {
        use std::io::{Read, Seek, SeekFrom};

        let mut file = file;
        file.seek(SeekFrom::Start(length - 1))?;
        file.read(&mut last)?
    };
    Ok(read == 0 || last[0] == b'\n')
}

/// Moves the full file out of the way, and every older one by one number; the oldest goes.
fn rotate(place: &RecordPlace, full: FileId, terms: &RecordTerms) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let lock = open_own(options.write(true).create(true), &place.lock())?;
    match lock.try_lock() {
        Ok(()) => {}
        // Somebody else is at it; nobody waits for them.
        Err(fs::TryLockError::WouldBlock) => return Ok(()),
        Err(fs::TryLockError::Error(error)) => return Err(error),
    }
    let current = place.current();
    match fs::symlink_metadata(&current) {
        Ok(metadata) if FileId::of(&metadata) == full => {}
        // Somebody else has done it.
        Ok(_) => return Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    }
    let oldest = terms.files.max(2) - 1;
    let numbers = place.numbers()?;
    for number in numbers.iter().filter(|number| **number > oldest) {
        // Fewer are kept than once.
        fs::remove_file(place.rotated(*number))?;
    }
    // A gap, left by who was killed here, need not be kept up.
    let is_free = |number: &usize| !numbers.contains(number);
    let free = (1..oldest).find(is_free).unwrap_or(oldest);
    for number in (1..free).rev() {
        fs::rename(place.rotated(number), place.rotated(number + 1))?;
    }
    fs::rename(current, place.rotated(1))
    // The lock goes with its descriptor.
}
