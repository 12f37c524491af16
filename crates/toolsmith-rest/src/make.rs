//! From an entry to tools.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fmt;
use std::hash::Hash;
use std::path::PathBuf;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};
use toolsmith_core::reference::{Lookup, Place};
use toolsmith_core::{AnyTool, ToolName};
use toolsmith_process::Sandbox;

use crate::command;
use crate::execute::{self, RemoteTools};
use crate::form::Entry;
use crate::http::{self, Filler, Pace, Shared};
use crate::sort::{self, Sort, sort};

/// What tools made from files have around them. Cheap to clone.
#[derive(Clone)]
#[non_exhaustive]
pub struct Surroundings {
    /// Answers what references stand for.
    pub lookup: Arc<dyn Lookup + Send + Sync>,
    /// The folder commands run in.
    pub root: PathBuf,
    /// The environment of the host, of which commands get a little.
    pub environment: Arc<[(OsString, OsString)]>,
    /// How fast hosts are asked; one for all tools of a process.
    pub pace: Pace,
    /// Which servers may be somewhere private, each by scheme, host and port. Those the
    /// entry names unless set, since it is the user's own; one that comes from elsewhere
    /// must not lead to what only this machine can reach.
    pub private: Option<Arc<[String]>>,
    /// The sandbox that programs run in, asked for at each call. Without one, a program
    /// runs only where its file says that it may do so without.
    pub sandbox: Option<Arc<dyn Fn() -> Sandbox + Send + Sync>>,
}

impl Surroundings {
    /// A folder, an environment, and what answers for references.
    pub fn new(
        lookup: Arc<dyn Lookup + Send + Sync>,
        root: impl Into<PathBuf>,
        environment: Arc<[(OsString, OsString)]>,
    ) -> Self {
        Self {
            lookup,
            root: root.into(),
            environment,
            pace: Pace::default(),
            private: None,
            sandbox: None,
        }
    }
}

impl fmt::Debug for Surroundings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Surroundings")
            .field("root", &self.root)
            .finish_non_exhaustive()
    }
}

/// What a file came to.
#[derive(Default)]
#[non_exhaustive]
pub struct Made {
    /// Its tools, in the order of the file.
    pub tools: Vec<AnyTool>,
    /// Its servers that tell their tools themselves.
    pub sources: Vec<RemoteTools>,
    /// What is wrong with the others, or with the whole.
    pub problems: Vec<Problem>,
    /// What references are not there; the tools are, and say so when they are called.
    pub missing: Vec<Problem>,
    /// Values that may be shown to nobody.
    pub secrets: Vec<String>,
}

impl fmt::Debug for Made {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Made")
            .field("tools", &self.tools)
            .field("sources", &self.sources)
            .field("problems", &self.problems)
            .field("missing", &self.missing)
            .field("secrets", &self.secrets.len())
            .finish()
    }
}

/// What is wrong with an entry, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct Problem {
    /// Where; zeros for the entry as a whole.
    pub place: Place,
    /// What.
    pub message: String,
}

impl Problem {
    /// A problem of the entry as a whole.
    pub fn new(message: impl Into<String>) -> Self {
        Self::at(Place::default(), message)
    }

    /// A problem at a place.
    pub fn at(place: Place, message: impl Into<String>) -> Self {
        Self {
            place,
            message: message.into(),
        }
    }
}

/// Makes the tools of a file.
pub fn make(file: &Entry, surroundings: &Surroundings) -> Made {
    let mut making = Making {
        file,
        surroundings,
        filler: Filler::new(&*surroundings.lookup),
        shared: Shared::default(),
        names: HashSet::new(),
        made: Made::default(),
    };
    if file.tools.is_empty() {
        making.add(file, file, Place::default());
    } else {
        let misplaced = sort::misplaced(file);
        making.made.problems.extend(misplaced);
    }
    for tool in &file.tools {
        making.add(&tool.value, &tool.value.over(file), tool.place);
    }
    let mut made = making.made;
    // What several tools share is told once.
    let problem = |it: &Problem| (it.place.line, it.place.column, it.message.clone());
    once_each(&mut made.problems, problem);
    once_each(&mut made.missing, problem);
    once_each(&mut made.secrets, String::clone);
    made
}

/// Leaves of those that are alike the first.
fn once_each<T, K: Eq + Hash>(all: &mut Vec<T>, key: impl Fn(&T) -> K) {
    let mut seen = HashSet::new();
    all.retain(|each| seen.insert(key(each)));
}

struct Making<'m> {
    file: &'m Entry,
    surroundings: &'m Surroundings,
    filler: Filler<'m>,
    shared: Shared,
    names: HashSet<String>,
    made: Made,
}

impl Making<'_> {
    /// Adds what an entry comes to: what it says itself, and that laid over its file.
    fn add(&mut self, own: &Entry, entry: &Entry, place: Place) {
        if entry.disabled {
            return;
        }
        let before = self.made.problems.len();
        match sort(own, entry) {
            Ok(sort) => self.make(sort, entry),
            Err(mut problems) => self.made.problems.append(&mut problems),
        }
        // What belongs to no line of the entry belongs to the entry.
        for problem in &mut self.made.problems[before..] {
            if problem.place == Place::default() {
                problem.place = place;
            }
        }
    }

    fn make(&mut self, sort: Sort, entry: &Entry) {
        if sort != Sort::Adapter
            && let Err(problem) = self.claim(entry)
        {
            self.made.problems.push(problem);
            return;
        }
        let before = self.made.tools.len();
        let (surroundings, filler) = (self.surroundings, &mut self.filler);
        let (shared, made) = (&mut self.shared, &mut self.made);
        match sort {
            Sort::Api => http::add(entry, surroundings, filler, shared, made),
            Sort::Adapter => {
                let name = self.file.name.as_ref();
                execute::add(entry, name, surroundings, filler, shared, made);
            }
            Sort::Command => {
                let problem = command::tool(entry, surroundings, made).err();
                made.problems.extend(problem);
            }
        }
        let mark = mark(entry, &[]);
        for tool in &mut self.made.tools[before..] {
            *tool = tool.marked(Arc::clone(&mark));
        }
    }

    /// Claims the name of a tool, which every other tool must then leave alone.
    fn claim(&mut self, entry: &Entry) -> Result<(), Problem> {
        let Some(name) = &entry.name else {
            return Err(Problem::new("the tool has no `name`"));
        };
        let problem = |message: String| Err(Problem::at(name.place, message));
        match ToolName::new(&name.value) {
            Err(error) => return problem(error.to_string()),
            Ok(tool) if !tool.is_own_form() => {
                return problem(format!(
                    "tool name {:?}: use small letters, digits and `_`, beginning with a letter",
                    name.value
                ));
            }
            Ok(_) => {}
        }
        if !self.names.insert(name.value.clone()) {
            return problem(format!(
                "there is another tool `{}` in this file",
                name.value
            ));
        }
        Ok(())
    }
}

/// The mark of what an entry does, whatever its tool says of itself: another command or
/// another address is another tool.
pub(crate) fn mark(entry: &Entry, further: &[u8]) -> Arc<str> {
    let mut hasher = Sha256::new();
    // An entry was read from text and is written as such.
    hasher.update(serde_json::to_vec(entry).unwrap_or_default());
    hasher.update([0]);
    hasher.update(further);
    let digest = hasher.finalize();
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    hex.into()
}
