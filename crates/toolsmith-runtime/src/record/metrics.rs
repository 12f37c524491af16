//! Counters and duration histograms, kept in memory.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use serde::Serialize;
use toolsmith_core::event::MetricsCollector;
use toolsmith_core::{ErrorKind, ToolName};

/// Buckets double from one microsecond; the last takes everything from half an
/// hour on.
const BUCKETS: usize = 32;

/// The metrics a toolbox keeps unless the host brings its own collector.
#[derive(Debug, Default)]
pub struct Metrics {
    tools: RwLock<HashMap<ToolName, Arc<Counters>>>,
    running: AtomicU64,
    peak: AtomicU64,
    unknown: AtomicU64,
}

#[derive(Debug, Default)]
struct Counters {
    started: AtomicU64,
    succeeded: AtomicU64,
    refused: AtomicU64,
    repeated: AtomicU64,
    cached: AtomicU64,
    errors: [AtomicU64; ErrorKind::ALL.len()],
    micros: AtomicU64,
    buckets: [AtomicU64; BUCKETS],
}

impl Metrics {
    /// What was counted so far.
    pub fn snapshot(&self) -> MetricsSnapshot {
        let tools = self.tools.read().unwrap_or_else(PoisonError::into_inner);
        MetricsSnapshot {
            running: self.running.load(Ordering::Relaxed),
            peak_running: self.peak.load(Ordering::Relaxed),
            unknown_tool: self.unknown.load(Ordering::Relaxed),
            tools: tools
                .iter()
                .map(|(name, counters)| (name.clone(), counters.snapshot()))
                .collect(),
        }
    }

    fn counters(&self, tool: &ToolName) -> Arc<Counters> {
        {
            let tools = self.tools.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(counters) = tools.get(tool) {
                return Arc::clone(counters);
            }
        }
        let mut tools = self.tools.write().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(tools.entry(tool.clone()).or_default())
    }
}

impl MetricsCollector for Metrics {
    fn started(&self, tool: &ToolName) {
        self.counters(tool).started.fetch_add(1, Ordering::Relaxed);
        let running = self.running.fetch_add(1, Ordering::Relaxed) + 1;
        self.peak.fetch_max(running, Ordering::Relaxed);
    }

    fn finished(&self, tool: &ToolName, ran: Duration, error: Option<ErrorKind>) {
        self.running.fetch_sub(1, Ordering::Relaxed);
        let counters = self.counters(tool);
        match error {
            None => counters.succeeded.fetch_add(1, Ordering::Relaxed),
            Some(kind) => counters.errors[kind as usize].fetch_add(1, Ordering::Relaxed),
        };
        let micros = u64::try_from(ran.as_micros()).unwrap_or(u64::MAX);
        counters.micros.fetch_add(micros, Ordering::Relaxed);
        let bucket = (u64::BITS - micros.leading_zeros()) as usize;
        counters.buckets[bucket.min(BUCKETS - 1)].fetch_add(1, Ordering::Relaxed);
    }

    fn refused(&self, tool: Option<&ToolName>, error: ErrorKind) {
        let Some(tool) = tool else {
            // Names nobody has are the model's invention, and without end.
            self.unknown.fetch_add(1, Ordering::Relaxed);
            return;
        };
        let counters = self.counters(tool);
        counters.refused.fetch_add(1, Ordering::Relaxed);
        counters.errors[error as usize].fetch_add(1, Ordering::Relaxed);
    }

    fn repeated(&self, tool: &ToolName) {
        self.counters(tool).repeated.fetch_add(1, Ordering::Relaxed);
    }

    fn cached(&self, tool: &ToolName) {
        self.counters(tool).cached.fetch_add(1, Ordering::Relaxed);
    }
}

impl Counters {
    fn snapshot(&self) -> ToolMetrics {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let started = load(&self.started);
        let succeeded = load(&self.succeeded);
        ToolMetrics {
            started,
            succeeded,
            refused: load(&self.refused),
            repeated: load(&self.repeated),
            cached: load(&self.cached),
            errors: ErrorKind::ALL
                .into_iter()
                .map(|kind| (kind.code().to_owned(), load(&self.errors[kind as usize])))
                .filter(|(_, count)| *count > 0)
                .collect(),
            duration: Histogram {
                total: Duration::from_micros(load(&self.micros)),
                buckets: self.buckets.iter().map(load).collect(),
            },
        }
    }
}

/// What was counted, at one moment.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MetricsSnapshot {
    /// Tools running now.
    pub running: u64,
    /// The most that ever ran at once.
    pub peak_running: u64,
    /// Calls of tools that do not exist.
    pub unknown_tool: u64,
    /// Each tool's own.
    pub tools: BTreeMap<ToolName, ToolMetrics>,
}

/// What was counted of one tool.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ToolMetrics {
    /// Runs that began.
    pub started: u64,
    /// Runs that ended well.
    pub succeeded: u64,
    /// Calls that never ran.
    pub refused: u64,
    /// Runs that were another try.
    pub repeated: u64,
    /// Calls that were answered from what was kept.
    pub cached: u64,
    /// Failures by code, whether it ran or not.
    pub errors: BTreeMap<String, u64>,
    /// How long the runs took.
    pub duration: Histogram,
}

impl ToolMetrics {
    /// The share of runs that ended well, of those that ended; none without any.
    pub fn success_rate(&self) -> Option<f64> {
        let ended: u64 = self.duration.buckets.iter().sum();
        (ended > 0).then(|| self.succeeded as f64 / ended as f64)
    }
}

/// Durations by size. Bucket `n` counts those below `2^n` microseconds that no
/// smaller bucket took; the last takes the rest.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Histogram {
    /// All durations together.
    #[serde(serialize_with = "micros")]
    pub total: Duration,
    /// How many fell into each bucket.
    pub buckets: Vec<u64>,
}

impl Histogram {
    /// A duration that this share of all did not exceed, such as 0.99: the upper edge of the
    /// bucket it lies in, so up to twice the true one. None without any.
    pub fn quantile(&self, share: f64) -> Option<Duration> {
        let all: u64 = self.buckets.iter().sum();
        let wanted = (all as f64 * share.clamp(0.0, 1.0)).ceil().max(1.0);
        let mut counted = 0;
        let at = self.buckets.iter().position(|count| {
            counted += count;
            counted as f64 >= wanted
        })?;
        let at = u32::try_from(at).ok()?;
        Some(Duration::from_micros(1u64.checked_shl(at)?))
    }
}

fn micros<S: serde::Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(duration.as_micros()).unwrap_or(u64::MAX))
}
