//! What the tools of one file share: connections, and tokens.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use toolsmith_core::ToolError;
use toolsmith_net::{Client, ClientLimits, Reach};

use super::oauth::{Settings, Tokens};

/// A request ends with its call, whose time is the runtime's to measure. This is for
/// those that run tools without one.
const LONGEST: Duration = Duration::from_secs(60 * 60);

/// What the tools of one file share while they are made.
#[derive(Default)]
pub(crate) struct Shared {
    connections: BTreeMap<Vec<String>, Arc<Connection>>,
    tokens: BTreeMap<Settings, Arc<Tokens>>,
}

/// A client, made when the first request is sent: making one takes milliseconds, and
/// most tools of most files are never called.
pub(crate) struct Connection {
    /// The origins that may be somewhere private.
    origins: Vec<String>,
    client: OnceLock<Client>,
}

impl Shared {
    /// The connection to these origins.
    pub(crate) fn connection(&mut self, origins: Vec<String>) -> Arc<Connection> {
        let connection = self
            .connections
            .entry(origins)
            .or_insert_with_key(|origins| {
                Arc::new(Connection {
                    origins: origins.clone(),
                    client: OnceLock::new(),
                })
            });
        Arc::clone(connection)
    }

    /// The tokens that are asked for with these settings.
    pub(crate) fn tokens(&mut self, settings: Settings) -> Arc<Tokens> {
        let tokens = self.tokens.entry(settings);
        let tokens = tokens.or_insert_with_key(|settings| Arc::new(Tokens::new(settings.clone())));
        Arc::clone(tokens)
    }
}

impl Connection {
    /// The client.
    ///
    /// # Errors
    /// When none can be made here.
    pub(crate) fn client(&self) -> Result<&Client, ToolError> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let mut reach = Reach::public();
        for origin in &self.origins {
            let named = reach.and_origin(origin);
            reach = named.map_err(|refused| ToolError::internal(refused.to_string()))?;
        }
        let limits = ClientLimits {
            total: Some(LONGEST),
            ..ClientLimits::default()
        };
        let client = Client::new(reach, limits);
        let client = client.map_err(|error| ToolError::internal(error.to_string()))?;
        // Of two that came at once the first one stays.
        Ok(self.client.get_or_init(|| client))
    }
}
