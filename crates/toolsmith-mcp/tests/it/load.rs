//! Very many at once: all are answered, and nothing is left afterwards.

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::task::JoinSet;
use toolsmith_mcp::server::http::HttpLimits;
use toolsmith_testing::tools;

use super::support::{Client, calling, request, serving, soon, stateless, text, until};
use super::web::{Reply, Web};

/// The descriptors that are open.
fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

fn call(id: usize) -> Value {
    calling("echo", json!({ "text": id.to_string() }))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_calls_at_once_on_one_stream() {
    let server = serving([tools::echo(), tools::sleep()]);
    let mut client = Client::handshake(&server, json!({})).await;
    let slow = calling("sleep", json!({ "ms": 60_000 }));
    client.send(&request("slow", "tools/call", slow)).await;
    for id in 0..1000 {
        client.send(&request(id, "tools/call", call(id))).await;
    }
    let mut seen = vec![false; 1000];
    for _ in 0..1000 {
        let answer = client.next().await.unwrap();
        let id = answer["id"].as_u64().unwrap() as usize;
        assert_eq!(text(&answer["result"]), id.to_string());
        assert!(!std::mem::replace(&mut seen[id], true), "{id} twice");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_calls_at_once_over_http() {
    let server = serving([tools::echo(), tools::sleep()]);
    let web = Web::start(&server, HttpLimits::default()).await;
    let slow = stateless(
        "slow",
        "tools/call",
        calling("sleep", json!({ "ms": 60_000 })),
    );
    let mut hanging = web.connect().await;
    let slow = web.stateless(&slow);
    hanging.write_all(slow.as_bytes()).await.unwrap();
    let before = descriptors();
    let mut calls = JoinSet::new();
    for id in 0..1000_usize {
        let request = web.stateless(&stateless(id, "tools/call", call(id)));
        let mut stream = web.connect().await;
        calls.spawn(async move {
            soon(stream.write_all(request.as_bytes())).await.unwrap();
            let reply = Reply::read(&mut stream).await;
            assert_eq!(reply.status, 200, "{reply:?}");
            assert_eq!(text(&reply.json()["result"]), id.to_string());
        });
    }
    while let Some(done) = calls.join_next().await {
        done.unwrap();
    }
    until(|| descriptors() <= before).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_thousand_sessions_leave_nothing_behind() {
    let server = serving([tools::echo()]);
    let mut limits = HttpLimits::default();
    limits.sessions = 4000;
    let web = std::sync::Arc::new(Web::start(&server, limits).await);
    // Once before counting: what is made on first use stays.
    let first = web.open(json!({})).await;
    web.close(&first).await;
    let before = descriptors();
    let mut clients = JoinSet::new();
    for _ in 0..8 {
        let web = std::sync::Arc::clone(&web);
        clients.spawn(async move {
            let mut sessions = Vec::new();
            for _ in 0..250 {
                sessions.push(web.open(json!({})).await);
            }
            sessions
        });
    }
    let mut sessions = Vec::new();
    while let Some(opened) = clients.join_next().await {
        sessions.extend(opened.unwrap());
    }
    let page = web.get("/metrics").await.body;
    assert!(page.contains("toolsmith_http_sessions 2000\n"), "{page}");
    for session in &sessions {
        assert!(web.close(session).await.status < 300);
    }
    let page = web.get("/metrics").await.body;
    assert!(page.contains("toolsmith_http_sessions 0\n"), "{page}");
    until(|| descriptors() <= before).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_clients_that_come_and_go() {
    let server = serving([tools::echo()]);
    let handle = tokio::runtime::Handle::current();
    let before = handle.metrics().num_alive_tasks();
    let mut clients = JoinSet::new();
    for number in 0..1000_usize {
        let server = server.clone();
        clients.spawn(async move {
            let mut client = Client::handshake(&server, json!({})).await;
            let result = client.call("echo", json!({ "text": "a" })).await;
            assert_eq!(text(&result), "a");
            // Half of them leave without a word.
            if number % 2 == 0 {
                client.hang_up().await;
                soon(client.served).await.unwrap().unwrap();
            }
        });
    }
    while let Some(done) = clients.join_next().await {
        done.unwrap();
    }
    until(|| handle.metrics().num_alive_tasks() <= before).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn questions_that_were_answered_leave_nothing_behind() {
    use toolsmith_core::reply::{Question, Response};
    use toolsmith_core::{Outcome, ToolContext};
    let ask = super::support::tool("ask", async |_, context: ToolContext| {
        match context.ask(Question::Roots).await {
            Response::Given(_) => Outcome::text("given"),
            other => Outcome::text(format!("{other:?}")),
        }
    });
    let server = serving([ask]);
    let mut client = Client::connect(&server);
    let roots = || json!({ "roots": {} });
    let handle = tokio::runtime::Handle::current();
    let mut before = 0;
    for round in 0..500 {
        if round == 10 {
            before = handle.metrics().num_alive_tasks();
        }
        let mut params = calling("ask", json!({}));
        let asked = client
            .ask_stateless(roots(), "tools/call", params.clone())
            .await;
        params["requestState"] = asked["result"]["requestState"].clone();
        params["inputResponses"] = json!({ "answer": { "roots": [] } });
        let answer = client.ask_stateless(roots(), "tools/call", params).await;
        assert_eq!(text(&answer["result"]), "given");
    }
    until(|| handle.metrics().num_alive_tasks() <= before + 2).await;
    assert_eq!(server.waiting(), 0);
}
