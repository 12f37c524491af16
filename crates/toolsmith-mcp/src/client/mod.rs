//! The client: every MCP server is a source of tools.
//!
//! An [`Upstream`] is described by [`UpstreamOptions`] and kept by a task of its own:
//! `connect` reaches it in whichever era it speaks, `keep` lists its tools into the
//! toolbox and reaches it again when it goes away, `tool` carries a call to it.
//! One upstream that hangs, floods, dies or lies harms no other.
//!
//! ```no_run
//! use toolsmith_mcp::client::{HttpUpstream, Reach, UpstreamOptions, Upstreams};
//! # async fn gateway(toolbox: toolsmith_runtime::Toolbox) {
//! let docs = Reach::Http(HttpUpstream::new("https://docs.example/mcp"));
//! let upstreams = Upstreams::start([UpstreamOptions::new("docs", docs)], &toolbox);
//! upstreams.settled().await;
//! # }
//! ```

pub mod authorize;
mod beside;
mod calls;
mod connect;
mod error;
mod handler;
mod http;
mod keep;
mod lines;
mod news;
mod options;
mod pool;
mod roster;
mod tool;

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use tokio::sync::watch;
use toolsmith_core::tool::SourceError;
use toolsmith_core::{AnyTool, ErrorKind, ToolError, ToolSource};
use toolsmith_runtime::Toolbox;

pub use beside::{UpstreamPrompts, UpstreamResources};
pub use error::{ConnectError, HttpError};
pub use options::{HttpUpstream, Protocol, Questions, Reach, UpstreamOptions};
pub use roster::Upstreams;

use crate::server::Notifier;
use crate::wire;
use authorize::Authorizer;
use connect::Live;
use pool::Pool;

/// A server whose tools are ours too. Cheap to clone.
#[derive(Clone)]
pub struct Upstream {
    inner: Arc<Inner>,
}

struct Inner {
    options: UpstreamOptions,
    live: ArcSwapOption<Live>,
    status: watch::Sender<Status>,
    pool: Pool,
    /// Who is told of changes beside the tools.
    notifier: OnceLock<Notifier>,
    /// Gets us in, from one connection to the next.
    authorizer: OnceLock<Authorizer>,
}

/// How an upstream is doing.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Status {
    /// Whether it can be called.
    pub state: State,
    /// Which era it speaks, once that is known.
    pub era: Option<Era>,
    /// Who it says it is.
    pub server: Option<String>,
    /// How long it took to list its tools.
    pub latency: Option<Duration>,
    /// How many of its tools are taken.
    pub tools: usize,
    /// How often it was reached in vain, since it last could be.
    pub failures: u32,
    /// What went wrong last.
    pub error: Option<String>,
    /// Whether that was for want of credentials.
    pub unauthorized: bool,
}

/// Whether an upstream can be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum State {
    /// It is being reached for the first time.
    Starting,
    /// It can.
    Ready,
    /// It cannot; it is being reached again and again.
    Failed,
    /// It was let go.
    Stopped,
}

/// Which of the protocol's eras an upstream speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Era {
    /// 2026-07-28: every request by itself.
    Stateless,
    /// Before that: sessions with a handshake.
    Handshake,
}

impl fmt::Display for Era {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stateless => "stateless",
            Self::Handshake => "handshake",
        })
    }
}

/// Tells the toolbox what calls of a server's tools are answered with, while nobody knows them.
fn note_missing(toolbox: &Toolbox, server: &str, kind: ErrorKind, why: &str) {
    let error = ToolError::new(kind, format!("the MCP server `{server}` {why}"));
    let beginning = wire::tool::beginning(server);
    toolbox.registry().missing_source(server, &beginning, error);
}

impl Upstream {
    fn new(options: UpstreamOptions) -> Self {
        let status = Status {
            state: State::Starting,
            era: None,
            server: None,
            latency: None,
            tools: 0,
            failures: 0,
            error: None,
            unauthorized: false,
        };
        Self {
            inner: Arc::new(Inner {
                options,
                live: ArcSwapOption::empty(),
                status: watch::Sender::new(status),
                pool: Pool::default(),
                notifier: OnceLock::new(),
                authorizer: OnceLock::new(),
            }),
        }
    }

