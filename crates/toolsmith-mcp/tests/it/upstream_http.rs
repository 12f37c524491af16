//! Upstreams over HTTP: what they are sent, and what they may send.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use toolsmith_core::{RawCall, Reply};
use toolsmith_mcp::client::{
    HttpUpstream, Protocol, Reach, State, Status, UpstreamOptions, Upstreams,
};
use toolsmith_runtime::{Caller, Toolbox};

use crate::support::{soon, toolbox};

/// What the mock was sent.
#[derive(Clone, Debug)]
struct Seen {
    headers: BTreeMap<String, String>,
    message: Value,
}

type Log = Arc<Mutex<Vec<Seen>>>;

/// What the mock answers: a status, headers and a body.
type Answered = (u16, Vec<(&'static str, String)>, String);

/// A server whose answers a function makes.
async fn mock(answer: impl Fn(&Seen) -> Answered + Send + Sync + 'static) -> (SocketAddr, Log) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let log = Log::default();
    let (seen, answer) = (Arc::clone(&log), Arc::new(answer));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (seen, answer) = (Arc::clone(&seen), Arc::clone(&answer));
            tokio::spawn(async move {
                let service = service_fn(move |request: Request<Incoming>| {
                    let (seen, answer) = (Arc::clone(&seen), Arc::clone(&answer));
                    async move { Ok::<_, Infallible>(reply(request, &seen, &*answer).await) }
                });
                let _ = http1::Builder::new()
                    .serve_connection(TokioIo::new(stream), service)
                    .await;
            });
        }
    });
    (address, log)
}

async fn reply(
    request: Request<Incoming>,
    log: &Log,
    answer: &(impl Fn(&Seen) -> Answered + ?Sized),
) -> Response<Full<Bytes>> {
    let (parts, body) = request.into_parts();
    let body = body
        .collect()
        .await
        .map(|body| body.to_bytes())
        .unwrap_or_default();
    let headers = parts.headers.iter();
    let headers = headers.map(|(name, value)| {
        (
            name.to_string(),
            value.to_str().unwrap_or_default().to_owned(),
        )
    });
    let seen = Seen {
        headers: headers.collect(),
        message: serde_json::from_slice(&body).unwrap_or_default(),
    };
    let (status, headers, body) = answer(&seen);
    log.lock().unwrap().push(seen);
    let mut response = Response::builder().status(status);
    for (name, value) in headers {
        response = response.header(name, value);
    }
    response.body(Full::new(Bytes::from(body))).unwrap()
}

/// A well-behaved server of the stateless era with one tool.
fn well_behaved(seen: &Seen) -> Answered {
    let result = match seen.message["method"].as_str() {
        Some("server/discover") => json!({
            "resultType": "complete",
            "supportedVersions": ["2026-07-28"],
            "capabilities": { "tools": {} },
            "ttlMs": 0,
            "cacheScope": "private",
        }),
        Some("tools/list") => json!({
            "resultType": "complete",
            "ttlMs": 0,
            "cacheScope": "private",
            "tools": [{ "name": "t", "inputSchema": {
                "type": "object",
                "properties": { "region": { "type": "string", "x-mcp-header": "Region" } },
            } }],
        }),
        Some("tools/call") => {
            json!({ "resultType": "complete", "content": [{ "type": "text", "text": "fine" }] })
        }
        _ => return (202, vec![], String::new()),
    };
    as_json(seen, &result)
}

fn as_json(seen: &Seen, result: &Value) -> Answered {
    let body = json!({ "jsonrpc": "2.0", "id": seen.message["id"], "result": result });
    (
        200,
        vec![("content-type", "application/json".to_owned())],
        body.to_string(),
    )
}

fn is_call(seen: &Seen) -> bool {
    seen.message["method"] == "tools/call"
}

async fn reach(http: HttpUpstream) -> (Toolbox, Upstreams, Status) {
    let toolbox = toolbox([]);
    let options = UpstreamOptions::new("up", Reach::Http(http))
        .protocol(Protocol::Stateless)
        .start_time(Duration::from_secs(20));
    let upstreams = Upstreams::start([options], &toolbox);
    soon(upstreams.settled()).await;
    let status = upstreams.all()[0].status();
    (toolbox, upstreams, status)
}

