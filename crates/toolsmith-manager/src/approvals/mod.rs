//! What a person approved for a project, until it is revoked.
//!
//! One file for each project, in the user's own folder and readable by the user alone:
//! not in the project, since one that is cloned must not bring its own approvals. It is
//! looked at before a person would be asked, so what is revoked counts no more at the next
//! call.

mod form;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use toolsmith_runtime::permit::{ApprovalStore, ApprovalStoreError, Remembered};

pub use form::Approved;

use crate::files::Stamp;
use crate::root::{digest_of, settled};
use crate::shared_file::{FolderLock, Readers, replace};
use crate::spill::private_folder;
use crate::yaml::visible;

/// How many characters of a path are told.
const SHOWN: usize = 4096;

/// The approvals of one project. Cheap to clone.
#[derive(Clone, Debug)]
pub struct FileApprovals(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    folder: PathBuf,
    file: PathBuf,
    /// The file as it is told.
    name: String,
    /// The project's folder, without links.
    root: String,
    now: fn() -> SystemTime,
    state: Mutex<State>,
}

/// What was read last.
#[derive(Debug, Default)]
struct State {
    approved: Vec<Approved>,
    /// The same, for whoever asks at every call.
    remembered: Arc<Vec<Remembered>>,
    problem: Option<String>,
    /// What stood there, and whether that alone tells that nothing changed.
    seen: Option<(Stamp, bool)>,
}

impl FileApprovals {
    /// Keeps the approvals of the project with this root in this folder, which is made when
    /// it is first needed.
    pub fn of_root(folder: impl Into<PathBuf>, root: &Path, now: fn() -> SystemTime) -> Self {
        let folder = folder.into();
        let root = settled(root);
        let file = folder.join(digest_of(&root) + ".json");
        Self(Arc::new(Inner {
            folder,
            name: visible(&file.display().to_string(), SHOWN),
            file,
            root: root.display().to_string(),
            now,
            state: Mutex::default(),
        }))
    }

    /// The file they stand in.
    pub fn file(&self) -> &Path {
        &self.0.file
    }

    /// What is wrong with the file, and what to do.
    pub fn problem(&self) -> Option<String> {
        self.looked().problem.clone()
    }

    /// Every approval, the oldest first.
    ///
    /// # Errors
    /// When the file cannot be used; the message tells why and what to do.
    pub fn all(&self) -> Result<Vec<Approved>, ApprovalStoreError> {
        let state = self.looked();
        match &state.problem {
            Some(problem) => Err(ApprovalStoreError(problem.clone())),
            None => Ok(state.approved.clone()),
        }
    }

    /// Takes back those that are chosen, and returns them.
    ///
    /// # Errors
    /// When the file cannot be used or written; nothing is revoked then.
    pub fn revoke(
        &self,
        chosen: impl Fn(&Approved) -> bool,
    ) -> Result<Vec<Approved>, ApprovalStoreError> {
        // Nothing was ever approved, and no folder need be made to find that out.
        if Stamp::look(&self.0.file) == Stamp::Missing {
            return Ok(Vec::new());
        }
        let mut revoked = Vec::new();
        self.change(|approved| revoked = approved.extract_if(.., |each| chosen(each)).collect())?;
        Ok(revoked)
    }

    /// The state, with what the file says now.
    fn looked(&self) -> MutexGuard<'_, State> {
        let mut state = self.0.state();
        let stamp = Stamp::look(&self.0.file);
        let is_same = |(seen, is_sure): &(Stamp, bool)| *is_sure && *seen == stamp;
        if !state.seen.as_ref().is_some_and(is_same) {
            self.0.read(&mut state);
        }
        state
    }

    /// Changes the file: what it says now, not what it said when it was last read.
    fn change(&self, change: impl FnOnce(&mut Vec<Approved>)) -> Result<(), ApprovalStoreError> {
        let inner = &self.0;
        let mut state = inner.state();
        let failed = |reason: String| {
            ApprovalStoreError(format!("{} cannot be written: {reason}", inner.name))
        };
        private_folder(&inner.folder).map_err(|error| failed(error.to_string()))?;
        let lock = FolderLock::wait(&inner.folder);
        let _lock = lock.map_err(|error| failed(error.to_string()))?;
        inner.read(&mut state);
        if let Some(problem) = &state.problem {
            return Err(ApprovalStoreError(problem.clone()));
        }
        let mut approved = state.approved.clone();
        change(&mut approved);
        let text = form::written(&inner.root, &approved).map_err(failed)?;
        replace(&inner.file, text.as_bytes(), Readers::Owner)
            .map_err(|error| failed(error.to_string()))?;
        state.take(approved);
        state.seen = None;
        Ok(())
    }
}

impl Inner {
    /// Who panicked while holding it left whole values behind.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self, state: &mut State) {
        match form::read(&self.file, &self.name, &self.root) {
            Ok(found) => {
                let is_sure = found.stamp.is_settled((self.now)());
                state.seen = Some((found.stamp, is_sure));
                state.problem = None;
                state.take(found.approved);
            }
            Err(problem) => {
                state.seen = None;
                state.problem = Some(problem);
                state.take(Vec::new());
            }
        }
    }
}

impl State {
    fn take(&mut self, approved: Vec<Approved>) {
        let remembered = approved.iter().map(|each| each.approval.clone());
        self.remembered = Arc::new(remembered.collect());
        self.approved = approved;
    }
}

impl ApprovalStore for FileApprovals {
    fn approvals(&self) -> Result<Arc<Vec<Remembered>>, ApprovalStoreError> {
        let state = self.looked();
        match &state.problem {
            Some(problem) => Err(ApprovalStoreError(problem.clone())),
            None => Ok(Arc::clone(&state.remembered)),
        }
    }

    fn keep(&self, approval: Remembered) -> Result<(), ApprovalStoreError> {
        // A clock from before 1970 tells no time worth telling.
        let since = (self.0.now)().duration_since(UNIX_EPOCH);
        let since = since.map(|since| since.as_secs()).unwrap_or_default();
        self.change(|approved| {
            let id = form::id(&approval, since, approved);
            approved.push(Approved {
                id,
                since,
                approval,
            });
        })
    }
}
