//! Lists that come in pages.

use serde_json::{Value, json};
use toolsmith_core::{ErrorKind, Outcome};

use crate::http_server::{Seen, Server, answer, call, fails, ok};

/// Seven entries, in pages of three.
fn entries(from: usize) -> Vec<usize> {
    (from..7).take(3).collect()
}

fn number(seen: &Seen, name: &str) -> usize {
    let pairs = seen.pairs();
    let found = pairs.iter().find(|(key, _)| key == name);
    found.map_or(0, |(_, value)| value.parse().unwrap())
}

async fn gathered(server: &Server, pagination: &str, given: Value) -> Outcome {
    let tool = server.tool(&format!(
        "{{ name: t, api_url: SERVER, path: /list, pagination: {pagination}, \
          parameters: {{ properties: {{ page: {{}}, q: {{}} }} }} }}"
    ));
    let outcome = call(&tool, given).await;
    assert_eq!(outcome.error, None);
    outcome
}

#[tokio::test]
async fn by_number() {
    let server = Server::answering(|seen, _| {
        let page = number(seen, "page");
        ok(&json!({ "data": entries((page - 1) * 3) }))
    })
    .await;
    let pages = "{ style: page, items: /data }";
    let outcome = gathered(&server, pages, json!({ "q": "x y" })).await;
    assert_eq!(outcome.value, Some(json!([0, 1, 2, 3, 4, 5, 6])));
    assert_eq!(outcome.metadata["complete"], json!(true));
    let asked: Vec<String> = server.seen().into_iter().map(|seen| seen.query).collect();
    assert_eq!(
        asked,
        [
            "q=x+y&page=1",
            "q=x+y&page=2",
            "q=x+y&page=3",
            "q=x+y&page=4"
        ]
    );
    // An argument says where to begin.
    let outcome = gathered(&server, pages, json!({ "page": 3 })).await;
    assert_eq!(outcome.value, Some(json!([6])));
    // What stops early says so, to programs and to the model.
    let outcome = gathered(
        &server,
        "{ style: page, items: /data, max_pages: 2 }",
        json!({}),
    )
    .await;
    assert_eq!(outcome.value, Some(json!([0, 1, 2, 3, 4, 5])));
    assert_eq!(outcome.metadata["complete"], json!(false));
    assert!(
        outcome
            .instruction
            .unwrap()
            .contains("only the first 2 pages")
    );
}

#[tokio::test]
async fn by_offset() {
    let server = Server::answering(|seen, _| ok(&json!(entries(number(seen, "skip"))))).await;
    let pages = "{ style: offset, parameter: skip }";
    let outcome = gathered(&server, pages, json!({})).await;
    assert_eq!(outcome.value, Some(json!([0, 1, 2, 3, 4, 5, 6])));
    let asked: Vec<String> = server.seen().into_iter().map(|seen| seen.query).collect();
    assert_eq!(asked, ["skip=0", "skip=3", "skip=6", "skip=7"]);
}

#[tokio::test]
async fn by_cursor() {
    let server = Server::answering(|seen, _| {
        let from = number(seen, "after");
        let next = (from + 3 < 7).then(|| (from + 3).to_string());
        ok(&json!({ "items": entries(from), "meta": { "next": next } }))
    })
    .await;
    let pages = "{ style: cursor, parameter: after, items: /items, next: /meta/next }";
    let outcome = gathered(&server, pages, json!({})).await;
    assert_eq!(outcome.value, Some(json!([0, 1, 2, 3, 4, 5, 6])));
    let asked: Vec<String> = server.seen().into_iter().map(|seen| seen.query).collect();
    assert_eq!(asked, ["", "after=3", "after=6"]);
    // A cursor is a text of the server and stays in its place.
    let server = Server::answering(|seen, _| {
        let next = seen.query.is_empty().then_some("a&q=2#/../");
        ok(&json!({ "items": [1], "meta": { "next": next } }))
    })
    .await;
    gathered(&server, pages, json!({})).await;
    let asked: Vec<_> = server.seen().into_iter().map(|seen| seen.pairs()).collect();
    assert_eq!(asked[1], [("after".to_owned(), "a&q=2#/../".to_owned())]);
}

#[tokio::test]
async fn by_link() {
    let server = Server::answering(|seen, _| {
        let from = number(seen, "from");
        let link = format!(
            "link: </list?key=old>; rel=prev, </list?from={}>; rel=\"next\"",
            from + 3
        );
        let body = json!(entries(from)).to_string();
        let headers = ["content-type: application/json", &link];
        answer(200, &headers[..if from < 6 { 2 } else { 1 }], body)
    })
    .await;
    let outcome = gathered(&server, "{ style: link }", json!({})).await;
    assert_eq!(outcome.value, Some(json!([0, 1, 2, 3, 4, 5, 6])));
    let server = Server::answering(|seen, _| {
        let next = (!seen.query.contains("from")).then_some("?from=3");
        ok(&json!({ "items": [seen.query], "next": next }))
    })
    .await;
    let tool = server.tool(
        "{ name: t, api_url: SERVER/list, pagination: { style: link, items: /items, next: /next }, \
          auth_method: api_key, auth: { key: abcdefg, in: query, name: key } }",
    );
    call(&tool, json!({})).await;
    let asked: Vec<String> = server.seen().into_iter().map(|seen| seen.query).collect();
    assert_eq!(asked, ["key=abcdefg", "from=3&key=abcdefg"]);
}

#[tokio::test]
async fn a_next_page_elsewhere_is_not_asked_for() {
    let other = Server::saying(json!([9])).await;
    for next in [
        other.url.clone(),
        other.url.replace("http://", "//"),
        "http://user@127.0.0.1/".to_owned(),
        "file:///etc/passwd".to_owned(),
    ] {
        let server =
            Server::answering(move |_, _| ok(&json!({ "items": [1], "next": next }))).await;
        let pages = "{ style: link, items: /items, next: /next }";
        let outcome = gathered(&server, pages, json!({})).await;
        assert_eq!(outcome.value, Some(json!([1])));
        assert!(outcome.instruction.unwrap().contains("at another server"));
        assert_eq!((server.seen().len(), other.seen().len()), (1, 0));
    }
}

#[tokio::test]
async fn pages_that_go_round_in_circles_or_never_end() {
    let server = Server::answering(|_, _| ok(&json!({ "items": [1], "next": "same" }))).await;
    let pages = "{ style: cursor, items: /items, next: /next, max_pages: 50 }";
    let outcome = gathered(&server, pages, json!({})).await;
    assert_eq!(outcome.value, Some(json!([1, 1])));
    assert!(outcome.instruction.unwrap().contains("read already"));
    let server = Server::answering(|_, _| ok(&json!(["x".repeat(3 << 20)]))).await;
    let outcome = gathered(&server, "{ style: page, max_pages: 50 }", json!({})).await;
    assert!(
        outcome
            .instruction
            .unwrap()
            .contains("the first 3 pages have")
    );
    assert_eq!(server.seen().len(), 3);
}

#[tokio::test]
async fn pages_that_are_none() {
    for (given, told) in [
        (
            ok(&json!({ "data": [] })),
            "the answer has no /items; at the top there is data",
        ),
        (ok(&json!({ "items": 5 })), "are no list"),
        (
            answer(200, &["content-type: text/html"], "<p>"),
            "page 1 is no JSON",
        ),
    ] {
        let server = Server::answering(move |_, _| given.clone()).await;
        let tool =
            server.tool("{ name: t, api_url: SERVER, pagination: { style: page, items: /items } }");
        fails(&tool, json!({}), ErrorKind::Failed, told).await;
    }
}
