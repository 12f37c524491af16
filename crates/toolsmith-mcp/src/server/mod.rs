//! The server: a toolbox for any MCP client.
//!
//! ```no_run
//! use toolsmith_core::CancellationToken;
//! use toolsmith_mcp::server::Server;
//! # async fn serve(toolbox: toolsmith_runtime::Toolbox) -> std::io::Result<()> {
//! let server = Server::builder(toolbox).name("my-tools").build();
//! server.serve_stdio(CancellationToken::new()).await
//! # }
//! ```
//!
//! A request is read by [`stdio`](Server::serve_stdio) or HTTP, which check what
//! comes in; `handler` sends it to the file of its method; `call` makes it a call
//! of the toolbox, and `errand` attends it: tells its progress, asks its
//! questions, and parks it where the client must come back with answers.

mod ask;
mod call;
mod changes;
mod client;
mod documentation;
mod envelope;
mod errand;
mod guide;
mod handler;
pub mod http;
mod hush;
mod lanes;
mod listing;
mod lists;
mod notes;
mod page;
mod parked;
mod prompts;
mod resources;
mod selected;
mod stdio;
mod tasks;

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use arc_swap::ArcSwap;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use toolsmith_core::{CancellationToken, Reply};
use toolsmith_runtime::{Caller, Selection, Toolbox};

pub use documentation::ToolDocumentation;
pub use guide::ToolGuide;
pub use prompts::{Asking, Prompt, PromptArgument, PromptMessage, PromptText, Prompts, Speaker};
pub use resources::{Completion, Contents, Resource, ResourceTemplate, Resources};
pub use selected::Selected;

use crate::BoxFuture;
use changes::Changed;
use handler::{Introduction, Made};
use listing::Listing;
use parked::Parked;
use tasks::Tasks;

/// How many changes a subscriber may lag behind.
const CHANGES_KEPT: usize = 2048;

/// How many tools, resources or prompts a page of a list has.
const PAGE: usize = 500;

/// How long a first list may wait for sources that are starting.
const START: Duration = Duration::from_secs(10);

/// An MCP server over a toolbox. Cheap to clone.
#[derive(Clone)]
pub struct Server {
    shared: Arc<Shared>,
}

/// Tells of changes that are under way.
type Current = Box<dyn Fn() -> Option<BoxFuture<'static, ()>> + Send + Sync>;

/// What every connection of a server shares.
struct Shared {
    toolbox: Toolbox,
    selection: Selected,
    identity: Identity,
    /// What it says about itself; the protocol asks at every request over HTTP.
    introduction: OnceLock<Introduction>,
    resources: Vec<Arc<dyn Resources>>,
    prompts: Vec<Arc<dyn Prompts>>,
    page: usize,
    adjust: Adjust,
    ready: Option<Ready>,
    current: Option<Current>,
    listing: ArcSwap<Listing>,
    parked_calls: Parked<Reply>,
    parked_prompts: Parked<Made>,
    tasks: Option<Tasks>,
    changes: broadcast::Sender<Changed>,
    /// How many connections there have been.
    connections: AtomicU64,
}

/// How long the requests of a stream, or of a listening address, may go on. The
/// server may be reached in other ways that go on.
#[derive(Clone, Debug, Default)]
struct Life {
    /// Ends what only listens; cancelled as soon as nothing more is taken in.
    draining: CancellationToken,
    /// Ends every call, and those that wait for answers; cancelled at the end.
    closing: CancellationToken,
}

/// Sets the terms of each call on top of what the protocol says about it.
type Adjust = Box<dyn Fn(Caller) -> Caller + Send + Sync>;

/// Waits until there is something to list.
struct Ready {
    wait: Box<dyn Fn() -> BoxFuture<'static, ()> + Send + Sync>,
    done: AtomicBool,
}

/// Who the server says it is.
#[derive(Clone, Debug)]
struct Identity {
    name: String,
    title: Option<String>,
    version: String,
    instructions: Option<String>,
}

impl Server {
    /// A server over a toolbox, option by option.
    pub fn builder(toolbox: Toolbox) -> ServerBuilder {
        ServerBuilder {
            toolbox,
            selection: Selected::default(),
            identity: Identity {
                name: "toolsmith".to_owned(),
                title: None,
                version: env!("CARGO_PKG_VERSION").to_owned(),
                instructions: None,
            },
            resources: Vec::new(),
            prompts: Vec::new(),
            page: PAGE,
            adjust: Box::new(|caller| caller),
            ready: None,
            current: None,
            tasks: None,
        }
    }

    /// What tells clients that something other than the tools changed.
    pub fn notifier(&self) -> Notifier {
        Notifier {
            changes: self.shared.changes.clone(),
        }
    }

    /// The toolbox.
    pub fn toolbox(&self) -> &Toolbox {
        &self.shared.toolbox
    }

    /// Offers another selection of tools from now on, and tells clients so.
    pub fn select(&self, selection: Selection) {
        if self.shared.selection.change(selection) {
            // Nobody listening is no error.
            let _ = self.shared.changes.send(Changed::Tools);
        }
    }

    /// How many requests wait for their clients to come back with answers.
    pub fn waiting(&self) -> usize {
        self.shared.parked_calls.len() + self.shared.parked_prompts.len()
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("name", &self.shared.identity.name)
            .field("toolbox", &self.shared.toolbox)
            .finish_non_exhaustive()
    }
}

impl Shared {
    /// Waits until sources that are starting have started, but not for ever.
    async fn ready(&self) {
        if let Some(ready) = &self.ready
            && !ready.done.load(Ordering::Acquire)
        {
            let _ = tokio::time::timeout(START, (ready.wait)()).await;
            ready.done.store(true, Ordering::Release);
        }
    }

