//! What becomes of answers: good ones, odd ones and hostile ones.

use serde_json::{Value, json};
use toolsmith_core::{AnyTool, Block, CancellationToken, ErrorKind, RawCall};
use toolsmith_runtime::Caller;

use crate::http_server::{ENDLESS, HANG, Server, answer, call, fails, failure, ok, toolbox, value};

async fn tool_for(given: Vec<u8>, more: &str) -> (Server, AnyTool) {
    let server = Server::answering(move |_, _| given.clone()).await;
    let tool = server.tool(&format!("{{ name: t, api_url: SERVER/path, {more} }}"));
    (server, tool)
}

#[tokio::test]
async fn answers_are_read_by_their_type() {
    for (kind, body, expected) in [
        (
            "application/json",
            b"{\"a\":1}".as_slice(),
            json!({ "a": 1 }),
        ),
        (
            "application/problem+json; charset=utf-8",
            b"[1]",
            json!([1]),
        ),
        ("text/plain", b"{\"a\":1}", json!("{\"a\":1}")),
        (
            "text/html; charset=ISO-8859-1",
            b"<p>caf\xe9</p>",
            json!("<p>café</p>"),
        ),
        (
            "text/plain; charset=\"Shift_JIS\"",
            b"\x93\xfa\x96\x7b",
            json!("日本"),
        ),
        (
            "application/json; charset=utf-16le",
            b"[\x001\0]\0",
            json!([1]),
        ),
        ("application/xml", b"<a/>", json!("<a/>")),
        ("application/x-ndjson", b"1\n2\n", json!("1\n2\n")),
        // It says nothing of its type, so it is taken for what it looks like.
        ("", b" {\"a\":1}", json!({ "a": 1 })),
        ("", b"plain", json!("plain")),
        (
            "application/octet-stream",
            b"plain after all",
            json!("plain after all"),
        ),
        // A charset nobody knows is none.
        ("text/plain; charset=klingon", "ü".as_bytes(), json!("ü")),
    ] {
        let header = format!("content-type: {kind}");
        let (_server, tool) = tool_for(answer(200, &[&header], body), "").await;
        assert_eq!(value(&tool, json!({})).await, expected, "{kind}");
    }
}

#[tokio::test]
async fn a_wrong_charset_is_told() {
    let given = answer(
        200,
        &["content-type: text/plain; charset=utf-8"],
        b"caf\xe9",
    );
    let (_server, tool) = tool_for(given, "").await;
    let outcome = call(&tool, json!({})).await;
    assert_eq!(outcome.value, Some(json!("caf\u{fffd}")));
    assert!(outcome.message.unwrap().contains("could not be read"));
}

#[tokio::test]
async fn images_are_shown_and_other_bytes_are_not() {
    let (_server, tool) = tool_for(answer(200, &["content-type: image/png"], b"\x89PNG"), "").await;
    let outcome = call(&tool, json!({})).await;
    let image = Block::Image {
        data: "iVBORw==".to_owned(),
        mime_type: "image/png".to_owned(),
    };
    assert_eq!(outcome.content, [image]);
    let (_server, tool) = tool_for(
        answer(200, &["content-type: application/pdf"], b"%PDF\0\xff"),
        "",
    )
    .await;
    fails(
        &tool,
        json!({}),
        ErrorKind::Failed,
        "the answer is 6 bytes of application/pdf",
    )
    .await;
    let large = answer(200, &["content-type: image/png"], vec![1; 5 << 20]);
    let (_server, tool) = tool_for(large, "").await;
    fails(
        &tool,
        json!({}),
        ErrorKind::Failed,
        "5242880 bytes of image/png",
    )
    .await;
}

#[tokio::test]
async fn nothing_is_a_success_too() {
    for given in [
        b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n".to_vec(),
        answer(200, &["content-type: application/json"], ""),
        answer(201, &[], " \r\n"),
    ] {
        let (server, tool) = tool_for(given, "response: { as: json, select: /a }").await;
        let outcome = call(&tool, json!({})).await;
        assert!(outcome.is_success(), "{outcome:?}");
        let told = outcome.message.unwrap();
        assert!(
            told.starts_with(&format!("GET {}/path answered 20", server.url)),
            "{told}"
        );
    }
}

