//! Whether a file is still the one that was read.

use std::fs::Metadata;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// For how long after a change another one may leave the same times behind: file systems
/// keep them in steps of up to two seconds.
const STEP: Duration = Duration::from_secs(2);

/// What is in the file's place, as far as can be told without opening it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stamp {
    /// Nothing.
    Missing,
    /// It cannot even be looked at.
    Unreachable(ErrorKind),
    /// Something with this identity.
    There(Identity),
}

impl Stamp {
    /// Looks at a path; links are followed, so what they lead to is compared.
    pub fn look(path: &Path) -> Self {
        Self::of(std::fs::metadata(path))
    }

    /// Tells whether a change from now on is sure to show.
    pub(crate) fn is_settled(&self, now: SystemTime) -> bool {
        match self {
            Self::Missing => true,
            Self::Unreachable(_) => false,
            Self::There(identity) => identity.is_settled(now),
        }
    }

    /// Tells whether something was changed there within this time.
    pub(crate) fn is_younger_than(&self, time: Duration, now: SystemTime) -> bool {
        match self {
            Self::There(identity) => identity.is_younger_than(time, now),
            Self::Missing | Self::Unreachable(_) => false,
        }
    }

    fn of(found: io::Result<Metadata>) -> Self {
        match found {
            Ok(metadata) => Self::There(Identity::of(&metadata)),
            Err(error) if error.kind() == ErrorKind::NotFound => Self::Missing,
            Err(error) => Self::Unreachable(error.kind()),
        }
    }
}

/// A file, and the state it is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Device, inode and type: which file it is. Another has taken its place where they
    /// differ, however old it looks.
    #[cfg(unix)]
    file: (u64, u64, u32),
    #[cfg(not(unix))]
    file: (bool, Option<SystemTime>),
    size: u64,
    /// When its content was changed, which programs can set to what they like.
    modified: Option<SystemTime>,
    /// When anything about it was changed, which only the system sets.
    changed: Option<SystemTime>,
}

impl Identity {
    #[cfg(unix)]
    pub(crate) fn of(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;

        Self {
            file: (metadata.dev(), metadata.ino(), metadata.mode()),
            size: metadata.size(),
            modified: moment(metadata.mtime(), metadata.mtime_nsec()),
            changed: moment(metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    #[cfg(not(unix))]
    pub(crate) fn of(metadata: &Metadata) -> Self {
        let modified = metadata.modified().ok();
        Self {
            file: (metadata.is_file(), metadata.created().ok()),
            size: metadata.len(),
            modified,
            changed: modified,
        }
    }

    /// Tells whether a change from now on is sure to show.
    pub(crate) fn is_settled(&self, now: SystemTime) -> bool {
        self.age(now).is_some_and(|age| age > STEP)
    }

    fn is_younger_than(&self, time: Duration, now: SystemTime) -> bool {
        self.age(now).is_some_and(|age| age < time)
    }

    /// How long ago it was changed; none where that is to come, as clocks have it.
    fn age(&self, now: SystemTime) -> Option<Duration> {
        now.duration_since(self.changed?).ok()
    }
}

/// A time as Unix tells it, in seconds since 1970 and nanoseconds.
#[cfg(unix)]
fn moment(seconds: i64, nanoseconds: i64) -> Option<SystemTime> {
    let whole = Duration::from_secs(seconds.unsigned_abs());
    let part = Duration::from_nanos(u64::try_from(nanoseconds).ok()?);
    let second = match seconds {
        0.. => SystemTime::UNIX_EPOCH.checked_add(whole),
        _ => SystemTime::UNIX_EPOCH.checked_sub(whole),
    };
    second?.checked_add(part)
}