    /// Waits for changes that the host knows of and has not made yet.
    async fn current(&self) {
        if let Some(change) = self.current.as_ref().and_then(|current| current()) {
            change.await;
        }
    }

    /// Waits as [`Shared::ready`] does, but no longer than until a tool is there: what one
    /// source takes to start delays no calls of another's.
    async fn ready_for(&self, tool: &str) {
        let mut changes = self.toolbox.registry().subscribe();
        let comes = async {
            while self.listing().definition(tool).is_none() {
                if let Err(RecvError::Closed) = changes.recv().await {
                    return std::future::pending().await;
                }
            }
        };
        tokio::select! {
            () = self.ready() => {}
            () = comes => {}
        }
    }

    /// The tools as they are now.
    fn listing(&self) -> Arc<Listing> {
        let listing = self.listing.load_full();
        let selection = self.selection.now();
        let is_current = listing.version == self.toolbox.registry().version()
            && Arc::ptr_eq(&listing.selection, &selection);
        if is_current {
            return listing;
        }
        let listing = Arc::new(Listing::new(&self.toolbox, selection));
        self.listing.store(Arc::clone(&listing));
        listing
    }
}

/// Builds a [`Server`].
pub struct ServerBuilder {
    toolbox: Toolbox,
    selection: Selected,
    identity: Identity,
    resources: Vec<Arc<dyn Resources>>,
    prompts: Vec<Arc<dyn Prompts>>,
    page: usize,
    adjust: Adjust,
    ready: Option<Ready>,
    current: Option<Current>,
    tasks: Option<Tasks>,
}

impl fmt::Debug for ServerBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerBuilder")
            .field("identity", &self.identity)
            .finish_non_exhaustive()
    }
}

impl ServerBuilder {
    /// Sets the name clients see.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.identity.name = name.into();
        self
    }

    /// Sets the name people see.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.identity.title = Some(title.into());
        self
    }

    /// Tells models how to use the server.
    #[must_use]
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.identity.instructions = Some(instructions.into());
        self
    }

    /// Chooses which tools are served, and how much of their descriptions.
    #[must_use]
    pub fn selection(mut self, selection: impl Into<Selected>) -> Self {
        self.selection = selection.into();
        self
    }

    /// Serves resources; several sources stand side by side.
    #[must_use]
    pub fn resources(mut self, resources: impl Resources) -> Self {
        self.resources.push(Arc::new(resources));
        self
    }

    /// Serves prompts; several sources stand side by side.
    #[must_use]
    pub fn prompts(mut self, prompts: impl Prompts) -> Self {
        self.prompts.push(Arc::new(prompts));
        self
    }

    /// Sets how many entries a page of a list has.
    #[must_use]
    pub fn page(mut self, entries: usize) -> Self {
        self.page = entries.max(1);
        self
    }

    /// Sets the terms of every call on top of what its client says: an approver, an
    /// agent, a time limit.
    #[must_use]
    pub fn caller(mut self, adjust: impl Fn(Caller) -> Caller + Send + Sync + 'static) -> Self {
        self.adjust = Box::new(adjust);
        self
    }

    /// Holds lists and calls of unknown tools back until this is over, for at most ten
    /// seconds: sources that are still starting would otherwise be missed by clients
    /// that look once.
    #[must_use]
    pub fn ready(
        mut self,
        wait: impl Fn() -> BoxFuture<'static, ()> + Send + Sync + 'static,
    ) -> Self {
        self.ready = Some(Ready {
            wait: Box::new(wait),
            done: AtomicBool::new(false),
        });
        self
    }

    /// Asks this before each call and list of tools. What it returns is waited for: a change of
    /// rules that was made before a call shall hold for it.
    #[must_use]
    pub fn current(
        mut self,
        pending: impl Fn() -> Option<BoxFuture<'static, ()>> + Send + Sync + 'static,
    ) -> Self {
        self.current = Some(Box::new(pending));
        self
    }

    /// Lets calls that take long become tasks, for clients that can take them. A task
    /// bears the time of day, which the host must tell.
    #[must_use]
    pub fn tasks(mut self, clock: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        self.tasks = Some(Tasks::new(Box::new(clock)));
        self
    }

    /// Builds the server.
    pub fn build(self) -> Server {
        let listing = Listing::new(&self.toolbox, self.selection.now());
        Server {
            shared: Arc::new(Shared {
                toolbox: self.toolbox,
                selection: self.selection,
                identity: self.identity,
                introduction: OnceLock::new(),
                resources: self.resources,
                prompts: self.prompts,
                page: self.page,
                adjust: self.adjust,
                ready: self.ready,
                current: self.current,
                listing: ArcSwap::from_pointee(listing),
                parked_calls: Parked::default(),
                parked_prompts: Parked::default(),
                tasks: self.tasks,
                changes: broadcast::channel(CHANGES_KEPT).0,
                connections: AtomicU64::new(0),
            }),
        }
    }
}

/// Tells the clients of a server that something other than its tools changed.
#[derive(Clone, Debug)]
pub struct Notifier {
    changes: broadcast::Sender<Changed>,
}

impl Notifier {
    /// The list of prompts is another one now.
    pub fn prompts_changed(&self) {
        // Nobody listening is no error.
        let _ = self.changes.send(Changed::Prompts);
    }

    /// The list of resources is another one now.
    pub fn resources_changed(&self) {
        let _ = self.changes.send(Changed::Resources);
    }

    /// The content of a resource is another one now.
    pub fn resource_updated(&self, uri: impl Into<String>) {
        let _ = self.changes.send(Changed::Resource(uri.into()));
    }
}
