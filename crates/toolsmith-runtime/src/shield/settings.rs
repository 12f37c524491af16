//! What a host settles about sources and callers.

use std::time::Duration;

use globset::GlobMatcher;
use toolsmith_core::rate::Rate;

use crate::offer::name_glob;

/// How sources and callers are held within bounds.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Protection {
    /// Settings of sources, by their names or globs over them, laid over each other in
    /// this order. Tools the user wrote down have their file as source.
    pub sources: Vec<(String, SourceSettings)>,
    /// What holds for each caller by itself.
    pub callers: CallerSettings,
}

/// How one source is held within bounds. What is not set keeps its default: sources on
/// other machines have a circuit and a queue, those on this one have neither.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct SourceSettings {
    /// How many calls it gets at once.
    pub concurrency: Option<usize>,
    /// How many more may wait for their turn.
    pub queue: Option<usize>,
    /// How fast it may be called.
    pub rate: Option<Rate>,
    /// How often it may be called from one beginning of the period to the next.
    pub quota: Option<Rate>,
    /// When it is left alone for a while.
    pub circuit: Option<CircuitSettings>,
}

/// When a source that fails is left alone.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct CircuitSettings {
    /// Whether it ever is.
    pub enabled: bool,
    /// After so many failures in a row,
    pub failures: u32,
    /// or when this share of calls failed,
    pub share: f64,
    /// of at least so many
    pub least: u32,
    /// within this time.
    pub window: Duration,
    /// For how long, until one call is let through to see.
    pub pause: Duration,
}

/// What each caller may do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallerSettings {
    /// How fast it may call.
    pub rate: Option<Rate>,
    /// How often it may call from one beginning of the period to the next.
    pub quota: Option<Rate>,
}

impl Default for CircuitSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            failures: 5,
            share: 0.5,
            least: 10,
            window: Duration::from_secs(60),
            pause: Duration::from_secs(15),
        }
    }
}

/// How many calls a source on another machine gets at once, and how many may wait.
const CONCURRENCY: usize = 256;
const QUEUE: usize = 1024;

/// What is in force for a source.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct InForce {
    settings: SourceSettings,
}

impl InForce {
    /// How many calls run at once and how many may wait; none for no bound.
    pub(crate) fn queue(&self, is_remote: bool) -> Option<(usize, usize)> {
        let SourceSettings {
            concurrency, queue, ..
        } = self.settings;
        if concurrency.is_none() && !is_remote {
            return None;
        }
        let concurrency = concurrency.unwrap_or(CONCURRENCY).max(1);
        Some((concurrency, queue.unwrap_or(QUEUE)))
    }

    /// When it is left alone; none for never.
    pub(crate) fn circuit(&self, is_remote: bool) -> Option<CircuitSettings> {
        let default = is_remote.then(CircuitSettings::default);
        let settings = self.settings.circuit.or(default);
        settings.filter(|settings| settings.enabled)
    }

    pub(crate) fn rate(&self) -> Option<Rate> {
        self.settings.rate
    }

    pub(crate) fn quota(&self) -> Option<Rate> {
        self.settings.quota
    }
}

/// The settings of sources, ready to be looked up.
#[derive(Debug, Default)]
pub(crate) struct Settled {
    by_pattern: Vec<(GlobMatcher, SourceSettings)>,
}

impl Settled {
    /// Reads the patterns.
    ///
    /// # Errors
    /// When one is none: the pattern, and what is wrong with it.
    pub(crate) fn read(protection: &Protection) -> Result<Self, (String, String)> {
        let mut by_pattern = Vec::new();
        for (pattern, settings) in &protection.sources {
            let glob = name_glob(pattern);
            let glob = glob.map_err(|error| (pattern.clone(), error.to_string()))?;
            by_pattern.push((glob, settings.clone()));
        }
        Ok(Self { by_pattern })
    }

    pub(crate) fn of(&self, source: &str) -> InForce {
        let mut laid = SourceSettings::default();
        for (pattern, over) in &self.by_pattern {
            if pattern.is_match(source) {
                laid = SourceSettings {
                    concurrency: over.concurrency.or(laid.concurrency),
                    queue: over.queue.or(laid.queue),
                    rate: over.rate.or(laid.rate),
                    quota: over.quota.or(laid.quota),
                    circuit: over.circuit.or(laid.circuit),
                };
            }
        }
        InForce { settings: laid }
    }
}
