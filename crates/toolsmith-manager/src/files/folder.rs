//! All files of a folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::SystemTime;

use super::kept::{IfGone, Kept, News, Read};
use crate::loader::ConfigLoader;
use crate::yaml::YamlError;

/// How many files are worth a thread of their own.
const FILES_A_THREAD: usize = 32;

/// How the files of a folder are listed.
pub(crate) type List = fn(&dyn ConfigLoader, &Path) -> Result<Vec<PathBuf>, YamlError>;

/// The files of a folder, by name.
#[derive(Debug)]
pub(crate) struct Folder<T> {
    path: PathBuf,
    files: BTreeMap<PathBuf, Kept<T>>,
    problem: Option<YamlError>,
    /// Whether it was looked at before.
    is_known: bool,
}

impl<T: Send + Sync> Folder<T> {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self {
            path,
            files: BTreeMap::new(),
            problem: None,
            is_known: false,
        }
    }

    /// What the files last said that was good, each with its name.
    pub(crate) fn good(&self) -> impl Iterator<Item = (&Kept<T>, &Arc<T>)> {
        let files = self.files.values();
        files.filter_map(|file| Some((file, file.good()?)))
    }

    /// What is wrong with the files as they are now, or with the folder.
    pub(crate) fn problems(&self) -> impl Iterator<Item = &YamlError> {
        let files = self.files.values();
        let problems = files.filter_map(Kept::problem);
        self.problem.iter().chain(problems)
    }

    /// Looks at every file, and reads those that may have changed.
    pub(crate) fn refresh(
        &mut self,
        loader: &dyn ConfigLoader,
        list: List,
        read: Read<'_, T>,
        now: fn() -> SystemTime,
    ) -> News {
        let paths = match list(loader, &self.path) {
            Ok(paths) => paths,
            // What was there is still in force: a folder that cannot be listed says
            // nothing about its files.
            Err(error) => {
                let changed = self.problem.as_ref() != Some(&error);
                self.problem = Some(error);
                return News {
                    changed,
                    later: false,
                };
            }
        };
        let mut changed = self.problem.take().is_some();
        let before = self.files.len();
        self.files
            .retain(|path, _| paths.binary_search(path).is_ok());
        changed |= self.files.len() != before;
        for path in paths {
            let kept = || match self.is_known {
                true => Kept::appeared(path.clone(), IfGone::Forget),
                false => Kept::new(path.clone(), IfGone::Forget),
            };
            self.files.entry(path.clone()).or_insert_with(kept);
        }
        self.is_known = true;
        let mut files: Vec<&mut Kept<T>> = self.files.values_mut().collect();
        let own = News {
            changed,
            later: false,
        };
        own.and(refresh_all(&mut files, loader, read, now))
    }
}

/// Looks at files, on several threads where there are many.
fn refresh_all<T: Send + Sync>(
    files: &mut [&mut Kept<T>],
    loader: &dyn ConfigLoader,
    read: Read<'_, T>,
    now: fn() -> SystemTime,
) -> News {
    let in_turn = |files: &mut [&mut Kept<T>]| {
        let each = files.iter_mut().map(|file| file.refresh(loader, read, now));
        each.fold(News::default(), News::and)
    };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let threads = cores.min(files.len() / FILES_A_THREAD);
    if threads < 2 {
        return in_turn(files);
    }
    let share = files.len().div_ceil(threads);
    thread::scope(|scope| {
        let threads: Vec<_> = files
            .chunks_mut(share)
            .map(|share| scope.spawn(|| in_turn(share)))
            .collect();
        let ended = threads.into_iter().map(|thread| thread.join());
        // What panics here is a bug of ours, and not the file's fault.
        ended.fold(News::default(), |news, ended| {
            ended.map_or(news, |other| news.and(other))
        })
    })
}
