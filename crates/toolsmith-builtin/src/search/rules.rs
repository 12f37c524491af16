//! What ignore files hide, as git and ripgrep read them.
//!
//! The files of a folder hold for everything beneath it. A `.ignore` anywhere above
//! decides before a `.gitignore`, and that before `.git/info/exclude`; of the same
//! sort the deepest decides. What lies above the root of the workspace, and what a
//! user has set for all repositories, is not looked at: results depend on the tree
//! alone.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustix::fs::FileType;

use super::folder::{self, Kind, Listing};

/// How much of an ignore file is read.
const MOST_BYTES: u64 = 1 << 20;

/// How many of its lines are.
const MOST_LINES: usize = 5000;

/// How long a line may be.
const LONGEST_LINE: usize = 1000;

/// The rules of a folder, and those of the folders it is in.
#[derive(Debug)]
pub(crate) struct Rules {
    above: Option<Arc<Rules>>,
    /// How many bytes of a path from the root lead to the folder.
    base: usize,
    ignore: Gitignore,
    git: Gitignore,
    exclude: Gitignore,
    /// Whether it is a repository, which the rules for git from above do not reach.
    is_repository: bool,
}

/// Which files with rules a folder holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Present {
    ignore: bool,
    git: bool,
    repository: bool,
}

impl Present {
    /// All may be there.
    pub(super) const UNKNOWN: Self = Self {
        ignore: true,
        git: true,
        repository: true,
    };

    /// What a whole listing shows.
    pub(super) fn of(listing: &Listing) -> Self {
        let mut present = Self {
            ignore: false,
            git: false,
            repository: false,
        };
        for (name, kind) in listing.iter() {
            match name {
                b".ignore" => present.ignore = kind == Kind::File,
                b".gitignore" => present.git = kind == Kind::File,
                b".git" => present.repository = true,
                _ => {}
            }
        }
        present
    }
}

impl Rules {
    /// The rules in a folder, added to those from above. `base` is how many bytes of a
    /// path from the root lead into it.
    pub(super) fn load(
        above: Option<Arc<Self>>,
        folder: BorrowedFd<'_>,
        base: usize,
        present: Present,
    ) -> Option<Arc<Self>> {
        if !(present.ignore || present.git || present.repository) {
            return above;
        }
        let read = |is_there: bool, name: &[u8]| match is_there {
            true => read(folder, name).unwrap_or_else(Gitignore::empty),
            false => Gitignore::empty(),
        };
        let ignore = read(present.ignore, b".ignore");
        let git = read(present.git, b".gitignore");
        let (is_repository, exclude) = match present.repository {
            true => repository(folder),
            false => (false, None),
        };
        let exclude = exclude.unwrap_or_else(Gitignore::empty);
        if ignore.is_empty() && git.is_empty() && exclude.is_empty() && !is_repository {
            return above;
        }
        Some(Arc::new(Self {
            above,
            base,
            ignore,
            git,
            exclude,
            is_repository,
        }))
    }

    /// Tells whether something is hidden, by its path from the root. What hides the
    /// folders it is in was asked before.
    pub(crate) fn hide(&self, path: &[u8], kind: Kind) -> bool {
        let is_folder = kind == Kind::Folder;
        let (mut by_git, mut by_exclude) = (Decided::Not, Decided::Not);
        let mut is_outside = false;
        let mut here = Some(self);
        while let Some(rules) = here {
            let rest = Path::new(OsStr::from_bytes(
                path.get(rules.base..).unwrap_or_default(),
            ));
            // Nothing decides before the deepest of these.
            match decided(&rules.ignore, rest, is_folder) {
                Decided::Not => {}
                decided => return decided == Decided::Hidden,
            }
            if !is_outside {
                by_git = by_git.or_else(|| decided(&rules.git, rest, is_folder));
                by_exclude = by_exclude.or_else(|| decided(&rules.exclude, rest, is_folder));
                is_outside = rules.is_repository;
            }
            here = rules.above.as_deref();
        }
        by_git.or_else(|| by_exclude) == Decided::Hidden
    }
}

/// What some rules say of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Decided {
    Hidden,
    Shown,
    Not,
}

impl Decided {
    fn or_else(self, other: impl FnOnce() -> Self) -> Self {
        match self {
            Self::Not => other(),
            decided => decided,
        }
    }
}

fn decided(rules: &Gitignore, path: &Path, is_folder: bool) -> Decided {
    match rules.matched(path, is_folder) {
        Match::None => Decided::Not,
        Match::Ignore(_) => Decided::Hidden,
        Match::Whitelist(_) => Decided::Shown,
    }
}

/// Whether a folder is a repository, and what its own exclude file says.
fn repository(folder: BorrowedFd<'_>) -> (bool, Option<Gitignore>) {
    let Ok(git) = folder::open_folder(folder, b".git") else {
        // In a worktree it is a file that names the repository.
        let found = rustix::fs::statat(
            folder,
            b".git".as_slice(),
            rustix::fs::AtFlags::SYMLINK_NOFOLLOW,
        );
        return (found.is_ok(), None);
    };
    let info = folder::open_folder(git.as_fd(), b"info");
    let exclude = info.ok().and_then(|info| read(info.as_fd(), b"exclude"));
    (true, exclude)
}

/// The rules in a file, if there is one that can be read.
fn read(folder: BorrowedFd<'_>, name: &[u8]) -> Option<Gitignore> {
    let file = folder::open_file(folder, name).ok()?;
    let found = rustix::fs::fstat(&file).ok()?;
    if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
        return None;
    }
    let mut content = Vec::new();
    File::from(file)
        .take(MOST_BYTES)
        .read_to_end(&mut content)
        .ok()?;
    // The rules are matched against paths from their own folder.
    let mut rules = GitignoreBuilder::new("");
    let content = content.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&content);
    for line in content.split(|byte| *byte == b'\n').take(MOST_LINES) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.len() <= LONGEST_LINE
            && let Ok(line) = std::str::from_utf8(line)
        {
            // A line that is no pattern hides nothing, as with git.
            let _ = rules.add_line(None, line);
        }
    }
    rules.build().ok()
}
