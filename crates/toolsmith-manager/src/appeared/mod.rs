//! What decides about tools and was made or replaced while programs ran in the sandbox: it
//! may be theirs, and counts as not there until a person has looked at it.
//!
//! No layer of a sandbox keeps a program from making a file that does not exist, or from
//! replacing a link. So what is missing, and what is a link, is noted right before a program
//! starts, and looked at when nothing of it is left: what is there then was made meanwhile, by
//! the program or by somebody else. `note` keeps that in files, so that it holds after the end
//! of this process, and for others beside it; `loader` leaves it out of what is read.
//!
//! Neither the sandbox itself nor what is protected in it is decided here: see `sandbox`.

mod loader;
mod note;

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{fs, io};

use crate::files::Identity;
use crate::root::settled;
pub(crate) use loader::Withholding;
use note::{Note, Notes};

/// What appeared in a project while programs ran in its sandbox. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Appeared(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// The project's folder, as it was named and without links.
    root: PathBuf,
    settled: PathBuf,
    /// Where it is written down; nowhere for a host without such a folder.
    notes: Option<Notes>,
    state: Mutex<State>,
}

/// Paths, and what was there when a program started: a link, by what tells it from every
/// other, or nothing. They are seen from the project's folder where they lie in it, so that
/// another way there leads to the same ones.
type Before = BTreeMap<PathBuf, Option<String>>;

#[derive(Debug, Default)]
struct State {
    /// How many programs run.
    running: usize,
    /// What they can make or replace.
    before: Before,
    note: Option<Note>,
    /// What was made and could not be written down.
    unwritten: Before,
    /// All that is withheld, as it was when somebody last looked.
    withheld: BTreeSet<PathBuf>,
}

/// What became of what was to be accepted.
#[derive(Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Accepted {
    /// What counts from now on.
    pub accepted: Vec<PathBuf>,
    /// What a program that still runs may make or change.
    pub remaining: Vec<PathBuf>,
}

/// A program that runs, until it is dropped.
#[derive(Debug)]
pub(crate) struct Run(Appeared);

impl Appeared {
    /// What appears in the project in this folder, noted beneath a folder for those of all.
    pub fn of_root(all: Option<PathBuf>, root: &Path) -> Self {
        let settled = settled(root);
        Self(Arc::new(Inner {
            root: std::path::absolute(root).unwrap_or_else(|_| root.to_owned()),
            notes: all.map(|all| Notes::of_root(&all, &settled)),
            settled,
            state: Mutex::default(),
        }))
    }

    /// What is there, and counts as not there.
    pub fn paths(&self) -> Vec<PathBuf> {
        let mut state = self.state();
        self.look(&mut state);
        let is_there = |path: &&PathBuf| !is_absent(&self.0.settled.join(path));
        let withheld = state.withheld.iter().filter(is_there);
        withheld.map(|path| self.0.root.join(path)).collect()
    }

    /// Takes what is there for the user's own.
    ///
    /// # Errors
    /// When a note cannot be removed.
    pub fn accept(&self) -> io::Result<Accepted> {
        let before = self.paths();
        if let Some(notes) = &self.0.notes {
            notes.forget()?;
        }
        self.state().unwritten.clear();
        let remaining = self.paths();
        let is_accepted = |path: &PathBuf| !remaining.contains(path);
        Ok(Accepted {
            accepted: before.into_iter().filter(is_accepted).collect(),
            remaining,
        })
    }

    /// Notes that a program starts now, which could make or replace any of these paths.
    pub(crate) fn begin(&self, paths: impl IntoIterator<Item = PathBuf>) -> Run {
        let mut state = self.state();
        let State {
            running,
            before,
            note,
            ..
        } = &mut *state;
        *running += 1;
        let known = before.len();
        for path in paths {
            if is_missing(&path) {
                before.insert(self.key(&path), None);
            } else if let Some(link) = link(&path) {
                before.entry(self.key(&path)).or_insert(Some(link));
            }
        }
        if before.len() > known
            && let Some(notes) = &self.0.notes
        {
            // The old one goes when the new one is there.
            match notes.hold(before) {
                Ok(fresh) => *note = Some(fresh),
                Err(error) => tell(&error),
            }
        }
        drop(state);
        Run(self.clone())
    }

