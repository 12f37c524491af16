//! The task that sends: in batches, patiently, and never more than it can hold.

use std::error::Error;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, SystemTime};

use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};
use toolsmith_core::CancellationToken;
use toolsmith_net::{Client, ClientLimits, Method, Reach, Refused, read_body};

use super::attribute::{resource, scope, since_1970};
use super::span::SpanData;
use super::{Observed, Shared, TelemetryError, TelemetryOptions};
use crate::servers::{check_header, check_url};

/// How many spans go in one request.
const BATCH: usize = 512;
/// How long a request may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long is waited after the first failure, and at most.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// How often a batch is sent before it is given up.
const MOST_TRIES: u32 = 8;
/// How much of an answer is read.
const MOST_ANSWER: usize = 64 << 10;

/// Sends telemetry to one collector.
pub(super) struct Exporter {
    client: Client,
    options: TelemetryOptions,
    shared: Arc<Shared>,
    now: fn() -> SystemTime,
    /// Since when is counted.
    start: u64,
    /// Whether the host knows that it does not work.
    is_told: bool,
    told_dropped: u64,
}

/// What became of a request.
enum Sent {
    Taken,
    /// Later, and when if the collector said.
    Later(String, Option<Duration>),
    /// Never.
    Refused(String),
}

impl Exporter {
    pub(super) fn new(
        mut options: TelemetryOptions,
        shared: Arc<Shared>,
        now: fn() -> SystemTime,
    ) -> Result<Self, TelemetryError> {
        let wrong = |error: &dyn Error| TelemetryError::Endpoint(error.to_string());
        check_url(&options.endpoint).map_err(|error| wrong(&error))?;
        for (name, value) in &options.headers {
            check_header(name, value.expose_secret())
                .map_err(|_| TelemetryError::Header(name.clone()))?;
        }
        let end = options.endpoint.trim_end_matches('/').len();
        options.endpoint.truncate(end);
        // The user names the collector, so it may be anywhere; nothing leads further.
        let reach = Reach::public().and_origin(&options.endpoint);
        let reach = reach.map_err(|error| wrong(&error))?;
        let limits = ClientLimits {
            total: Some(PATIENCE),
            max_redirects: 0,
            ..ClientLimits::default()
        };
        let client = Client::new(reach, limits).map_err(|error| wrong(&error))?;
        Ok(Self {
            client,
            start: since_1970(now()),
            options,
            shared,
            now,
            is_told: false,
            told_dropped: 0,
        })
    }

    pub(super) async fn run(
        mut self,
        mut queue: mpsc::Receiver<SpanData>,
        closing: CancellationToken,
    ) {
        let mut batch: Vec<SpanData> = Vec::new();
        let mut next_tick = Instant::now() + self.options.interval;
        loop {
            let room = BATCH - batch.len();
            let is_closing = tokio::select! {
                biased;
                () = closing.cancelled() => true,
                received = queue.recv_many(&mut batch, room) => received == 0,
                () = sleep_until(next_tick) => false,
            };
            if is_closing {
                break;
            }
            let is_time = Instant::now() >= next_tick;
            if batch.len() >= BATCH || (is_time && !batch.is_empty()) {
                self.send_spans(std::mem::take(&mut batch), Some(&closing))
                    .await;
            }
            if is_time {
                self.send_metrics().await;
                self.tell_dropped();
                next_tick = Instant::now() + self.options.interval;
            }
        }
        // The last of it, each once: whoever closes does not wait for long.
        queue.close();
        loop {
            queue.recv_many(&mut batch, BATCH).await;
            if batch.is_empty() {
                break;
            }
            self.send_spans(std::mem::take(&mut batch), None).await;
        }
        self.send_metrics().await;
        self.tell_dropped();
    }

