//! Pins: which definitions of other people's tools somebody has seen and taken as they
//! are.
//!
//! A server can say something else of its tools tomorrow, and a model believes what it
//! is told. So a definition that a source hands out is compared with the one that was
//! pinned (`compare`), over all of it and before anything is cleaned away (`definition`);
//! what is not as it was pinned is withheld: it is listed, and neither offered nor run.
//! Where pins are kept is the host's business ([`PinStore`]).

mod compare;
mod definition;
mod look_alike;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use serde_json::json;
use toolsmith_core::{ErrorKind, ToolDef, ToolError, ToolName};

pub(super) use compare::Handed;
pub use definition::{Pin, PinDigest};
pub use look_alike::looks_plain;

/// The pinned definitions of one source, by the names of its tools.
pub type Pins = BTreeMap<String, Arc<Pin>>;

/// Keeps pins. Implemented by hosts: in a file, or in memory.
///
/// It is asked on a thread that may block, once for each list of tools that a source
/// hands out. A store that panics is one that cannot be read.
pub trait PinStore: Send + Sync + 'static {
    /// What is pinned of a source now.
    fn pinned(&self, source: &str) -> Pinned;

    /// Pins a source that had no pins so far, and returns what is pinned of it then:
    /// somebody else may have been faster. Where it cannot be written down, it is kept
    /// for as long as the store lives.
    fn pin_first(&self, source: &str, pins: Pins) -> Pinned;
}

/// What is pinned of a source.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Pinned {
    /// Its tools are used whatever they say.
    Off,
    /// Nothing so far; its tools are pinned as they are now.
    FirstUse,
    /// These and no others.
    Known(Arc<Pins>),
    /// Nobody can tell, so none of its tools is used.
    Unreadable {
        /// Why, and what to do.
        reason: String,
    },
}

/// A tool that is not used, since nobody approved it as it is now.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Withheld {
    /// Its name.
    pub name: ToolName,
    /// The source it comes from.
    pub source: String,
    /// Why it is withheld.
    #[serde(flatten)]
    pub why: Why,
    /// What it says of itself now.
    pub now: Arc<Pin>,
    /// What is pinned under its name, or under the one it had.
    pub pinned: Option<Arc<Pin>>,
    /// As it would be offered.
    #[serde(skip)]
    pub(crate) definition: Arc<ToolDef>,
}

/// Why a tool is withheld.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Why {
    /// Its definition is another one.
    Changed,
    /// It was not there when its source was pinned.
    New,
    /// It is what another tool was, which is gone.
    Renamed {
        /// What it was called.
        from: String,
    },
    /// Its name can be taken for that of another tool.
    LookAlike {
        /// The other.
        of: String,
    },
    /// Its name is that of another tool.
    Shadowing {
        /// Where the other comes from.
        by: String,
    },
    /// The pins cannot be read.
    Unreadable {
        /// Why, and what to do.
        reason: String,
    },
}

impl Why {
    /// The state in one word, for lists.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::New => "new",
            Self::Renamed { .. } => "renamed",
            Self::LookAlike { .. } => "look-alike",
            Self::Shadowing { .. } => "shadowing",
            Self::Unreadable { .. } => "unreadable",
        }
    }
}

impl Withheld {
    /// Why it is withheld, in words that hold nothing its source said.
    pub fn reason(&self) -> String {
        let source = &self.source;
        match &self.why {
            Why::Changed => format!("`{source}` changed its definition since it was pinned"),
            Why::New => format!("it is new since the tools of `{source}` were pinned"),
            Why::Renamed { from } => format!("`{source}` has renamed `{from}` to it"),
            Why::LookAlike { of } => format!("its name can be taken for that of `{of}`"),
            Why::Shadowing { by } => format!("{by} has a tool of that name"),
            Why::Unreadable { reason } => reason.clone(),
        }
    }

    /// The answer to a call of it.
    pub(crate) fn refusal(&self) -> ToolError {
        let (name, reason) = (&self.name, self.reason());
        let step = match self.why {
            Why::Shadowing { .. } => {
                "a person can give one of the two another name or prefix".to_owned()
            }
            // The reason tells what to do.
            Why::Unreadable { .. } => "a person has to put that right first".to_owned(),
            _ => format!(
                "a person can look at it with `toolsmith pins show {name}` and approve it with \
                 `toolsmith pins approve {name}`"
            ),
        };
        let message = format!("tool `{name}` is withheld: {reason}; {step}");
        ToolError::new(ErrorKind::PermissionDenied, message)
            .with_details(json!({ "withheld": self.why.word(), "reason": reason }))
    }
}

/// The store of a registry, and whose turn it is to compare.
pub(super) struct Pinning {
    store: Arc<dyn PinStore>,
    /// Held while one source is compared and put in, so that of two sources whose tools
    /// look alike the second sees the first.
    turn: Mutex<()>,
}

impl Pinning {
    pub(super) fn new(store: Arc<dyn PinStore>) -> Self {
        let turn = Mutex::default();
        Self { store, turn }
    }

    /// Waits for the turn. It guards no data, so a poisoned one is as good as new.
    pub(super) fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pinned(&self, source: &str) -> Pinned {
        guarded(|| self.store.pinned(source))
    }

    fn pin_first(&self, source: &str, pins: Pins) -> Pinned {
        guarded(|| self.store.pin_first(source, pins))
    }
}

impl std::fmt::Debug for Pinning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Pinning")
    }
}

fn guarded(ask: impl FnOnce() -> Pinned) -> Pinned {
    catch_unwind(AssertUnwindSafe(ask)).unwrap_or_else(|_| Pinned::Unreadable {
        reason: "the store of pins panicked".to_owned(),
    })
}