#[tokio::test]
async fn statuses_and_their_kinds() {
    for (status, kind) in [
        (301, ErrorKind::Failed),
        (400, ErrorKind::Failed),
        (401, ErrorKind::PermissionDenied),
        (403, ErrorKind::PermissionDenied),
        (404, ErrorKind::Failed),
        (408, ErrorKind::Timeout),
        (422, ErrorKind::Failed),
        (429, ErrorKind::Exhausted),
        (500, ErrorKind::Network),
        (502, ErrorKind::Network),
        (503, ErrorKind::Unavailable),
        (504, ErrorKind::Timeout),
    ] {
        let (server, tool) =
            tool_for(answer(status, &[], "it\n\n\x07says  no"), "retries: 0").await;
        let error = failure(&tool, json!({})).await;
        assert_eq!(error.kind, kind, "{status}");
        assert_eq!(error.details, Some(json!({ "status": status })));
        let line = format!("GET {}/path answered {status}", server.url);
        assert!(error.message.starts_with(&line), "{error}");
        assert!(error.message.ends_with(": it says no"), "{error}");
        assert_eq!(server.seen().len(), 1);
    }
}

#[tokio::test]
async fn parts_of_an_answer() {
    let body = json!({ "data": { "items": [{ "n": 1 }], "a/b": 5, "none": null } });
    for (pointer, expected) in [
        ("/data/items", Ok(json!([{ "n": 1 }]))),
        ("/data/items/0/n", Ok(json!(1))),
        ("/data/a~1b", Ok(json!(5))),
        ("", Ok(body.clone())),
        ("/data/none", Ok(Value::Null)),
        (
            "/data/other/x",
            Err("the answer has no /data/other/x; /data there is items, a/b, none"),
        ),
        (
            "/other",
            Err("the answer has no /other; at the top there is data"),
        ),
        ("/data/items/7", Err("/data/items there is a list of 1")),
        ("/data/a~1b/c", Err("/data/a~1b there is a single value")),
    ] {
        let (_server, tool) =
            tool_for(ok(&body), &format!("response: {{ select: '{pointer}' }}")).await;
        match expected {
            Ok(expected) => assert_eq!(value(&tool, json!({})).await, expected, "{pointer}"),
            Err(told) => fails(&tool, json!({}), ErrorKind::Failed, told).await,
        }
    }
}

#[tokio::test]
async fn texts_by_a_template() {
    let body = json!({ "list": [{ "n": "a" }, { "n": "<b>" }] });
    let template = "response: { select: /list, template: \
                    '{{ status }}: {% for it in value %}{{ it.n }};{% endfor %}' }";
    let (_server, tool) = tool_for(ok(&body), template).await;
    let outcome = call(&tool, json!({})).await;
    assert_eq!(outcome.content, [Block::text("200: a;<b>;")]);
    assert_eq!(outcome.value, Some(body["list"].clone()));
    for (template, told) in [
        (
            "{% for a in range(9999) %}{% for b in range(9999) %}x{% endfor %}{% endfor %}",
            "fuel",
        ),
        (
            "{% for a in range(9000) %}{{ value.long }}{% endfor %}",
            "failed to write",
        ),
        ("{{ value.nothing() }}", "failed"),
    ] {
        let body = json!({ "long": "x".repeat(10_000) });
        let (_server, tool) = tool_for(
            ok(&body),
            &format!("response: {{ template: '{template}' }}"),
        )
        .await;
        let error = failure(&tool, json!({})).await;
        assert!(
            error.message.contains("`response.template` failed"),
            "{error}"
        );
        assert!(error.message.contains(told), "{error}");
    }
}

#[tokio::test]
async fn a_kind_the_file_names_counts() {
    let html = answer(200, &["content-type: text/html"], "<h1>Sign in</h1>");
    let (_server, tool) = tool_for(html.clone(), "response: { as: json }").await;
    fails(
        &tool,
        json!({}),
        ErrorKind::Failed,
        "the answer is text/html, not JSON: <h1>Sign in",
    )
    .await;
    let (_server, tool) = tool_for(html, "response: { select: /a }").await;
    fails(
        &tool,
        json!({}),
        ErrorKind::Failed,
        "is no JSON, so nothing can be selected",
    )
    .await;
    let (_server, tool) = tool_for(ok(&json!([1])), "response: { as: text }").await;
    assert_eq!(value(&tool, json!({})).await, json!("[1]"));
    let schema = "response: { schema: { type: array } }";
    let (_server, tool) = tool_for(ok(&json!([1])), schema).await;
    assert_eq!(
        tool.definition().output.as_ref().unwrap().as_value(),
        &json!({ "type": "array" })
    );
}

