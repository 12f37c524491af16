//! Requests that were put off, and hosts that are asked no faster than they like.

use serde_json::json;
use toolsmith_core::ErrorKind;

use crate::http_server::{
    Server, answer, fails, make_from, make_with, ok, only, surroundings, value,
};

/// Puts off so many requests, and answers the next one.
async fn busy(times: usize, status: u16, header: &'static str) -> Server {
    Server::answering(move |_, before| {
        if before < times {
            answer(status, &[header], "busy")
        } else {
            ok(&json!("done"))
        }
    })
    .await
}

#[tokio::test]
async fn what_was_put_off_is_asked_for_again() {
    let date = "retry-after: Sun, 06 Nov 1994 08:49:37 GMT\r\ndate: Sun, 06 Nov 1994 08:49:37 GMT";
    for (status, header) in [
        (429, "retry-after: 0"),
        (503, "retry-after: 0"),
        (503, date),
    ] {
        let server = busy(2, status, header).await;
        let tool = server.tool(
            "{ name: t, api_url: SERVER, method: POST, parameters: { properties: { a: {} } } }",
        );
        assert_eq!(value(&tool, json!({ "a": 1 })).await, json!("done"));
        let bodies: Vec<_> = server.seen().iter().map(|seen| seen.json()).collect();
        assert_eq!(bodies, vec![json!({ "a": 1 }); 3], "each time the same");
    }
}

#[tokio::test]
async fn it_is_given_up_after_so_many_times() {
    for (retries, asked) in [("", 3), ("retries: 0,", 1), ("retries: 4,", 5)] {
        let server = busy(99, 429, "retry-after: 0").await;
        let tool = server.tool(&format!("{{ name: t, {retries} api_url: SERVER }}"));
        fails(&tool, json!({}), ErrorKind::Exhausted, "answered 429").await;
        assert_eq!(server.seen().len(), asked);
    }
}

#[tokio::test]
async fn nobody_waits_for_hours() {
    let server = busy(99, 503, "retry-after: 86400").await;
    let tool = server.tool("{ name: t, api_url: SERVER }");
    fails(
        &tool,
        json!({}),
        ErrorKind::Unavailable,
        "(retry after: 86400)",
    )
    .await;
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn other_failures_are_final() {
    let server = busy(99, 500, "retry-after: 0").await;
    let tool = server.tool("{ name: t, api_url: SERVER }");
    fails(&tool, json!({}), ErrorKind::Network, "answered 500").await;
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn a_host_has_one_rate_for_all_tools_of_a_process() {
    let server = Server::saying(json!(1)).await;
    let surroundings = surroundings();
    let tool = |name: &str| {
        let yaml = format!(
            "{{ name: {name}, api_url: {}, rate_limit: 2/h }}",
            server.url
        );
        only(&make_with(&yaml, &surroundings.clone()))
    };
    let (one, other) = (tool("one"), tool("other"));
    value(&one, json!({})).await;
    value(&other, json!({})).await;
    for tool in [&one, &other] {
        let told = "127.0.0.1 may be asked 2/h, and the next turn is in ";
        fails(tool, json!({}), ErrorKind::Exhausted, told).await;
    }
    assert_eq!(server.seen().len(), 2);
    // Another process, another count.
    let yaml = format!("{{ name: one, api_url: {}, rate_limit: 2/h }}", server.url);
    value(&only(&make_from(&yaml)), json!({})).await;
}
