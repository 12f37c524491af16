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
    uses: Mutex<HashMap<Arc<str>, Arc<Mutex<Use>>>>,
}

#[derive(Debug)]
struct Use {
    last: Instant,
    now: usize,
    /// The path it was opened at.
    path: String,
    /// The ids of its requests that are not answered yet.
    requests: HashSet<Value>,
}

fn locked(session: &Mutex<Use>) -> MutexGuard<'_, Use> {
    session.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A session in use, while it lives.
pub(super) struct InUse {
    session: Arc<Mutex<Use>>,
    request: Value,
}

impl InUse {
    /// Notes the id of the request; false where another one has it. `rmcp` would
    /// answer only one of them.
    pub(super) fn claims(&mut self, request: &Value) -> bool {
        let free = request.is_null() || locked(&self.session).requests.insert(request.clone());
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
            uses: Mutex::default(),
        }
    }

    /// How many there are.
    pub(super) async fn count(&self) -> usize {
        self.manager.sessions.read().await.len()
    }

    /// Tells whether a request names a session that was opened at another path.
    pub(super) fn is_of_another(&self, headers: &HeaderMap, path: &str) -> bool {
        let session = name_of(headers).and_then(|name| self.uses().get(name).cloned());
        session.is_some_and(|session| locked(&session).path != path)
    }

    /// Notes that a request uses a session.
    pub(super) fn used_by(&self, headers: &HeaderMap) -> Option<InUse> {
        let session = Arc::clone(self.uses().get(name_of(headers)?)?);
        let mut noted = locked(&session);
        noted.last = Instant::now();
        noted.now += 1;
        drop(noted);
        Some(InUse {
            session,
            request: Value::Null,
        })
    }

    /// Notes a session an answer opens.
    pub(super) fn opened(&self, headers: &HeaderMap, path: &str) {
        if let Some(name) = name_of(headers) {
            let opened = Use {
                last: Instant::now(),
                now: 0,
                path: path.to_owned(),
                requests: HashSet::new(),
            };
            let opened = || Arc::new(Mutex::new(opened));
            self.uses().entry(name.into()).or_insert_with(opened);
        }
    }

    /// Ends sessions until there is room for another.
    pub(super) async fn make_room(&self) {
        let alive: HashSet<Arc<str>> = {
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
                .filter_map(|(id, each)| {
                    let each = locked(each);
                    (each.now == 0).then(|| (each.last, Arc::clone(id)))
                })
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

    fn uses(&self) -> MutexGuard<'_, HashMap<Arc<str>, Arc<Mutex<Use>>>> {
        self.uses.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        let mut session = locked(&self.session);
        session.now = session.now.saturating_sub(1);
        session.requests.remove(&self.request);
    }
}

fn name_of(headers: &HeaderMap) -> Option<&str> {
    headers.get(HEADER)?.to_str().ok()
}
