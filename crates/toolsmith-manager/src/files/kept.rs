//! One file, and what it last said that was good.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};

use super::stamp::Stamp;
use crate::loader::ConfigLoader;
use crate::yaml::{self, YamlError};

/// How long a file must have been left alone before it is read again: whoever writes it
/// may be in the middle of it.
pub(crate) const QUIET: Duration = Duration::from_millis(100);

/// How many characters of a path are told.
const SHOWN: usize = 4096;

/// What it means that a file is not there any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IfGone {
    /// What it said is gone too.
    Forget,
    /// What it said still holds: nobody gives up rules by removing a file.
    Keep,
}

/// What a look at a file came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct News {
    /// Whether there is anything else to say now.
    pub(crate) changed: bool,
    /// Whether a file is being written, and should be looked at again soon.
    pub(crate) later: bool,
}

impl News {
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            changed: self.changed || other.changed,
            later: self.later || other.later,
        }
    }
}

/// How a file's bytes are read. It is handed the path, the name to tell, and the bytes.
pub(crate) type Read<'r, T> = &'r (dyn Fn(&Path, &Arc<str>, &[u8]) -> Result<T, YamlError> + Sync);

/// A file and the value it is read into.
#[derive(Debug)]
pub(crate) struct Kept<T> {
    path: PathBuf,
    name: Arc<str>,
    if_gone: IfGone,
    good: Option<Arc<T>>,
    problem: Option<YamlError>,
    seen: Option<Seen>,
}

/// What was in the file's place when it was last read.
#[derive(Debug)]
struct Seen {
    stamp: Option<Stamp>,
    /// Whether the stamp alone tells that nothing changed.
    is_sure: bool,
    digest: Option<[u8; 32]>,
}

impl<T> Kept<T> {
    pub(crate) fn new(path: PathBuf, if_gone: IfGone) -> Self {
        let name = yaml::visible(&path.display().to_string(), SHOWN).into();
        Self {
            path,
            name,
            if_gone,
            good: None,
            problem: None,
            seen: None,
        }
    }

    /// As [`Kept::new`], for a file that appeared while others are in use: it may be in
    /// the middle of being written.
    pub(crate) fn appeared(path: PathBuf, if_gone: IfGone) -> Self {
        let mut kept = Self::new(path, if_gone);
        kept.seen = Some(Seen {
            stamp: None,
            is_sure: false,
            digest: None,
        });
        kept
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The path as it is told.
    pub(crate) fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// What the file last said that was good.
    pub(crate) fn good(&self) -> Option<&Arc<T>> {
        self.good.as_ref()
    }

    /// What is wrong with the file as it is now.
    pub(crate) fn problem(&self) -> Option<&YamlError> {
        self.problem.as_ref()
    }

    /// Tells whether a file was ever there.
    pub(crate) fn is_known(&self) -> bool {
        self.good.is_some() || self.problem.is_some()
    }

    /// Looks at the file, and reads it if it may have changed.
    pub(crate) fn refresh(
        &mut self,
        loader: &dyn ConfigLoader,
        read: Read<'_, T>,
        now: fn() -> SystemTime,
    ) -> News {
        let stamp = loader.look(&self.path);
        if let Some(seen) = &self.seen
            && seen.is_sure
            && stamp.is_some()
            && seen.stamp == stamp
        {
            return News::default();
        }
        // The time is taken before the bytes: a change after it is a recent one.
        let now = now();
        let is_young = |stamp: &Stamp| stamp.is_younger_than(QUIET, now);
        if self.seen.is_some() && stamp.as_ref().is_some_and(is_young) {
            return News {
                changed: false,
                later: true,
            };
        }
        let loaded = loader.load(&self.path);
        // What could not be read just then, for want of descriptors perhaps, is tried again,
        // though it looks the same.
        let is_settled = |stamp: &Stamp| stamp.is_settled(now);
        let is_sure = loaded.is_ok() && stamp.as_ref().is_some_and(is_settled);
        let (digest, changed) = match loaded {
            Ok(Some(bytes)) => {
                let digest = Sha256::digest(&bytes).into();
                (Some(digest), self.take(&bytes, digest, read))
            }
            Ok(None) => (None, self.miss()),
            Err(error) => (None, self.settle(Err(error))),
        };
        self.seen = Some(Seen {
            stamp,
            is_sure,
            digest,
        });
        News {
            changed,
            later: false,
        }
    }

    /// Takes what was read, unless it is what was read before.
    fn take(&mut self, bytes: &[u8], digest: [u8; 32], read: Read<'_, T>) -> bool {
        if let Some(seen) = &self.seen
            && seen.digest == Some(digest)
        {
            return false;
        }
        let read = match self.good.is_some() && yaml::is_blank(bytes) {
            // It is about to be written, most likely; who means it writes `{}`.
            true => Err(YamlError::whole(&*self.name, "it is empty")),
            false => read(&self.path, &self.name, bytes),
        };
        self.settle(read)
    }

    fn miss(&mut self) -> bool {
        match self.if_gone {
            IfGone::Keep if self.good.is_some() => {
                let message = "there is no such file any more";
                self.settle(Err(YamlError::whole(&*self.name, message)))
            }
            IfGone::Keep | IfGone::Forget => {
                let was_known = self.is_known();
                (self.good, self.problem) = (None, None);
                was_known
            }
        }
    }

    /// Keeps a good value, or what is wrong; tells whether that is news.
    fn settle(&mut self, read: Result<T, YamlError>) -> bool {
        match read {
            Ok(value) => {
                self.good = Some(Arc::new(value));
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
