//! The servers at one address: the whole one, and others beneath it that offer less.
//!
//! They share connections and limits, and one token opens all of them. A session can be
//! used only at the path it was opened at.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use rmcp::transport::StreamableHttpServerConfig;
use rmcp::transport::streamable_http_server::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;

use super::{PATH, Service};
use crate::server::handler::Connection;
use crate::server::lanes::Lanes;
use crate::server::{Life, Server};

/// A server and the protocol spoken for it.
pub(super) struct Mount {
    pub(super) server: Server,
    pub(super) protocol: StreamableHttpService<Connection, LocalSessionManager>,
}

/// What every mount of an address is made with.
pub(super) struct Ground {
    pub(super) manager: Arc<LocalSessionManager>,
    pub(super) config: StreamableHttpServerConfig,
    pub(super) life: Life,
    pub(super) lanes: Lanes,
}

impl Ground {
    pub(super) fn mount(&self, server: &Server) -> Mount {
        let (life, lanes) = (self.life.clone(), self.lanes.clone());
        let shared = Arc::clone(&server.shared);
        let connect = move || Connection::new(Arc::clone(&shared), life.clone(), lanes.clone());
        let manager = Arc::clone(&self.manager);
        Mount {
            server: server.clone(),
            protocol: StreamableHttpService::new(
                move || Ok(connect()),
                manager,
                self.config.clone(),
            ),
        }
    }
}

/// The servers beneath the whole one, which may be exchanged while they are in use.
#[derive(Clone)]
pub struct Mounts {
    pub(super) service: Arc<Service>,
}

impl Mounts {
    /// Offers these servers, each at its path beneath `/mcp/`, and no others. One that
    /// was there before goes on as it is.
    pub fn set(&self, servers: impl IntoIterator<Item = (String, Server)>) {
        let before = self.service.beneath.load();
        let mounted = servers.into_iter().map(|(path, server)| {
            let path = format!("{PATH}/{path}");
            let is_same = |mount: &&Arc<Mount>| Arc::ptr_eq(&mount.server.shared, &server.shared);
            let kept = before.get(&path).filter(is_same).cloned();
            let mount = kept.unwrap_or_else(|| Arc::new(self.service.ground.mount(&server)));
            (path, mount)
        });
        let mounted: BTreeMap<String, Arc<Mount>> = mounted.collect();
        self.service.beneath.store(Arc::new(mounted));
    }
}

impl fmt::Debug for Mounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set()
            .entries(self.service.beneath.load().keys())
            .finish()
    }
}
