//! Clients over HTTP that are slow, many, or gone; and the end of the server.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use toolsmith_core::{AnyTool, Outcome, Progress, ToolContext};
use toolsmith_mcp::server::Server;
use toolsmith_mcp::server::http::{HttpLimits, HttpOptions, Token};
use toolsmith_testing::Gate;
use toolsmith_testing::tools::{self, definition, echoing};

use super::support::{calling, forms, request, serving, soon, stateless, text, tool, until};
use super::web::{Reply, TOKEN, Web};

fn echo_call() -> Value {
    stateless(1, "tools/call", calling("echo", json!({ "text": "a" })))
}

/// Runs until it is cancelled, and counts how often it was.
fn patient(cancelled: &Arc<AtomicUsize>) -> AnyTool {
    let cancelled = Arc::clone(cancelled);
    tool("wait", move |_: Value, context: ToolContext| {
        let cancelled = Arc::clone(&cancelled);
        async move {
            context.cancelled().await;
            cancelled.fetch_add(1, Ordering::SeqCst);
            Outcome::nothing()
        }
    })
}

fn running(server: &Server) -> u64 {
    server.toolbox().metrics().unwrap().snapshot().running
}

/// Reads until the server ends the connection.
async fn ended(stream: &mut TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    let _ = soon(stream.read_to_end(&mut bytes)).await;
    bytes
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_clients_are_dropped_and_others_do_not_notice() {
    let mut limits = HttpLimits::default();
    limits.head_time = Duration::from_millis(300);
    limits.body_time = Duration::from_millis(300);
    let web = Web::start(&serving([tools::echo()]), limits).await;
    let whole = web.stateless(&echo_call());
    let (head, _) = whole.split_once("\r\n\r\n").unwrap();
    let beginnings = [
        String::new(),
        "P".to_owned(),
        "POST /mcp HTTP/1.1\r\n".to_owned(),
        format!("{head}\r\n"),
        format!("{head}\r\n\r\n"),
        whole[..whole.len() - 1].to_owned(),
    ];
    let mut slow = Vec::new();
    for beginning in beginnings.iter().cycle().take(60) {
        let mut stream = web.connect().await;
        stream.write_all(beginning.as_bytes()).await.unwrap();
        slow.push(stream);
    }
    for _ in 0..20 {
        assert!(web.is_alive().await);
    }
    for (stream, beginning) in slow.iter_mut().zip(beginnings.iter().cycle()) {
        let said = ended(stream).await;
        let said = String::from_utf8_lossy(&said);
        let has_head = beginning.contains("\r\n\r\n");
        assert!(
            said.is_empty() || said.starts_with("HTTP/1.1 408"),
            "{beginning}: {said}"
        );
        assert!(!has_head || said.starts_with("HTTP/1.1 408"), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_drip_of_bytes_does_not_keep_a_connection() {
    let mut limits = HttpLimits::default();
    limits.head_time = Duration::from_millis(200);
    limits.body_time = Duration::from_millis(200);
    let web = Web::start(&serving([tools::echo()]), limits).await;
    let head = format!("POST /mcp HTTP/1.1\r\n{}", web.good());
    let long = "x-a: b\r\n".repeat(100_000);
    let mut stream = web.connect().await;
    stream.write_all(head.as_bytes()).await.unwrap();
    let dripping = async {
        for byte in long.as_bytes() {
            if stream.write_all(&[*byte]).await.is_err() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    soon(dripping).await;
    assert!(web.is_alive().await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_never_reads_is_dropped() {
    let mut limits = HttpLimits::default();
    limits.stall = Duration::from_millis(500);
    let web = Web::start(&serving([tools::echo()]), limits).await;
    let call = stateless(
        1,
        "tools/call",
        calling("echo", json!({ "text": "x".repeat(40_000) })),
    );
    let request = web.stateless(&call);
    let mut stream = web.connect().await;
    // Answers pile up in the kernel until no more fits; then nothing is taken in.
    let flooding = async { while stream.write_all(request.as_bytes()).await.is_ok() {} };
    soon(flooding).await;
    assert!(web.is_alive().await);
}

#[tokio::test]
async fn more_connections_than_fit_are_told_so() {
    let mut limits = HttpLimits::default();
    limits.connections = 4;
    let web = Web::start(&serving([tools::echo()]), limits).await;
    let mut held = Vec::new();
    for _ in 0..4 {
        let mut stream = web.connect().await;
        let request = web.stateless(&echo_call());
        stream.write_all(request.as_bytes()).await.unwrap();
        assert_eq!(Reply::read(&mut stream).await.status, 200);
        held.push(stream);
    }
    let mut fifth = web.connect().await;
    assert_eq!(Reply::read(&mut fifth).await.status, 503);
    held.pop();
    soon(async { while !web.is_alive().await {} }).await;
}

#[tokio::test]
async fn a_call_ends_with_its_connection() {
    let cancelled = Arc::default();
    let server = serving([patient(&cancelled)]);
    let web = Web::start(&server, HttpLimits::default()).await;
    let call = stateless(1, "tools/call", calling("wait", json!({})));
    for count in 1..=3 {
        let mut stream = web.connect().await;
        let request = web.stateless(&call);
        stream.write_all(request.as_bytes()).await.unwrap();
        until(|| running(&server) == 1).await;
        drop(stream);
        until(|| cancelled.load(Ordering::SeqCst) == count && running(&server) == 0).await;
    }
    let page = web.get("/metrics").await.body;
    assert!(
        page.contains("toolsmith_http_requests_in_flight 0\n"),
        "{page}"
    );
}

#[tokio::test]
async fn sessions_open_work_and_end() {
    let web = Web::start(&serving([tools::echo()]), HttpLimits::default()).await;
    let session = web.open(json!({})).await;
    let call = request(1, "tools/call", calling("echo", json!({ "text": "a" })));
    let reply = web.in_session(&session, &call).await;
    assert_eq!(text(&reply.json()["result"]), "a", "{reply:?}");
    let again = super::support::initialize("2025-11-25", forms());
    let reply = web.in_session(&session, &again).await;
    assert_eq!(reply.json()["error"]["code"], -32600, "{reply:?}");
    for stranger in [
        "",
        "nobody",
        "../..",
        &session.to_uppercase(),
        &"x".repeat(5000),
    ] {
        let status = web.in_session(stranger, &call).await.status;
        assert!([400, 404].contains(&status), "{stranger}: {status}");
    }
    assert!(web.close(&session).await.status < 300);
    assert_eq!(web.in_session(&session, &call).await.status, 404);
    let status = web.close(&session).await.status;
    assert!(status < 500, "{status}");
    let status = web.close("nobody").await.status;
    assert!(status < 500, "{status}");
}

#[tokio::test]
async fn the_session_unused_for_longest_gives_way() {
    let gate = Gate::new();
    let server = serving([tools::echo(), gate.tool(definition("gate"))]);
    let mut limits = HttpLimits::default();
    limits.sessions = 4;
    let web = Web::start(&server, limits).await;
    let ping = request(1, "ping", json!({}));
    let busy = web.open(json!({})).await;
    let mut call = web.connect().await;
    let message = request(1, "tools/call", calling("gate", json!({}))).to_string();
    let headers = format!("mcp-session-id: {busy}\r\n");
    call.write_all(web.post(&headers, &message).as_bytes())
        .await
        .unwrap();
    soon(gate.inside(1)).await;
    let mut sessions = Vec::new();
    for _ in 0..3 {
        sessions.push(web.open(json!({})).await);
    }
    assert_eq!(web.in_session(&sessions[0], &ping).await.status, 200);
    let fifth = web.open(json!({})).await;
    assert_eq!(web.in_session(&sessions[1], &ping).await.status, 404);
    for kept in [&sessions[0], &sessions[2], &fifth] {
        assert_eq!(web.in_session(kept, &ping).await.status, 200);
    }
    // However many come, the one with a call in flight stays.
    for _ in 0..10 {
        web.open(json!({})).await;
    }
    // Its id is taken, another is not.
    assert_eq!(web.in_session(&busy, &ping).await.status, 400);
    let ping = request(2, "ping", json!({}));
    assert_eq!(web.in_session(&busy, &ping).await.status, 200);
    assert_eq!(web.in_session(&busy, &ping).await.status, 200);
    gate.open();
    let reply = Reply::read(&mut call).await;
    assert_eq!(reply.json()["result"]["isError"], false, "{reply:?}");
    let page = web.get("/metrics").await.body;
    assert!(page.contains("toolsmith_http_sessions 4\n"), "{page}");
}

#[tokio::test]
async fn metrics_agree_with_the_toolbox() {
    let server = serving([tools::echo(), tools::fail(), tools::explode()]);
    let web = Web::start(&server, HttpLimits::default()).await;
    for (name, arguments, times) in [
        ("echo", json!({ "text": "a" }), 7),
        ("echo", json!({}), 2),
        ("fail", json!({ "message": "no" }), 3),
        ("explode", json!({}), 1),
        ("nobody", json!({}), 4),
    ] {
        for _ in 0..times {
            let call = stateless(1, "tools/call", calling(name, arguments.clone()));
            assert_eq!(web.raw(web.stateless(&call)).await.status, 200);
        }
    }
    let snapshot = server.toolbox().metrics().unwrap().snapshot();
    let page = web.get("/metrics").await.body;
    let number = |line: &str| -> f64 {
        let found = page.lines().find_map(|each| each.strip_prefix(line));
        let found = found.unwrap_or_else(|| panic!("no {line} in {page}"));
        found.trim().parse().unwrap()
    };
    assert_eq!(number("toolsmith_calls_of_unknown_tools_total "), 4.0);
    assert_eq!(snapshot.unknown_tool, 4);
    assert_eq!(number("toolsmith_calls_running "), snapshot.running as f64);
    assert_eq!(
        number("toolsmith_calls_running_peak "),
        snapshot.peak_running as f64
    );
    for (tool, each) in &snapshot.tools {
        let of = |name: &str| number(&format!("{name}{{tool=\"{tool}\"}} "));
        assert_eq!(of("toolsmith_calls_started_total"), each.started as f64);
        assert_eq!(of("toolsmith_calls_succeeded_total"), each.succeeded as f64);
        assert_eq!(of("toolsmith_calls_refused_total"), each.refused as f64);
        for (code, count) in &each.errors {
            let line = format!("toolsmith_call_errors_total{{tool=\"{tool}\",code=\"{code}\"}} ");
            assert_eq!(number(&line), *count as f64);
        }
        let ended: u64 = each.duration.buckets.iter().sum();
        assert_eq!(of("toolsmith_call_duration_seconds_count"), ended as f64);
        let sum = of("toolsmith_call_duration_seconds_sum");
        assert!((sum - each.duration.total.as_secs_f64()).abs() < 1e-9);
        let last =
            format!("toolsmith_call_duration_seconds_bucket{{tool=\"{tool}\",le=\"+Inf\"}} ");
        assert_eq!(number(&last), ended as f64);
    }
    assert_eq!(
        number("toolsmith_http_answers_total{status=\"200\"} "),
        17.0
    );
}

/// A stop: the calls given to it, and how they were answered.
async fn stopped(server: &Server, limits: HttpLimits, calls: &[Value]) -> (Vec<Reply>, Duration) {
    let web = Web::start(server, limits).await;
    let mut streams = Vec::new();
    for call in calls {
        let mut stream = web.connect().await;
        let request = web.stateless(call);
        stream.write_all(request.as_bytes()).await.unwrap();
        streams.push(stream);
    }
    until(|| running(server) == calls.len() as u64).await;
    let began = Instant::now();
    web.stop.cancel();
    soon(async { while TcpStream::connect(web.address).await.is_ok() {} }).await;
    let mut replies = Vec::new();
    for stream in &mut streams {
        replies.push(Reply::read(stream).await);
    }
    soon(web.running).await.unwrap().unwrap();
    (replies, began.elapsed())
}

#[tokio::test]
async fn a_stop_lets_calls_finish() {
    let server = serving([tools::sleep(), tools::echo()]);
    let call = stateless(1, "tools/call", calling("sleep", json!({ "ms": 400 })));
    let (replies, _) = stopped(&server, HttpLimits::default(), &[call.clone(), call]).await;
    for reply in replies {
        assert_eq!(reply.status, 200, "{reply:?}");
        assert_eq!(text(&reply.json()["result"]), "400", "{reply:?}");
    }
}

#[tokio::test]
async fn a_stop_answers_what_does_not_finish() {
    let cancelled = Arc::default();
    let server = serving([patient(&cancelled), tools::echo()]);
    let mut limits = HttpLimits::default();
    limits.drain = Duration::from_millis(200);
    let call = stateless(1, "tools/call", calling("wait", json!({})));
    let (replies, _) = stopped(&server, limits, &[call]).await;
    assert_eq!(replies[0].status, 200, "{replies:?}");
    let result = &replies[0].json()["result"];
    assert_eq!(result["isError"], true);
    assert!(text(result).contains("cancelled"), "{result}");
    // The toolbox lives on, on other roads.
    let mut client = super::support::Client::handshake(&server, json!({})).await;
    assert_eq!(
        text(&client.call("echo", json!({ "text": "a" })).await),
        "a"
    );
    let web = Web::start(&server, HttpLimits::default()).await;
    assert!(web.is_alive().await);
    let reply = web.raw(web.stateless(&echo_call())).await;
    assert_eq!(text(&reply.json()["result"]), "a");
}

#[tokio::test]
async fn a_stop_ends_those_who_listen() {
    let server = serving([tools::echo()]);
    let web = Web::start(&server, HttpLimits::default()).await;
    let filter = json!({ "notifications": { "toolsListChanged": true } });
    let listen = stateless("l", "subscriptions/listen", filter);
    let mut listener = web.connect().await;
    listener
        .write_all(web.stateless(&listen).as_bytes())
        .await
        .unwrap();
    let session = web.open(json!({})).await;
    let mut stream = web.connect().await;
    let get = format!(
        "GET /mcp HTTP/1.1\r\n{}accept: text/event-stream\r\nmcp-session-id: {session}\r\n\r\n",
        web.good()
    );
    stream.write_all(get.as_bytes()).await.unwrap();
    let mut heard = [Vec::new(), Vec::new()];
    // Both are there once they hear of a change.
    let changes = tokio::spawn({
        let server = server.clone();
        async move {
            for number in 0_u64.. {
                let tool = echoing(definition(&format!("new_{number}")));
                server.toolbox().register([tool]).unwrap();
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    });
    for (stream, heard) in [&mut listener, &mut stream].into_iter().zip(&mut heard) {
        let mut piece = [0; 4096];
        while !String::from_utf8_lossy(heard).contains("tools/list_changed") {
            let read = soon(stream.read(&mut piece)).await.unwrap();
            assert_ne!(read, 0, "{}", String::from_utf8_lossy(heard));
            heard.extend_from_slice(&piece[..read]);
        }
    }
    changes.abort();
    let first = String::from_utf8_lossy(&heard[0]).into_owned();
    let acknowledged = first.find("subscriptions/acknowledged").unwrap();
    assert!(acknowledged < first.find("tools/list_changed").unwrap());
    let began = Instant::now();
    web.stop.cancel();
    ended(&mut listener).await;
    ended(&mut stream).await;
    soon(web.running).await.unwrap().unwrap();
    assert!(
        began.elapsed() < Duration::from_secs(8),
        "{:?}",
        began.elapsed()
    );
}

#[tokio::test]
async fn large_bodies_that_wait_are_bounded_together() {
    let gate = Gate::new();
    let server = serving([gate.tool(definition("gate")), tools::echo()]);
    let mut limits = HttpLimits::default();
    limits.all_bodies_bytes = 8 << 20;
    let web = Web::start(&server, limits).await;
    let large = json!({ "text": "x".repeat(3 << 20) });
    let call = stateless(1, "tools/call", calling("gate", large));
    let request = web.stateless(&call);
    let mut held = Vec::new();
    for count in 1..=2 {
        let mut stream = web.connect().await;
        stream.write_all(request.as_bytes()).await.unwrap();
        held.push(stream);
        soon(gate.inside(count)).await;
    }
    assert_eq!(web.raw(&request).await.status, 503);
    assert!(web.is_alive().await);
    gate.release(2);
    for stream in &mut held {
        assert_eq!(Reply::read(stream).await.status, 200);
    }
    gate.open();
    assert_eq!(
        web.raw(&request).await.status,
        200,
        "the room is free again"
    );
}

#[tokio::test]
async fn a_session_is_asked_on_the_stream_of_its_call() {
    use toolsmith_core::reply::{Question, Response};
    let server = serving([tool("roots", async |_, context: ToolContext| match context
        .ask(Question::Roots)
        .await
    {
        Response::Given(given) => Outcome::text(given["roots"].to_string()),
        other => Outcome::text(format!("{other:?}")),
    })]);
    let web = Web::start(&server, HttpLimits::default()).await;
    let session = web.open(json!({ "roots": {} })).await;
    let call = request(1, "tools/call", calling("roots", json!({})));
    let headers = format!("mcp-session-id: {session}\r\nconnection: close\r\n");
    let mut stream = web.connect().await;
    let post = web.post(&headers, &call.to_string());
    stream.write_all(post.as_bytes()).await.unwrap();
    let asking = async {
        let (mut heard, mut piece) = (String::new(), [0; 4096]);
        loop {
            let read = stream.read(&mut piece).await.unwrap();
            assert_ne!(read, 0, "{heard}");
            heard += &String::from_utf8_lossy(&piece[..read]);
            let data = heard.lines().filter_map(|line| line.strip_prefix("data:"));
            let mut messages = data.filter_map(|data| serde_json::from_str(data.trim()).ok());
            if let Some(asked) = messages.find(|each: &Value| each["method"] == "roots/list") {
                return asked;
            }
        }
    };
    let asked = soon(asking).await;
    let stranger = web.open(json!({ "roots": {} })).await;
    let answer = |root: &str| {
        let roots = json!({ "roots": [{ "uri": root }] });
        json!({ "jsonrpc": "2.0", "id": asked["id"], "result": roots })
    };
    // Another session's answer to a question of that id is none.
    web.in_session(&stranger, &answer("file:///evil")).await;
    let reply = web.in_session(&session, &answer("file:///mine")).await;
    assert_eq!(reply.status, 202, "{reply:?}");
    let rest = Reply::read(&mut stream).await;
    let said = format!("{}{}", rest.head, rest.body);
    assert!(
        said.contains("file:///mine") && !said.contains("evil"),
        "{said}"
    );
}

#[tokio::test]
async fn a_question_without_a_handshake_waits_between_connections() {
    use toolsmith_core::reply::{Question, Response};
    let server = serving([tool("roots", async |_, context: ToolContext| match context
        .ask(Question::Roots)
        .await
    {
        Response::Given(_) => Outcome::text("given"),
        other => Outcome::text(format!("{other:?}")),
    })]);
    let mut limits = HttpLimits::default();
    limits.drain = Duration::from_millis(100);
    let web = Web::start(&server, limits).await;
    let roots = || json!({ "roots": {} });
    let params = calling("roots", json!({}));
    let call = |params: &Value| {
        let call = super::support::by(roots(), 1, "tools/call", params.clone());
        web.stateless(&call)
    };
    for _ in 0..3 {
        let asked = web.raw(call(&params)).await.json()["result"].clone();
        assert_eq!(asked["resultType"], "input_required", "{asked}");
        let mut back = params.clone();
        back["requestState"] = asked["requestState"].clone();
        back["inputResponses"] = json!({ "answer": { "roots": [] } });
        let reply = web.raw(call(&back)).await;
        assert_eq!(text(&reply.json()["result"]), "given", "{reply:?}");
        web.raw(call(&params)).await;
    }
    assert_eq!(server.waiting(), 3);
    // Nobody can come back after the end.
    web.stop.cancel();
    soon(web.running).await.unwrap().unwrap();
    until(|| server.waiting() == 0).await;
}

/// A message that is all there is to say needs no stream.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_message_is_json_and_what_takes_longer_is_a_stream() {
    let gate = Gate::new();
    let talks = tool("talks", |_: Value, context: ToolContext| async move {
        context.progress(Progress::done(1.0));
        Outcome::ok("told")
    });
    let server = serving([tools::echo(), gate.tool(definition("waits")), talks]);
    let web = Web::start(&server, HttpLimits::default()).await;
    let session = web.open(json!({})).await;
    let kind = |reply: &Reply| reply.header("content-type").unwrap_or_default().to_owned();

    // On a busy machine it may take longer now and then.
    let mut kinds = Vec::new();
    for id in 0..50 {
        let call = request(id, "tools/call", calling("echo", json!({ "text": "a" })));
        let reply = web.in_session(&session, &call).await;
        assert_eq!(reply.json()["id"], id, "{reply:?}");
        assert_eq!(text(&reply.json()["result"]), "a", "{reply:?}");
        kinds.push(kind(&reply));
    }
    assert!(kinds.contains(&"application/json".to_owned()), "{kinds:?}");

    let mut talking = calling("talks", json!({}));
    talking["_meta"] = json!({ "progressToken": 7 });
    let reply = web
        .in_session(&session, &request(100, "tools/call", talking))
        .await;
    assert_eq!(kind(&reply), "text/event-stream", "{reply:?}");
    let progress = reply.body.find("notifications/progress").unwrap();
    assert!(progress < reply.body.find("told").unwrap(), "{reply:?}");

    // The head comes while the tool still waits.
    let headers = format!("mcp-session-id: {session}\r\nmcp-protocol-version: 2025-11-25\r\n");
    let waiting = request(101, "tools/call", calling("waits", json!({ "a": 1 })));
    let mut stream = web.connect().await;
    let bytes = web.post(&headers, &waiting.to_string());
    soon(stream.write_all(bytes.as_bytes())).await.unwrap();
    let mut head = Vec::new();
    while !String::from_utf8_lossy(&head).contains("text/event-stream") {
        let mut piece = [0; 1024];
        let read = soon(stream.read(&mut piece)).await.unwrap();
        assert!(read > 0, "the stream ended");
        head.extend_from_slice(&piece[..read]);
    }
    gate.release(1);
    let mut rest = String::new();
    while !rest.contains("\"id\":101") {
        let mut piece = [0; 1024];
        let read = soon(stream.read(&mut piece)).await.unwrap();
        assert!(read > 0, "the stream ended");
        rest.push_str(&String::from_utf8_lossy(&piece[..read]));
    }
}

/// Connections of one session are on several runtimes; each answers its own, and the end
/// of the server is the end of all of them.
#[tokio::test]
async fn connections_are_shared_out_among_runtimes() {
    let lane = || {
        let mut lane = tokio::runtime::Builder::new_multi_thread();
        lane.worker_threads(1).enable_all().build().unwrap()
    };
    let lanes = [lane(), lane(), lane()];
    let options = HttpOptions::with_token(Token::new(TOKEN).unwrap());
    let handles: Vec<_> = lanes.iter().map(|lane| lane.handle().clone()).collect();
    let web = Web::on(handles.clone(), &serving([tools::echo()]), options).await;
    let session = web.open(json!({})).await;
    let headers = format!("mcp-session-id: {session}\r\nmcp-protocol-version: 2025-11-25\r\n");
    let mut streams = Vec::new();
    for id in 0..30 {
        let call = request(id, "tools/call", calling("echo", json!({ "text": "a" })));
        let mut stream = web.connect().await;
        let sent = web.post(&headers, &call.to_string());
        soon(stream.write_all(sent.as_bytes())).await.unwrap();
        assert_eq!(Reply::read(&mut stream).await.json()["id"], id);
        streams.push(stream);
    }
    for lane in &handles {
        let tasks = lane.metrics().num_alive_tasks();
        assert!((5..=25).contains(&tasks), "{tasks}");
    }
    web.stop.cancel();
    soon(web.running).await.unwrap().unwrap();
    for stream in &mut streams {
        assert_eq!(ended(stream).await, b"");
    }
    for lane in lanes {
        lane.shutdown_background();
    }
}
