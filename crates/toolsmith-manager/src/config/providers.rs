//! Where providers of models are reached, and with which keys, where the variables of the
//! ecosystem do not say or should not.

use std::collections::BTreeMap;

use serde::de::Error;
use serde::{Deserialize, Deserializer};
use toolsmith_agent::client::{Endpoint, EndpointError};
use toolsmith_core::reference::{FillError, Template};
use toolsmith_provider::Provider;

use super::few;
use crate::references::References;
use crate::servers::in_header;

/// Where each provider is reached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProvidersConfig(BTreeMap<Provider, ProviderConfig>);

/// Where a provider is reached.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct ProviderConfig {
    /// The address, as the provider's own libraries take it.
    pub url: Option<Template>,
    /// The key.
    pub key: Option<Template>,
    /// Headers that go with every request.
    pub headers: BTreeMap<String, Template>,
}

/// Why a provider cannot be reached as the configuration says.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReachError {
    /// Something is referred to that is not there.
    #[error("providers.{provider}: {error}")]
    Missing {
        /// Whose.
        provider: Provider,
        /// What.
        error: FillError,
    },
    /// There is no client, no key or no such address.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
}

impl ProvidersConfig {
    /// Where a provider is reached: at `url`, which the user named for this run, as is
    /// written, or as the variables say.
    ///
    /// # Errors
    /// When something is referred to that is not there, or no key is known.
    pub fn endpoint(
        &self,
        provider: Provider,
        references: &References,
        url: Option<&str>,
    ) -> Result<Endpoint, ReachError> {
        let empty = ProviderConfig::default();
        let config = self.0.get(&provider).unwrap_or(&empty);
        let fill = |template: &Template| {
            let filled = template.fill(references);
            filled
                .map(|filled| filled.text)
                .map_err(|error| ReachError::Missing { provider, error })
        };
        let written = config.url.as_ref().map(fill).transpose()?;
        let key = config.key.as_ref().map(fill).transpose()?;
        let mut endpoint = match (url, &written, &key) {
            // Who names an address for this run means the key for this provider to go there.
            (Some(url), ..) => Endpoint::new(provider)?
                .with_url(url)?
                .with_usual_key(references),
            // A file that names an address says which key goes there.
            (None, Some(url), _) => Endpoint::new(provider)?.with_url(url)?,
            (None, None, Some(_)) => Endpoint::new(provider)?,
            (None, None, None) => Endpoint::usual(provider, references)?,
        };
        if let Some(key) = key {
            endpoint = endpoint.with_key(key.into());
        }
        for (name, value) in &config.headers {
            endpoint = endpoint.with_header(name, fill(value)?.into());
        }
        Ok(endpoint)
    }

    /// What must be shown to nobody: what is referred to, and a key that is written out.
    pub(crate) fn secrets(&self, references: &References) -> Vec<String> {
        // What is not there is told when it is needed.
        let fill = |template: &Template| template.fill(references).ok();
        let mut secrets = Vec::new();
        for config in self.0.values() {
            secrets.extend(config.url.iter().filter_map(fill).flat_map(|it| it.secrets));
            for key in config.key.iter().filter_map(fill) {
                secrets.push(key.text);
                secrets.extend(key.secrets);
            }
            for (name, value) in &config.headers {
                secrets.extend(fill(value).into_iter().flat_map(|it| in_header(name, it)));
            }
        }
        secrets
    }
}

impl<'de> Deserialize<'de> for ProvidersConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let forms = Option::<BTreeMap<Provider, ProviderConfig>>::deserialize(deserializer)?;
        let forms = forms.unwrap_or_default();
        for (provider, config) in &forms {
            few::<D::Error>(config.headers.len(), "headers")?;
            Endpoint::new(*provider).map_err(D::Error::custom)?;
        }
        Ok(Self(forms))
    }
}
