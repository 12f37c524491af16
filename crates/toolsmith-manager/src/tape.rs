//! The files of tapes: made anew and only for the user when one is recorded, read
//! carefully when one is played. What is in them is `toolsmith_runtime::tape`'s.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Write};
use std::path::Path;
use std::sync::Arc;

use toolsmith_runtime::tape::{MAX_TAPE, Recording, Replay, ReplayOrder, TapeError};

use crate::loader::open_regular;
use crate::yaml::YamlError;

/// Why a file cannot be recorded to, or played.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TapeFileError {
    /// There is a file already: none is written over.
    #[error("{file}: there is a file already; name another, or remove it")]
    Exists {
        /// The file.
        file: String,
    },
    /// It cannot be made or written.
    #[error("{file}: it cannot be written: {error}")]
    Write {
        /// The file.
        file: String,
        /// What the system says.
        error: io::Error,
    },
    /// There is no such file.
    #[error("{file}: there is no such file; record one with --record FILE")]
    Missing {
        /// The file.
        file: String,
    },
    /// It is no file that can be read.
    #[error(transparent)]
    File(#[from] YamlError),
    /// It is no tape that can be played.
    #[error("{file}: {error}")]
    Tape {
        /// The file.
        file: String,
        /// What is wrong with it.
        error: TapeError,
    },
}

/// Begins to record to a file that is not there yet. `tell` is told once, when something
/// could not be written.
pub fn record(
    path: &Path,
    tell: impl Fn(&str) + Send + Sync + 'static,
) -> Result<Arc<Recording>, TapeFileError> {
    let name = || path.display().to_string();
    let mut options = OpenOptions::new();
    // Of two that begin at once, one is told that there is a file.
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => TapeFileError::Exists { file: name() },
        _ => TapeFileError::Write {
            file: name(),
            error,
        },
    })?;
    let lines = Lines { file, length: 0 };
    Recording::begin(lines, tell).map_err(|error| {
        // Nothing was recorded: what is left of it would only be in the way.
        let _ = std::fs::remove_file(path);
        TapeFileError::Write {
            file: name(),
            error,
        }
    })
}

/// Reads a tape.
pub fn replay(path: &Path, order: ReplayOrder) -> Result<Arc<Replay>, TapeFileError> {
    let name = path.display().to_string();
    let most = usize::try_from(MAX_TAPE).unwrap_or(usize::MAX);
    let Some((_, file)) = open_regular(path, &name, most)? else {
        return Err(TapeFileError::Missing { file: name });
    };
    Replay::read(BufReader::new(file), order)
        .map_err(|error| TapeFileError::Tape { file: name, error })
}

/// A file that holds whole lines: one that does not fit is taken back.
struct Lines {
    file: File,
    length: u64,
}

impl Write for Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        match self.file.write_all(line) {
            Ok(()) => {
                self.length += line.len() as u64;
                Ok(line.len())
            }
            Err(error) => {
                use std::io::Seek as _;
                // Where even that fails, whoever reads the tape leaves a torn end out.
                let _ = self.file.set_len(self.length);
                let _ = self.file.seek(io::SeekFrom::Start(self.length));
                Err(error)
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
