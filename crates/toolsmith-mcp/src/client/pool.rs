//! Sessions of callers with an upstream that keeps state between calls.
//!
//! A server with a handshake may remember what a session did before, so two sessions
//! of ours never share one: the first has the connection the tools were listed on, every
//! other gets its own when it first calls. A server without sessions is shared by
//! all.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::OnceCell;
use tokio::time::Instant;
use toolsmith_core::CancellationToken;

use super::Upstream;
use super::connect::{Connection, Live, connect};
use super::error::ConnectError;
use super::options::Protocol;

/// How many callers may have sessions of their own with one upstream; the one unused
/// for longest gives way, one with calls in flight last of all.
const MOST: usize = 32;

/// How long a session may be unused, with no call in flight, before it gives way to the
/// next caller.
const IDLE: Duration = Duration::from_secs(300);

/// How long a child may take to leave by itself.
const LEAVE: Duration = Duration::from_secs(2);

/// The sessions of one upstream, beside its first.
#[derive(Debug, Default)]
pub(super) struct Pool(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Whose the first connection is.
    first: Option<String>,
    others: HashMap<String, Session>,
}

#[derive(Clone, Debug)]
struct Session {
    live: Arc<OnceCell<Arc<Live>>>,
    last: Instant,
    end: CancellationToken,
}

impl Session {
    fn is_in_use(&self) -> bool {
        self.live.get().is_some_and(|live| live.calls.are_any())
    }
}

impl Pool {
    /// Forgets whose the first connection was, for there is a new one.
    pub(super) fn renewed(&self) {
        self.state().first = None;
    }

    /// Ends all sessions.
    pub(super) fn end(&self) {
        for (_, session) in self.state().others.drain() {
            session.end.cancel();
        }
    }

    /// The connection a caller uses: the first where it is theirs or nobody's.
    pub(super) async fn of(
        &self,
        caller: &str,
        first: Arc<Live>,
        upstream: &Upstream,
    ) -> Result<Arc<Live>, ConnectError> {
        let Some(session) = self.session(caller) else {
            return Ok(first);
        };
        let opened = session
            .live
            // In a box: it is large and rare, and each call would have room for it.
            .get_or_try_init(|| Box::pin(open(upstream, session.end.clone())))
            .await;
        match opened {
            Ok(live) if live.peer.is_transport_closed() => {
                self.forget(caller, &session);
                Err(ConnectError::Ended(String::new()))
            }
            Ok(live) => Ok(Arc::clone(live)),
            Err(error) => {
                self.forget(caller, &session);
                Err(error)
            }
        }
    }

    /// The caller's own session; none where the first connection is theirs.
    fn session(&self, caller: &str) -> Option<Session> {
        let mut state = self.state();
        if state.first.get_or_insert_with(|| caller.to_owned()) == caller {
            return None;
        }
        let now = Instant::now();
        state.others.retain(|_, session| {
            let is_used = now.duration_since(session.last) < IDLE || session.is_in_use();
            let keeps = is_used && !session.end.is_cancelled();
            if !keeps {
                session.end.cancel();
            }
            keeps
        });
        if state.others.len() >= MOST && !state.others.contains_key(caller) {
            let others = state.others.iter();
            let oldest = others.min_by_key(|(_, session)| (session.is_in_use(), session.last));
            if let Some(oldest) = oldest.map(|(name, _)| name.clone())
                && let Some(session) = state.others.remove(&oldest)
            {
                session.end.cancel();
            }
        }
        let session = state
            .others
            .entry(caller.to_owned())
            .or_insert_with(|| Session {
                live: Arc::default(),
                last: now,
                end: CancellationToken::new(),
            });
        session.last = now;
        Some(session.clone())
    }

    fn forget(&self, caller: &str, session: &Session) {
        session.end.cancel();
        let mut state = self.state();
        let same = |found: &Session| Arc::ptr_eq(&found.live, &session.live);
        if state.others.get(caller).is_some_and(same) {
            state.others.remove(caller);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.end();
    }
}

/// Opens a session and keeps it until it ends or is ended.
async fn open(upstream: &Upstream, end: CancellationToken) -> Result<Arc<Live>, ConnectError> {
    // Only servers with a handshake get here.
    let options = &upstream.inner.options;
    let options = options.clone().protocol(Protocol::Handshake);
    let limit = options.start_time;
    let opening = connect(&options, upstream.authorizer()?, limit);
    let Connection {
        live,
        service,
        child,
        ..
    } = tokio::time::timeout(limit, opening)
        .await
        .map_err(|_| ConnectError::Slow(toolsmith_core::duration::format(limit)))??;
    let stop = service.cancellation_token();
    tokio::spawn(async move {
        let mut gone = std::pin::pin!(service.waiting());
        tokio::select! {
            _ = &mut gone => {}
            () = end.cancelled() => {
                stop.cancel();
                let _ = gone.await;
            }
        }
        end.cancel();
        if let Some(child) = child {
            child.end(LEAVE).await;
        }
    });
    Ok(live)
}
