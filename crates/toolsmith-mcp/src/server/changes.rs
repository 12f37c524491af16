//! Telling clients that lists changed.
//!
//! A change is told once for many that come together: whoever is told looks at the
//! list anew anyway.

use std::collections::BTreeSet;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::{Peer, ServiceError, SubscriptionSink};
use tokio::sync::broadcast::{self, error::RecvError};
use toolsmith_runtime::registry::Change;

use super::Shared;

/// How long a change waits for others to be told with it.
const GATHER: Duration = Duration::from_millis(20);

/// Something a client may want to know of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Changed {
    Tools,
    Prompts,
    Resources,
    Resource(String),
}

/// Everything that changes, from one moment on.
pub(super) struct Changes {
    tools: broadcast::Receiver<Change>,
    others: broadcast::Receiver<Changed>,
}

impl Changes {
    pub(super) fn of(shared: &Shared) -> Self {
        Self {
            tools: shared.toolbox.registry().subscribe(),
            others: shared.changes.subscribe(),
        }
    }

    /// The next changes, each once; none when there will be no more.
    pub(super) async fn next(&mut self) -> Option<BTreeSet<Changed>> {
        let mut changes = BTreeSet::from_iter(self.one().await?);
        let mut gathering = std::pin::pin!(tokio::time::sleep(GATHER));
        loop {
            tokio::select! {
                () = &mut gathering => return Some(changes),
                more = self.one() => match more {
                    Some(more) => changes.extend(more),
                    None => return Some(changes),
                },
            }
        }
    }

    async fn one(&mut self) -> Option<Vec<Changed>> {
        tokio::select! {
            change = self.tools.recv() => match change {
                Ok(_) | Err(RecvError::Lagged(_)) => Some(vec![Changed::Tools]),
                Err(RecvError::Closed) => None,
            },
            change = self.others.recv() => match change {
                Ok(change) => Some(vec![change]),
                // What was missed is not known, so all of it counts as changed.
                Err(RecvError::Lagged(_)) => {
                    Some(vec![Changed::Tools, Changed::Prompts, Changed::Resources])
                }
                Err(RecvError::Closed) => None,
            },
        }
    }
}

/// Tells a client of a session.
pub(super) async fn tell(peer: &Peer<RoleServer>, change: Changed) -> Result<(), ServiceError> {
    match change {
        Changed::Tools => peer.notify_tool_list_changed().await,
        Changed::Prompts => peer.notify_prompt_list_changed().await,
        Changed::Resources => peer.notify_resource_list_changed().await,
        Changed::Resource(uri) => {
            let params = ResourceUpdatedNotificationParam::new(uri);
            peer.notify_resource_updated(params).await
        }
    }
}

/// Tells a client that listens, of what it listens to; false when it is gone.
pub(super) async fn tell_listener(sink: &SubscriptionSink, change: Changed) -> bool {
    use rmcp::service::SubscriptionSendError::{Service, SubscriptionClosed};
    let told = match change {
        Changed::Tools => sink.notify_tool_list_changed().await,
        Changed::Prompts => sink.notify_prompt_list_changed().await,
        Changed::Resources => sink.notify_resource_list_changed().await,
        Changed::Resource(uri) => sink.notify_resource_updated(uri).await,
    };
    !matches!(told, Err(SubscriptionClosed | Service(_)))
}
