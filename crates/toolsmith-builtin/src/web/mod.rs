//! What the tools that reach the web share: settings, one guarded client, answers kept
//! for a while, and what is known of robots.txt.
//!
//! Where the tools may go, whether they follow redirects to other hosts and which secrets
//! they may send where is told by the host ([`WebSettings`]) and never by a call. The
//! client is made when the first request is sent.

mod address;
mod body;
mod cache;
mod charset;
mod convert;
mod failure;
mod headers;
mod json;
mod page;
mod path;
mod robots;
mod rules;
mod secrets;

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use tokio::time::Instant;
use toolsmith_net::{
    Fetch, FetchError, Fetched, Fetcher, Names, Reach, Redirects, Room, SystemNames,
};

pub(crate) use address::{address, shown as shown_url};
pub(crate) use body::{Body, Kind, read_body};
pub(crate) use cache::{Cache, Key, LIFETIME};
pub(crate) use convert::Conversions;
pub(crate) use failure::{client_failed, failed};
pub(crate) use headers::{checked, shown as shown_headers};
pub(crate) use json::{beginning, indented, pretty_within, read as read_json};
pub(crate) use page::Page;
pub(crate) use path::{PathError, SelectPath};
pub(crate) use secrets::{Filler, refuse_reference};

use crate::refusal::Refusal;
use robots::Robots;

/// What a host lets the web tools do.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WebSettings {
    /// Where they may go: public addresses, and what the user named.
    pub reach: Reach,
    /// Which redirects they follow.
    pub redirects: Redirects,
    /// Whether robots.txt is respected by every call, whatever the call says.
    pub respects_robots: bool,
    /// What they call themselves, where that is not the program's name.
    pub user_agent: Option<String>,
    /// The secrets that calls may refer to by name.
    pub secrets: Vec<WebSecret>,
}

/// A secret that `api_call` sends for a model which never sees it.
#[derive(Clone)]
#[non_exhaustive]
pub struct WebSecret {
    /// What a call refers to it by.
    pub name: String,
    /// What it stands for.
    value: String,
    /// Where it may be sent: `https://api.example.com`, and nowhere else.
    origins: Vec<String>,
}

impl WebSecret {
    /// A secret that may go to these origins only.
    pub fn new(
        name: impl Into<String>,
        value: impl Into<String>,
        origins: impl IntoIterator<Item = String>,
    ) -> Self {
        Self {
            name: name.into(),
            value: value.into(),
            origins: origins.into_iter().collect(),
        }
    }
}

impl fmt::Debug for WebSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebSecret")
            .field("name", &self.name)
            .field("origins", &self.origins)
            .finish_non_exhaustive()
    }
}

impl Default for WebSettings {
    fn default() -> Self {
        Self {
            reach: Reach::public(),
            redirects: Redirects::Any,
            respects_robots: false,
            user_agent: None,
            secrets: Vec::new(),
        }
    }
}

/// The web as the tools reach it. Cheap to clone; clones share everything.
#[derive(Clone)]
pub struct Web(Arc<Inner>);

struct Inner {
    state: RwLock<Arc<State>>,
    shared: Shared,
}

/// What is shared by all calls, under whatever settings they began.
#[derive(Clone)]
struct Shared {
    names: Arc<dyn Names>,
    room: Room,
    conversions: Conversions,
}

/// What holds under one set of settings. Nothing outlives a change of them: an answer
/// from where calls may no longer go is not kept either.
pub(crate) struct State {
    pub(crate) settings: WebSettings,
    shared: Shared,
    fetcher: OnceLock<Fetcher>,
    pub(crate) cache: Mutex<Cache>,
    robots: Mutex<Robots>,
}

impl Web {
    /// The web under these settings.
    pub fn new(settings: WebSettings) -> Self {
        Self::with_names(settings, Arc::new(SystemNames))
    }

    /// As [`Web::new`], with names looked up otherwise.
    pub fn with_names(settings: WebSettings, names: Arc<dyn Names>) -> Self {
        let shared = Shared {
            names,
            room: Room::default(),
            conversions: Conversions::default(),
        };
        let state = State::new(settings, shared.clone());
        Self(Arc::new(Inner {
            state: RwLock::new(Arc::new(state)),
            shared,
        }))
    }

    /// Puts other settings into force, for calls that begin from now on.
    pub fn set(&self, settings: WebSettings) {
        let state = State::new(settings, self.0.shared.clone());
        let mut current = self.0.state.write().unwrap_or_else(PoisonError::into_inner);
        *current = Arc::new(state);
    }

    pub(crate) fn state(&self) -> Arc<State> {
        let current = self.0.state.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&current)
    }
}

impl fmt::Debug for Web {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Web")
            .field("settings", &self.state().settings)
            .finish_non_exhaustive()
    }
}

impl State {
    fn new(settings: WebSettings, shared: Shared) -> Self {
        Self {
            settings,
            shared,
            fetcher: OnceLock::new(),
            cache: Mutex::default(),
            robots: Mutex::default(),
        }
    }

    /// The client, made at its first use: most runs never reach the web.
    pub(crate) fn fetcher(&self) -> Result<&Fetcher, toolsmith_core::ToolError> {
        if let Some(fetcher) = self.fetcher.get() {
            return Ok(fetcher);
        }
        let Shared { names, room, .. } = &self.shared;
        let fetcher = Fetcher::with_names(self.settings.reach.clone(), Arc::clone(names));
        let fetcher = fetcher.map_err(|error| client_failed(&error))?;
        let fetcher = fetcher.with_room(room.clone());
        // Of two that came at once the first one stays.
        Ok(self.fetcher.get_or_init(|| fetcher))
    }

    /// Who converts what was fetched.
    pub(crate) fn conversions(&self) -> &Conversions {
        &self.shared.conversions
    }

    /// Sends a request under the settings.
    pub(crate) async fn send(
        &self,
        fetcher: &Fetcher,
        request: Fetch,
    ) -> Result<Fetched, Box<FetchError>> {
        fetcher.fetch(request).await.map_err(Box::new)
    }

    /// Refuses what a site does not want programs to ask for.
    pub(crate) async fn ask_robots(
        &self,
        fetcher: &Fetcher,
        url: &str,
        until: Instant,
    ) -> Result<(), Refusal> {
        robots::ask(self, fetcher, url, until).await
    }

    /// What the program calls itself.
    pub(crate) fn user_agent(&self) -> &str {
        let own = concat!("toolsmith/", env!("CARGO_PKG_VERSION"));
        self.settings.user_agent.as_deref().unwrap_or(own)
    }
}
