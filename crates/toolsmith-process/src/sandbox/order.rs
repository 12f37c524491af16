//! The order that the host hands to its helper: what to start, and within which bounds.
//!
//! It travels in an anonymous file that is sealed before the helper starts, so that no
//! argument list shows it and nobody changes it on the way. It is written and read by the
//! same build or by two that agree on [`VERSION`]; another version is refused.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::PathBuf;

use super::{Limits, Mode};

/// What comes first in each order.
const MAGIC: [u8; 4] = *b"tlsb";
/// Changes with the layout of an order.
const VERSION: u32 = 1;
/// How long an order may be: more than any system lets a command line be.
pub(crate) const MAX_ORDER: usize = 32 << 20;
/// How many words or paths a list may have.
const MAX_LIST: usize = 1 << 20;

/// What the helper is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Order {
    pub(crate) task: Task,
    /// The process that must live on, or the helper ends everything.
    pub(crate) host: u32,
    pub(crate) program: OsString,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) environment: Vec<(OsString, OsString)>,
    pub(crate) current_dir: Option<PathBuf>,
    pub(crate) mode: Mode,
    pub(crate) network: bool,
    pub(crate) landlock: u32,
    pub(crate) namespaces: bool,
    pub(crate) keep_descendants: bool,
    /// In the order of [`Sandbox::writable_folders`](super::Sandbox::writable_folders).
    pub(crate) writable: Vec<PathBuf>,
    pub(crate) protected: Vec<PathBuf>,
    pub(crate) hidden: Vec<PathBuf>,
    pub(crate) limits: Limits,
}

/// Whether something is to be started, or only tried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// Start the program.
    Start,
    /// Set up the namespaces with all that is done in them, start nothing.
    TryNamespaces,
}

impl Order {
    /// An order that tries out namespaces.
    pub(crate) fn to_try_namespaces(host: u32) -> Self {
        Self {
            task: Task::TryNamespaces,
            host,
            program: OsString::new(),
            arguments: Vec::new(),
            environment: Vec::new(),
            current_dir: None,
            mode: Mode::ReadOnly,
            network: false,
            landlock: 0,
            namespaces: true,
            keep_descendants: false,
            writable: Vec::new(),
            protected: Vec::new(),
            hidden: Vec::new(),
            limits: Limits::default(),
        }
    }

    /// Writes the order down.
    ///
    /// # Errors
    /// When a text holds a zero byte, which no system call takes.
    pub(crate) fn to_bytes(&self) -> io::Result<Vec<u8>> {
        let mut out = Writer::default();
        out.bytes.extend(MAGIC);
        out.number(u64::from(VERSION));
        out.number(match self.task {
            Task::Start => 0,
            Task::TryNamespaces => 1,
        });
        out.number(u64::from(self.host));
        out.text(&self.program)?;
        out.list(self.arguments.iter().map(OsString::as_os_str))?;
        out.list(self.environment.iter().map(|(name, _)| name.as_os_str()))?;
        out.list(self.environment.iter().map(|(_, value)| value.as_os_str()))?;
        out.list(self.current_dir.iter().map(|path| path.as_os_str()))?;
        out.number(match self.mode {
            Mode::ReadOnly => 0,
            Mode::WorkspaceWrite => 1,
            Mode::Full => 2,
        });
        out.number(u64::from(self.network));
        out.number(u64::from(self.landlock));
        out.number(u64::from(self.namespaces));
        out.number(u64::from(self.keep_descendants));
        for paths in [&self.writable, &self.protected, &self.hidden] {
            out.list(paths.iter().map(|path| path.as_os_str()))?;
        }
        let Limits {
            open_files,
            processes,
            file_size,
        } = self.limits;
        for limit in [open_files, processes, file_size] {
            // No limit and the highest number are the same to the system.
            out.number(limit.unwrap_or(u64::MAX));
        }
        Ok(out.bytes)
    }

    /// Reads an order; nothing when it is none or of another version.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut rest = Reader {
            bytes: bytes.strip_prefix(&MAGIC)?,
        };
        if rest.number()? != u64::from(VERSION) {
            return None;
        }
        let task = match rest.number()? {
            0 => Task::Start,
            1 => Task::TryNamespaces,
            _ => return None,
        };
        let host = rest.number()?.try_into().ok()?;
        let program = rest.text()?;
        let arguments = rest.list()?;
        let (names, values) = (rest.list()?, rest.list()?);
        if names.len() != values.len() {
            return None;
        }
        let current_dir = rest.list()?.into_iter().next().map(PathBuf::from);
        let mode = match rest.number()? {
            0 => Mode::ReadOnly,
            1 => Mode::WorkspaceWrite,
            2 => Mode::Full,
            _ => return None,
        };
        let order = Self {
            task,
            host,
            program,
            arguments,
            environment: names.into_iter().zip(values).collect(),
            current_dir,
            mode,
            network: rest.flag()?,
            landlock: rest.number()?.try_into().ok()?,
            namespaces: rest.flag()?,
            keep_descendants: rest.flag()?,
            writable: rest.paths()?,
            protected: rest.paths()?,
            hidden: rest.paths()?,
            limits: Limits {
                open_files: limit(rest.number()?),
                processes: limit(rest.number()?),
                file_size: limit(rest.number()?),
            },
        };
        rest.bytes.is_empty().then_some(order)
    }
}

fn limit(number: u64) -> Option<u64> {
    (number != u64::MAX).then_some(number)
}

#[derive(Default)]
struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    fn number(&mut self, number: u64) {
        self.bytes.extend(number.to_le_bytes());
    }

    fn text(&mut self, text: &OsStr) -> io::Result<()> {
        let bytes = text.as_bytes();
        if bytes.contains(&0) {
            let why = "a program, argument, variable or path holds a zero byte";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        self.number(bytes.len() as u64);
        self.bytes.extend(bytes);
        Ok(())
    }

    fn list<'a>(&mut self, texts: impl ExactSizeIterator<Item = &'a OsStr>) -> io::Result<()> {
        self.number(texts.len() as u64);
        for text in texts {
            self.text(text)?;
        }
        Ok(())
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
}

impl Reader<'_> {
    fn number(&mut self) -> Option<u64> {
        let (number, rest) = self.bytes.split_first_chunk()?;
        self.bytes = rest;
        Some(u64::from_le_bytes(*number))
    }

    fn flag(&mut self) -> Option<bool> {
        match self.number()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    fn text(&mut self) -> Option<OsString> {
        let length = self.number()?.try_into().ok()?;
        let (text, rest) = self.bytes.split_at_checked(length)?;
        self.bytes = rest;
        Some(OsString::from_vec(text.to_vec()))
    }

    fn list(&mut self) -> Option<Vec<OsString>> {
        let length = usize::try_from(self.number()?).ok()?;
        if length > MAX_LIST {
            return None;
        }
        (0..length).map(|_| self.text()).collect()
    }

    fn paths(&mut self) -> Option<Vec<PathBuf>> {
        Some(self.list()?.into_iter().map(PathBuf::from).collect())
    }
}
