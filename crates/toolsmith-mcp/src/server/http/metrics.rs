//! `/metrics`: the toolbox's own counters, in the words of Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use hyper::StatusCode;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use toolsmith_runtime::record::MetricsSnapshot;

use super::Service;
use super::answer::{Answer, plain};

/// What the HTTP side counts itself.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) in_flight: Arc<AtomicUsize>,
    pub(super) connections: AtomicUsize,
    statuses: Mutex<BTreeMap<u16, u64>>,
}

impl Counts {
    pub(super) fn answered(&self, status: StatusCode) {
        let mut statuses = self.statuses.lock().unwrap_or_else(PoisonError::into_inner);
        *statuses.entry(status.as_u16()).or_default() += 1;
    }
}

/// The page.
pub(super) async fn page(service: &Service) -> Answer {
    let mut page = String::new();
    if let Some(metrics) = service.whole.server.toolbox().metrics() {
        tools(&mut page, &metrics.snapshot());
    }
    let counts = &service.counts;
    head(
        &mut page,
        "toolsmith_http_answers_total",
        "counter",
        "Answers by status.",
    );
    let statuses = counts
        .statuses
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clone();
    for (status, count) in statuses {
        let _ = writeln!(
            page,
            "toolsmith_http_answers_total{{status=\"{status}\"}} {count}"
        );
    }
    let gauges = [
        (
            "toolsmith_http_connections",
            "Open connections.",
            counts.connections.load(Ordering::Relaxed),
        ),
        (
            "toolsmith_http_requests_in_flight",
            "Requests being answered.",
            counts.in_flight.load(Ordering::Relaxed),
        ),
        (
            "toolsmith_http_sessions",
            "Sessions with a handshake.",
            service.sessions.count().await,
        ),
        (
            "toolsmith_requests_waiting",
            "Requests whose clients must come back with answers.",
            waiting(service),
        ),
    ];
    for (name, help, value) in gauges {
        head(&mut page, name, "gauge", help);
        let _ = writeln!(page, "{name} {value}");
    }
    let mut answer = plain(StatusCode::OK, page);
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    answer.headers_mut().insert(CONTENT_TYPE, kind);
    answer
}

/// Those of all servers at the address.
fn waiting(service: &Service) -> usize {
    let beneath = service.beneath.load();
    let beneath: usize = beneath.values().map(|mount| mount.server.waiting()).sum();
    service.whole.server.waiting() + beneath
}

fn tools(page: &mut String, snapshot: &MetricsSnapshot) {
    head(
        page,
        "toolsmith_calls_running",
        "gauge",
        "Tools running now.",
    );
    let _ = writeln!(page, "toolsmith_calls_running {}", snapshot.running);
    head(
        page,
        "toolsmith_calls_running_peak",
        "gauge",
        "The most that ever ran at once.",
    );
    let _ = writeln!(
        page,
        "toolsmith_calls_running_peak {}",
        snapshot.peak_running
    );
    let unknown = "toolsmith_calls_of_unknown_tools_total";
    head(
        page,
        unknown,
        "counter",
        "Calls of tools that do not exist.",
    );
    let _ = writeln!(page, "{unknown} {}", snapshot.unknown_tool);
    let counters = [
        ("toolsmith_calls_started_total", "Runs that began."),
        ("toolsmith_calls_succeeded_total", "Runs that ended well."),
        ("toolsmith_calls_refused_total", "Calls that never ran."),
    ];
    for (place, (name, help)) in counters.into_iter().enumerate() {
        head(page, name, "counter", help);
        for (tool, each) in &snapshot.tools {
            let value = [each.started, each.succeeded, each.refused][place];
            let _ = writeln!(page, "{name}{{tool=\"{tool}\"}} {value}");
        }
    }
    let errors = "toolsmith_call_errors_total";
    head(
        page,
        errors,
        "counter",
        "Failures by code, whether the tool ran or not.",
    );
    for (tool, each) in &snapshot.tools {
        for (code, count) in &each.errors {
            let _ = writeln!(page, "{errors}{{tool=\"{tool}\",code=\"{code}\"}} {count}");
        }
    }
    durations(page, snapshot);
}

/// Bucket `n` of a histogram counts durations below `2^n` microseconds.
fn durations(page: &mut String, snapshot: &MetricsSnapshot) {
    let name = "toolsmith_call_duration_seconds";
    head(page, name, "histogram", "How long runs took.");
    for (tool, each) in &snapshot.tools {
        let mut below = 0;
        let last = each.duration.buckets.len().saturating_sub(1);
        for (power, count) in each.duration.buckets.iter().enumerate().take(last) {
            below += count;
            let bound = (1_u64 << power) as f64 / 1e6;
            let _ = writeln!(
                page,
                "{name}_bucket{{tool=\"{tool}\",le=\"{bound}\"}} {below}"
            );
        }
        let all: u64 = each.duration.buckets.iter().sum();
        let sum = each.duration.total.as_secs_f64();
        let _ = writeln!(page, "{name}_bucket{{tool=\"{tool}\",le=\"+Inf\"}} {all}");
        let _ = writeln!(page, "{name}_sum{{tool=\"{tool}\"}} {sum}");
        let _ = writeln!(page, "{name}_count{{tool=\"{tool}\"}} {all}");
    }
}

fn head(page: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(page, "# HELP {name} {help}\n# TYPE {name} {kind}");
}
