//! What a child may do: files, network, limits.
//!
//! A [`Sandbox`] is plain data that a host fills in. `support.rs` finds out what the
//! machine can do, `demand.rs` decides whether that is enough, `order.rs` and `report.rs`
//! are the two messages between the host and the helper, and `layers.rs` says what was in
//! force. What is done with an order is told in `helper/`.

mod demand;
mod layers;
mod limits;
mod mode;
mod order;
mod report;
mod support;
mod witness;

use std::path::PathBuf;
use std::sync::Arc;

pub(crate) use demand::Means;
pub use layers::Layers;
pub use limits::Limits;
pub use mode::{Mode, UnknownMode};
pub(crate) use order::{MAX_ORDER, Order, Task};
pub(crate) use report::{Findings, Frame, Frames, MAX_FRAME, MAX_PATHS, Stage};
pub use support::Support;
pub use witness::{Kept, Witness};

/// What a child may do; it holds for the child and all that it starts.
///
/// The network is off until [`with_network`](Self::with_network). Everything may be read
/// that the user may read, but for what is [`hidden`](Self::hidden).
///
/// ```
/// use toolsmith_process::{Mode, Sandbox};
///
/// let sandbox = Sandbox::new(Mode::WorkspaceWrite)
///     .writable("/home/me/project")
///     .protected("/home/me/project/.git")
///     .hidden("/home/me/.ssh");
/// assert_eq!(sandbox.mode().to_string(), "workspace-write");
/// ```
#[derive(Clone, Debug)]
pub struct Sandbox {
    pub(crate) mode: Mode,
    pub(crate) network: bool,
    pub(crate) writable: Vec<PathBuf>,
    pub(crate) scratch: Vec<PathBuf>,
    pub(crate) protected: Vec<PathBuf>,
    pub(crate) hidden: Vec<PathBuf>,
    pub(crate) limits: Limits,
    pub(crate) support: Option<Support>,
    pub(crate) witness: Option<Arc<dyn Witness>>,
}

impl Sandbox {
    /// Begins with a mode, without network, and with nothing that may be written.
    pub fn new(mode: Mode) -> Self {
        Self {
            mode,
            network: false,
            writable: Vec::new(),
            scratch: Vec::new(),
            protected: Vec::new(),
            hidden: Vec::new(),
            limits: Limits::default(),
            support: None,
            witness: None,
        }
    }

    /// Adds a folder of the workspace, which [`Mode::WorkspaceWrite`] lets a child write.
    ///
    /// A relative path is taken from the child's working folder.
    #[must_use]
    pub fn writable(mut self, folder: impl Into<PathBuf>) -> Self {
        self.writable.push(folder.into());
        self
    }

    /// Adds a folder for temporary files, which a child may write in every mode.
    #[must_use]
    pub fn scratch(mut self, folder: impl Into<PathBuf>) -> Self {
        self.scratch.push(folder.into());
        self
    }

    /// Adds a path that stays as it is although it lies beneath a writable folder.
    ///
    /// It takes a mount namespace. Without one, and for a path that does not exist yet,
    /// [`Layers::notes`] says that it is not protected.
    #[must_use]
    pub fn protected(mut self, path: impl Into<PathBuf>) -> Self {
        self.protected.push(path.into());
        self
    }

    /// Adds a path that is neither read nor written; one that does not exist is no error.
    ///
    /// Hidden is the place, by whatever name it is reached. A file that has another name
    /// elsewhere (a hard link) can still be read by that name. Without namespaces a socket
    /// can still be connected to, and [`Layers::notes`] says so.
    #[must_use]
    pub fn hidden(mut self, path: impl Into<PathBuf>) -> Self {
        self.hidden.push(path.into());
        self
    }

    /// Lets the child use the network.
    #[must_use]
    pub fn with_network(mut self) -> Self {
        self.network = true;
        self
    }

    /// Keeps the child from the network, as is done without being asked for.
    #[must_use]
    pub fn without_network(mut self) -> Self {
        self.network = false;
        self
    }

    /// Sets another mode.
    #[must_use]
    pub fn with_mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// Sets how much a child may use.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Tells somebody of each child that is started so, and of its end.
    #[must_use]
    pub fn witness(mut self, witness: Arc<dyn Witness>) -> Self {
        self.witness = Some(witness);
        self
    }

    /// Says what the machine can do, instead of finding out.
    ///
    /// For tests, which so try out a machine that can do less. A machine is not trusted
    /// to do more than it is found to do: what fails then fails the launch.
    #[must_use]
    pub fn support(mut self, support: Support) -> Self {
        self.support = Some(support);
        self
    }

    /// Returns the mode.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Tells whether the child may use the network.
    pub fn has_network(&self) -> bool {
        self.network
    }

    /// Returns the paths that stay as they are.
    pub fn protected_paths(&self) -> &[PathBuf] {
        &self.protected
    }

    /// Returns the paths that are neither read nor written.
    pub fn hidden_paths(&self) -> &[PathBuf] {
        &self.hidden
    }

    /// Returns the folders that a child may write, those for temporary files last.
    ///
    /// In [`Mode::Full`] it is `/`. A folder that lies beneath another one is not named:
    /// it is writable as it is, and somebody who may write the outer one may have put a link
    /// in its place, which leads out.
    pub fn writable_folders(&self) -> Vec<PathBuf> {
        let all: Vec<&PathBuf> = match self.mode {
            Mode::ReadOnly => self.scratch.iter().collect(),
            Mode::WorkspaceWrite => self.writable.iter().chain(&self.scratch).collect(),
            Mode::Full => return vec![PathBuf::from("/")],
        };
        let lies_beneath = |path: &&&PathBuf| {
            all.iter()
                .any(|other| path != &other && path.starts_with(other))
        };
        let mut folders: Vec<PathBuf> = Vec::new();
        for folder in all.iter().filter(|path| !lies_beneath(path)) {
            if !folders.contains(folder) {
                folders.push((*folder).clone());
            }
        }
        folders
    }
}