#[tokio::test]
async fn json_that_is_none() {
    let json_type = "content-type: application/json";
    for (body, told) in [
        (
            r#"{"a": [1, 2"#.to_owned(),
            "the JSON ends in the middle, after 11 bytes",
        ),
        ("{\"a\": 1} x".to_owned(), "no JSON we accept"),
        (r#"{"a": 1, "a": 2}"#.to_owned(), "duplicate key"),
        ("[".repeat(100_000), "no JSON we accept"),
    ] {
        let (_server, tool) = tool_for(answer(200, &[json_type], &body), "").await;
        fails(&tool, json!({}), ErrorKind::Failed, told).await;
    }
}

#[tokio::test]
async fn an_answer_that_breaks_off() {
    let given =
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{\"a\":";
    let (_server, tool) = tool_for(given.to_vec(), "").await;
    fails(&tool, json!({}), ErrorKind::Network, "the answer broke off").await;
    let (_server, tool) = tool_for(b"garbage\r\n\r\n".to_vec(), "").await;
    fails(&tool, json!({}), ErrorKind::Network, "/path").await;
}

#[tokio::test]
async fn an_answer_without_end_is_left_at_its_limit() {
    let mut given = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n".to_vec();
    given.extend_from_slice(ENDLESS);
    let (_server, tool) = tool_for(given, "").await;
    fails(
        &tool,
        json!({}),
        ErrorKind::Failed,
        "longer than 8388608 bytes",
    )
    .await;
    // One that says beforehand how long it is is not read at all.
    let given = b"HTTP/1.1 200 OK\r\ncontent-length: 1073741824\r\n\r\n".to_vec();
    let (_server, tool) = tool_for(given, "").await;
    fails(
        &tool,
        json!({}),
        ErrorKind::Failed,
        "longer than 8388608 bytes",
    )
    .await;
    // A failure without end is told by its beginning.
    let mut given = b"HTTP/1.1 500 No\r\n\r\n".to_vec();
    given.extend_from_slice(ENDLESS);
    let (_server, tool) = tool_for(given, "").await;
    let error = failure(&tool, json!({})).await;
    assert!(error.message.len() < 1000, "{error}");
}

#[tokio::test]
async fn headers_without_end_are_an_error() {
    let long = format!("HTTP/1.1 200 OK\r\nx-long: {}\r\n\r\n", "y".repeat(2 << 20));
    let (_server, tool) = tool_for(long.into_bytes(), "").await;
    assert_eq!(failure(&tool, json!({})).await.kind, ErrorKind::Network);
}

#[tokio::test]
async fn what_nobody_asked_to_be_compressed() {
    let (_server, tool) =
        tool_for(answer(200, &["content-encoding: gzip"], "\x1f\u{8b}"), "").await;
    fails(&tool, json!({}), ErrorKind::Failed, "compressed (gzip)").await;
}

#[tokio::test]
async fn a_server_that_hangs_is_left_when_the_call_is_given_up() {
    let token = CancellationToken::new();
    let given_up = token.clone();
    // It is given up while it waits, and not before.
    let server = Server::answering(move |_, _| {
        given_up.cancel();
        HANG.to_vec()
    })
    .await;
    let toolbox = toolbox(&server.tool("{ name: t, api_url: SERVER }"));
    let caller = Caller::new("test").with_cancellation(token);
    let reply = toolbox.run(RawCall::new("t", json!({})), &caller).await;
    assert_eq!(
        reply.into_outcome().error.unwrap().kind,
        ErrorKind::Cancelled
    );
    server.gone.notified().await;
}

#[tokio::test]
async fn a_server_that_hangs_is_left_when_the_time_is_up() {
    let (server, tool) = tool_for(HANG.to_vec(), "timeout: 50ms").await;
    let error = failure(&tool, json!({})).await;
    assert_eq!(error.kind, ErrorKind::Timeout);
    // On a busy machine the time may be up before the request is there.
    if !server.seen().is_empty() {
        server.gone.notified().await;
    }
}

#[tokio::test]
async fn redirects_stay_where_they_are() {
    let other = Server::saying(json!("private")).await;
    let elsewhere = other.url.clone();
    let server = Server::answering(move |seen, _| match seen.path.as_str() {
        "/away" => answer(307, &[&format!("location: {elsewhere}/x?key=1")], ""),
        "/inside" => answer(302, &["location: http://169.254.169.254/latest"], ""),
        "/here" => answer(302, &["location: /there"], ""),
        _ => ok(&json!("there")),
    })
    .await;
    let tool = |path: &str| {
        server.tool(&format!(
            "{{ name: t, api_url: SERVER, path: {path}, api_key: abcdefgh }}"
        ))
    };
    assert_eq!(value(&tool("/here"), json!({})).await, json!("there"));
    fails(
        &tool("/away"),
        json!({}),
        ErrorKind::PermissionDenied,
        "leads to another server",
    )
    .await;
    fails(
        &tool("/inside"),
        json!({}),
        ErrorKind::PermissionDenied,
        "leads to another server",
    )
    .await;
    assert_eq!(other.seen().len(), 0);
}
