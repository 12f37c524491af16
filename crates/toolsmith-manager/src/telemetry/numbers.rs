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

/// What was counted so far. Each metric has series of its own, told apart by exactly what
/// is sent with them: two with the same attributes would be one twice.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    calls: BTreeMap<Key, Series>,
    /// Of calls that went to MCP servers.
    operations: BTreeMap<Key, Series>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    tool: String,
    /// None where it is not sent.
    outcome: Option<&'static str>,
    error: Option<String>,
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
        let key = |outcome| Key {
            // Names nobody has are the model's invention, and without end.
            tool: record.tool.as_deref().unwrap_or(OTHER).to_owned(),
            outcome,
            error: error_type(record).map(str::to_owned),
        };
        #[expect(clippy::cast_precision_loss, reason = "a histogram is no ledger")]
        let seconds = record.took() as f64 / 1e6;
        add(&mut self.calls, key(Some(outcome)), seconds);
        let is_mcp = record.source.as_ref().is_some_and(|it| it.kind == "mcp");
        // What was never sent is no operation of the protocol.
        if is_mcp && record.timings.ran > 0 {
            add(&mut self.operations, key(None), seconds);
        }
    }

    /// The metrics as the protocol writes them; counted from `start` until `now`.
    pub(super) fn to_json(&self, start: u64, now: u64, observed: &[Observed]) -> Vec<Value> {
        let times = json!({ "startTimeUnixNano": nanos(start), "timeUnixNano": nanos(now) });
        let mut metrics = Vec::new();
        if !self.calls.is_empty() {
            metrics.push(json!({
                "name": "toolsmith.calls",
                "description": "Calls that were answered.",
                "unit": "{call}",
                "sum": {
                    "aggregationTemporality": CUMULATIVE,
                    "isMonotonic": true,
                    "dataPoints": points(&self.calls, &times, counted),
                },
            }));
            metrics.push(histogram(
                "gen_ai.execute_tool.duration",
                "How long calls of tools took, waiting for people and their turn aside.",
                &points(&self.calls, &times, timed),
            ));
        }
        if !self.operations.is_empty() {
            metrics.push(histogram(
                "mcp.client.operation.duration",
                "How long calls of tools of MCP servers took.",
                &points(&self.operations, &times, timed),
            ));
        }
        let mut gauges: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
        for each in observed.iter().filter(|each| each.value.is_finite()) {
            let pairs = each.attributes.iter();
            let attributes: Vec<Value> = pairs.map(|(key, value)| text(key, value)).collect();
            gauges.entry(&each.name).or_default().push(json!({
                "attributes": attributes,
                "timeUnixNano": nanos(now),
                "asDouble": each.value,
            }));
        }
        let gauge = |(name, points)| json!({ "name": name, "gauge": { "dataPoints": points } });
        metrics.extend(gauges.into_iter().map(gauge));
        metrics
    }
}

fn add(all: &mut BTreeMap<Key, Series>, mut key: Key, seconds: f64) {
    if all.len() >= MOST_SERIES && !all.contains_key(&key) {
        OTHER.clone_into(&mut key.tool);
    }
    let series = all.entry(key).or_default();
    series.calls += 1;
    series.seconds += seconds;
    series.most = series.most.max(seconds);
    series.buckets[BOUNDS.partition_point(|bound| *bound < seconds)] += 1;
}

fn points(
    all: &BTreeMap<Key, Series>,
    times: &Value,
    point: impl Fn(&Key, &Series) -> Value,
) -> Vec<Value> {
    let with_times = |mut point: Value| {
        if let (Value::Object(point), Value::Object(times)) = (&mut point, times) {
            point.extend(times.clone());
        }
        point
    };
    let points = all.iter();
    points
        .map(|(key, series)| with_times(point(key, series)))
        .collect()
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
    let mut attributes = vec![text("gen_ai.tool.name", &key.tool)];
    attributes.extend(
        key.outcome
            .map(|outcome| text("toolsmith.outcome", outcome)),
    );
    attributes.extend(key.error.as_deref().map(|error| text("error.type", error)));
    json!({ "attributes": attributes, "asInt": series.calls.to_string() })
}

fn timed(key: &Key, series: &Series) -> Value {
    let mut attributes = vec![
        text("gen_ai.operation.name", "execute_tool"),
        text("gen_ai.tool.name", &key.tool),
    ];
    attributes.push(match key.outcome {
        Some(outcome) => text("toolsmith.outcome", outcome),
        None => text("mcp.method.name", "tools/call"),
    });
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
