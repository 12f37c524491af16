//! The pins of a project: `toolsmith.lock` in its root.
//!
//! Written when a source is used for the first time and when a person approves something
//! (`toolsmith pins`); looked at whenever a source hands out its tools, and whenever the
//! files are looked at. What the pins are of and what becomes of a tool that is not as it
//! was pinned is the runtime's business.

mod lock_file;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use arc_swap::ArcSwap;
use serde::Deserialize;
use toolsmith_runtime::registry::pin::{Pin, PinStore, Pinned, Pins, Why, Withheld};

use crate::appeared::Appeared;
use crate::files::Stamp;
use crate::shared_file::{FolderLock, Readers, replace};
use crate::yaml::visible;
use lock_file::Content;

/// The name of the file.
pub const LOCK_FILE: &str = "toolsmith.lock";

/// How many characters of a path are told.
const SHOWN: usize = 4096;

/// What happens to the tools of a source that has no pins yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum PinMode {
    /// They are used, and pinned as they are.
    #[default]
    FirstUse,
    /// None is used before a person approved it.
    Strict,
    /// Nothing is compared, ever.
    Off,
}

/// Which sources are pinned, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PinRules {
    pub(crate) usual: PinMode,
    /// Those that have a mode of their own.
    pub(crate) own: BTreeMap<String, PinMode>,
    /// Those that were named for this run, and are no part of the project.
    pub(crate) of_run: BTreeSet<String>,
}

/// Why pins could not be changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PinsError {
    /// The file cannot be used, and is left as it is.
    #[error("{0}")]
    Unreadable(String),
    /// The file cannot be written.
    #[error("{file} cannot be written: {reason}")]
    Unwritable {
        /// The file.
        file: String,
        /// Why not.
        reason: String,
    },
}

/// The pins of a project. Cheap to clone.
#[derive(Clone, Debug)]
pub struct ProjectPins(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    file: PathBuf,
    /// The file as it is told.
    name: String,
    now: fn() -> SystemTime,
    /// What programs in the sandbox may have made.
    appeared: Option<Appeared>,
    rules: ArcSwap<PinRules>,
    state: Mutex<State>,
}

/// What was read last.
#[derive(Debug, Default)]
struct State {
    content: Arc<Content>,
    problem: Option<String>,
    /// What stood there, and whether that alone tells that nothing changed.
    seen: Option<(Stamp, bool)>,
    /// Pins that are not in the file: of sources of this run, and of those for which it
    /// could not be written.
    memory: BTreeMap<String, Arc<Pins>>,
    /// How often the file said something else than before.
    changes: u64,
    /// Of those, how many are in force.
    applied: u64,
    /// What a person should know, until it was told.
    told: Vec<String>,
    was_unwritable: bool,
    was_doubted: bool,
}