    /// Sends spans, again while the collector asks for patience; once where nobody waits.
    async fn send_spans(&mut self, batch: Vec<SpanData>, closing: Option<&CancellationToken>) {
        let count = batch.len() as u64;
        let spans: Vec<Value> = batch.into_iter().map(SpanData::into_json).collect();
        let body = json!({ "resourceSpans": [{
            "resource": resource(&self.options.service),
            "scopeSpans": [{ "scope": scope(), "spans": spans }],
        }] });
        let mut pause = FIRST_PAUSE;
        let mut is_last = closing.is_none();
        for _ in 0..MOST_TRIES {
            let (problem, wished) = match self.send("traces", &body).await {
                Sent::Taken => return self.is_told = false,
                Sent::Refused(problem) => {
                    self.tell(&problem);
                    break;
                }
                Sent::Later(problem, wished) => (problem, wished),
            };
            self.tell(&problem);
            let Some(closing) = closing.filter(|_| !is_last) else {
                break;
            };
            tokio::select! {
                // Once more, at once: nobody waits any longer.
                () = closing.cancelled() => is_last = true,
                () = tokio::time::sleep(wished.unwrap_or(pause).min(LONGEST_PAUSE)) => {}
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
        self.shared.dropped.fetch_add(count, Ordering::Relaxed);
    }

    /// Sends metrics once: the next ones say the same and more.
    async fn send_metrics(&mut self) {
        if !self.options.metrics {
            return;
        }
        let metrics = self.metrics();
        if metrics.is_empty() {
            return;
        }
        let body = json!({ "resourceMetrics": [{
            "resource": resource(&self.options.service),
            "scopeMetrics": [{ "scope": scope(), "metrics": metrics }],
        }] });
        match self.send("metrics", &body).await {
            Sent::Taken => self.is_told = false,
            Sent::Later(problem, _) | Sent::Refused(problem) => self.tell(&problem),
        }
    }

    /// The metrics as they are now.
    fn metrics(&self) -> Vec<Value> {
        let observers = self.shared.observers.lock();
        let observers = observers.unwrap_or_else(PoisonError::into_inner);
        let mut observed: Vec<Observed> = observers.iter().flat_map(|observe| observe()).collect();
        let dropped = self.shared.dropped.load(Ordering::Relaxed);
        if dropped > 0 {
            #[expect(clippy::cast_precision_loss, reason = "that many are never dropped")]
            let dropped = dropped as f64;
            observed.push(Observed::new("toolsmith.telemetry.dropped", dropped));
        }
        // A clock that is set back does not end before it began.
        let now = since_1970((self.now)()).max(self.start);
        let numbers = self.shared.numbers.lock();
        let numbers = numbers.unwrap_or_else(PoisonError::into_inner);
        numbers.to_json(self.start, now, &observed)
    }

    async fn send(&self, signal: &str, body: &Value) -> Sent {
        let url = format!("{}/v1/{signal}", self.options.endpoint);
        let request = match self.client.request(Method::POST, &url) {
            Ok(request) => request,
            Err(error) => return Sent::Refused(error.to_string()),
        };
        let headers = self.options.headers.iter();
        let request = headers.fold(
            request.header("content-type", "application/json"),
            |request, (name, value): &(String, SecretString)| {
                request.header(name, value.expose_secret())
            },
        );
        let response = match request.body(body.to_string()).send().await {
            Ok(response) => response,
            Err(error) => {
                // The address may hold a key, so the error is told without it.
                let error = error.without_url();
                return match Refused::find(&error) {
                    Some(refused) => Sent::Refused(refused.to_string()),
                    None => Sent::Later(cause(&error), None),
                };
            }
        };
        let status = response.status().as_u16();
        let wished = response.headers().get("retry-after");
        let wished = wished.and_then(|wished| wished.to_str().ok()?.trim().parse().ok());
        let wished = wished.map(Duration::from_secs);
        let read = read_body(response, MOST_ANSWER).await;
        match status {
            200..=299 if read.is_ok() => Sent::Taken,
            200..=299 | 429 | 502 | 503 | 504 => {
                Sent::Later(format!("it answered with status {status}"), wished)
            }
            _ => Sent::Refused(format!("it answered with status {status}")),
        }
    }

    /// Tells the host once, and again after it went well meanwhile.
    fn tell(&mut self, problem: &str) {
        if !std::mem::replace(&mut self.is_told, true) {
            tracing::warn!(
                target: "toolsmith::host",
                "the collector takes no telemetry: {problem}; calls go on"
            );
        }
    }

    fn tell_dropped(&mut self) {
        let dropped = self.shared.dropped.load(Ordering::Relaxed);
        if dropped > self.told_dropped {
            let more = dropped - self.told_dropped;
            self.told_dropped = dropped;
            tracing::warn!(target: "toolsmith::host", "{more} spans were not exported");
        }
    }
}

/// What is at the bottom of an error.
fn cause(error: &dyn Error) -> String {
    let mut cause = error;
    while let Some(below) = cause.source() {
        cause = below;
    }
    cause.to_string()
}
