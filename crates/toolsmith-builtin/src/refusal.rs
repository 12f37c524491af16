//! Why a tool did not do what it was asked, so that a model can succeed on its second
//! try: a stable word, a sentence, and what to do next.

use std::fmt;
use std::io;

use rustix::io::Errno;
use serde_json::{Map, Value};
use toolsmith_core::{ErrorKind, ToolError};

/// The stable word for why a call was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// There is no such file or folder.
    NotFound,
    /// The path leads out of the workspace.
    OutsideRoot,
    /// A file was asked for, and it is a folder.
    IsDirectory,
    /// A folder was asked for, and it is something else.
    NotDirectory,
    /// It is a pipe, a device or a socket.
    NotRegular,
    /// There is something already.
    Exists,
    /// It is not text.
    Binary,
    /// Its text cannot be read, or not be written, in its encoding.
    Encoding,
    /// It is larger than can be dealt with at once.
    TooLarge,
    /// What was looked for is not there.
    NoMatch,
    /// What was looked for is there more than once.
    Ambiguous,
    /// Nothing would change.
    NoChange,
    /// The file changed since it was read.
    Stale,
    /// The file was not read before.
    NotRead,
    /// The content leaves out what it should hold.
    Placeholder,
    /// The system does not permit it.
    Denied,
    /// The disk is full.
    DiskFull,
    /// As many of them run as may.
    Busy,
    /// Time ran out.
    TimedOut,
    /// The caller gave up.
    Cancelled,
    /// A glob or a regular expression that cannot be read.
    BadPattern,
    /// An argument that cannot be meant.
    BadArgument,
    /// The system failed otherwise.
    Failed,
}

impl Reason {
    /// The word itself.
    pub const fn word(self) -> &'static str {
        match self {
            Self::NotFound => "NOT_FOUND",
            Self::OutsideRoot => "OUTSIDE_ROOT",
            Self::IsDirectory => "IS_DIRECTORY",
            Self::NotDirectory => "NOT_DIRECTORY",
            Self::NotRegular => "NOT_REGULAR",
            Self::Exists => "EXISTS",
            Self::Binary => "BINARY",
            Self::Encoding => "ENCODING",
            Self::TooLarge => "TOO_LARGE",
            Self::NoMatch => "NO_MATCH",
            Self::Ambiguous => "AMBIGUOUS",
            Self::NoChange => "NO_CHANGE",
            Self::Stale => "STALE",
            Self::NotRead => "NOT_READ",
            Self::Placeholder => "PLACEHOLDER",
            Self::Denied => "DENIED",
            Self::DiskFull => "DISK_FULL",
            Self::Busy => "BUSY",
            Self::TimedOut => "TIMED_OUT",
            Self::Cancelled => "CANCELLED",
            Self::BadPattern => "BAD_PATTERN",
            Self::BadArgument => "BAD_ARGUMENT",
            Self::Failed => "FAILED",
        }
    }

    const fn kind(self) -> ErrorKind {
        match self {
            Self::BadPattern | Self::BadArgument => ErrorKind::InvalidParameters,
            Self::OutsideRoot | Self::Denied => ErrorKind::PermissionDenied,
            Self::DiskFull | Self::Busy => ErrorKind::Exhausted,
            Self::TimedOut => ErrorKind::Timeout,
            Self::Cancelled => ErrorKind::Cancelled,
            _ => ErrorKind::Failed,
        }
    }
}

/// Why a call was refused, and what to do next.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// The stable word.
    pub reason: Reason,
    /// What is wrong, in a sentence without a full stop.
    pub message: String,
    /// What to do next, in a sentence without a full stop.
    pub next: Option<String>,
    /// What else a program may want to know.
    details: Option<Box<Map<String, Value>>>,
}

impl Refusal {
    /// A refusal that says what is wrong.
    pub fn new(reason: Reason, message: impl Into<String>) -> Self {
        Self {
            reason,
            message: message.into(),
            next: None,
            details: None,
        }
    }

    /// Says what to do next.
    #[must_use]
    pub fn next(mut self, next: impl Into<String>) -> Self {
        self.next = Some(next.into());
        self
    }

    /// Adds what a program may want to know.
    #[must_use]
    pub fn detail(mut self, key: &str, value: impl Into<Value>) -> Self {
        let details = self.details.get_or_insert_default();
        details.insert(key.to_owned(), value.into());
        self
    }

    /// What the system said when something was tried with a path, which is shown as it
    /// was given: the system's own words may name more than the caller may know.
    pub fn system(doing: &str, path: &str, error: &io::Error) -> Self {
        let (reason, why) = match Errno::from_io_error(error) {
            Some(Errno::NOENT) => (Reason::NotFound, "there is no such file or folder"),
            Some(Errno::ACCESS | Errno::PERM) => (Reason::Denied, "the system does not permit it"),
            Some(Errno::ROFS) => (Reason::Denied, "the disk can only be read"),
            Some(Errno::ISDIR) => (Reason::IsDirectory, "it is a folder"),
            Some(Errno::NOTDIR) => (Reason::NotDirectory, "a part of the path is no folder"),
            Some(Errno::XDEV) => (Reason::OutsideRoot, "it leads out of the workspace"),
            Some(Errno::LOOP) => (Reason::NotFound, "its links lead in a circle"),
            Some(Errno::NAMETOOLONG) => (Reason::BadArgument, "a name in it is too long"),
            Some(Errno::INVAL) => (Reason::BadArgument, "the system does not take such a path"),
            Some(Errno::NOSPC | Errno::DQUOT) => (Reason::DiskFull, "the disk is full"),
            Some(Errno::NXIO) => (Reason::NotRegular, "it is no regular file"),
            Some(Errno::EXIST) => (Reason::Exists, "there is something already"),
            Some(Errno::MFILE | Errno::NFILE) => {
                (Reason::Failed, "too many files are open; try again later")
            }
            _ => (Reason::Failed, "the system failed"),
        };
        let why = match reason {
            Reason::Failed => format!("{why} ({})", error.kind()),
            _ => why.to_owned(),
        };
        let refusal = Self::new(reason, format!("cannot {doing} {path}: {why}"));
        match reason {
            Reason::Denied => refusal.next("Ask the user to permit it, or use another path"),
            Reason::DiskFull => refusal.next("Ask the user to make room, then try again"),
            Reason::NotDirectory => refusal.next("Name a path whose folders are folders"),
            Reason::BadArgument => refusal.next("Name another path"),
            _ => refusal,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.next {
            // What ends in lines of its own, such as a diff, has no full stop behind it.
            Some(next) if self.message.ends_with('\n') => write!(f, "{next}."),
            Some(next) => write!(f, ". {next}."),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Refusal {}

impl From<Refusal> for ToolError {
    fn from(refusal: Refusal) -> Self {
        let mut details = Map::new();
        details.insert("reason".to_owned(), refusal.reason.word().into());
        let error = Self::new(refusal.reason.kind(), refusal.to_string());
        if let Some(next) = refusal.next {
            details.insert("next".to_owned(), next.into());
        }
        details.extend(refusal.details.map(|details| *details).unwrap_or_default());
        error.with_details(Value::Object(details))
    }
}
