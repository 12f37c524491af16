//! The upper part of a tree, level by level, so that a large folder does not take the
//! place of all others.

use std::collections::VecDeque;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use rustix::fs::RawDir;

use super::folder::{self, Folder, Kind, Listing, Read, Step};
use super::naming;
use super::page;
use super::rules::{Present, Rules};
use super::start::Start;
use super::stop::Stop;
use super::walk::{GIT, Unseen};

/// How many files and folders are shown in all.
const MOST: usize = 1000;

/// How many of them in one folder.
const MOST_IN_FOLDER: usize = 100;

/// How many bytes one of them takes beside its name.
const ROW: usize = 56;

/// A file or folder that is shown.
#[derive(Debug)]
pub(crate) struct Branch {
    pub(crate) name: String,
    /// Whether the name is told as it is.
    pub(crate) is_exact: bool,
    pub(crate) kind: Kind,
    pub(crate) depth: usize,
    /// What is in it, by where that lies among all branches.
    pub(crate) inner: Vec<usize>,
    /// How much more is in it.
    pub(crate) more: u64,
    /// Whether it was not looked into.
    pub(crate) is_closed: bool,
}

/// The upper part of a tree; the first branch is where it begins.
#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) branches: Vec<Branch>,
    /// Whether there are folders deeper than was asked for.
    pub(crate) is_deeper: bool,
    /// Whether there is more than is shown.
    pub(crate) is_cut: bool,
    pub(crate) unseen: Unseen,
}

/// Shows so many levels of a tree, in so many bytes.
pub(crate) fn grow(
    start: &Start,
    (levels, bytes): (usize, usize),
    include_ignored: bool,
    stop: &Stop<'_>,
) -> Tree {
    let mut tree = Tree {
        branches: vec![Branch::new(start.shown.as_bytes(), Kind::Folder, 0)],
        is_deeper: false,
        is_cut: false,
        unseen: Unseen::default(),
    };
    let open = Arc::new(AtomicUsize::new(0));
    let Ok(handle) = folder::open_folder(start.as_fd(), b".") else {
        tree.unseen.unreadable = 1;
        return tree;
    };
    let first = Folder::new(handle, Step::first(), &open);
    let mut left = page::room(bytes);
    let mut to_do = VecDeque::from([(0, Arc::clone(&first.step), start.rules.clone())]);
    while let Some((branch, step, rules)) = to_do.pop_front() {
        if tree.branches[branch].depth >= levels
            || tree.branches.len() > MOST
            || left == 0
            || stop.is_due()
        {
            tree.branches[branch].is_closed = true;
            tree.is_deeper |= tree.branches[branch].depth >= levels;
            tree.is_cut |= tree.branches[branch].depth < levels;
            continue;
        }
        let Ok(folder) = first.reopen(step) else {
            tree.unseen.unreadable += 1;
            continue;
        };
        let mut path = start.base.clone();
        folder.step.write(&mut path);
        let mut level = Level {
            rules,
            include_ignored,
            private: &start.private,
            path,
            shown: Vec::new(),
            total: 0,
        };
        if level.read(&folder, stop, &mut tree.unseen).is_err() {
            tree.unseen.unreadable += 1;
        }
        let room = MOST_IN_FOLDER.min((MOST + 1).saturating_sub(tree.branches.len()));
        level.shown.truncate(room);
        level.shown.retain(|(name, _)| {
            // Once there is no room for a name, there is none for those that follow.
            left = left.saturating_sub(ROW + 2 * naming::one_line(name).len());
            left > 0
        });
        let more = level.total - level.shown.len() as u64;
        tree.branches[branch].more = more;
        tree.is_cut |= more > 0;
        let depth = tree.branches[branch].depth + 1;
        for (name, kind) in level.shown {
            let inner = tree.branches.len();
            tree.branches[branch].inner.push(inner);
            tree.branches.push(Branch::new(&name, kind, depth));
            if kind == Kind::Folder
                && let Some(step) = folder.step.enter(&name)
            {
                to_do.push_back((inner, step, level.rules.clone()));
            }
        }
    }
    tree
}

impl Branch {
    fn new(name: &[u8], kind: Kind, depth: usize) -> Self {
        Self {
            name: naming::one_line(name),
            is_exact: naming::is_exact(name),
            kind,
            depth,
            inner: Vec::new(),
            more: 0,
            is_closed: false,
        }
    }
}

/// What one folder holds.
struct Level<'a> {
    rules: Option<Arc<Rules>>,
    include_ignored: bool,
    /// The ways from the root to what nobody may see.
    private: &'a [Vec<u8>],
    /// The way to it from the root of the workspace.
    path: Vec<u8>,
    /// The first names, in their order.
    shown: Vec<(Vec<u8>, Kind)>,
    total: u64,
}

impl Level<'_> {
    fn read(
        &mut self,
        folder: &Folder,
        stop: &Stop<'_>,
        unseen: &mut Unseen,
    ) -> std::io::Result<()> {
        let mut buffer = folder::entry_buffer();
        let mut raw = RawDir::new(folder.as_fd(), &mut buffer);
        let mut listing = Listing::default();
        let mut is_first = true;
        loop {
            let read = listing.fill(&mut raw, folder.as_fd())?;
            if is_first && !self.include_ignored {
                let present = match read {
                    Read::All => Present::of(&listing),
                    Read::Some => Present::UNKNOWN,
                };
                self.rules =
                    Rules::load(self.rules.take(), folder.as_fd(), self.path.len(), present);
            }
            is_first = false;
            self.sift(&listing, unseen);
            if read == Read::All || stop.is_due() {
                return Ok(());
            }
        }
    }

    /// Takes what is not hidden, and keeps the first of it.
    fn sift(&mut self, listing: &Listing, unseen: &mut Unseen) {
        let base = self.path.len();
        for (name, kind) in listing.iter().filter(|(name, _)| *name != GIT) {
            self.path.truncate(base);
            self.path.extend_from_slice(name);
            if self.private.contains(&self.path) {
                continue;
            }
            if !self.include_ignored
                && let Some(rules) = &self.rules
                && rules.hide(&self.path, kind)
            {
                unseen.ignored += 1;
                continue;
            }
            self.total += 1;
            self.shown.push((name.to_vec(), kind));
        }
        self.path.truncate(base);
        self.shown
            .sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        self.shown.truncate(MOST_IN_FOLDER);
    }
}
