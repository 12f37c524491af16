//! Streams an output to a file of the host's, as soon as it is more than an answer shows.
//!
//! Secrets are taken out on the way; a private key is waited for until it is complete, so
//! that none is cut in two. What is past the limit is not written, and the reader of the
//! pipe slows down: see `supervise`.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Capture;
use crate::shell::options::Hooks;

/// How many bytes of an output are written.
pub(crate) const MOST: u64 = 64 << 20;

/// How much of what may be a key is held back until its end comes.
const LONGEST_KEY: usize = 16 << 10;

const KEY_BEGIN: &str = "-----BEGIN ";
const KEY_END: &str = "-----END ";

/// What became of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum KeptFile {
    /// There is none: nothing was left out, or the host keeps no files.
    #[default]
    None,
    /// It holds everything.
    Whole(PathBuf),
    /// It holds the beginning.
    Beginning(PathBuf),
    /// It could not be written.
    Failed(String),
}

impl KeptFile {
    /// Where it is, if it is anywhere.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::Whole(path) | Self::Beginning(path) => Some(path),
            _ => None,
        }
    }

    /// What an answer says about the part it leaves out.
    pub(crate) fn told(&self) -> String {
        match self {
            Self::None => "the rest was not kept".to_owned(),
            Self::Whole(path) => format!("the whole output is in {}", path.display()),
            Self::Beginning(path) => {
                format!("the first {} MiB are in {}", MOST >> 20, path.display())
            }
            Self::Failed(why) => format!("the rest was not kept: {why}"),
        }
    }
}

/// Writes an output to its file.
#[derive(Debug)]
pub(crate) struct Keeper {
    hooks: Arc<Hooks>,
    stem: String,
    /// From how many bytes on there is a file.
    from: u64,
    file: Option<File>,
    kept: KeptFile,
    /// What waits to be written.
    waiting: String,
    written: u64,
}

impl Keeper {
    /// Begins a file when there are more bytes than these.
    pub(crate) fn new(hooks: Arc<Hooks>, stem: String, from: u64) -> Self {
        Self {
            hooks,
            stem,
            from,
            file: None,
            kept: KeptFile::None,
            waiting: String::new(),
            written: 0,
        }
    }

    /// What became of the file so far.
    pub(crate) fn kept(&self) -> &KeptFile {
        &self.kept
    }

    /// Takes what was added to an output, and hands out what to write and where. The
    /// file begins with everything there was before.
    pub(crate) fn take(&mut self, all: &Capture, added: &str) -> Option<Writing> {
        let is_wanted = all.total() > self.from && self.hooks.keeps_files();
        if self.kept == KeptFile::None && is_wanted {
            // Nothing is gone yet: a file begins long before the room in memory ends.
            self.waiting = all.whole()?;
        } else if self.file.is_some() {
            self.waiting.push_str(added);
        } else {
            return None;
        }
        let ready = self.waiting.len() - open_key(&self.waiting);
        self.writing(ready)
    }

    /// Hands out the rest, once nothing comes any more. With `anyway` there is a file even
    /// of a short output.
    pub(crate) fn last(&mut self, all: &Capture, anyway: bool) -> Option<Writing> {
        if self.kept == KeptFile::None && anyway && self.hooks.keeps_files() {
            self.waiting = all.whole()?;
        }
        self.writing(self.waiting.len())
    }

    fn writing(&mut self, ready: usize) -> Option<Writing> {
        let is_first = self.kept == KeptFile::None;
        if ready == 0 || matches!(self.kept, KeptFile::Failed(_)) {
            return None;
        }
        let later = self.waiting.split_off(ready);
        let text = std::mem::replace(&mut self.waiting, later);
        let room = usize::try_from(MOST - self.written).unwrap_or(usize::MAX);
        Some(Writing {
            hooks: Arc::clone(&self.hooks),
            stem: is_first.then(|| self.stem.clone()),
            file: self.file.take(),
            text,
            room,
        })
    }

    /// Takes back the file and what became of the writing.
    pub(crate) fn wrote(&mut self, wrote: io::Result<Wrote>) {
        match wrote {
            Ok(wrote) => {
                self.written += wrote.bytes;
                self.file = wrote.file;
                if let Some(path) = wrote.path {
                    self.kept = KeptFile::Whole(path);
                }
                if let (true, KeptFile::Whole(path)) = (wrote.is_cut, &self.kept) {
                    self.kept = KeptFile::Beginning(path.clone());
                }
            }
            Err(error) => {
                self.kept = KeptFile::Failed(error.kind().to_string());
                self.waiting = String::new();
            }
        }
    }
}

/// A text to be written, away from whoever must not wait.
#[derive(Debug)]
pub(crate) struct Writing {
    hooks: Arc<Hooks>,
    /// What a new file is called.
    stem: Option<String>,
    file: Option<File>,
    text: String,
    room: usize,
}

/// What came of it.
#[derive(Debug)]
pub(crate) struct Wrote {
    file: Option<File>,
    path: Option<PathBuf>,
    bytes: u64,
    is_cut: bool,
}

impl Writing {
    /// Writes, and blocks for as long as that takes.
    pub(crate) fn run(self) -> io::Result<Wrote> {
        let (mut file, path) = match (self.file, self.stem) {
            (Some(file), _) => (file, None),
            (None, Some(stem)) => {
                let (path, file) = self.hooks.file(&stem)?;
                (file, Some(path))
            }
            (None, None) => return Err(io::ErrorKind::NotFound.into()),
        };
        let text = self.hooks.redacted(&self.text);
        let end = text.floor_char_boundary(self.room.min(text.len()));
        file.write_all(&text.as_bytes()[..end])?;
        let is_cut = end < text.len();
        Ok(Wrote {
            // Past the limit it stays as it is.
            file: (!is_cut).then_some(file),
            path,
            bytes: match is_cut {
                true => self.room as u64,
                false => end as u64,
            },
            is_cut,
        })
    }
}

/// How many bytes at the end may be a private key that is not complete.
fn open_key(text: &str) -> usize {
    let Some(begin) = text.rfind(KEY_BEGIN) else {
        return 0;
    };
    let open = text.len() - begin;
    let is_complete = text[begin..]
        .find(KEY_END)
        .is_some_and(|end| text[begin + end..].contains('\n'));
    match is_complete || open > LONGEST_KEY {
        true => 0,
        false => open,
    }
}
