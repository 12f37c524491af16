//! Traces and metrics of calls for an OpenTelemetry collector, over OTLP/HTTP in JSON.
//!
//! [`Telemetry`] is a recorder: it takes what is needed of each record and hands it to a
//! task of its own, through a queue that is bounded and never waited for. The task sends
//! in batches, tries again where the collector asks for patience, and gives up what it
//! cannot keep; a call never waits for it and never fails with it. Names follow the
//! conventions for generative AI and MCP, as far as those have names.

mod attribute;
mod export;
mod host;
mod numbers;
mod sources;
mod span;

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use secrecy::SecretString;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use toolsmith_core::CancellationToken;
use toolsmith_core::event::{Event, RecordError, Recorder};
use toolsmith_core::record::{CallRecord, Wanted};

use export::Exporter;
pub(crate) use host::Started;
pub use host::TelemetryHost;
use numbers::Numbers;
pub(crate) use sources::of_sources;
use span::SpanData;

/// How many spans wait to be sent.
const QUEUE: usize = 2048;

/// Where telemetry goes, and what of it. `Debug` shows no address: it may hold a key.
#[derive(Clone)]
#[non_exhaustive]
pub struct TelemetryOptions {
    /// The collector, without `/v1/traces` and the like.
    pub endpoint: String,
    /// The headers of each request.
    pub headers: Vec<(String, SecretString)>,
    /// Whether spans are sent.
    pub traces: bool,
    /// Whether metrics are sent.
    pub metrics: bool,
    /// How often.
    pub interval: Duration,
    /// What the service is called.
    pub service: String,
}

impl TelemetryOptions {
    /// Traces and metrics to this collector, every ten seconds.
    pub fn new(endpoint: impl Into<String>) -> Self {
        Self {
            endpoint: endpoint.into(),
            headers: Vec::new(),
            traces: true,
            metrics: true,
            interval: Duration::from_secs(10),
            service: "toolsmith".to_owned(),
        }
    }
}

impl fmt::Debug for TelemetryOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TelemetryOptions")
            .field("headers", &self.headers)
            .field("traces", &self.traces)
            .field("metrics", &self.metrics)
            .field("interval", &self.interval)
            .field("service", &self.service)
            .finish_non_exhaustive()
    }
}

/// Why nothing is exported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TelemetryError {
    /// The collector's address cannot be used.
    #[error("the endpoint of the collector: {0}")]
    Endpoint(String),
    /// A header cannot be sent.
    #[error("the header `{0}` of the collector cannot be sent")]
    Header(String),
}

/// A number that is told with the metrics, as it is at that moment.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Observed {
    /// The name, such as `toolsmith.queue.length`.
    pub name: String,
    /// What it is about, such as `("source", "git")`.
    pub attributes: Vec<(String, String)>,
    /// The number.
    pub value: f64,
}

impl Observed {
    /// A number about nothing in particular.
    pub fn new(name: impl Into<String>, value: f64) -> Self {
        Self {
            name: name.into(),
            attributes: Vec::new(),
            value,
        }
    }

    /// Says what it is about.
    #[must_use]
    pub fn about(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.attributes.push((key.into(), value.into()));
        self
    }
}

/// Tells numbers when metrics are sent. Must be quick.
pub type Observer = Box<dyn Fn() -> Vec<Observed> + Send + Sync>;

/// Exports what happens to calls. Cheap to clone.
#[derive(Clone)]
pub struct Telemetry {
    inner: Arc<Inner>,
}

struct Inner {
    traces: bool,
    metrics: bool,
    now: fn() -> SystemTime,
    queue: mpsc::Sender<SpanData>,
    shared: Arc<Shared>,
    closing: CancellationToken,
    task: Mutex<Option<JoinHandle<()>>>,
}

/// What the recorder and the task share.
#[derive(Default)]
pub(crate) struct Shared {
    numbers: Mutex<Numbers>,
    observers: Mutex<Vec<Observer>>,
    /// Spans that were given up.
    dropped: AtomicU64,
}

impl Telemetry {
    /// Begins to export, on this runtime and by this clock.
    pub fn start(
        options: TelemetryOptions,
        runtime: &Handle,
        now: fn() -> SystemTime,
    ) -> Result<Self, TelemetryError> {
        let (queue, waiting) = mpsc::channel(QUEUE);
        let shared = Arc::new(Shared::default());
        let closing = CancellationToken::new();
        let (traces, metrics) = (options.traces, options.metrics);
        let exporter = Exporter::new(options, Arc::clone(&shared), now)?;
        let task = runtime.spawn(exporter.run(waiting, closing.clone()));
        Ok(Self {
            inner: Arc::new(Inner {
                traces,
                metrics,
                now,
                queue,
                shared,
                closing,
                task: Mutex::new(Some(task)),
            }),
        })
    }

    /// Adds numbers that are told with the metrics.
    pub fn observe(&self, observer: impl Fn() -> Vec<Observed> + Send + Sync + 'static) {
        let observers = self.inner.shared.observers.lock();
        let mut observers = observers.unwrap_or_else(PoisonError::into_inner);
        observers.push(Box::new(observer));
    }

    /// How many spans were given up: the queue was full, or the collector did not take them.
    pub fn dropped(&self) -> u64 {
        self.inner.shared.dropped.load(Ordering::Relaxed)
    }

    /// Sends what is left, within a bound, and ends.
    pub async fn close(&self, within: Duration) {
        self.inner.closing.cancel();
        let task = self.inner.task.lock();
        let task = task.unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut task) = task else {
            return;
        };
        if tokio::time::timeout(within, &mut task).await.is_err() {
            task.abort();
            tracing::warn!(
                target: "toolsmith::host",
                "the collector did not take the last telemetry in time"
            );
        }
    }

    fn take(&self, record: &CallRecord<'_>) {
        let inner = &*self.inner;
        if inner.metrics {
            let numbers = inner.shared.numbers.lock();
            numbers
                .unwrap_or_else(PoisonError::into_inner)
                .count(record);
        }
        let Some(span) = record.span.filter(|span| span.own.is_sampled()) else {
            return;
        };
        // Waiting for room would hold up a call.
        let data = SpanData::of(record, span, (inner.now)());
        if inner.traces && inner.queue.try_send(data).is_err() {
            inner.shared.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Recorder for Telemetry {
    fn record(&self, event: &Event<'_>) -> Result<(), RecordError> {
        if let Some(record) = event.record() {
            self.take(record);
        }
        Ok(())
    }

    fn wants_record(&self) -> Option<Wanted> {
        match (self.inner.traces, self.inner.metrics) {
            (true, _) => Some(Wanted::facts().with_span()),
            (false, true) => Some(Wanted::facts()),
            (false, false) => None,
        }
    }
}

impl fmt::Debug for Telemetry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Telemetry")
            .field("traces", &self.inner.traces)
            .field("metrics", &self.inner.metrics)
            .finish_non_exhaustive()
    }
}
