//! Sources that tell their tools over the network: asked in the background, and again
//! until they answer. Until then, calls of their tools are told what is the matter.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinHandle;
use toolsmith_core::event::Redact as _;
use toolsmith_core::tool::SourceError;
use toolsmith_core::{AnyTool, ErrorKind, ToolError, ToolSource};
use toolsmith_rest::RemoteTools;
use toolsmith_rest::openapi::LiveDocument;
use toolsmith_runtime::Toolbox;
use toolsmith_runtime::registry::Refreshed;

/// The shortest and the longest pause before a source is asked again.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LAST_PAUSE: Duration = Duration::from_secs(60);

/// What callers of its tools are told of a source that did not list them to us, and of one
/// that listed them to nobody.
const REFUSED: &str = "refused to list its tools; a person can see why with `toolsmith doctor`";
const SILENT: &str = "could not list its tools; a person can see why with `toolsmith doctor`";

/// A source that tells its tools over the network. Cheap to clone.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Remote {
    /// A server that tells its tools itself.
    Server(RemoteTools),
    /// An API whose document is fetched.
    Document(LiveDocument),
}

impl Remote {
    /// Tells whether this is a clone of the other.
    fn is_same_as(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Server(one), Self::Server(other)) => one.is_same_as(other),
            (Self::Document(one), Self::Document(other)) => one.is_same_as(other),
            _ => false,
        }
    }

    /// What the last listing left out, each with its reason.
    fn told(&self) -> Vec<String> {
        match self {
            Self::Server(server) => server.left_out(),
            Self::Document(document) => document.told(),
        }
    }

    /// How the names of its tools begin; empty where they begin as they like.
    pub(crate) fn beginning(&self) -> String {
        match self {
            Self::Server(server) => server.beginning(),
            Self::Document(document) => document.beginning().to_owned(),
        }
    }

    fn was_refused(&self) -> bool {
        match self {
            Self::Server(server) => server.was_refused(),
            Self::Document(document) => document.was_refused(),
        }
    }

    /// Tells the toolbox what calls of its tools are answered with while nobody knows them;
    /// in words that hold nothing it said.
    fn tell_missing(&self, toolbox: &Toolbox, kind: ErrorKind, why: &str) {
        let beginning = self.beginning();
        // Names that begin with nothing could be anybody's.
        if !beginning.is_empty() {
            let error = ToolError::new(kind, format!("the source `{}` {why}", self.name()));
            let registry = toolbox.registry();
            registry.missing_source(&registered_as(self), &beginning, error);
        }
    }
}

impl ToolSource for Remote {
    fn name(&self) -> &str {
        match self {
            Self::Server(server) => ToolSource::name(server),
            Self::Document(document) => ToolSource::name(document),
        }
    }

    async fn tools(&self) -> Result<Vec<AnyTool>, SourceError> {
        match self {
            Self::Server(server) => server.tools().await,
            Self::Document(document) => document.tools().await,
        }
    }
}

/// How asking a source went.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct RemoteStatus {
    /// Whether it was asked to the end, once at least.
    pub settled: bool,
    /// Why it told nothing.
    pub error: Option<String>,
    /// What it told that is not used, and why.
    pub told: Vec<String>,
}

/// A source that is waited for.
#[derive(Clone, Debug)]
pub struct Waiting(watch::Receiver<RemoteStatus>);

impl Waiting {
    /// Waits until it has answered, or was asked in vain.
    pub async fn settled(&self) {
        let mut status = self.0.clone();
        // One that is gone has settled.
        let _ = status.wait_for(|status| status.settled).await;
    }
}

/// Sources that are asked until they are let go.
pub struct Remotes {
    toolbox: Toolbox,
    kept: Mutex<Vec<Kept>>,
}

struct Kept {
    remote: Remote,
    status: watch::Receiver<RemoteStatus>,
    keeper: JoinHandle<()>,
}

impl Remotes {
    /// Begins to ask sources; their tools go into the toolbox as they come.
    pub fn start(remotes: impl IntoIterator<Item = Remote>, toolbox: &Toolbox) -> Self {
        let started = Self {
            toolbox: toolbox.clone(),
            kept: Mutex::default(),
        };
        started.set(remotes);
        started
    }

