//! Trace contexts from a client's `_meta` to an upstream's, through us.

use serde_json::{Value, json};
use toolsmith_core::event::{Event, RecordError, Recorder};
use toolsmith_core::record::Wanted;
use toolsmith_core::{CancellationToken, Outcome, ToolContext};
use toolsmith_mcp::client::{HttpUpstream, Reach, UpstreamOptions, Upstreams};
use toolsmith_mcp::server::Server;
use toolsmith_mcp::server::http::HttpOptions;
use toolsmith_runtime::{Mode, Policy, Toolbox};

use crate::support::{Client, calling, serving, soon, tool};

const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

/// Wants spans, and keeps nothing.
struct Spans;

impl Recorder for Spans {
    fn record(&self, _: &Event<'_>) -> Result<(), RecordError> {
        Ok(())
    }

    fn wants_record(&self) -> Option<Wanted> {
        Some(Wanted::facts().with_span())
    }
}

/// What the upstream was sent for a call with this `_meta`.
async fn passed_on(toolbox: &Toolbox, meta: Value) -> Value {
    let upstream = serving([tool("trace", async |_, context: ToolContext| {
        Outcome::ok(json!({ "parent": context.trace(), "state": context.trace_state() }))
    })]);
    let stop = CancellationToken::new();
    let address = "127.0.0.1:0".parse().unwrap();
    let http = upstream.listen_http(address, HttpOptions::without_token());
    let http = http.await.unwrap();
    let address = http.address().unwrap();
    tokio::spawn(http.run(stop.clone()));
    let reach = Reach::Http(HttpUpstream::new(format!("http://{address}/mcp")));
    let upstreams = Upstreams::start([UpstreamOptions::new("up", reach)], toolbox);
    soon(upstreams.settled()).await;
    let server = Server::builder(toolbox.clone()).build();
    let mut client = Client::handshake(&server, json!({})).await;
    let mut params = calling("mcp__up__trace", json!({}));
    params["_meta"] = meta;
    let answer = client.ask("tools/call", params).await;
    upstreams.stop().await;
    stop.cancel();
    answer["result"]["structuredContent"].clone()
}

fn plain() -> Toolbox {
    let builder = Toolbox::builder().policy(Policy::new(Mode::Auto));
    builder.without_log().build().unwrap()
}

#[tokio::test]
async fn a_context_is_passed_on_as_it_came_where_nobody_traces() {
    let meta = json!({ "traceparent": PARENT, "tracestate": "vendor=1" });
    let seen = passed_on(&plain(), meta).await;
    assert_eq!(seen, json!({ "parent": PARENT, "state": "vendor=1" }));
    let nothing = json!({ "parent": null, "state": null });
    for meta in [
        json!({}),
        json!({ "traceparent": "00-abc-def-01", "tracestate": "vendor=1" }),
        json!({ "traceparent": format!("{PARENT}\r\nx: y") }),
        json!({ "traceparent": 7 }),
        json!({ "tracestate": "vendor=1" }),
    ] {
        assert_eq!(passed_on(&plain(), meta.clone()).await, nothing, "{meta}");
    }
}

#[tokio::test]
async fn a_call_that_is_traced_is_what_the_upstream_belongs_to() {
    let builder = Toolbox::builder().policy(Policy::new(Mode::Auto));
    let toolbox = builder.without_log().recorder(Spans).build().unwrap();
    let meta = json!({ "traceparent": PARENT, "tracestate": "vendor=1" });
    let seen = passed_on(&toolbox, meta).await;
    let parent = seen["parent"].as_str().unwrap();
    assert_eq!(parent[..36], PARENT[..36], "the same trace");
    assert_ne!(parent, PARENT, "another span");
    assert_eq!(seen["state"], "vendor=1");
    let seen = passed_on(&toolbox, json!({})).await;
    assert_eq!(seen["parent"].as_str().unwrap().len(), PARENT.len());
}
