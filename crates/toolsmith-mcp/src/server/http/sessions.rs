//! How many sessions there may be.
//!
//! Clients with a handshake leave sessions behind when they go without a word.
//! `rmcp` ends those that nobody uses for minutes; here the one unused for longest
//! ends as soon as there are too many.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hyper::HeaderMap;
use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use serde_json::Value;
use tokio::time::Instant;

/// The header that names a session.
const HEADER: &str = "mcp-session-id";

/// The sessions of one server.
pub(super) struct Sessions {
    manager: Arc<LocalSessionManager>,
    most: usize,
    uses: Arc<Mutex<HashMap<Arc<str>, Use>>>,
}

#[derive(Debug)]
struct Use {
    last: Instant,
    now: usize,
    /// The ids of its requests that are not answered yet.
    requests: HashSet<Value>,
}

/// A session in use, while it lives.
pub(super) struct InUse {
    uses: Arc<Mutex<HashMap<Arc<str>, Use>>>,
    id: Arc<str>,
    request: Value,
}

impl InUse {
    /// Notes the id of the request; false where another one has it. `rmcp` would
    /// answer only one of them.
    pub(super) fn claims(&mut self, request: &Value) -> bool {
        let mut uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        let noted = uses.get_mut(&self.id);
        let free =
            request.is_null() || noted.is_none_or(|noted| noted.requests.insert(request.clone()));
        drop(uses);
        if free {
            self.request = request.clone();
        }
        free
    }
}

impl Sessions {
    pub(super) fn new(manager: Arc<LocalSessionManager>, most: usize) -> Self {
        Self {
            manager,
            most: most.max(1),
            uses: Arc::default(),
        }
    }

    /// How many there are.
    pub(super) async fn count(&self) -> usize {
        self.manager.sessions.read().await.len()
    }

    /// Notes that a request uses a session.
    pub(super) fn used_by(&self, headers: &HeaderMap) -> Option<InUse> {
        let id = id_of(headers)?;
        let mut uses = self.uses();
        let noted = uses.get_mut(&id)?;
        noted.last = Instant::now();
        noted.now += 1;
        Some(InUse {
            uses: Arc::clone(&self.uses),
            id,
            request: Value::Null,
        })
    }

    /// Notes a session an answer opens.
    pub(super) fn opened(&self, headers: &HeaderMap) {
        if let Some(id) = id_of(headers) {
            let opened = Use {
                last: Instant::now(),
                now: 0,
                requests: HashSet::new(),
            };
            self.uses().entry(id).or_insert(opened);
        }
    }

    /// Ends sessions until there is room for another.
    pub(super) async fn make_room(&self) {
        let alive: Vec<Arc<str>> = {
            let sessions = self.manager.sessions.read().await;
            if sessions.len() < self.most && self.uses().len() < 2 * self.most {
                return;
            }
            sessions.keys().cloned().collect()
        };
        let surplus = {
            let mut uses = self.uses();
            uses.retain(|id, _| alive.contains(id));
            let mut idle: Vec<(Instant, Arc<str>)> = uses
                .iter()
                .filter(|(_, each)| each.now == 0)
                .map(|(id, each)| (each.last, Arc::clone(id)))
                .collect();
            idle.sort();
            // A few at a time, so that not every new session has to look.
            let surplus = (alive.len() + 1).saturating_sub(self.most) + self.most / 16;
            idle.truncate(if alive.len() < self.most { 0 } else { surplus });
            idle
        };
        for (_, id) in surplus {
            self.uses().remove(&id);
            if let Err(error) = self.manager.close_session(&id).await {
                tracing::debug!(target: "toolsmith::mcp", "a session was gone already: {error}");
            }
        }
    }

    fn uses(&self) -> MutexGuard<'_, HashMap<Arc<str>, Use>> {
        self.uses.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        let mut uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(noted) = uses.get_mut(&self.id) {
            noted.now = noted.now.saturating_sub(1);
            noted.requests.remove(&self.request);
        }
    }
}

fn id_of(headers: &HeaderMap) -> Option<Arc<str>> {
    headers.get(HEADER)?.to_str().ok().map(Into::into)
}
