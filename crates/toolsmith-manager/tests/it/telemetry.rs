//! What a collector receives: spans and metrics, by the conventions, and no secret; and that
//! no call waits for it.

use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Handle;
use toolsmith_core::{AnyTool, Effect, Outcome, RawCall, Source, ToolContext, ToolDef, ToolError};
use toolsmith_manager::Setup;
use toolsmith_manager::telemetry::{Observed, Telemetry, TelemetryHost, TelemetryOptions};
use toolsmith_runtime::permit::{Rule, Verdict};
use toolsmith_runtime::{Caller, Policy, Toolbox};

const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

/// A moment all tests agree on.
fn noon() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_790_000_000)
}

/// What a collector was sent: path, headers, body.
type Request = (String, String, Value);

/// A collector that answers what it is told to, one answer for each request and the last
/// for all further ones; with none it never answers.
struct Collector {
    endpoint: String,
    received: Arc<Mutex<Vec<Request>>>,
}

impl Collector {
    async fn start(answers: &'static [&'static str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let received: Arc<Mutex<Vec<Request>>> = Arc::default();
        let kept = Arc::clone(&received);
        tokio::spawn(async move {
            let mut streams = Vec::new();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                if answers.is_empty() {
                    streams.push(stream);
                    continue;
                }
                tokio::spawn(serve(stream, answers, Arc::clone(&kept)));
            }
        });
        Self { endpoint, received }
    }

    fn all(&self, path: &str) -> Vec<Request> {
        let received = self.received.lock().unwrap();
        let on_path = received.iter().filter(|(at, ..)| at == path);
        on_path.cloned().collect()
    }

    /// Every span it was sent, by name.
    fn spans(&self) -> Vec<Value> {
        let requests = self.all("/v1/traces").into_iter();
        let mut spans: Vec<Value> = requests
            .flat_map(|(_, _, body)| {
                let spans = &body["resourceSpans"][0]["scopeSpans"][0]["spans"];
                spans.as_array().unwrap().clone()
            })
            .collect();
        spans.sort_by_key(|span| span["name"].to_string());
        spans
    }

    /// The metrics it was sent last.
    fn metrics(&self) -> Value {
        let (_, _, body) = self.all("/v1/metrics").pop().unwrap();
        body["resourceMetrics"][0]["scopeMetrics"][0]["metrics"].clone()
    }
}

/// Answers requests over one connection.
async fn serve(mut stream: TcpStream, answers: &[&str], kept: Arc<Mutex<Vec<Request>>>) {
    let mut bytes = Vec::new();
    while let Some((head, body)) = request(&mut stream, &mut bytes).await {
        let path = head.split(' ').nth(1).unwrap().to_owned();
        let body = serde_json::from_slice(&body).unwrap();
        let answer = {
            let mut kept = kept.lock().unwrap();
            kept.push((path, head, body));
            answers[(kept.len() - 1).min(answers.len() - 1)]
        };
        let answer = format!("HTTP/1.1 {answer}\r\ncontent-length: 2\r\n\r\n{{}}");
        stream.write_all(answer.as_bytes()).await.unwrap();
    }
}

async fn request(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> Option<(String, Vec<u8>)> {
    loop {
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n");
        if let Some(end) = end {
            let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                let is_it = name.eq_ignore_ascii_case("content-length");
                is_it.then(|| value.trim().parse::<usize>().unwrap())
            });
            let whole = end + 4 + length.unwrap_or_default();
            if bytes.len() >= whole {
                let rest = bytes.split_off(whole);
                let body = bytes[end + 4..].to_vec();
                *bytes = rest;
                return Some((head, body));
            }
        }
        if stream.read_buf(bytes).await.unwrap_or(0) == 0 {
            return None;
        }
    }
}

fn tool(name: &str, effect: Effect, work: fn() -> Outcome) -> AnyTool {
    let definition = ToolDef::new(name)
        .unwrap()
        .with_effect(effect)
        .with_description("A tool with hunter2hunter2 in its description.");
    AnyTool::from_fn(definition, move |_: Value, _| async move { work() })
}

/// A tool of a server, which tells the trace it would hand on.
fn of_server() -> AnyTool {
    let definition = ToolDef::new("mcp__git__log").unwrap();
    let server = "git".to_owned();
    let definition = definition
        .with_source(Source::Mcp { server })
        .with_effect(Effect::Read);
    AnyTool::from_fn(definition, async |_: Value, context: ToolContext| {
        Outcome::ok(json!(context.trace()))
    })
}

