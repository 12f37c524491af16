//! One connection under stress: cancelled, pipelined, byte by byte, unread, cut.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use toolsmith_core::{AnyTool, CancellationToken, Outcome, ToolContext};
use toolsmith_mcp::server::Server;
use toolsmith_testing::Gate;
use toolsmith_testing::tools::{self, definition};

use super::support::{
    Client, calling, code, initialize, note, request, serving, soon, stateless, text, tool, until,
};

/// A tool that runs until it is cancelled, and counts how often it was.
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

fn cancel(id: impl Into<Value>) -> Value {
    note("notifications/cancelled", json!({ "requestId": id.into() }))
}

#[tokio::test]
async fn an_id_in_use_cannot_be_used_again() {
    let gate = Gate::new();
    let server = serving([gate.tool(definition("gate"))]);
    let mut client = Client::handshake(&server, json!({})).await;
    let call = request(1, "tools/call", calling("gate", json!({ "n": 1 })));
    client.send(&call).await;
    gate.inside(1).await;
    client.send(&call).await;
    assert_eq!(code(&client.answer(1).await), -32600);
    // A text that looks like the number is another id.
    client.send(&request("1", "ping", json!({}))).await;
    assert_eq!(code(&client.answer("1").await), 0);
    gate.open();
    let answer = client.answer(1).await;
    assert_eq!(answer["result"]["structuredContent"], json!({ "n": 1 }));
    client.send(&call).await;
    assert_eq!(code(&client.answer(1).await), 0, "answered ids are free");
    assert_eq!(gate.total(), 2);
}

