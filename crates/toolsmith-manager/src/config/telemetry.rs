//! Which collector a configuration wants to be told of calls.

use std::collections::BTreeMap;
use std::time::Duration;

use secrecy::SecretString;
use serde::Deserialize;
use toolsmith_core::duration::Span;
use toolsmith_core::reference::{FillError, Template};

use crate::references::References;
use crate::servers::in_header;
use crate::telemetry::TelemetryOptions;

/// The shortest pause between two reports.
const SHORTEST: Duration = Duration::from_millis(100);

/// Who is told of calls.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct TelemetryConfig {
    /// What the service is called.
    pub service: Option<String>,
    /// The collector.
    pub otlp: Option<OtlpConfig>,
}

/// An OpenTelemetry collector that takes JSON over HTTP.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct OtlpConfig {
    /// Where it is, without `/v1/traces`.
    pub endpoint: Template,
    /// The headers of each request.
    #[serde(default)]
    pub headers: BTreeMap<String, Template>,
    /// Whether spans are sent; they are unless set.
    pub traces: Option<bool>,
    /// Whether metrics are sent; they are unless set.
    pub metrics: Option<bool>,
    /// How often.
    pub interval: Option<Span>,
}

impl OtlpConfig {
    /// Looks up every reference; with the options comes what must be shown to nobody.
    pub(crate) fn resolve(
        &self,
        references: &References,
    ) -> Result<(TelemetryOptions, Vec<String>), FillError> {
        let endpoint = self.endpoint.fill(references)?;
        let mut secrets = endpoint.secrets;
        let mut options = TelemetryOptions::new(endpoint.text);
        for (name, value) in &self.headers {
            let value = value.fill(references)?;
            let header = (name.clone(), SecretString::from(value.text.as_str()));
            options.headers.push(header);
            secrets.extend(in_header(name, value));
        }
        options.traces = self.traces.unwrap_or(true);
        options.metrics = self.metrics.unwrap_or(true);
        if let Some(Span(interval)) = self.interval {
            options.interval = interval.max(SHORTEST);
        }
        Ok((options, secrets))
    }
}