fn toolbox(telemetry: &Telemetry) -> Toolbox {
    let slow = ToolDef::new("slow").unwrap().with_effect(Effect::Read);
    let slow = AnyTool::from_fn(slow, async |_: Value, _| {
        std::future::pending::<Outcome>().await
    });
    let tools = [
        tool("good", Effect::Read, || Outcome::text("hunter2hunter2")),
        tool("bad", Effect::Read, || {
            Outcome::failure(ToolError::failed("hunter2hunter2 is wrong"))
        }),
        tool("denied", Effect::Execute, Outcome::nothing),
        slow,
        of_server(),
    ];
    let allowed = Rule::parse(Verdict::Allow, "mcp__git__log").unwrap();
    let builder = Toolbox::builder().tools(tools).secrets(["hunter2hunter2"]);
    let builder = builder.policy(Policy::default().with_rules([allowed]));
    builder.recorder(telemetry.clone()).build().unwrap()
}

fn exporting(collector: &Collector) -> Telemetry {
    let mut options = TelemetryOptions::new(&collector.endpoint);
    options.interval = Duration::from_secs(3600);
    options.service = "tests".to_owned();
    let secret = "Bearer open-sesame".to_owned().into();
    options.headers.push(("authorization".to_owned(), secret));
    Telemetry::start(options, &Handle::current(), noon).unwrap()
}

async fn run(toolbox: &Toolbox, name: &str, caller: &Caller) -> Outcome {
    let call = RawCall::new(name, json!({})).with_id(name);
    toolbox.run(call, caller).await.into_outcome()
}

/// The attributes of a span or a point as an object.
fn attributes(of: &Value) -> Value {
    let all = of["attributes"].as_array().unwrap().iter();
    let pair = |each: &Value| {
        let value = each["value"].as_object().unwrap().values().next().unwrap();
        (each["key"].as_str().unwrap().to_owned(), value.clone())
    };
    Value::Object(all.map(pair).collect())
}