impl ProjectPins {
    pub(crate) fn new(root: &Path, now: fn() -> SystemTime, appeared: Option<Appeared>) -> Self {
        let file = root.join(LOCK_FILE);
        Self(Arc::new(Inner {
            name: visible(&file.display().to_string(), SHOWN),
            file,
            now,
            appeared,
            rules: ArcSwap::default(),
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

    /// What a person should know and was not told yet.
    pub fn told(&self) -> Vec<String> {
        std::mem::take(&mut self.0.state().told)
    }

    /// Every pin, by source and tool, those of this run among them.
    ///
    /// # Errors
    /// When the file cannot be used.
    pub fn all(&self) -> Result<BTreeMap<String, Arc<Pins>>, PinsError> {
        let state = self.looked();
        if let Some(problem) = &state.problem {
            return Err(PinsError::Unreadable(problem.clone()));
        }
        let mut all = state.content.sources.clone();
        let memory = state.memory.iter();
        all.extend(memory.map(|(source, pins)| (source.clone(), Arc::clone(pins))));
        Ok(all)
    }

    /// Tells whether the pins of a source last for this run only.
    pub fn is_of_run(&self, source: &str) -> bool {
        self.0.rules.load().of_run.contains(source)
    }

    /// Tells whether a program in the sandbox may have made the file.
    fn is_doubted(&self) -> bool {
        let appeared = self.0.appeared.as_ref();
        appeared.is_some_and(|appeared| appeared.withholds(&self.0.file))
    }

    /// Pins tools as they are now. What a renamed one was is forgotten.
    ///
    /// # Errors
    /// When the file cannot be used or written; nothing is approved then.
    pub fn approve(&self, tools: &[Arc<Withheld>]) -> Result<(), PinsError> {
        self.change(|content| {
            for tool in tools {
                let pins = content.sources.entry(tool.source.clone()).or_default();
                let pins = Arc::make_mut(pins);
                if let Why::Renamed { from } = &tool.why {
                    pins.remove(from);
                }
                let name = tool.name.to_string();
                let kept = lock_file::bounded(Pins::from([(name, Arc::clone(&tool.now))]));
                pins.extend(kept);
            }
        })
    }

    /// Forgets the pins that are chosen by source and tool, and returns them. A source
    /// without any is pinned again when it is next used.
    ///
    /// # Errors
    /// When the file cannot be used or written; nothing is forgotten then.
    pub fn forget(
        &self,
        chosen: impl Fn(&str, &str) -> bool,
    ) -> Result<Vec<(String, String)>, PinsError> {
        let mut gone = Vec::new();
        self.change(|content| {
            for (source, pins) in &mut content.sources {
                let is_chosen = |tool: &String, _: &mut Arc<Pin>| chosen(source, tool);
                let removed: Vec<_> = Arc::make_mut(pins).extract_if(.., is_chosen).collect();
                gone.extend(removed.into_iter().map(|(tool, _)| (source.clone(), tool)));
            }
            content.sources.retain(|_, pins| !pins.is_empty());
        })?;
        Ok(gone)
    }

    /// Says which sources are pinned, and how; tells whether that is new.
    pub(crate) fn set_rules(&self, rules: PinRules) -> bool {
        let is_new = **self.0.rules.load() != rules;
        self.0.rules.store(Arc::new(rules));
        is_new
    }

    /// Looks at the file, and tells whether it says something that is not in force yet.
    pub(crate) fn has_changed(&self) -> bool {
        let mut state = self.looked();
        let is_new = state.applied != state.changes;
        state.applied = state.changes;
        is_new
    }

    /// The state, with what the file says now.
    fn looked(&self) -> MutexGuard<'_, State> {
        let mut state = self.0.state();
        let stamp = Stamp::look(&self.0.file);
        let is_same = |(seen, is_sure): &(Stamp, bool)| *is_sure && *seen == stamp;
        if !state.seen.as_ref().is_some_and(is_same) {
            let found = lock_file::read(&self.0.file, &self.0.name);
            self.0.take(&mut state, found);
        }
        state
    }

    /// Changes the file: what it says now, not what it said when it was last read.
    fn change(&self, change: impl FnOnce(&mut Content)) -> Result<(), PinsError> {
        let mut state = self.0.state();
        let unwritable = |reason: String| PinsError::Unwritable {
            file: self.0.name.clone(),
            reason,
        };
        let folder = self.0.file.parent().unwrap_or(Path::new("."));
        let folder = if folder == Path::new("") {
            Path::new(".")
        } else {
            folder
        };
        let _lock = FolderLock::wait(folder).map_err(|error| unwritable(error.to_string()))?;
        let found = lock_file::read(&self.0.file, &self.0.name);
        self.0.take(&mut state, found);
        if let Some(problem) = &state.problem {
            return Err(PinsError::Unreadable(problem.clone()));
        }
        let mut content = Content::clone(&state.content);
        change(&mut content);
        if content == *state.content && !matches!(state.seen, Some((Stamp::Missing, _))) {
            return Ok(());
        }
        let text = content.written().map_err(unwritable)?;
        replace(&self.0.file, text.as_bytes(), Readers::AsUsual)
            .map_err(|error| unwritable(error.to_string()))?;
        state.content = Arc::new(content);
        // Read again once more than a moment has passed.
        state.seen = Some((Stamp::look(&self.0.file), false));
        Ok(())
    }
}

impl Inner {
    /// Who panicked while holding it left whole values behind.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes what was found in the file's place.
    fn take(&self, state: &mut State, found: Result<lock_file::Found, String>) {
        let (content, problem) = match found {
            Ok(found) => {
                let is_sure = found.stamp.is_settled((self.now)());
                state.seen = Some((found.stamp, is_sure));
                // Nobody gives up pins by removing the file under a running program.
                (found.content, None)
            }
            Err(problem) => {
                state.seen = None;
                (None, Some(problem))
            }
        };
        let is_other = content.as_ref().is_some_and(|new| *new != *state.content);
        if is_other || problem != state.problem {
            state.changes += 1;
        }
        if let Some(content) = content {
            state.content = Arc::new(content);
        }
        state.problem = problem;
    }
}

impl PinStore for ProjectPins {
    fn pinned(&self, source: &str) -> Pinned {
        let rules = self.0.rules.load();
        let mode = rules.own.get(source).copied().unwrap_or(rules.usual);
        if mode == PinMode::Off {
            return Pinned::Off;
        }
        let is_of_run = rules.of_run.contains(source);
        let mut state = self.looked();
        if let Some(problem) = &state.problem
            && !is_of_run
        {
            let reason = problem.clone();
            return Pinned::Unreadable { reason };
        }
        // What only a person approves, no program does by making the file.
        if mode == PinMode::Strict && !is_of_run && self.is_doubted() {
            if state.content.sources.contains_key(source) && !state.was_doubted {
                state.was_doubted = true;
                let told = format!(
                    "{}: it was made or replaced while a program ran in the sandbox and may be that \
                     program's, so it approves nothing; look at it, then run `toolsmith check \
                     --accept` and start again",
                    self.0.name
                );
                state.told.push(told);
            }
            return Pinned::Known(Arc::default());
        }
        let kept = match is_of_run {
            true => None,
            false => state.content.sources.get(source),
        };
        match kept.or_else(|| state.memory.get(source)) {
            Some(pins) => Pinned::Known(Arc::clone(pins)),
            // Whoever names a server for one run has approved it for that run.
            None if mode == PinMode::Strict && !is_of_run => Pinned::Known(Arc::default()),
            None => Pinned::FirstUse,
        }
    }

    fn pin_first(&self, source: &str, pins: Pins) -> Pinned {
        let kept = lock_file::bounded(pins.clone());
        if !self.is_of_run(source) {
            let written = self.change(|content| {
                // Another process may have been faster.
                let known = content.sources.entry(source.to_owned());
                known.or_insert_with(|| Arc::new(kept));
            });
            match written {
                Ok(()) => return self.pinned(source),
                Err(PinsError::Unreadable(reason)) => return Pinned::Unreadable { reason },
                Err(error) => {
                    let mut state = self.0.state();
                    if !state.was_unwritable {
                        state.was_unwritable = true;
                        state.told.push(format!(
                            "{error}; the tools of its servers are pinned for this run only"
                        ));
                    }
                }
            }
        }
        let pins = Arc::new(pins);
        let mut state = self.0.state();
        state.memory.insert(source.to_owned(), Arc::clone(&pins));
        Pinned::Known(pins)
    }
}
