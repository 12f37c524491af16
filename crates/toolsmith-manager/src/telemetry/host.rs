//! What a host says about telemetry, and what comes of it with a configuration.

use std::fmt;
use std::time::SystemTime;

use secrecy::{ExposeSecret, SecretString};
use tokio::runtime::Handle;

use super::{Telemetry, TelemetryOptions};
use crate::config::TelemetryConfig;
use crate::references::References;

/// Where telemetry is sent from, and to whom if the configuration names nobody. `Debug`
/// shows no address: it may hold a key.
#[derive(Clone)]
#[non_exhaustive]
pub struct TelemetryHost {
    runtime: Handle,
    now: fn() -> SystemTime,
    /// The collector, where the configuration has none.
    pub endpoint: Option<String>,
    /// The headers for that collector.
    pub headers: Vec<(String, SecretString)>,
    /// What the service is called, where the configuration does not say.
    pub service: Option<String>,
}

impl fmt::Debug for TelemetryHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TelemetryHost")
            .field("service", &self.service)
            .finish_non_exhaustive()
    }
}

/// What came of it.
#[derive(Debug, Default)]
pub(crate) struct Started {
    pub(crate) telemetry: Option<Telemetry>,
    pub(crate) secrets: Vec<String>,
    /// Why there is none, though there should be.
    pub(crate) problem: Option<String>,
}

impl TelemetryHost {
    /// Sends from this runtime, by this clock, to whom the configuration names.
    pub fn new(runtime: Handle, now: fn() -> SystemTime) -> Self {
        Self {
            runtime,
            now,
            endpoint: None,
            headers: Vec::new(),
            service: None,
        }
    }

    /// Begins, if there is a collector. What is wrong stops no call.
    pub(crate) fn start(&self, config: &TelemetryConfig, references: &References) -> Started {
        let (mut options, secrets) = match (&config.otlp, &self.endpoint) {
            (Some(otlp), _) => match otlp.resolve(references) {
                Ok(resolved) => resolved,
                Err(error) => return Started::failed(&error),
            },
            (None, Some(endpoint)) => {
                let mut options = TelemetryOptions::new(endpoint);
                options.headers.clone_from(&self.headers);
                let headers = self.headers.iter();
                let secrets = headers.map(|(_, value)| value.expose_secret().to_owned());
                (options, secrets.collect())
            }
            (None, None) => return Started::default(),
        };
        if let Some(service) = config.service.as_ref().or(self.service.as_ref()) {
            options.service.clone_from(service);
        }
        match Telemetry::start(options, &self.runtime, self.now) {
            Ok(telemetry) => Started {
                telemetry: Some(telemetry),
                secrets,
                problem: None,
            },
            Err(error) => Started::failed(&error),
        }
    }
}

impl Started {
    fn failed(error: &dyn fmt::Display) -> Self {
        Self {
            problem: Some(format!("telemetry: {error}; calls are not exported")),
            ..Self::default()
        }
    }
}
