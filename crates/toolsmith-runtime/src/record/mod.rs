//! Record: an event at every arrow of a call's life.
//!
//! A `Trail` follows one call and tells every recorder what happens to it. It
//! also makes sure that a call that began ends: whatever drops it before the reply
//! is recorded as given up.

mod key;
mod log;
mod metrics;
mod notes;
mod trail;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use toolsmith_core::event::{Event, MetricsCollector, Recorder};
use toolsmith_core::record::Wanted;

pub(crate) use key::CallKey;
pub use log::LogRecorder;
pub use metrics::{Histogram, Metrics, MetricsSnapshot, ToolMetrics};
pub(crate) use trail::Trail;

/// Everything a toolbox reports to.
pub(crate) struct Recorders {
    pub(crate) recorders: Vec<Arc<dyn Recorder>>,
    pub(crate) metrics: Arc<dyn MetricsCollector>,
    pub(crate) on_fault: Option<FaultHandler>,
    faults: AtomicU64,
    spans: notes::SpanNumbers,
}

/// Told when a recorder fails.
pub(crate) type FaultHandler = Box<dyn Fn(&str) + Send + Sync>;

impl std::fmt::Debug for Recorders {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} recorders", self.recorders.len())
    }
}

impl Recorders {
    pub(crate) fn new(
        recorders: Vec<Arc<dyn Recorder>>,
        metrics: Arc<dyn MetricsCollector>,
        on_fault: Option<FaultHandler>,
    ) -> Self {
        Self {
            recorders,
            metrics,
            on_fault,
            faults: AtomicU64::new(0),
            spans: notes::SpanNumbers::default(),
        }
    }

    /// How often a recorder has failed.
    pub(crate) fn faults(&self) -> u64 {
        self.faults.load(Ordering::Relaxed)
    }

    /// What of a call that comes in is to be told as a whole, if anybody wants that.
    fn wanted(&self, callers: &[Arc<dyn Recorder>]) -> Option<Wanted> {
        let all = self.recorders.iter().chain(callers);
        let ask = |recorder: &Arc<dyn Recorder>| {
            let asked = catch_unwind(AssertUnwindSafe(|| recorder.wants_record()));
            asked.unwrap_or_else(|_| {
                self.fault("a recorder panicked");
                None
            })
        };
        all.filter_map(ask).reduce(Wanted::and)
    }

    /// Tells everybody, the caller's own recorder last.
    pub(crate) fn record(&self, event: &Event<'_>, callers: &[Arc<dyn Recorder>]) {
        for recorder in self.recorders.iter().chain(callers) {
            let told = catch_unwind(AssertUnwindSafe(|| recorder.record(event)));
            match told {
                Ok(Ok(())) => {}
                Ok(Err(error)) => self.fault(&error.to_string()),
                Err(_) => self.fault("a recorder panicked"),
            }
        }
    }

    /// Counts what happens to a call. The collector is the host's code: it may
    /// panic, and the call goes on.
    pub(crate) fn count(&self, count: impl FnOnce(&dyn MetricsCollector)) {
        if catch_unwind(AssertUnwindSafe(|| count(&*self.metrics))).is_err() {
            self.fault("the metrics collector panicked");
        }
    }

    /// A recorder that fails changes no reply, but somebody must hear of it.
    pub(crate) fn fault(&self, message: &str) {
        self.faults.fetch_add(1, Ordering::Relaxed);
        tracing::error!(target: "toolsmith::host", "a recorder failed: {message}");
        if let Some(on_fault) = &self.on_fault {
            let _ = catch_unwind(AssertUnwindSafe(|| on_fault(message)));
        }
    }
}