    /// The name the user gave it.
    pub fn name(&self) -> &str {
        &self.inner.options.name
    }

    /// What stands behind its name: the program, or the address.
    fn mark(&self) -> Arc<str> {
        match &self.inner.options.reach {
            Reach::Http(http) => http.url.as_str().into(),
            Reach::Child(launch) => format!("{:?}", launch.words()).into(),
        }
    }

    /// How it is doing.
    pub fn status(&self) -> Status {
        self.inner.status.borrow().clone()
    }

    /// Waits until it was reached, or was tried in vain.
    pub async fn settled(&self) {
        let mut status = self.inner.status.subscribe();
        // An upstream that is gone has settled.
        let _ = status
            .wait_for(|status| status.state != State::Starting)
            .await;
    }

    /// Tells the toolbox what calls of tools are answered with that this upstream has not
    /// told yet; in words that hold nothing it said.
    fn tell_missing(&self, toolbox: &Toolbox, state: State, unauthorized: bool) {
        let (kind, why) = match state {
            State::Starting => (ErrorKind::Unavailable, "is still being reached"),
            _ if unauthorized => (
                ErrorKind::PermissionDenied,
                "wants credentials, or others than it got; a person can see why with \
                 `toolsmith servers`",
            ),
            _ => (
                ErrorKind::Unavailable,
                "could not be reached; a person can see why with `toolsmith servers`",
            ),
        };
        note_missing(toolbox, self.name(), kind, why);
    }

    /// What gets us in, where the upstream asks for it and the host said how.
    fn authorizer(&self) -> Result<Option<&Authorizer>, ConnectError> {
        let Reach::Http(http) = &self.inner.options.reach else {
            return Ok(None);
        };
        let Some(authorization) = &http.authorization else {
            return Ok(None);
        };
        let named = |(name, _): &(String, String)| name.eq_ignore_ascii_case("authorization");
        if http.headers.iter().any(named) {
            let message = "it has both an authorization header and an authorization";
            return Err(ConnectError::Settings(message.to_owned()));
        }
        if let Some(authorizer) = self.inner.authorizer.get() {
            return Ok(Some(authorizer));
        }
        let authorizer = Authorizer::new(&http.url, authorization)?;
        Ok(Some(self.inner.authorizer.get_or_init(|| authorizer)))
    }

    fn live(&self) -> Option<Arc<Live>> {
        self.inner.live.load_full()
    }

    /// The connection a caller uses, where there is one at all.
    async fn live_for(&self, caller: &str) -> Option<Result<Arc<Live>, ConnectError>> {
        let live = self.live()?;
        if live.era == Era::Stateless {
            return Some(Ok(live));
        }
        let pool = &self.inner.pool;
        Some(pool.of(caller, live, self).await)
    }
}

impl fmt::Debug for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Upstream")
            .field("options", &self.inner.options)
            .field("status", &*self.inner.status.borrow())
            .finish_non_exhaustive()
    }
}

impl ToolSource for Upstream {
    fn name(&self) -> &str {
        &self.inner.options.name
    }

    async fn tools(&self) -> Result<Vec<AnyTool>, SourceError> {
        let failed = |message: String| SourceError::new(Self::name(self), message);
        let live = self
            .live()
            .ok_or_else(|| failed("it is not connected".to_owned()))?;
        let tools = connect::list_tools(&live).await;
        let tools = tools.map_err(|error| match error {
            ConnectError::List(why) => failed(why),
            other => failed(other.to_string()),
        })?;
        let admits = &self.inner.options.admits;
        let admitted = tools.into_iter().filter(|tool| admits(&tool.name));
        Ok(admitted
            .filter_map(|tool| tool::adopt(self, tool))
            .collect())
    }
}