#[tokio::test]
async fn a_cancelled_call_hears_of_it_and_no_other_does() {
    let (gate, cancelled) = (Gate::new(), Arc::default());
    let server = serving([patient(&cancelled), gate.tool(definition("gate"))]);
    for era in [request, stateless] as [fn(Value, &str, Value) -> Value; 2] {
        let mut client = Client::handshake(&server, json!({})).await;
        client
            .send(&era(1.into(), "tools/call", calling("wait", json!({}))))
            .await;
        client
            .send(&era(2.into(), "tools/call", calling("gate", json!({}))))
            .await;
        gate.inside(1).await;
        let before = cancelled.load(Ordering::SeqCst);
        client.send(&cancel("1")).await;
        client.send(&cancel(1)).await;
        until(|| cancelled.load(Ordering::SeqCst) > before).await;
        gate.release(1);
        assert_eq!(code(&client.answer(2).await), 0);
        client.hang_up().await;
        let rest = client.rest().await;
        assert!(rest.iter().all(|each| each["id"] != 1), "{rest:?}");
        soon(client.served).await.unwrap().unwrap();
    }
    assert_eq!(cancelled.load(Ordering::SeqCst), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_storm_of_cancellations_passes() {
    let cancelled = Arc::default();
    let server = serving([patient(&cancelled), tools::echo()]);
    let mut client = Client::handshake(&server, json!({})).await;
    for id in 0..1000 {
        let call = request(id, "tools/call", calling("wait", json!({})));
        client.send(&call).await;
    }
    until(|| {
        let metrics = server.toolbox().metrics().unwrap().snapshot();
        metrics.running == 1000
    })
    .await;
    for id in (0..1000).rev() {
        client.send(&cancel(id)).await;
    }
    until(|| cancelled.load(Ordering::SeqCst) == 1000).await;
    let result = client.call("echo", json!({ "text": "calm" })).await;
    assert_eq!(text(&result), "calm");
    until(|| server.toolbox().metrics().unwrap().snapshot().running == 0).await;
    client.hang_up().await;
    let rest = client.rest().await;
    assert!(
        rest.is_empty(),
        "a cancelled request was answered: {rest:?}"
    );
}

#[tokio::test]
async fn calls_and_their_cancellations_in_one_breath() {
    let cancelled = Arc::default();
    let server = serving([patient(&cancelled), tools::echo()]);
    let mut client = Client::handshake(&server, json!({})).await;
    let mut breath = String::new();
    for id in 0..1000 {
        let call = request(id, "tools/call", calling("wait", json!({})));
        breath += &format!("{call}\n{}\n", cancel(id));
    }
    client.write(breath.as_bytes()).await;
    let result = client.call("echo", json!({ "text": "calm" })).await;
    assert_eq!(text(&result), "calm");
    until(|| server.toolbox().metrics().unwrap().snapshot().running == 0).await;
    assert!(client.kept.is_empty(), "{:?}", client.kept);
}

#[tokio::test]
async fn five_hundred_requests_in_one_write_are_all_answered() {
    let server = serving([tools::echo()]);
    let mut client = Client::handshake(&server, json!({})).await;
    let mut breath = String::new();
    for id in 0..500 {
        let call = calling("echo", json!({ "text": id.to_string() }));
        breath += &format!("{}\n", request(id, "tools/call", call));
    }
    client.write(breath.as_bytes()).await;
    for id in 0..500 {
        let answer = client.answer(id).await;
        assert_eq!(text(&answer["result"]), id.to_string());
    }
    assert!(client.kept.is_empty());
}

#[tokio::test]
async fn byte_by_byte_is_read_as_well() {
    let server = serving([tools::echo()]);
    let mut client = Client::connect(&server);
    let words = [
        initialize("2025-11-25", json!({})),
        note("notifications/initialized", json!({})),
        request(
            "é",
            "tools/call",
            calling("echo", json!({ "text": "größer\u{1F980}" })),
        ),
    ];
    for word in words {
        for byte in format!("{word}\r\n").as_bytes() {
            client.write(&[*byte]).await;
            tokio::task::yield_now().await;
        }
    }
    let answer = client.answer("é").await;
    assert_eq!(text(&answer["result"]), "größer\u{1F980}");
}

/// A connection whose answers nobody reads: how much it takes in before it stops.
async fn taken_in(server: &Server, line: &str, most: usize) -> usize {
    let (ours, theirs) = tokio::io::duplex(4096);
    let (read, write) = tokio::io::split(theirs);
    let stop = CancellationToken::new();
    let (served, token) = (server.clone(), stop.clone());
    let served = tokio::spawn(async move { served.serve_streams(read, write, token).await });
    let (_unread, mut write) = tokio::io::split(ours);
    let mut taken = 0;
    while taken < most {
        let line = line.replace("ID", &taken.to_string());
        // Under a paused clock this passes when nothing else can happen.
        let writing =
            tokio::time::timeout(Duration::from_secs(30), write.write_all(line.as_bytes()));
        if writing.await.is_err() {
            break;
        }
        taken += 1;
    }
    stop.cancel();
    soon(served).await.unwrap().unwrap();
    taken
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_read_is_not_read_from() {
    let server = serving([tools::echo()]);
    let list = stateless("ID", "tools/list", json!({})).to_string() + "\n";
    let taken = taken_in(&server, &list, 10_000).await;
    assert!(taken < 4000, "{taken} requests were taken in");
    let taken = taken_in(&server, "garbage\n", 100_000).await;
    assert!(taken < 10_000, "{taken} lines of garbage were taken in");
    // The server was told to stop meanwhile; others are served nevertheless.
    let mut client = Client::handshake(&server, json!({})).await;
    assert_eq!(
        text(&client.call("echo", json!({ "text": "a" })).await),
        "a"
    );
}

#[tokio::test(start_paused = true)]
async fn large_requests_that_wait_are_bounded_together() {
    let gate = Gate::new();
    let server = serving([gate.tool(definition("gate"))]);
    let text = "x".repeat(4 << 20);
    let call = stateless("ID", "tools/call", calling("gate", json!({ "text": text })));
    let taken = taken_in(&server, &(call.to_string() + "\n"), 100).await;
    assert!((8..=16).contains(&taken), "{taken} calls were taken in");
}

#[tokio::test(start_paused = true)]
async fn large_answers_that_nobody_reads_are_bounded_together() {
    let long = tool("long", |_, _| async { Outcome::text("x".repeat(48 << 10)) });
    let call = stateless("ID", "tools/call", calling("long", json!({})));
    let taken = taken_in(&serving([long]), &(call.to_string() + "\n"), 2000).await;
    assert!(taken < 1200, "{taken} calls were taken in");
}

#[tokio::test(start_paused = true)]
async fn a_stopped_server_ends_though_nobody_reads_its_first_answer() {
    let server = serving([tools::echo()]);
    let (ours, theirs) = tokio::io::duplex(16);
    let (read, write) = tokio::io::split(theirs);
    let stop = CancellationToken::new();
    let token = stop.clone();
    let served = tokio::spawn(async move { server.serve_streams(read, write, token).await });
    let (mut read, mut write) = tokio::io::split(ours);
    let hello = initialize("2025-11-25", json!({})).to_string() + "\n";
    soon(write.write_all(hello.as_bytes())).await.unwrap();
    // One byte, and no more: the rest of the answer has nowhere to go.
    soon(read.read_u8()).await.unwrap();
    stop.cancel();
    soon(served).await.unwrap().unwrap();
}

#[tokio::test]
async fn the_end_in_the_middle_of_a_line_is_an_end() {
    let server = serving([tools::echo()]);
    let whole = request(7, "tools/list", json!({})).to_string();
    for (last, answered) in [
        (whole.as_str(), 0),
        (&whole[..whole.len() - 1], -32700),
        ("{\"jsonrpc", -32700),
    ] {
        let mut client = Client::handshake(&server, json!({})).await;
        client.write(last.as_bytes()).await;
        client.hang_up().await;
        let rest = client.rest().await;
        assert_eq!(rest.len(), 1, "{rest:?}");
        assert_eq!(code(&rest[0]), answered);
        soon(client.served).await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn a_client_that_says_nothing_ends_well() {
    let server = serving([tools::echo()]);
    let mut client = Client::connect(&server);
    client.hang_up().await;
    assert!(client.rest().await.is_empty());
    soon(client.served).await.unwrap().unwrap();
}

#[tokio::test]
async fn calls_in_flight_at_the_end_are_answered() {
    for stops in [false, true] {
        let gate = Gate::new();
        let server = serving([gate.tool(definition("gate"))]);
        let mut client = Client::handshake(&server, json!({})).await;
        for id in 0..10 {
            let call = request(id, "tools/call", calling("gate", json!({ "n": id })));
            client.send(&call).await;
        }
        gate.inside(10).await;
        if stops {
            client.stop.cancel();
        } else {
            client.hang_up().await;
        }
        gate.open();
        let rest = client.rest().await;
        assert_eq!(rest.len(), 10, "{rest:?}");
        assert!(
            rest.iter()
                .all(|answer| answer["result"]["isError"] == false)
        );
        soon(client.served).await.unwrap().unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn calls_that_do_not_finish_are_answered_as_cancelled() {
    for stops in [false, true] {
        let cancelled = Arc::default();
        let server = serving([patient(&cancelled), tools::echo()]);
        let mut other = Client::handshake(&server, json!({})).await;
        other
            .send(&request(1, "tools/call", calling("wait", json!({}))))
            .await;
        until(|| server.toolbox().metrics().unwrap().snapshot().running == 1).await;
        let mut client = Client::handshake(&server, json!({})).await;
        client
            .send(&request(1, "tools/call", calling("wait", json!({}))))
            .await;
        until(|| server.toolbox().metrics().unwrap().snapshot().running == 2).await;
        if stops {
            client.stop.cancel();
        } else {
            client.hang_up().await;
        }
        let rest = client.rest().await;
        assert_eq!(rest.len(), 1, "{rest:?}");
        assert_eq!(rest[0]["id"], 1);
        assert_eq!(rest[0]["result"]["isError"], true);
        assert!(text(&rest[0]["result"]).contains("cancelled"), "{rest:?}");
        soon(client.served).await.unwrap().unwrap();
        // The other client's call goes on, and so does its connection.
        assert_eq!(cancelled.load(Ordering::SeqCst), 1);
        let result = other.call("echo", json!({ "text": "here" })).await;
        assert_eq!(text(&result), "here");
    }
}

#[tokio::test(start_paused = true)]
async fn who_only_listens_does_not_hold_up_the_end() {
    let server = serving([tools::echo()]);
    let mut client = Client::connect(&server);
    let filter = json!({ "notifications": { "toolsListChanged": true } });
    client
        .send(&stateless(1, "subscriptions/listen", filter))
        .await;
    client
        .noted("notifications/subscriptions/acknowledged")
        .await;
    let before = tokio::time::Instant::now();
    client.stop.cancel();
    let rest = client.rest().await;
    assert_eq!(rest.len(), 1, "{rest:?}");
    assert_eq!(rest[0]["id"], 1);
    soon(client.served).await.unwrap().unwrap();
    assert!(
        before.elapsed() < Duration::from_secs(1),
        "{:?}",
        before.elapsed()
    );
}

#[tokio::test]
async fn what_is_written_is_messages_and_nothing_else() {
    let server = serving([
        tools::explode(),
        tools::blocking_explode(),
        tools::fail(),
        tool("split", async |_, context: ToolContext| {
            context.output("one\ntwo\r\nthree\u{2028}");
            Outcome::text("a\nb\u{1b}[31mred")
        }),
    ]);
    let (ours, theirs) = tokio::io::duplex(64 << 10);
    let (read, write) = tokio::io::split(theirs);
    let served = tokio::spawn(async move {
        server
            .serve_streams(read, write, CancellationToken::new())
            .await
    });
    let (mut read, mut write) = tokio::io::split(ours);
    let mut words = initialize("2025-11-25", json!({})).to_string() + "\n";
    for (id, name) in ["explode", "blocking_explode", "fail", "split", "nothing"]
        .into_iter()
        .enumerate()
    {
        let mut params = calling(name, json!({ "message": "bad" }));
        params["_meta"] = json!({ "progressToken": id });
        words += &format!("{}\n", request(id, "tools/call", params));
    }
    write.write_all(words.as_bytes()).await.unwrap();
    write.shutdown().await.unwrap();
    let mut said = String::new();
    soon(read.read_to_string(&mut said)).await.unwrap();
    soon(served).await.unwrap().unwrap();
    let messages: Vec<Value> = said.lines().map(super::support::message).collect();
    let answers = messages.iter().filter(|each| each.get("id").is_some());
    assert_eq!(answers.count(), 6);
    assert!(
        !said.contains('\u{1b}') && !said.contains("\\u001b"),
        "{said}"
    );
}