async fn call(toolbox: &Toolbox, arguments: Value) -> Value {
    let caller = Caller::new("test").with_timeout(Duration::from_secs(5));
    match soon(toolbox.run(RawCall::new("mcp__up__t", arguments), &caller)).await {
        Reply::Done(outcome) => outcome.to_mcp(),
        other => panic!("{other:?}"),
    }
}

fn told(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_default()
}

#[tokio::test]
async fn the_key_goes_in_its_header_with_every_request() {
    let (address, log) = mock(well_behaved).await;
    let http = HttpUpstream::new(format!("http://{address}/mcp"))
        .with_header("X-Api-Key", "sesame-open-sesame")
        .with_header("Authorization", "Bearer upstream-token");
    let shown = format!("{http:?}");
    assert!(
        !shown.contains("sesame") && !shown.contains("upstream-token"),
        "{shown}"
    );
    let (toolbox, _upstreams, status) = reach(http).await;
    assert_eq!(status.state, State::Ready, "{status:?}");
    assert_eq!(
        told(&call(&toolbox, json!({ "region": "eu" })).await),
        "fine"
    );
    let log = log.lock().unwrap();
    assert!(log.len() >= 3);
    for seen in log.iter() {
        assert_eq!(seen.headers["x-api-key"], "sesame-open-sesame");
        assert_eq!(seen.headers["authorization"], "Bearer upstream-token");
    }
    let called = log.iter().find(|seen| is_call(seen)).unwrap();
    assert_eq!(called.headers["mcp-method"], "tools/call");
    assert_eq!(called.headers["mcp-name"], "t");
    assert_eq!(called.headers["mcp-param-region"], "eu");
    assert_eq!(called.headers["mcp-protocol-version"], "2026-07-28");
}

#[tokio::test]
async fn refusals_are_permission_denied() {
    for (status, challenge) in [(401, false), (403, false), (401, true), (403, true)] {
        let (address, _log) = mock(move |seen| {
            if !is_call(seen) {
                return well_behaved(seen);
            }
            let challenge =
                challenge.then(|| ("www-authenticate", "Bearer realm=\"x\"".to_owned()));
            (status, challenge.into_iter().collect(), "no".to_owned())
        })
        .await;
        let (toolbox, _upstreams, _) =
            reach(HttpUpstream::new(format!("http://{address}/mcp"))).await;
        let result = call(&toolbox, json!({})).await;
        assert!(
            told(&result).starts_with("permission_denied"),
            "{status} {challenge} {result}"
        );
    }
    let (address, _log) = mock(|_| (401, vec![], String::new())).await;
    let (_toolbox, _upstreams, status) =
        reach(HttpUpstream::new(format!("http://{address}/mcp"))).await;
    assert_eq!(status.state, State::Failed);
    assert!(status.unauthorized, "{status:?}");
}

#[tokio::test]
async fn redirects_elsewhere_are_not_followed() {
    let (elsewhere, untouched) = mock(well_behaved).await;
    let (address, _log) = mock(move |seen| {
        if !is_call(seen) {
            return well_behaved(seen);
        }
        (
            307,
            vec![("location", format!("http://{elsewhere}/mcp"))],
            String::new(),
        )
    })
    .await;
    let http =
        HttpUpstream::new(format!("http://{address}/mcp")).with_header("X-Key", "secret-secret");
    let (toolbox, _upstreams, _) = reach(http).await;
    let result = call(&toolbox, json!({})).await;
    assert_eq!(result["isError"], true, "{result}");
    assert!(untouched.lock().unwrap().is_empty());
}

