//! Requests that were put off, and hosts that are asked no faster than they like.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::json;
use toolsmith_core::{ErrorKind, RawCall};
use toolsmith_runtime::Caller;

use crate::http_server::{
    Server, answer, call, fails, failure, make_from, make_with, ok, only, surroundings, toolbox,
    value,
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
            "{ name: t, api_url: SERVER, method: PUT, parameters: { properties: { a: {} } } }",
        );
        assert_eq!(value(&tool, json!({ "a": 1 })).await, json!("done"));
        let bodies: Vec<_> = server.seen().iter().map(|seen| seen.json()).collect();
        assert_eq!(bodies, vec![json!({ "a": 1 }); 3], "each time the same");
    }
}

#[tokio::test]
async fn what_does_more_the_second_time_is_asked_for_once() {
    for (what, asked) in [
        ("method: POST", 1),
        ("method: PATCH", 1),
        ("method: POST, idempotent: true", 2),
        ("method: GET, idempotent: false", 1),
        ("method: DELETE", 2),
    ] {
        let server = busy(1, 503, "retry-after: 0").await;
        let tool = server.tool(&format!("{{ name: t, api_url: SERVER, {what} }}"));
        call(&tool, json!({})).await;
        assert_eq!(server.seen().len(), asked, "{what}");
    }
}

#[tokio::test]
async fn a_call_with_a_key_may_be_made_again_and_each_time_has_the_same() {
    let server = busy(2, 429, "retry-after: 0").await;
    let tool = server
        .tool("{ name: t, api_url: SERVER, method: POST, idempotency_header: Idempotency-Key }");
    assert_eq!(
        tool.definition().hints.idempotent,
        None,
        "to its callers it is not"
    );
    assert_eq!(value(&tool, json!({})).await, json!("done"));
    let keys: BTreeSet<String> = server
        .take()
        .iter()
        .map(|seen| seen.header("idempotency-key").unwrap().to_owned())
        .collect();
    assert_eq!(keys.len(), 1);
    assert_eq!(keys.first().unwrap().len(), 32);
    // Another call is another wish, unless the caller says that it is the same.
    value(&tool, json!({})).await;
    assert!(!keys.contains(server.last().header("idempotency-key").unwrap()));
    let caller = Caller::new("test").with_idempotency_key("order-7");
    let toolbox = toolbox(&tool);
    toolbox.run(RawCall::new("t", json!({})), &caller).await;
    assert_eq!(server.last().header("idempotency-key"), Some("order-7"));
    // One that would break out of its header is not sent.
    let before = server.seen().len();
    for bad in ["a\r\nx: y", "", "ä", &"k".repeat(256)] {
        let caller = Caller::new("test").with_idempotency_key(bad);
        let reply = toolbox.run(RawCall::new("t", json!({})), &caller).await;
        let error = reply.into_outcome().error.unwrap();
        assert_eq!(error.kind, ErrorKind::InvalidParameters, "{bad:?}");
    }
    assert_eq!(server.seen().len(), before);
}

#[test]
fn a_header_for_the_key_must_be_one_and_be_free() {
    for (what, told) in [
        ("idempotency_header: 'a b'", "`idempotency_header`"),
        (
            "idempotency_header: X-One, headers: { x-one: a }",
            "sets this header already",
        ),
        (
            "idempotency_header: Authorization, api_key: k, auth_method: bearer",
            "already",
        ),
        ("idempotency_header: Host", "`idempotency_header`"),
    ] {
        let made = make_from(&format!("{{ name: t, api_url: 'https://a.test', {what} }}"));
        let told_of = made
            .problems
            .iter()
            .any(|problem| problem.message.contains(told));
        assert!(told_of, "{what}: {:?}", made.problems);
    }
}

#[tokio::test]
async fn it_is_given_up_after_so_many_times() {
    for (retries, asked) in [("", 3), ("retries: 0,", 1), ("retries: 1,", 2)] {
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
    let error = failure(&tool, json!({})).await;
    assert_eq!(error.kind, ErrorKind::Unavailable);
    assert!(error.message.contains("(retry after: 86400)"), "{error}");
    assert_eq!(error.retry_after(), Some(Duration::from_secs(86_400)));
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn failures_of_the_server_may_pass_and_those_of_the_call_may_not() {
    for (status, asked) in [(500, 3), (502, 3), (504, 3), (400, 1), (404, 1), (401, 1)] {
        let server = busy(99, status, "retry-after: 0").await;
        let tool = server.tool("{ name: t, api_url: SERVER }");
        let told = format!("answered {status}");
        assert!(failure(&tool, json!({})).await.message.contains(&told));
        assert_eq!(server.seen().len(), asked, "{status}");
    }
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

#[test]
fn what_stands_behind_a_tool_is_told_by_its_mark() {
    let mark = |yaml: &str| only(&make_from(yaml)).mark().to_owned();
    let first = mark("{ name: t, api_url: 'https://a.test' }");
    assert_eq!(first, mark("{ name: t, api_url: 'https://a.test' }"));
    assert_eq!(first.len(), 64);
    for other in [
        "{ name: t, api_url: 'https://b.test' }",
        "{ name: t, api_url: 'https://a.test', path: /x }",
        "{ name: t, api_url: 'https://a.test', method: POST }",
        "{ name: t, api_url: 'https://a.test', headers: { x-a: b } }",
        "{ name: t, command: [/bin/echo, hello], sandbox: none }",
        "{ name: t, command: [/bin/echo, other], sandbox: none }",
    ] {
        assert_ne!(mark(other), first, "{other}");
    }
}
