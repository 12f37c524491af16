//! What the helper tells the host, over a pipe: what it found, what failed, how it ended.
//!
//! Each message is a frame of less than a page, so that the pipe takes it whole and several
//! processes may write to it. The child itself never holds the pipe.

use std::path::{Path, PathBuf};

/// How long a frame may be: what a pipe takes in one piece.
pub(crate) const MAX_FRAME: usize = 4096;
/// The bytes before the content of a frame: its kind and its length.
const HEAD: usize = 3;
/// How many paths of each kind a sandbox may name, so that their marks fit in a frame.
pub(crate) const MAX_PATHS: usize = 4096;

/// One message of the helper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Frame {
    /// The process that watches over the child from within its namespace.
    Keeper(u32),
    /// Everything is set up; the program is started next.
    Ready(Findings),
    /// The program has started, where the end of the pipe does not tell.
    Started,
    /// Nothing was started.
    Failed {
        stage: Stage,
        errno: i32,
        /// The path it was about, by its place in the list of its kind.
        index: u32,
    },
    /// How the program ended, as the system tells it.
    Exited(i32),
}

/// What the helper found that the host cannot know.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Findings {
    pub(crate) has_own_proc: bool,
    /// Whether the child has terminals of its own; for the helper alone.
    pub(crate) has_own_terminals: bool,
    pub(crate) missing_writable: Marks,
    pub(crate) missing_protected: Marks,
    pub(crate) linked_protected: Marks,
}

/// Some entries of a list, by their places.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marks {
    bits: Vec<u8>,
}

impl Marks {
    pub(crate) fn add(&mut self, index: usize) {
        let (byte, bit) = (index / 8, index % 8);
        if self.bits.len() <= byte {
            self.bits.resize(byte + 1, 0);
        }
        self.bits[byte] |= 1 << bit;
    }

    pub(crate) fn iter<'a>(&'a self, paths: &'a [PathBuf]) -> impl Iterator<Item = &'a Path> {
        paths.iter().enumerate().filter_map(|(index, path)| {
            let byte = self.bits.get(index / 8)?;
            (byte & (1 << (index % 8)) != 0).then_some(path.as_path())
        })
    }
}

/// What the helper was doing when it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Order,
    Limits,
    Namespaces,
    Mounts,
    Writable,
    Protected,
    Hidden,
    /// A hidden path lies beneath a writable folder, and nothing can cover it.
    HiddenBeneathWritable,
    Capabilities,
    Landlock,
    Seccomp,
    Folder,
    Program,
}

impl Stage {
    const ALL: [Self; 13] = [
        Self::Order,
        Self::Limits,
        Self::Namespaces,
        Self::Mounts,
        Self::Writable,
        Self::Protected,
        Self::Hidden,
        Self::HiddenBeneathWritable,
        Self::Capabilities,
        Self::Landlock,
        Self::Seccomp,
        Self::Folder,
        Self::Program,
    ];

    /// Says what the helper was doing, to go after "the sandbox failed to".
    pub(crate) fn deed(self) -> &'static str {
        match self {
            Self::Order => "read its order",
            Self::Limits => "set limits",
            Self::Namespaces => "enter namespaces of its own",
            Self::Mounts => "change its mounts",
            Self::Writable => "keep a folder writable",
            Self::Protected => "protect a path",
            Self::Hidden => "hide a path",
            Self::HiddenBeneathWritable => "hide a path beneath a writable folder",
            Self::Capabilities => "give up capabilities",
            Self::Landlock => "apply Landlock",
            Self::Seccomp => "filter system calls",
            Self::Folder => "enter the working folder",
            Self::Program => "start the program",
        }
    }

    fn number(self) -> u8 {
        let place = Self::ALL.iter().position(|stage| *stage == self);
        place.map_or(u8::MAX, |place| u8::try_from(place).unwrap_or(u8::MAX))
    }
}

impl Frame {
    /// Writes the frame down.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut content = Vec::new();
        let kind = match self {
            Self::Keeper(id) => {
                content.extend(id.to_le_bytes());
                1
            }
            Self::Ready(findings) => {
                content.push(u8::from(findings.has_own_proc));
                for marks in [
                    &findings.missing_writable,
                    &findings.missing_protected,
                    &findings.linked_protected,
                ] {
                    let length = u16::try_from(marks.bits.len()).unwrap_or(0);
                    content.extend(length.to_le_bytes());
                    content.extend(&marks.bits[..usize::from(length)]);
                }
                2
            }
            Self::Started => 3,
            Self::Failed {
                stage,
                errno,
                index,
            } => {
                content.push(stage.number());
                content.extend(errno.to_le_bytes());
                content.extend(index.to_le_bytes());
                4
            }
            Self::Exited(status) => {
                content.extend(status.to_le_bytes());
                5
            }
        };
        let length = u16::try_from(content.len()).unwrap_or(u16::MAX);
        let mut bytes = vec![kind];
        bytes.extend(length.to_le_bytes());
        bytes.extend(content);
        bytes
    }

    fn read(kind: u8, mut content: &[u8]) -> Option<Self> {
        let rest = &mut content;
        let frame = match kind {
            1 => Self::Keeper(u32::from_le_bytes(take(rest)?)),
            2 => Self::Ready(Findings {
                has_own_proc: take::<1>(rest)? != [0],
                has_own_terminals: false,
                missing_writable: marks(rest)?,
                missing_protected: marks(rest)?,
                linked_protected: marks(rest)?,
            }),
            3 => Self::Started,
            4 => {
                let [stage] = take(rest)?;
                Self::Failed {
                    stage: *Stage::ALL.get(usize::from(stage))?,
                    errno: i32::from_le_bytes(take(rest)?),
                    index: u32::from_le_bytes(take(rest)?),
                }
            }
            5 => Self::Exited(i32::from_le_bytes(take(rest)?)),
            _ => return None,
        };
        rest.is_empty().then_some(frame)
    }
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(*taken)
}

fn marks(rest: &mut &[u8]) -> Option<Marks> {
    let length = u16::from_le_bytes(take(rest)?);
    let (bits, after) = rest.split_at_checked(usize::from(length))?;
    *rest = after;
    Some(Marks {
        bits: bits.to_vec(),
    })
}

/// What was read from the pipe and not yet understood.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    bytes: Vec<u8>,
}

impl Frames {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes);
    }

    /// Takes the next whole frame; `None` when there is none, an error when it is not one.
    pub(crate) fn next(&mut self) -> Result<Option<Frame>, NoFrame> {
        let Some((head, rest)) = self.bytes.split_first_chunk::<HEAD>() else {
            return Ok(None);
        };
        let length = usize::from(u16::from_le_bytes([head[1], head[2]]));
        if length > MAX_FRAME - HEAD {
            return Err(NoFrame);
        }
        let Some(content) = rest.get(..length) else {
            return Ok(None);
        };
        let frame = Frame::read(head[0], content).ok_or(NoFrame)?;
        self.bytes.drain(..HEAD + length);
        Ok(Some(frame))
    }
}

/// Bytes that are no frame: the helper is of another build.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NoFrame;
