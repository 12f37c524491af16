//! How a tool is run, kept apart from what it is.
//!
//! A binding is joined to a definition by name in the registry. A tool brings its
//! defaults; configuration lays its own over them with [`Binding::over`].

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::duration;
use crate::rate::Rate;

/// The time limit of a call whose binding and plan set none.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// How a tool is run. Every field is optional: what is not set falls through to
/// the layer beneath, and at the bottom to the default its method names.
///
/// ```
/// use std::time::Duration;
/// use toolsmith_core::Binding;
///
/// let of_the_tool = Binding::default().with_timeout(Duration::from_secs(5)).with_retries(1);
/// let configured = Binding::default().with_timeout(Duration::from_secs(60));
/// let in_force = configured.over(of_the_tool);
/// assert_eq!(in_force.timeout, Some(Duration::from_secs(60)));
/// assert_eq!(in_force.retries, Some(1));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Binding {
    /// The time limit of one call.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        with = "duration::optional"
    )]
    pub timeout: Option<Duration>,
    /// Who gets to see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exposure: Option<Exposure>,
    /// The prefix of its offered name instead of the toolbox's; empty for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
    /// How often a call that may be repeated is repeated where that may help. Two times
    /// for tools of other machines and never for others, unless set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retries: Option<u8>,
    /// Whether a call may be repeated although the tool does more the second time: its
    /// calls carry a key by which whoever gets them tells a repetition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeatable: Option<bool>,
    /// For how long an answer is kept and given again to the same call of the same
    /// caller. Only answers of tools that change nothing are.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        with = "duration::optional"
    )]
    pub cache: Option<Duration>,
    /// How fast it may be called, by everybody together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// How often it may be called from one beginning of the period to the next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quota: Option<Rate>,
}

impl Binding {
    /// Lays this binding over another: what is set here wins.
    #[must_use]
    pub fn over(self, beneath: Self) -> Self {
        Self {
            timeout: self.timeout.or(beneath.timeout),
            exposure: self.exposure.or(beneath.exposure),
            prefix: self.prefix.or(beneath.prefix),
            retries: self.retries.or(beneath.retries),
            repeatable: self.repeatable.or(beneath.repeatable),
            cache: self.cache.or(beneath.cache),
            rate: self.rate.or(beneath.rate),
            quota: self.quota.or(beneath.quota),
        }
    }

    /// The exposure in force: [`Exposure::Direct`] unless set.
    pub fn exposure(&self) -> Exposure {
        self.exposure.unwrap_or_default()
    }

    /// Sets the time limit.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sets who gets to see the tool.
    #[must_use]
    pub fn with_exposure(mut self, exposure: Exposure) -> Self {
        self.exposure = Some(exposure);
        self
    }

    /// Sets the prefix of the offered name; empty for none.
    #[must_use]
    pub fn with_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = Some(prefix.into());
        self
    }

    /// Sets how often a call is repeated.
    #[must_use]
    pub fn with_retries(mut self, retries: u8) -> Self {
        self.retries = Some(retries);
        self
    }

    /// Says that calls carry a key by which a repetition is told.
    #[must_use]
    pub fn with_repeatable(mut self, repeatable: bool) -> Self {
        self.repeatable = Some(repeatable);
        self
    }

    /// Keeps answers for so long.
    #[must_use]
    pub fn with_cache(mut self, lifetime: Duration) -> Self {
        self.cache = Some(lifetime);
        self
    }

    /// Sets how fast it may be called.
    #[must_use]
    pub fn with_rate(mut self, rate: Rate) -> Self {
        self.rate = Some(rate);
        self
    }

    /// Sets how often it may be called in a period.
    #[must_use]
    pub fn with_quota(mut self, quota: Rate) -> Self {
        self.quota = Some(quota);
        self
    }
}

/// Whether and how a tool is offered to models.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Exposure {
    /// Declared to the model from the start.
    #[default]
    Direct,
    /// Callable, but declared only when it was searched for.
    Deferred,
    /// Not offered at all; only the host may call it by name.
    Hidden,
}
