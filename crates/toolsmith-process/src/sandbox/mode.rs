//! The three modes of a sandbox, and their names in files and on the command line.

use std::fmt;
use std::str::FromStr;

/// Which files a child may write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Mode {
    /// Nothing but the folders for temporary files.
    ReadOnly,
    /// The workspace too.
    #[default]
    WorkspaceWrite,
    /// Whatever the user may write. Hidden paths stay hidden, the network stays as it is
    /// set, and what the kernel offers to few programs only stays forbidden.
    Full,
}

impl Mode {
    /// All of them, the strictest first.
    pub const ALL: [Self; 3] = [Self::ReadOnly, Self::WorkspaceWrite, Self::Full];

    /// Returns the name by which files and people call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::WorkspaceWrite => "workspace-write",
            Self::Full => "full",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

/// A name that is none of a mode's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no sandbox mode {name:?}; use read-only, workspace-write or full")]
pub struct UnknownMode {
    /// The name as it was given.
    pub name: String,
}

impl FromStr for Mode {
    type Err = UnknownMode;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|mode| mode.name() == name);
        found.ok_or_else(|| UnknownMode {
            name: name.to_owned(),
        })
    }
}
