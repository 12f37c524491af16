//! One file that is read again when it changed, and what it last said that was good.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use crate::files::{Identity, Stamp};
use crate::loader::load_regular;
use crate::yaml::{self, MAX_BYTES, YamlError};

/// How many characters of a path are told.
const SHOWN: usize = 4096;

/// What it means that a file is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IfGone {
    /// Nothing, as long as it never was: it need not be.
    Fine,
    /// Somebody named it.
    Warn,
}

/// A file and the value it is read into.
pub(super) struct Watched<T> {
    path: PathBuf,
    /// The path as it is told, in places and warnings.
    name: Arc<str>,
    if_gone: IfGone,
    read: fn(&Arc<str>, &[u8]) -> Result<T, YamlError>,
    good: T,
    /// Whether `good` is what a file said.
    is_said: bool,
    problem: Option<YamlError>,
    seen: Option<Seen>,
}

/// What was in the file's place when it was last read.
struct Seen {
    stamp: Stamp,
    sureness: Sureness,
}

/// Whether the stamp alone tells that nothing changed.
enum Sureness {
    Sure,
    /// It changed so recently that it may have changed again: the bytes are compared.
    Bytes(Vec<u8>),
    /// It could not be read, perhaps only just then.
    Unread,
}

impl<T: Default> Watched<T> {
    pub(super) fn new(
        path: PathBuf,
        if_gone: IfGone,
        read: fn(&Arc<str>, &[u8]) -> Result<T, YamlError>,
    ) -> Self {
        let name = yaml::visible(&path.display().to_string(), SHOWN).into();
        Self {
            path,
            name,
            if_gone,
            read,
            good: T::default(),
            is_said: false,
            problem: None,
            seen: None,
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// What the file last said that was good.
    pub(super) fn good(&self) -> &T {
        &self.good
    }

    /// What is wrong with the file as it is now.
    pub(super) fn warning(&self) -> Option<String> {
        let problem = in_one_line(self.problem.as_ref()?);
        let consequence = match self.is_said {
            true => "what it said before still holds",
            false => "it is not used",
        };
        Some(format!("{problem}; {consequence}"))
    }

    /// Looks at the file, reads it if it may have changed, and tells whether there is
    /// anything new to say. What is withheld is not there.
    pub(super) fn refresh(
        &mut self,
        now: fn() -> SystemTime,
        withheld: impl Fn(&Path) -> bool,
    ) -> bool {
        let mut stamp = Stamp::look(&self.path);
        if stamp != Stamp::Missing && withheld(&self.path) {
            stamp = Stamp::Missing;
        }
        if let Some(seen) = &self.seen
            && seen.stamp == stamp
            && matches!(seen.sureness, Sureness::Sure)
        {
            return false;
        }
        // The time is taken before the bytes: a change after it is a recent one.
        let now = now();
        let loaded = match stamp {
            // It went away, or cannot be reached, which only a look can tell to have
            // ended; to try it here gives the words for it.
            Stamp::Missing => Ok(None),
            Stamp::Unreachable(_) | Stamp::There(_) => {
                load_regular(&self.path, &self.name, MAX_BYTES)
            }
        };
        match loaded {
            Ok(Some((metadata, bytes))) => self.take(Identity::of(&metadata), bytes, now),
            Ok(None) => {
                self.seen = Some(Seen {
                    stamp: Stamp::Missing,
                    sureness: Sureness::Sure,
                });
                self.miss()
            }
            Err(error) => {
                self.seen = Some(Seen {
                    stamp,
                    sureness: Sureness::Unread,
                });
                self.settle(Err(error))
            }
        }
    }

    /// Takes it that there is no file. One that was there is missed: editors and
    /// synchronisers take files away for a moment.
    fn miss(&mut self) -> bool {
        if self.if_gone == IfGone::Fine && !self.is_said {
            let had_problem = self.problem.take().is_some();
            return had_problem;
        }
        let message = "there is no such file";
        self.settle(Err(YamlError::whole(&*self.name, message)))
    }

    /// Takes what was read, unless it is what was read before.
    fn take(&mut self, identity: Identity, bytes: Vec<u8>, now: SystemTime) -> bool {
        let is_same = matches!(
            &self.seen,
            Some(Seen { sureness: Sureness::Bytes(before), .. }) if *before == bytes
        );
        let read = (!is_same).then(|| match self.is_said && yaml::is_blank(&bytes) {
            // It is about to be written, most likely; who means it writes `{}`.
            true => Err(YamlError::whole(&*self.name, "it is empty")),
            false => (self.read)(&self.name, &bytes),
        });
        self.seen = Some(Seen {
            sureness: match identity.is_settled(now) {
                true => Sureness::Sure,
                false => Sureness::Bytes(bytes),
            },
            stamp: Stamp::There(identity),
        });
        read.is_some_and(|read| self.settle(read))
    }

    /// Keeps a good value, or what is wrong; tells whether that is news.
    fn settle(&mut self, read: Result<T, YamlError>) -> bool {
        match read {
            Ok(value) => {
                self.good = value;
                self.is_said = true;
                self.problem = None;
                true
            }
            Err(error) => {
                let is_news = self.problem.as_ref() != Some(&error);
                self.problem = Some(error);
                is_news
            }
        }
    }
}

/// An error without the line it is about.
pub(super) fn in_one_line(error: &YamlError) -> String {
    match error.line {
        0 => format!("{}: {}", error.file, error.message),
        line => format!("{}:{line}:{}: {}", error.file, error.column, error.message),
    }
}
