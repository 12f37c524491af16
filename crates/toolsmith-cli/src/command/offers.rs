//! What `toolsmith serve` offers: all tools, or those of one set or agent; over HTTP also
//! each set and each agent at a path of its own.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use toolsmith_manager::{View, Waiting};
use toolsmith_mcp::client::{Upstream, UpstreamPrompts, UpstreamResources, Upstreams};
use toolsmith_mcp::server::http::Mounts;
use toolsmith_mcp::server::{Selected, Server, ToolDocumentation, ToolGuide};
use toolsmith_runtime::Selection;
use toolsmith_runtime::permit::YesToAll;

use super::watch::Changes;
use crate::cli::{Cli, Serve};
use crate::session::{Reached, Session};

/// The servers of one run.
pub(crate) struct Offers<'s> {
    session: &'s Session,
    cli: &'s Cli,
    options: &'s Serve,
    starting: Arc<Starting>,
    changes: Arc<Changes>,
    whole: Server,
    mounted: Mutex<Mounted>,
}

/// What is being reached from the start on: lists wait for it.
struct Starting {
    upstreams: Vec<Upstream>,
    remotes: Vec<Waiting>,
}

/// The servers of sets and agents, once there is an address for them.
#[derive(Default)]
struct Mounted {
    mounts: Option<Mounts>,
    servers: BTreeMap<String, (View, Server)>,
}

impl<'s> Offers<'s> {
    pub(crate) fn new(
        session: &'s Session,
        cli: &'s Cli,
        options: &'s Serve,
        reached: &Reached,
        changes: &Arc<Changes>,
    ) -> Self {
        let Reached { upstreams, remotes } = reached;
        let mut offers = Self {
            session,
            cli,
            options,
            starting: Arc::new(Starting {
                upstreams: upstreams.all(),
                remotes: remotes.waiting(),
            }),
            changes: Arc::clone(changes),
            whole: Server::builder(session.toolbox.clone()).build(),
            mounted: Mutex::default(),
        };
        // What upstreams have beside their tools goes to whoever gets all of them.
        let beside = (session.view == View::Usual).then_some(upstreams);
        offers.whole = offers.server(&session.view, beside);
        offers
    }

    /// The server for whoever names neither set nor agent.
    pub(crate) fn whole(&self) -> &Server {
        &self.whole
    }

    /// Puts sets and agents at paths of their own, which are returned. Who asked for one
    /// of them alone gets no others.
    pub(crate) fn mount(&self, mounts: Mounts) -> Vec<String> {
        if self.session.view != View::Usual {
            return Vec::new();
        }
        self.mounted().mounts = Some(mounts);
        self.renew();
        self.mounted().servers.keys().cloned().collect()
    }

    /// Offers what the files say now.
    pub(crate) fn renew(&self) {
        self.whole.select(self.selection(&self.session.view));
        let mut mounted = self.mounted();
        let Some(mounts) = mounted.mounts.clone() else {
            return;
        };
        let mut before = std::mem::take(&mut mounted.servers);
        for (path, view) in self.views() {
            let server = match before.remove(&path) {
                Some((_, server)) => server,
                None => self.server(&view, None),
            };
            server.select(self.selection(&view));
            mounted.servers.insert(path, (view, server));
        }
        // Sessions of a set that is gone may live on; they are offered nothing.
        for (_, server) in before.into_values() {
            server.select(Selection::everything().with_tools(Vec::<String>::new()));
        }
        let servers = mounted.servers.iter();
        mounts.set(servers.map(|(path, (_, server))| (path.clone(), server.clone())));
    }

    /// Every set and agent that comes to a list, with its path.
    fn views(&self) -> Vec<(String, View)> {
        let catalogue = self.session.manager.catalogue();
        let sets = catalogue.sets.keys();
        let sets = sets.map(|name| (format!("sets/{name}"), View::Set(name.clone())));
        let agents = catalogue.agents.keys();
        let agents = agents.map(|name| (format!("agents/{name}"), View::Agent(name.clone())));
        sets.chain(agents)
            .filter(|(_, view)| self.session.manager.selection(view).is_ok())
            .collect()
    }

    fn selection(&self, view: &View) -> Selection {
        let selection = self.session.selection_of(view);
        match self.options.descriptions {
            Some(detail) => selection.with_detail(detail),
            None => selection,
        }
    }

    fn server(&self, view: &View, beside: Option<&Upstreams>) -> Server {
        let selected = Selected::from(self.selection(view));
        let toolbox = || self.session.toolbox.clone();
        let guide = Arc::clone(&self.session.guide);
        let guide = ToolGuide::new(guide, toolbox(), selected.clone());
        let (yes, timeout) = (self.cli.yes, self.cli.timeout);
        let agent = match view {
            View::Agent(name) => Some(name.clone()),
            View::Usual | View::Set(_) => None,
        };
        let changes = Arc::clone(&self.changes);
        let mut builder = Server::builder(toolbox())
            .title("Toolsmith")
            .current(move || changes.pending())
            .tasks(std::time::SystemTime::now)
            .selection(selected.clone())
            .resources(guide.clone())
            .prompts(guide)
            .resources(ToolDocumentation::new(toolbox(), selected))
            .caller(move |mut caller| {
                if let Some(timeout) = timeout {
                    caller = caller.with_timeout(timeout);
                }
                if let Some(agent) = &agent {
                    caller = caller.with_agent(agent);
                }
                if yes {
                    let by = "--yes".to_owned();
                    caller = caller.with_approver(YesToAll { by });
                }
                caller
            });
        let Starting { upstreams, remotes } = &*self.starting;
        if !(upstreams.is_empty() && remotes.is_empty()) {
            let starting = Arc::clone(&self.starting);
            builder = builder.ready(move || {
                let starting = Arc::clone(&starting);
                Box::pin(async move {
                    for upstream in &starting.upstreams {
                        upstream.settled().await;
                    }
                    for remote in &starting.remotes {
                        remote.settled().await;
                    }
                })
            });
        }
        if let Some(upstreams) = beside {
            builder = builder
                .resources(UpstreamResources::of(upstreams))
                .prompts(UpstreamPrompts::of(upstreams));
        }
        builder.build()
    }

    fn mounted(&self) -> std::sync::MutexGuard<'_, Mounted> {
        // Who panicked while holding it left whole values behind.
        self.mounted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
