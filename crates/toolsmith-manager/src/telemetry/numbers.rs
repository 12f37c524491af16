//! What is counted: calls by tool and outcome, and how long they took.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use toolsmith_core::record::{CallRecord, Status};

use super::Observed;
use super::attribute::{error_type, nanos, text};

/// The upper edges of the histogram, in seconds: those of the MCP convention, and some for
/// tools that run here.
const BOUNDS: [f64; 17] = [
    0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0,
    300.0,
];
/// How many series are told apart; the rest share one.
const MOST_SERIES: usize = 2000;
/// Counted from the beginning, not since the last time.
const CUMULATIVE: u8 = 2;
/// What tools beyond the bound, and those that do not exist, go by.
const OTHER: &str = "_OTHER";

/// What was counted so far.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    series: BTreeMap<Key, Series>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    tool: String,
    outcome: &'static str,
    error: Option<String>,
    is_mcp: bool,
}

#[derive(Clone, Debug, Default)]
struct Series {
    calls: u64,
    seconds: f64,
    most: f64,
    buckets: [u64; BOUNDS.len() + 1],
}

impl Numbers {
    pub(super) fn count(&mut self, record: &CallRecord<'_>) {
        let outcome = match record.outcome.status {
            Status::Ok => "ok",
            Status::InputRequired => "input_required",
            _ => "error",
        };
        let mut key = Key {
            // Names nobody has are the model's invention, and without end.
            tool: record.tool.as_deref().unwrap_or(OTHER).to_owned(),
            outcome,
            error: error_type(record).map(str::to_owned),
            // What was never sent is no operation of the protocol.
            is_mcp: record.timings.ran > 0
                && record.source.as_ref().is_some_and(|s| s.kind == "mcp"),
        };
        if self.series.len() >= MOST_SERIES && !self.series.contains_key(&key) {
            OTHER.clone_into(&mut key.tool);
        }
        #[expect(clippy::cast_precision_loss, reason = "a histogram is no ledger")]
        let seconds = record.took() as f64 / 1e6;
        let series = self.series.entry(key).or_default();
        series.calls += 1;
        series.seconds += seconds;
        series.most = series.most.max(seconds);
        series.buckets[BOUNDS.partition_point(|bound| *bound < seconds)] += 1;
    }

    /// The metrics as the protocol writes them; counted from `start` until `now`.
    pub(super) fn to_json(&self, start: u64, now: u64, observed: &[Observed]) -> Vec<Value> {
        let times = json!({ "startTimeUnixNano": nanos(start), "timeUnixNano": nanos(now) });
        let mut metrics = Vec::new();
        if !self.series.is_empty() {
            metrics.push(json!({
                "name": "toolsmith.calls",
                "description": "Calls that were answered.",
                "unit": "{call}",
                "sum": {
                    "aggregationTemporality": CUMULATIVE,
                    "isMonotonic": true,
                    "dataPoints": self.points(&times, |_| true, counted),
                },
            }));
            metrics.push(histogram(
                "gen_ai.execute_tool.duration",
                "How long calls of tools took, waiting for people and their turn aside.",
                &self.points(&times, |_| true, |key, series| timed(key, series, false)),
            ));
        }
        let of_mcp = self.points(&times, |key| key.is_mcp, |key, s| timed(key, s, true));
        if !of_mcp.is_empty() {
            metrics.push(histogram(
                "mcp.client.operation.duration",
                "How long calls of tools of MCP servers took.",
                &of_mcp,
            ));
        }
        for each in observed.iter().filter(|each| each.value.is_finite()) {
            let pairs = each.attributes.iter();
            let attributes: Vec<Value> = pairs.map(|(key, value)| text(key, value)).collect();
            metrics.push(json!({
                "name": each.name,
                "gauge": { "dataPoints": [{
                    "attributes": attributes,
                    "timeUnixNano": nanos(now),
                    "asDouble": each.value,
                }] },
            }));
        }
        metrics
    }

    fn points(
        &self,
        times: &Value,
        is_meant: impl Fn(&Key) -> bool,
        point: impl Fn(&Key, &Series) -> Value,
    ) -> Vec<Value> {
        let meant = self.series.iter().filter(|(key, _)| is_meant(key));
        let with_times = |mut point: Value| {
            if let (Value::Object(point), Value::Object(times)) = (&mut point, times) {
                point.extend(times.clone());
            }
            point
        };
        meant
            .map(|(key, series)| with_times(point(key, series)))
            .collect()
    }
}

fn histogram(name: &str, description: &str, points: &[Value]) -> Value {
    json!({
        "name": name,
        "description": description,
        "unit": "s",
        "histogram": { "aggregationTemporality": CUMULATIVE, "dataPoints": points },
    })
}

fn counted(key: &Key, series: &Series) -> Value {
    let mut attributes = vec![
        text("gen_ai.tool.name", &key.tool),
        text("toolsmith.outcome", key.outcome),
    ];
    attributes.extend(key.error.as_deref().map(|error| text("error.type", error)));
    json!({ "attributes": attributes, "asInt": series.calls.to_string() })
}

fn timed(key: &Key, series: &Series, of_mcp: bool) -> Value {
    let mut attributes = vec![
        text("gen_ai.operation.name", "execute_tool"),
        text("gen_ai.tool.name", &key.tool),
    ];
    if of_mcp {
        attributes.push(text("mcp.method.name", "tools/call"));
    } else {
        // Two series that differ in nothing else would be one twice.
        attributes.push(text("toolsmith.outcome", key.outcome));
    }
    attributes.extend(key.error.as_deref().map(|error| text("error.type", error)));
    let buckets = series.buckets.iter();
    let buckets: Vec<String> = buckets.map(u64::to_string).collect();
    json!({
        "attributes": attributes,
        "count": series.calls.to_string(),
        "sum": series.seconds,
        "max": series.most,
        "bucketCounts": buckets,
        "explicitBounds": BOUNDS,
    })
}