    /// Asks these sources and no others. One that was asked before goes on as it is.
    pub fn set(&self, remotes: impl IntoIterator<Item = Remote>) {
        let mut kept = self.kept();
        let mut before = std::mem::take(&mut *kept);
        for remote in remotes {
            let known = before.iter().position(|old| old.remote.is_same_as(&remote));
            kept.push(match known {
                Some(known) => before.swap_remove(known),
                None => self.keep(remote),
            });
        }
        let registry = self.toolbox.registry();
        for gone in before {
            gone.keeper.abort();
            let name = gone.remote.name();
            if !kept.iter().any(|kept| kept.remote.name() == name) {
                let ticket = registry.begin_refresh(&registered_as(&gone.remote));
                registry.refresh(&ticket, []);
            }
        }
    }

    /// What is waited for until each has answered, or was asked in vain.
    pub fn waiting(&self) -> Vec<Waiting> {
        let kept = self.kept();
        kept.iter()
            .map(|kept| Waiting(kept.status.clone()))
            .collect()
    }

    /// Waits until each has answered, or was asked in vain.
    pub async fn settled(&self) {
        for waiting in self.waiting() {
            waiting.settled().await;
        }
    }

    /// Each source's name, and how asking it went.
    pub fn statuses(&self) -> Vec<(String, RemoteStatus)> {
        let kept = self.kept();
        let statuses = kept.iter().map(|kept| {
            let status = kept.status.borrow().clone();
            (kept.remote.name().to_owned(), status)
        });
        statuses.collect()
    }

    fn keep(&self, remote: Remote) -> Kept {
        let (tell, status) = watch::channel(RemoteStatus::default());
        let registry = self.toolbox.registry();
        registry.expect_source(&registered_as(&remote));
        let why = "is still being asked for its tools";
        remote.tell_missing(&self.toolbox, ErrorKind::Unavailable, why);
        let keeper = tokio::spawn(keep(remote.clone(), self.toolbox.clone(), tell));
        Kept {
            remote,
            status,
            keeper,
        }
    }

    fn kept(&self) -> MutexGuard<'_, Vec<Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A source under a name no server and nothing else can have.
struct Named {
    name: String,
    remote: Remote,
    toolbox: Toolbox,
}

impl ToolSource for Named {
    fn name(&self) -> &str {
        &self.name
    }

    async fn tools(&self) -> Result<Vec<AnyTool>, SourceError> {
        let tools = self.remote.tools().await;
        // Before anything it says is pinned, and before anything of it can be called.
        if let Remote::Document(document) = &self.remote {
            self.toolbox.redactor().learn(document.secrets());
        }
        tools
    }
}

fn registered_as(remote: &Remote) -> String {
    source_name(remote.name())
}

/// What such a source is called in lists of tools and pins, where no server can be called
/// that.
pub fn source_name(name: &str) -> String {
    format!("source {name}")
}

/// Asks a source until it answers.
async fn keep(remote: Remote, toolbox: Toolbox, tell: watch::Sender<RemoteStatus>) {
    let named = Named {
        name: registered_as(&remote),
        remote: remote.clone(),
        toolbox: toolbox.clone(),
    };
    let mut pause = FIRST_PAUSE;
    loop {
        let refreshed = toolbox.refresh(&named).await;
        // What it says may hold what it was sent.
        let hushed = |text: String| toolbox.redactor().redact(&text).into_owned();
        let mut status = RemoteStatus {
            settled: true,
            error: None,
            told: remote.told(),
        };
        let failed = match refreshed {
            Ok(Refreshed::Replaced { refused, .. }) => {
                status.told.extend(refused.iter().map(ToString::to_string));
                None
            }
            Ok(_) => None,
            Err(error) => Some(hushed(error.to_string())),
        };
        if failed.is_some() {
            let (kind, why) = match remote.was_refused() {
                true => (ErrorKind::PermissionDenied, REFUSED),
                false => (ErrorKind::Unavailable, SILENT),
            };
            remote.tell_missing(&toolbox, kind, why);
        }
        status.error.clone_from(&failed);
        status.told = status.told.into_iter().map(hushed).collect();
        tell.send_replace(status);
        if failed.is_none() {
            return;
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LAST_PAUSE);
    }
}

impl Drop for Remotes {
    fn drop(&mut self) {
        for kept in self.kept().drain(..) {
            kept.keeper.abort();
        }
    }
}

impl fmt::Debug for Remotes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Arc<[String]> = (self.kept().iter())
            .map(|kept| kept.remote.name().to_owned())
            .collect();
        f.debug_tuple("Remotes").field(&names).finish()
    }
}