#[tokio::test]
async fn answers_that_are_none_are_failures() {
    let json_kind = || vec![("content-type", "application/json".to_owned())];
    let answers: Vec<(Answered, &str)> = vec![
        ((200, json_kind(), "not json".to_owned()), ""),
        ((200, json_kind(), "{}".to_owned()), ""),
        (
            (
                200,
                vec![("content-type", "text/html".to_owned())],
                "<p>".to_owned(),
            ),
            "",
        ),
        ((200, vec![], String::new()), ""),
        ((500, vec![], "broken".to_owned()), "500"),
        ((429, vec![], "slow down".to_owned()), "429"),
        ((200, json_kind(), "[".repeat(100_000)), ""),
        (
            (200, json_kind(), format!("\"{}\"", "x".repeat(20_000_000))),
            "",
        ),
        (
            (
                200,
                vec![("content-type", "text/event-stream".to_owned())],
                "data: {\n\n".to_owned(),
            ),
            "",
        ),
        (
            (
                200,
                vec![("content-type", "text/event-stream".to_owned())],
                format!("data: {}", "x".repeat(20_000_000)),
            ),
            "",
        ),
    ];
    for (answer, expected) in answers {
        let shown: String = format!("{answer:?}").chars().take(100).collect();
        let (address, _log) = mock(move |seen| {
            if is_call(seen) {
                answer.clone()
            } else {
                well_behaved(seen)
            }
        })
        .await;
        let (toolbox, _upstreams, _) =
            reach(HttpUpstream::new(format!("http://{address}/mcp"))).await;
        let result = call(&toolbox, json!({})).await;
        assert_eq!(result["isError"], true, "{shown}: {result}");
        assert!(told(&result).contains(expected), "{shown}: {result}");
    }
}

#[tokio::test]
async fn an_error_of_the_protocol_keeps_its_words() {
    let (address, _log) = mock(|seen| {
        if !is_call(seen) {
            return well_behaved(seen);
        }
        let error = json!({ "code": -32602, "message": "region is unknown" });
        let body = json!({ "jsonrpc": "2.0", "id": seen.message["id"], "error": error });
        (
            400,
            vec![("content-type", "application/json".to_owned())],
            body.to_string(),
        )
    })
    .await;
    let (toolbox, _upstreams, _) = reach(HttpUpstream::new(format!("http://{address}/mcp"))).await;
    let result = call(&toolbox, json!({})).await;
    assert!(told(&result).contains("region is unknown"), "{result}");
    assert!(told(&result).starts_with("invalid_parameters"), "{result}");
}

#[tokio::test]
async fn addresses_that_cannot_be_meant_are_refused() {
    for url in [
        "ftp://127.0.0.1/mcp",
        "file:///etc/passwd",
        "http://user:password@127.0.0.1/mcp",
        "not a url",
        "http://",
    ] {
        let (_toolbox, _upstreams, status) = reach(HttpUpstream::new(url)).await;
        assert_eq!(status.state, State::Failed, "{url}");
        let error = status.error.unwrap();
        assert!(!error.contains("password@"), "{error}");
    }
    let http = HttpUpstream::new("http://127.0.0.1:9/mcp").with_header("bad name", "x");
    assert_eq!(reach(http).await.2.state, State::Failed);
    let http = HttpUpstream::new("http://127.0.0.1:9/mcp").with_header("x", "a\r\nb: c");
    assert_eq!(reach(http).await.2.state, State::Failed);
}

#[tokio::test]
async fn a_server_that_refuses_to_be_discovered_is_greeted_with_a_handshake() {
    let (address, log) = mock(|seen| match seen.message["method"].as_str() {
        Some("initialize") => as_json(
            seen,
            &json!({
                "protocolVersion": "2025-06-18",
                "capabilities": { "tools": {} },
                "serverInfo": { "name": "old", "version": "1" },
            }),
        ),
        Some("tools/list") => as_json(seen, &json!({ "tools": [] })),
        Some("notifications/initialized") => (202, vec![], String::new()),
        _ => (400, vec![], "Bad Request: no session".to_owned()),
    })
    .await;
    let toolbox = toolbox([]);
    let http = HttpUpstream::new(format!("http://{address}/mcp"));
    let upstreams = Upstreams::start([UpstreamOptions::new("old", Reach::Http(http))], &toolbox);
    soon(upstreams.settled()).await;
    let status = upstreams.all()[0].status();
    assert_eq!(status.state, State::Ready, "{status:?}");
    assert_eq!(status.era.unwrap().to_string(), "handshake");
    let first = log.lock().unwrap()[0].message["method"].clone();
    assert_eq!(first, "server/discover");
}
