//! All upstreams: reached in parallel, each kept by a task of its own, and exchanged
//! while the others go on.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use arc_swap::ArcSwap;
use futures_util::future::join_all;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use toolsmith_core::{CancellationToken, ErrorKind};
use toolsmith_runtime::Toolbox;

use super::keep::Keeper;
use super::{State, Upstream, UpstreamOptions, note_missing};
use crate::server::Notifier;

/// How many upstreams are reached at once.
const AT_ONCE: usize = 8;

/// The upstreams there are now, for whoever looks at all of them.
pub(super) type Roster = Arc<ArcSwap<Vec<Upstream>>>;

/// Upstreams, kept until they are stopped or dropped.
pub struct Upstreams {
    roster: Roster,
    kept: Mutex<Vec<Kept>>,
    toolbox: Toolbox,
    places: Arc<Semaphore>,
    notifier: OnceLock<Notifier>,
    /// Servers that are described and cannot even be tried.
    unready: Mutex<Vec<String>>,
}

/// An upstream and the task that keeps it.
struct Kept {
    upstream: Upstream,
    stop: CancellationToken,
    keeper: JoinHandle<()>,
}

impl Upstreams {
    /// Begins to keep upstreams, a few at a time; their tools go into the toolbox as
    /// they come.
    pub fn start(options: impl IntoIterator<Item = UpstreamOptions>, toolbox: &Toolbox) -> Self {
        let upstreams = Self {
            roster: Roster::default(),
            kept: Mutex::default(),
            toolbox: toolbox.clone(),
            places: Arc::new(Semaphore::new(AT_ONCE)),
            notifier: OnceLock::new(),
            unready: Mutex::default(),
        };
        upstreams.add(options);
        upstreams
    }

    /// Lets go of the upstreams of these names and begins to keep others. One that is
    /// let go and begun again under its name keeps its tools until it has new ones.
    pub async fn replace(&self, gone: &[String], fresh: Vec<UpstreamOptions>) {
        let leaving: Vec<Kept> = {
            let mut kept = self.kept();
            let is_gone = |kept: &mut Kept| gone.iter().any(|name| name == kept.upstream.name());
            kept.extract_if(.., is_gone).collect()
        };
        self.enrol();
        let names: Vec<String> = leaving
            .iter()
            .map(|kept| kept.upstream.name().to_owned())
            .collect();
        // Gone before another begins: it must not take the other's tools for its own.
        join_all(leaving.into_iter().map(Kept::end)).await;
        let is_begun = |name: &str| fresh.iter().any(|options| options.name == name);
        let registry = self.toolbox.registry();
        for name in names.iter().filter(|name| !is_begun(name)) {
            let ticket = registry.begin_refresh(name);
            registry.refresh(&ticket, []);
        }
        self.add(fresh);
        if let Some(notifier) = self.notifier.get() {
            notifier.prompts_changed();
            notifier.resources_changed();
        }
    }

    /// Tells which servers are described but cannot even be tried, so that calls of their
    /// tools say so. Those that were told before and are not now are forgotten.
    pub fn set_unready(&self, servers: impl IntoIterator<Item = String>) {
        let servers: Vec<String> = servers.into_iter().collect();
        let mut unready = self.unready.lock().unwrap_or_else(PoisonError::into_inner);
        let registry = self.toolbox.registry();
        let is_kept = |name: &String| self.kept().iter().any(|it| it.upstream.name() == name);
        for gone in unready.iter().filter(|name| !servers.contains(name)) {
            if !is_kept(gone) {
                registry.forget_missing(gone);
            }
        }
        for server in &servers {
            let why = "cannot be started as it is configured; a person can see why with \
                       `toolsmith servers`";
            note_missing(&self.toolbox, server, ErrorKind::Unavailable, why);
        }
        *unready = servers;
    }

    fn add(&self, options: impl IntoIterator<Item = UpstreamOptions>) {
        for options in options {
            let upstream = Upstream::new(options);
            // In the order they are described: who answers first differs from run to run.
            self.toolbox.registry().expect_source(upstream.name());
            upstream.tell_missing(&self.toolbox, State::Starting, false);
            if let Some(notifier) = self.notifier.get() {
                let _ = upstream.inner.notifier.set(notifier.clone());
            }
            let stop = CancellationToken::new();
            let keeper = Keeper {
                upstream: upstream.clone(),
                toolbox: self.toolbox.clone(),
                places: Arc::clone(&self.places),
                stop: stop.clone(),
            };
            let keeper = tokio::spawn(keeper.keep());
            self.kept().push(Kept {
                upstream,
                stop,
                keeper,
            });
        }
        self.enrol();
    }

    /// Writes down who is there now.
    fn enrol(&self) {
        let kept = self.kept();
        let upstreams = kept.iter().map(|kept| kept.upstream.clone());
        self.roster.store(Arc::new(upstreams.collect()));
    }

    /// The upstreams, in the order they were described.
    pub fn all(&self) -> Vec<Upstream> {
        self.roster.load().to_vec()
    }

    pub(super) fn roster(&self) -> Roster {
        Arc::clone(&self.roster)
    }

    /// Waits until each was reached, or was tried in vain.
    pub async fn settled(&self) {
        join_all(self.all().iter().map(Upstream::settled)).await;
    }

    /// Tells a server's clients from now on what changes beside the tools.
    pub fn tell(&self, notifier: &Notifier) {
        let _ = self.notifier.set(notifier.clone());
        for upstream in self.all() {
            let _ = upstream.inner.notifier.set(notifier.clone());
        }
    }

    /// Lets all of them go, and waits until they are gone.
    pub async fn stop(self) {
        let leaving = std::mem::take(&mut *self.kept());
        join_all(leaving.into_iter().map(Kept::end)).await;
    }

    fn kept(&self) -> MutexGuard<'_, Vec<Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Upstreams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Upstreams").field(&self.all()).finish()
    }
}

impl Drop for Upstreams {
    fn drop(&mut self) {
        for kept in self.kept().drain(..) {
            kept.stop.cancel();
            kept.keeper.abort();
            kept.upstream.inner.pool.end();
        }
    }
}

impl Kept {
    /// Lets it go, and waits until it is gone.
    async fn end(self) {
        self.stop.cancel();
        let _ = self.keeper.await;
    }
}
