//! What is written about tools by hand: `tool_descriptions.yaml` and
//! `tool_examples.yaml`, over what came with the program.
//!
//! ```yaml
//! # tool_descriptions.yaml: a text, or more than that
//! read: Reads a file. Begin with it before you change anything.
//! grep:
//!   text: Searches the content of files for a regular expression.
//!   returns: The files that match, the newest first.
//!   category: search
//! # tool_examples.yaml: calls, or the arguments as JSON
//! read:
//!   - |
//!     # The last fifty lines
//!     read(file_path="server.log", offset=-50)
//! ```
//!
//! Files are looked at whenever somebody asks ([`OverlayFiles`]), and read again when
//! they changed. A file that cannot be used leaves what it said before in force, and a
//! warning until it can. What the texts say is not judged here: that is the guide's.

mod form;
mod node;
mod watched;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::SystemTime;

use toolsmith_runtime::guide::{Layer, OverlaySource, Overlays};

use crate::appeared::Appeared;
use crate::yaml::YamlError;
use watched::{IfGone, Watched};

/// The file with what tools are for.
pub const DESCRIPTIONS_FILE: &str = "tool_descriptions.yaml";
/// The file with calls that show how they are used.
pub const EXAMPLES_FILE: &str = "tool_examples.yaml";

/// Reads a layer from texts. The names stand for the files in errors and places.
///
/// # Errors
/// Tells the first thing that is wrong, with its place.
pub fn layer(descriptions: (&str, &str), examples: (&str, &str)) -> Result<Layer, YamlError> {
    let mut layer = Layer::default();
    layer.descriptions = form::descriptions(&descriptions.0.into(), descriptions.1.as_bytes())?;
    layer.examples = form::examples(&examples.0.into(), examples.1.as_bytes())?;
    Ok(layer)
}

/// The texts that came with the program. They are read when they are first needed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shipped {
    /// What `tool_descriptions.yaml` would say.
    pub descriptions: &'static str,
    /// What `tool_examples.yaml` would say.
    pub examples: &'static str,
}

/// The two files, looked at anew by each [`current`](OverlaySource::current). As long as
/// neither changed that costs a look at each.
pub struct OverlayFiles {
    now: fn() -> SystemTime,
    shipped: Shipped,
    shipped_layer: OnceLock<(Arc<Layer>, Option<String>)>,
    /// What counts as not there.
    appeared: Option<Appeared>,
    state: Mutex<State>,
}

struct State {
    descriptions: Watched<form::Descriptions>,
    examples: Watched<form::Examples>,
    /// What was last told; none before anybody asked.
    current: Option<Arc<Overlays>>,
}

impl OverlayFiles {
    /// The two files of a folder; neither has to be there. `now` tells the time: a file
    /// that changed just now may change once more without looking different.
    pub fn in_folder(folder: &Path, now: fn() -> SystemTime) -> Self {
        let descriptions = folder.join(DESCRIPTIONS_FILE);
        let examples = folder.join(EXAMPLES_FILE);
        Self {
            now,
            shipped: Shipped::default(),
            shipped_layer: OnceLock::new(),
            appeared: None,
            state: Mutex::new(State {
                descriptions: Watched::new(descriptions, IfGone::Fine, form::descriptions),
                examples: Watched::new(examples, IfGone::Fine, form::examples),
                current: None,
            }),
        }
    }

    /// Takes the descriptions from this file, which is expected to be there.
    #[must_use]
    pub fn with_descriptions(mut self, file: impl Into<PathBuf>) -> Self {
        let watched = Watched::new(file.into(), IfGone::Warn, form::descriptions);
        self.state_mut().descriptions = watched;
        self
    }

    /// Takes the examples from this file, which is expected to be there.
    #[must_use]
    pub fn with_examples(mut self, file: impl Into<PathBuf>) -> Self {
        let watched = Watched::new(file.into(), IfGone::Warn, form::examples);
        self.state_mut().examples = watched;
        self
    }

    /// Lays the files over what came with the program.
    #[must_use]
    pub fn over(mut self, shipped: Shipped) -> Self {
        self.shipped = shipped;
        self.shipped_layer = OnceLock::new();
        self
    }

    /// Reads nothing that programs in a sandbox may have made.
    #[must_use]
    pub fn without(mut self, appeared: Appeared) -> Self {
        self.appeared = Some(appeared);
        self
    }

    fn state_mut(&mut self) -> &mut State {
        self.state.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    /// What came with the program, and what is wrong with it.
    fn shipped(&self) -> &(Arc<Layer>, Option<String>) {
        self.shipped_layer.get_or_init(|| {
            let Shipped {
                descriptions,
                examples,
            } = self.shipped;
            let descriptions = ("shipped descriptions", descriptions);
            let examples = ("shipped examples", examples);
            match layer(descriptions, examples) {
                Ok(layer) => (Arc::new(layer), None),
                Err(error) => (Arc::default(), Some(watched::in_one_line(&error))),
            }
        })
    }
}

impl OverlaySource for OverlayFiles {
    fn current(&self) -> Arc<Overlays> {
        // Who panicked while holding it left whole values behind: each is assigned at once.
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let State {
            descriptions,
            examples,
            current,
        } = &mut *state;
        let appeared = self.appeared.as_ref();
        let withheld = |path: &Path| appeared.is_some_and(|it| it.withholds(path));
        let changed = [
            descriptions.refresh(self.now, withheld),
            examples.refresh(self.now, withheld),
        ];
        if let Some(current) = current
            && changed == [false, false]
        {
            return Arc::clone(current);
        }
        let (shipped, problem) = self.shipped();
        let mut overlays = Overlays::default();
        overlays.own.descriptions = descriptions.good().clone();
        overlays.own.examples = examples.good().clone();
        overlays.shipped = Arc::clone(shipped);
        let warnings = [descriptions.warning(), examples.warning(), problem.clone()];
        overlays.warnings = warnings.into_iter().flatten().collect();
        let overlays = Arc::new(overlays);
        *current = Some(Arc::clone(&overlays));
        overlays
    }
}

impl fmt::Debug for OverlayFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        f.debug_struct("OverlayFiles")
            .field("descriptions", &state.descriptions.path())
            .field("examples", &state.examples.path())
            .finish_non_exhaustive()
    }
}