#[tokio::test]
async fn a_collector_gets_spans_and_metrics_by_the_conventions() {
    let collector = Collector::start(&["200 OK"]).await;
    let telemetry = exporting(&collector);
    telemetry.observe(|| vec![Observed::new("toolsmith.queue.length", 3.0).about("source", "git")]);
    let toolbox = toolbox(&telemetry);
    let caller = Caller::new("me").with_trace(PARENT);
    let quick = caller.clone().with_timeout(Duration::from_millis(20));
    for name in ["good", "bad", "denied", "nothing"] {
        run(&toolbox, name, &caller).await;
    }
    run(&toolbox, "slow", &quick).await;
    let seen = run(&toolbox, "mcp__git__log", &caller).await.value.unwrap();
    telemetry.close(Duration::from_secs(30)).await;
    assert_eq!(telemetry.dropped(), 0);

    let requests = collector.all("/v1/traces");
    let (_, head, body) = &requests[0];
    assert!(head.starts_with("POST /v1/traces "), "{head}");
    assert!(head.contains("content-type: application/json"), "{head}");
    assert!(head.contains("authorization: Bearer open-sesame"), "{head}");
    let resource = attributes(&body["resourceSpans"][0]["resource"]);
    assert_eq!(resource["service.name"], "tests");
    let whole = format!("{:?}", collector.received.lock().unwrap());
    assert!(!whole.contains("hunter2"), "{whole}");

    let spans = collector.spans();
    let names: Vec<_> = spans.iter().map(|span| span["name"].clone()).collect();
    let expected = ["bad", "denied", "good", "mcp__git__log", "nothing", "slow"];
    let expected = expected.map(|name| format!("execute_tool {name}"));
    assert_eq!(json!(names), json!(expected));
    for span in &spans {
        assert_eq!(span["traceId"], "4bf92f3577b34da6a3ce929d0e0e4736");
        assert_eq!(span["parentSpanId"], "00f067aa0ba902b7");
        assert_eq!(span["kind"], 1);
        assert_eq!(span["spanId"].as_str().unwrap().len(), 16);
        let nanos = |key: &str| span[key].as_str().unwrap().parse::<u64>().unwrap();
        assert_eq!(nanos("endTimeUnixNano"), 1_790_000_000_000_000_000);
        assert!(nanos("startTimeUnixNano") <= nanos("endTimeUnixNano"));
    }
    let ends: Vec<_> = spans
        .iter()
        .map(|span| json!([span["status"]["code"], attributes(span)["error.type"]]))
        .collect();
    let expected = json!([
        [2, "tool_error"],
        [2, "approval_required"],
        [0, null],
        [0, null],
        [2, "unknown_tool"],
        [2, "timeout"],
    ]);
    assert_eq!(json!(ends), expected);
    assert_eq!(spans[0]["status"]["message"], "[redacted] is wrong");
    let good = json!({
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "good",
        "gen_ai.tool.call.id": "good",
        "gen_ai.tool.type": "function",
        "gen_ai.tool.description": "A tool with [redacted] in its description.",
        "toolsmith.source": "builtin",
        "toolsmith.origin": "direct",
        "toolsmith.caller": "me",
        "toolsmith.decision.allowed": true,
        "toolsmith.decision.by": "mode ask",
        "toolsmith.cached": false,
        "toolsmith.attempts": "1",
        "toolsmith.waited_us": "0",
    });
    let mut found = attributes(&spans[2]);
    // The clock decides.
    let queued = found.as_object_mut().unwrap();
    assert!(queued.remove("toolsmith.queued_us").is_some());
    assert_eq!(found, good);
    // What goes to a server is this call's own span.
    let of_server = &spans[3];
    assert_eq!(attributes(of_server)["mcp.method.name"], "tools/call");
    assert_eq!(attributes(of_server)["gen_ai.tool.type"], "extension");
    let own = format!(
        "00-{}-{}-01",
        of_server["traceId"].as_str().unwrap(),
        of_server["spanId"].as_str().unwrap()
    );
    assert_eq!(seen, own);

    let metrics = collector.metrics();
    let named = |name: &str| {
        let mut all = metrics.as_array().unwrap().iter();
        all.find(|metric| metric["name"] == name).unwrap()
    };
    let calls = named("toolsmith.calls");
    assert_eq!(calls["sum"]["isMonotonic"], true);
    let points = calls["sum"]["dataPoints"].as_array().unwrap();
    let counted: Vec<_> = points
        .iter()
        .map(|point| {
            let about = attributes(point);
            json!([
                about["gen_ai.tool.name"],
                about["error.type"],
                point["asInt"]
            ])
        })
        .collect();
    let expected = json!([
        ["_OTHER", "unknown_tool", "1"],
        ["bad", "tool_error", "1"],
        ["denied", "approval_required", "1"],
        ["good", null, "1"],
        ["mcp__git__log", null, "1"],
        ["slow", "timeout", "1"],
    ]);
    assert_eq!(json!(counted), expected);
    let duration = &named("gen_ai.execute_tool.duration")["histogram"];
    assert_eq!(duration["aggregationTemporality"], 2);
    for point in duration["dataPoints"].as_array().unwrap() {
        let buckets = point["bucketCounts"].as_array().unwrap();
        let bounds = point["explicitBounds"].as_array().unwrap();
        assert_eq!(buckets.len(), bounds.len() + 1);
        let counts = buckets.iter().map(|count| count.as_str().unwrap());
        let sum: u64 = counts.map(|count| count.parse::<u64>().unwrap()).sum();
        assert_eq!(point["count"], sum.to_string());
    }
    let of_mcp = &named("mcp.client.operation.duration")["histogram"]["dataPoints"];
    assert_eq!(of_mcp.as_array().unwrap().len(), 1);
    let gauge = &named("toolsmith.queue.length")["gauge"]["dataPoints"][0];
    assert_eq!(gauge["asDouble"], 3.0);
    assert_eq!(attributes(gauge), json!({"source": "git"}));
}

#[tokio::test]
async fn a_trace_nobody_keeps_is_not_sent() {
    let collector = Collector::start(&["200 OK"]).await;
    let telemetry = exporting(&collector);
    let toolbox = toolbox(&telemetry);
    let unsampled = Caller::new("me").with_trace(PARENT.replace("-01", "-00"));
    run(&toolbox, "good", &unsampled).await;
    run(&toolbox, "bad", &Caller::new("me")).await;
    telemetry.close(Duration::from_secs(30)).await;
    let spans = collector.spans();
    assert_eq!(spans.len(), 1, "{spans:?}");
    assert_eq!(spans[0]["parentSpanId"], Value::Null, "a trace of its own");
    assert_eq!(collector.metrics()[0]["name"], "toolsmith.calls");
}

