//! A file that is tried before it is written: the project is loaded as if it were there.
//!
//! What would not load is refused with the place in the text, and what is allowed but not
//! good is told. Nothing is written here, and nothing is reached over the network.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::runtime::Handle;
use toolsmith_manager::yaml::YamlError;
use toolsmith_manager::{ConfigLoader, FileLoader, Manager, Stamp};
use toolsmith_mcp::client::Questions;

use crate::cli::Cli;
use crate::failure::Failure;
use crate::session::Session;

/// A project, loaded as its files are.
pub(crate) struct Trial {
    session: Session,
    drafts: Arc<Drafts>,
}

impl Trial {
    /// Loads the project.
    pub(crate) fn begin(cli: &Cli, tools: &Handle) -> Result<Self, Failure> {
        let drafts = Arc::new(Drafts::default());
        let loader: Arc<Drafts> = Arc::clone(&drafts);
        let session = Session::open_with(cli, Questions::NONE, tools, loader)?;
        Ok(Self { session, drafts })
    }

    /// The folder of the project.
    pub(crate) fn root(&self) -> &Path {
        self.session.manager.root()
    }

    /// Loads the project with a file in it, and gives what is not good about it.
    pub(crate) fn with(&self, path: &Path, text: &str) -> Result<Vec<String>, Failure> {
        let manager = &self.session.manager;
        let (errors, words) = (errors(manager), words(manager));
        self.drafts.put(path, text);
        let reloaded = manager.refresh();
        // What was wrong with the file before may be wrong with it still.
        let name = format!("{}:", path.display());
        let is_new = |error: &String| !errors.contains(error) || error.starts_with(&name);
        let wrong = self::errors(manager);
        let mut wrong: Vec<String> = wrong.into_iter().filter(is_new).collect();
        if !reloaded.changed {
            wrong.extend(reloaded.told);
        }
        if !wrong.is_empty() {
            wrong.sort();
            let wrong = wrong.join("\n");
            return Err(Failure::usage(format!("nothing was written: {wrong}")));
        }
        let known: HashSet<String> = words.into_iter().collect();
        let fresh = self::words(manager);
        let fresh = fresh.into_iter().filter(|word| !known.contains(word));
        Ok(fresh.collect())
    }
}

/// What cannot be used.
fn errors(manager: &Manager) -> HashSet<String> {
    let errors = manager.errors().into_iter();
    errors.chain(manager.broken_sets()).collect()
}

/// What is worth a word.
fn words(manager: &Manager) -> Vec<String> {
    let missing = manager.missing().into_iter();
    missing.chain(manager.lint()).collect()
}

/// Files that are not written yet, over those that are.
#[derive(Debug, Default)]
struct Drafts(Mutex<BTreeMap<PathBuf, Vec<u8>>>);

impl Drafts {
    fn put(&self, path: &Path, text: &str) {
        let bytes = text.as_bytes().to_owned();
        self.files().insert(path.to_owned(), bytes);
    }

    fn files(&self) -> MutexGuard<'_, BTreeMap<PathBuf, Vec<u8>>> {
        // Who panicked while holding it left whole values behind.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ConfigLoader for Drafts {
    fn load(&self, path: &Path) -> Result<Option<Vec<u8>>, YamlError> {
        match self.files().get(path) {
            Some(bytes) => Ok(Some(bytes.clone())),
            None => FileLoader.load(path),
        }
    }

    fn look(&self, path: &Path) -> Option<Stamp> {
        match self.files().contains_key(path) {
            true => None,
            false => FileLoader.look(path),
        }
    }

    fn list(&self, folder: &Path) -> Result<Vec<PathBuf>, YamlError> {
        let mut paths = FileLoader.list(folder)?;
        let files = self.files();
        let here = files.keys().filter(|path| path.parent() == Some(folder));
        for path in here {
            if let Err(place) = paths.binary_search(path) {
                paths.insert(place, path.clone());
            }
        }
        Ok(paths)
    }

    fn list_others(&self, folder: &Path) -> Result<Vec<PathBuf>, YamlError> {
        FileLoader.list_others(folder)
    }
}