    fn end(&self) {
        let mut state = self.state();
        state.running -= 1;
        if state.running > 0 {
            return;
        }
        let before = std::mem::take(&mut state.before);
        let is_made = |(path, before): &(PathBuf, Option<String>)| self.is_made(path, before);
        let made = before.into_iter().filter(is_made);
        let made: Before = made.map(|(path, _)| (path, None)).collect();
        if !made.is_empty() {
            match self.0.notes.as_ref().map(|notes| notes.settle(&made)) {
                Some(Ok(())) => {}
                Some(Err(error)) => {
                    tell(&error);
                    state.unwritten.extend(made);
                }
                None => state.unwritten.extend(made),
            }
        }
        state.note = None;
    }

    /// Tells whether a path, or a folder it lies in, counts as not there.
    pub(crate) fn withholds(&self, path: &Path) -> bool {
        let mut state = self.state();
        self.look(&mut state);
        self.has(&state, path)
    }

    /// The same, as it was when somebody last looked.
    fn was_withheld(&self, path: &Path) -> bool {
        self.has(&self.state(), path)
    }

    fn has(&self, state: &State, path: &Path) -> bool {
        let key = self.key(path);
        key.ancestors().any(|path| state.withheld.contains(path))
    }

    /// Looks what is withheld now. What is missing now counts again once somebody makes it,
    /// unless a program runs that could.
    fn look(&self, state: &mut State) {
        let State {
            before,
            unwritten,
            withheld,
            ..
        } = state;
        unwritten.retain(|path, before| self.is_made(path, before));
        withheld.clear();
        let made = before.iter().filter(|(path, before)| {
            // It may be there for a moment, and gone by now.
            before.is_none() || self.is_made(path, before)
        });
        withheld.extend(made.map(|(path, _)| path.clone()));
        withheld.extend(unwritten.keys().cloned());
        if let Some(notes) = &self.0.notes {
            withheld.extend(notes.withheld(|path, before| self.is_made(path, before)));
        }
    }

    /// Tells whether something is there that was not before.
    fn is_made(&self, key: &Path, before: &Option<String>) -> bool {
        let path = self.0.settled.join(key);
        !is_absent(&path) && (before.is_none() || link(&path) != *before)
    }

    /// A path as it is noted.
    fn key(&self, path: &Path) -> PathBuf {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let roots = [&self.0.root, &self.0.settled];
        let beneath = roots.iter().find_map(|root| path.strip_prefix(root).ok());
        beneath.map_or_else(|| path.clone(), Path::to_owned)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Who panicked while holding it left whole values behind.
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Tells whether nothing is there, where links lead. What cannot be looked at may be there.
fn is_missing(path: &Path) -> bool {
    fs::metadata(path).is_err_and(|error| error.kind() == ErrorKind::NotFound)
}

/// Tells whether nothing is there, not even a link that leads nowhere: whoever makes what it
/// leads to would put it into force.
fn is_absent(path: &Path) -> bool {
    fs::symlink_metadata(path).is_err_and(|error| error.kind() == ErrorKind::NotFound)
}

/// What tells a link from every other, one that was put in its place among them.
fn link(path: &Path) -> Option<String> {
    let about = fs::symlink_metadata(path).ok()?;
    let identity = Identity::of(&about);
    about.is_symlink().then(|| format!("{identity:?}"))
}

/// What cannot be written down holds for as long as this process lives, and no program is
/// refused for it: a machine may have no folder that can be written.
fn tell(error: &io::Error) {
    tracing::warn!(
        target: "toolsmith",
        "what programs in the sandbox may make cannot be noted for the next start: {error}"
    );
}