#[tokio::test]
async fn a_collector_that_asks_for_patience_gets_it_again() {
    let unavailable = "503 Service Unavailable\r\nretry-after: 0";
    let answers: &[&str] = Box::leak(Box::new([unavailable, "200 OK"]));
    let collector = Collector::start(answers).await;
    let mut options = TelemetryOptions::new(&collector.endpoint);
    options.interval = Duration::from_millis(1);
    options.metrics = false;
    let telemetry = Telemetry::start(options, &Handle::current(), noon).unwrap();
    run(&toolbox(&telemetry), "good", &Caller::new("me")).await;
    // It is sent when it is time, put off, and sent again.
    let twice = async {
        while collector.all("/v1/traces").len() < 2 {
            tokio::task::yield_now().await;
        }
    };
    let twice = tokio::time::timeout(Duration::from_secs(60), twice);
    twice.await.unwrap();
    telemetry.close(Duration::from_secs(30)).await;
    let requests = collector.all("/v1/traces");
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[0].2, requests[1].2, "the very same spans");
    assert_eq!(telemetry.dropped(), 0);
}

#[tokio::test]
async fn what_a_collector_refuses_is_given_up_and_counted() {
    let collector = Collector::start(&["400 Bad Request"]).await;
    let telemetry = exporting(&collector);
    let toolbox = toolbox(&telemetry);
    for _ in 0..3 {
        run(&toolbox, "good", &Caller::new("me")).await;
    }
    telemetry.close(Duration::from_secs(30)).await;
    assert_eq!(
        collector.all("/v1/traces").len(),
        1,
        "it is not asked again"
    );
    assert_eq!(telemetry.dropped(), 3);
    // What comes after the end is lost, and nothing else happens.
    assert!(run(&toolbox, "good", &Caller::new("me")).await.is_success());
}

#[tokio::test(start_paused = true)]
async fn a_collector_that_hangs_delays_no_call_and_fills_no_memory() {
    let collector = Collector::start(&[]).await;
    let telemetry = exporting(&collector);
    let toolbox = toolbox(&telemetry);
    let began = tokio::time::Instant::now();
    for _ in 0..6000 {
        assert!(run(&toolbox, "good", &Caller::new("me")).await.is_success());
    }
    // Time stands still while anybody has something to do, so it has not moved at all.
    assert_eq!(began.elapsed(), Duration::ZERO);
    assert!(telemetry.dropped() > 0);
    telemetry.close(Duration::from_secs(2)).await;
    assert_eq!(
        began.elapsed(),
        Duration::from_secs(2),
        "and no end waits longer"
    );
}

#[tokio::test]
async fn the_configuration_names_the_collector_and_what_is_wrong_stops_nothing() {
    let collector = Collector::start(&["200 OK"]).await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("toolsmith.yaml");
    let endpoint = &collector.endpoint;
    let good = format!(
        "telemetry:\n  service: acme\n  otlp:\n    endpoint: {endpoint}\n    interval: 1h\n    \
         headers: {{ x-key: \"${{env:KEY}}\" }}\n"
    );
    let missing = good.replace("KEY", "NOT_SET");
    let no_url = good.replace("http://", "gopher://");
    for (text, key, works) in [
        (&good, "hunter2hunter2", true),
        (&missing, "hunter2hunter2", false),
        (&no_url, "hunter2hunter2", false),
        (&good, "broken\nheader", false),
        (&"{}\n".to_owned(), "hunter2hunter2", true),
    ] {
        std::fs::write(&file, text).unwrap();
        let environment = [("KEY".into(), key.into())];
        let mut host = TelemetryHost::new(Handle::current(), noon);
        host.endpoint = Some(endpoint.clone());
        let manager = Setup::open(folder.path())
            .unwrap()
            .with_root(folder.path())
            .with_environment(&environment)
            .with_examples()
            .with_telemetry(Some(host))
            .load()
            .unwrap();
        assert_eq!(manager.telemetry().is_some(), works, "{text}");
        assert_eq!(
            manager.missing().is_empty(),
            works,
            "{:?}",
            manager.missing()
        );
        let told = format!("{:?}{:?}", manager.missing(), manager.telemetry());
        assert!(
            !told.contains("hunter2") && !told.contains("broken"),
            "{told}"
        );
        let call = RawCall::new("example_echo", json!({"text": key}));
        let reply = manager.toolbox().run(call, &Caller::new("me")).await;
        assert!(reply.into_outcome().is_success());
        if let Some(telemetry) = manager.telemetry() {
            telemetry.close(Duration::from_secs(30)).await;
        }
    }
    let requests = collector.all("/v1/traces");
    assert_eq!(requests.len(), 2);
    assert!(requests[0].1.contains("x-key: hunter2hunter2"));
    let body = requests[0].2.to_string();
    assert!(body.contains("acme") && !body.contains("hunter2"), "{body}");
    assert!(requests[1].2.to_string().contains("\"toolsmith\""));
}
