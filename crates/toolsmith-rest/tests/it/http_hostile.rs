//! Servers that lie, leak and flood: what a call tells of them, and what it takes.

use serde_json::{Value, json};
use toolsmith_core::{AnyTool, ErrorKind};

use crate::http_server::{
    SECRET, Server, answer, call, fails, failure, make_from, ok, surroundings, value,
};

const OAUTH: &str = "{ name: t, api_url: SERVER/path, auth_method: oauth, auth: { \
                      token_url: SERVER/token, client_id: me, client_secret: '${SECRET}' } }";

/// A token with what JSON and addresses write otherwise.
const TOKEN: &str = "abc/def+ghi/jkl==";

/// A tool whose token is `TOKEN`, and whose answer is what is given.
async fn with_token(given: impl Fn() -> Vec<u8> + Send + Sync + 'static) -> (Server, AnyTool) {
    let server = Server::answering(move |seen, _| match seen.path.as_str() {
        "/token" => ok(&json!({ "access_token": TOKEN })),
        _ => given(),
    })
    .await;
    let tool = server.tool(OAUTH);
    (server, tool)
}

/// A tool without more to it, whose answer is what is given.
async fn plain(given: Vec<u8>) -> (Server, AnyTool) {
    let server = Server::answering(move |_, _| given.clone()).await;
    let tool = server.tool("{ name: t, api_url: SERVER/path }");
    (server, tool)
}

/// Most of a secret: what is left of it where a text is cut within it.
fn most(secret: &str) -> &str {
    &secret[..secret.len() - 2]
}

#[tokio::test]
async fn a_token_in_other_letters_is_taken_out_too() {
    let escaped = TOKEN.replace('/', "\\/");
    let coded: String = TOKEN
        .chars()
        .map(|c| format!("\\u{:04x}", u32::from(c)))
        .collect();
    for written in [TOKEN, &escaped, &coded] {
        let body = format!("{{\"a\":[\"Bearer {written}\"],\"{written}\":1}}");
        let (_server, tool) =
            with_token(move || answer(200, &["content-type: application/json"], &body)).await;
        let told = value(&tool, json!({})).await;
        assert_eq!(told, json!({ "a": ["Bearer [redacted]"], "[redacted]": 1 }));
    }
    for status in [400, 401, 500] {
        let body = format!("{{\"message\":\"{escaped} is no token\"}}");
        let (_server, tool) = with_token(move || answer(status, &[], &body)).await;
        let error = failure(&tool, json!({})).await;
        assert!(error.message.contains("[redacted]"), "{error}");
        assert!(!error.message.contains("def+ghi"), "{error}");
    }
}

#[tokio::test]
async fn no_header_of_a_failure_tells_a_token() {
    let header = format!("retry-after: {TOKEN}");
    let (_server, tool) = with_token(move || answer(400, &[&header], "")).await;
    let error = failure(&tool, json!({})).await;
    assert!(error.message.contains("retry after: [redacted]"), "{error}");
    let header = format!("content-type: image/{TOKEN}");
    let body = vec![0; (4 << 20) + 1];
    let (_server, tool) = with_token(move || answer(200, &[&header], &body)).await;
    let error = failure(&tool, json!({})).await;
    assert!(
        error.message.contains("bytes of image/[redacted]"),
        "{error}"
    );
    let header = format!("content-encoding: {TOKEN}");
    let (_server, tool) = with_token(move || answer(200, &[&header], "x")).await;
    let error = failure(&tool, json!({})).await;
    assert!(error.message.contains("compressed ([redacted])"), "{error}");
}

/// Secrets are hidden before a text is cut, at whichever place it is cut.
#[tokio::test]
async fn no_half_of_a_secret_is_told() {
    for room in [495, 498] {
        let padded = format!("{}{SECRET}", "x".repeat(room - SECRET.len()));
        let failed = json!({ "error": padded, "error_description": padded }).to_string();
        let server = Server::answering(move |_, _| answer(400, &[], &failed)).await;
        let error = failure(&server.tool(OAUTH), json!({})).await;
        assert!(!error.message.contains(most(SECRET)), "{error}");

        let padded = format!("{} {SECRET}", "x".repeat(room - SECRET.len() + 1));
        let server = Server::answering(move |_, _| answer(200, &[], &padded)).await;
        let tool = server.tool(
            "{ name: t, api_url: SERVER, auth_method: bearer, auth: { token: '${SECRET}' }, \
             response: { as: json } }",
        );
        let error = failure(&tool, json!({})).await;
        assert!(!error.message.contains(most(SECRET)), "{error}");
    }
}

/// A value that is looked up is a text: its braces are no places for arguments.
#[test]
fn a_brace_of_a_secret_is_no_place() {
    let mut surroundings = surroundings();
    surroundings.lookup = std::sync::Arc::new(Braced);
    let entry = serde_saphyr::from_str("{ name: t, api_url: 'https://a.example/${KEY}/x' }");
    let made = toolsmith_rest::make(&entry.unwrap(), &surroundings);
    assert!(made.tools.is_empty());
    let told = format!("{:?}", made.problems);
    assert!(told.contains("holds a brace"), "{told}");
    assert!(!told.contains("middle"), "{told}");
}

struct Braced;

impl toolsmith_core::reference::Lookup for Braced {
    fn variable(&self, _: &str) -> Option<String> {
        Some("first{middle}last".to_owned())
    }

    fn file(&self, _: &str) -> Result<String, String> {
        Err("there is none".to_owned())
    }
}

#[test]
fn a_key_is_in_no_header_that_only_the_client_writes() {
    for name in ["Host", "content-length", "Transfer-Encoding", "a b", ""] {
        let made = make_from(&format!(
            "{{ name: t, api_url: 'https://a.example', auth_method: api_key, \
             auth: {{ key: '${{SECRET}}', name: '{name}' }} }}"
        ));
        assert!(made.tools.is_empty(), "{name}");
        assert!(made.problems[0].message.contains("`auth.name`: it is"));
    }
}

#[tokio::test]
async fn a_list_within_an_object_brings_no_name_of_something_else() {
    let server = Server::saying(json!({})).await;
    let tool = server.tool(
        "{ name: t, api_url: SERVER, parameters: { properties: { ids: { type: array }, \
         filter: { type: object } } }, places: { ids: { in: query, name: 'ids[]' }, \
         filter: { in: query, object: form, list: brackets } } }",
    );
    let error = failure(&tool, json!({ "filter": { "ids": [1] }, "ids": [2] })).await;
    assert_eq!(error.kind, ErrorKind::InvalidParameters, "{error}");
    assert!(error.message.contains("belongs to another part"), "{error}");
    value(&tool, json!({ "filter": { "other": [1] }, "ids": [2] })).await;
    assert_eq!(server.only().query, "other%5B%5D=1&ids%5B%5D=2");
}

#[tokio::test]
async fn two_objects_bring_no_list_of_one_name() {
    let server = Server::saying(json!({})).await;
    let tool = server.tool(
        "{ name: t, api_url: SERVER, parameters: { properties: { a: { type: object }, \
         b: { type: object } } }, places: { a: { in: query, object: form, list: comma }, \
         b: { in: query, object: form, list: comma } } }",
    );
    let error = failure(&tool, json!({ "a": { "x": [1, 2] }, "b": { "x": [3] } })).await;
    assert!(error.message.contains("belongs to another part"), "{error}");
    assert_eq!(server.seen().len(), 0);
}

/// Servers read `ids[]` and `ids[0]` as parts of `ids`: what the schema says of that argument
/// would not be asked about them. Also where that argument itself is not given.
#[tokio::test]
async fn an_object_brings_no_part_of_another_argument() {
    let server = Server::saying(json!({})).await;
    let properties = "additionalProperties: true, properties: { ids: { type: array }, \
                      filter: { type: object }, role: { type: string }, more: { type: object } }";
    let places = |place: &str| {
        format!(
            "ids: {{ in: {place}, list: brackets }}, role: {{ in: {place}, name: part }}, \
             filter: {{ in: {place}, object: deep }}, more: {{ in: {place}, object: form }}"
        )
    };
    let tool = |more: &str, place: &str| {
        server.tool(&format!(
            "{{ name: t, api_url: SERVER, {more} parameters: {{ {properties} }}, \
             places: {{ {} }} }}",
            places(place)
        ))
    };
    let tools = [tool("", "query"), tool("method: POST, body: form,", "body")];
    for tool in &tools {
        for arguments in [
            json!({ "more": { "ids[]": 1 } }),
            json!({ "more": { "ids[0]": 1 }, "ids": [2] }),
            json!({ "more": { "ids": 1 } }),
            json!({ "more": { "filter[x]": 1 } }),
            json!({ "more": { "part": 1 } }),
            json!({ "part": 1 }),
        ] {
            let error = failure(tool, arguments.clone()).await;
            assert!(
                error.message.contains("belongs to another part"),
                "{arguments}: {error}"
            );
        }
    }
    let unnamed = json!({ "ids[]": 1 });
    assert!(
        failure(&tools[0], unnamed)
            .await
            .message
            .contains("belongs")
    );
    assert_eq!(server.seen().len(), 0);
    let fitting =
        json!({ "more": { "meta[a]": 1, "meta[b]": 2 }, "filter": { "x": 1 }, "ids": [3] });
    value(&tools[0], fitting).await;
    let query = "meta%5Ba%5D=1&meta%5Bb%5D=2&filter%5Bx%5D=1&ids%5B%5D=3";
    assert_eq!(server.only().query, query);
}

/// As a field of JSON too.
#[tokio::test]
async fn what_nobody_declared_is_no_field_of_what_somebody_did() {
    let server = Server::saying(json!({})).await;
    let tool = server.tool(
        "{ name: t, api_url: SERVER, method: POST, parameters: { additionalProperties: true, \
         properties: { role: { enum: [user] } } }, places: { role: { in: body, name: part } } }",
    );
    let error = failure(&tool, json!({ "part": "admin" })).await;
    assert!(error.message.contains("belongs to another part"), "{error}");
    assert_eq!(server.seen().len(), 0);
}

#[tokio::test]
async fn compressed_and_other_bytes_of_a_failure_are_not_told() {
    let zipped = b"\x1f\x8b\x08\x00abcabcabc";
    for headers in [
        &["content-encoding: gzip"][..],
        &["content-encoding: identity", "content-encoding: br"],
        &["content-type: image/png"],
        &["content-type: application/octet-stream"],
    ] {
        let (_server, tool) = plain(answer(500, headers, zipped)).await;
        let error = failure(&tool, json!({})).await;
        assert!(
            error
                .message
                .ends_with("answered 500 Internal Server Error"),
            "{error}"
        );
    }
    let (server, tool) = plain(answer(200, &["content-encoding: gzip"], zipped)).await;
    fails(&tool, json!({}), ErrorKind::Failed, "compressed (gzip)").await;
    // It was not asked for, in so many words.
    assert_eq!(server.only().header("accept-encoding"), Some("identity"));
}

#[tokio::test]
async fn odd_statuses_are_failures_that_say_which() {
    for (status, kind) in [
        (304, ErrorKind::Failed),
        (302, ErrorKind::Failed),
        (399, ErrorKind::Failed),
        (999, ErrorKind::Network),
    ] {
        let (_server, tool) = plain(answer(status, &[], "")).await;
        fails(&tool, json!({}), kind, &format!("answered {status}")).await;
    }
    let switching = b"HTTP/1.1 101 Other\r\nupgrade: x\r\nconnection: upgrade\r\n\r\nabc".to_vec();
    let (_server, tool) = plain(switching).await;
    fails(&tool, json!({}), ErrorKind::Failed, "answered 101").await;
}

#[tokio::test]
async fn what_comes_before_an_answer_is_passed_over() {
    let mut given = b"HTTP/1.1 103 Early\r\nlink: </a>\r\n\r\n".repeat(50);
    given.extend(ok(&json!([1])));
    let (_server, tool) = plain(given).await;
    assert_eq!(value(&tool, json!({})).await, json!([1]));
}

#[tokio::test]
async fn cookies_of_a_server_are_not_kept() {
    let headers = ["content-type: application/json", "set-cookie: a=b; Path=/"];
    let (server, tool) = plain(answer(200, &headers, "1")).await;
    for _ in 0..2 {
        let outcome = call(&tool, json!({})).await;
        assert!(!format!("{outcome:?}").contains("a=b"));
    }
    for seen in server.seen() {
        assert_eq!(seen.header("cookie"), None);
    }
}

#[tokio::test]
async fn two_types_are_taken_for_the_first() {
    let headers = ["content-type: application/json", "content-type: text/plain"];
    let (_server, tool) = plain(answer(200, &headers, "[1]")).await;
    assert_eq!(value(&tool, json!({})).await, json!([1]));
}

#[tokio::test]
async fn lengths_and_chunks_that_are_none() {
    let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    for given in [
        format!("{chunked}zz\r\nabc\r\n"),
        format!("{chunked}ffffffffffffffffff\r\nabc"),
        format!("{chunked}3\r\nabcdef\r\n0\r\n\r\n"),
        "HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\nabc".to_owned(),
        "HTTP/1.1 200 OK\r\ncontent-length: 3\r\ncontent-length: 5\r\n\r\nabcde".to_owned(),
        "HTTP/1.1 200 OK\r\ncontent-length: 99999999999999999999999\r\n\r\nabc".to_owned(),
    ] {
        let (_server, tool) = plain(given.clone().into_bytes()).await;
        let error = failure(&tool, json!({})).await;
        assert_eq!(error.kind, ErrorKind::Network, "{given}: {error}");
    }
    let long = "HTTP/1.1 200 OK\r\ncontent-length: 8388609\r\n\r\nabc";
    let (_server, tool) = plain(long.as_bytes().to_vec()).await;
    fails(
        &tool,
        json!({}),
        ErrorKind::Failed,
        "longer than 8388608 bytes",
    )
    .await;
}

#[tokio::test]
async fn json_that_is_a_trap() {
    let deep = "[".repeat(10_000) + &"]".repeat(10_000);
    for (body, told) in [
        (deep.as_str(), "deeper than 100"),
        ("{\"a\":1,\"a\":2}", "duplicate key"),
        ("[1e999]", "out of range"),
        ("{\"a\":NaN}", "no JSON we accept"),
        ("[1]\0", "no JSON we accept"),
    ] {
        let server = Server::answering({
            let body = body.to_owned();
            move |_, _| answer(200, &["content-type: application/json"], &body)
        })
        .await;
        for more in ["", ", response: { select: /a/b/0 }"] {
            let tool = server.tool(&format!("{{ name: t, api_url: SERVER{more} }}"));
            fails(&tool, json!({}), ErrorKind::Failed, told).await;
        }
    }
}

/// A few megabytes of text that would take hundreds once they are read.
#[tokio::test]
async fn an_answer_of_very_many_values_is_refused_before_it_is_read() {
    for entry in ["{\"a\":\"b\"},", "[[0]],", "{},"] {
        let body = format!("[{}0]", entry.repeat(500_000));
        let (_server, tool) = plain(answer(200, &["content-type: application/json"], &body)).await;
        fails(&tool, json!({}), ErrorKind::Failed, "more values than").await;
    }
    let body: Value = vec![json!({ "id": 1, "name": "someone" }); 50_000].into();
    let (_server, tool) = plain(ok(&body)).await;
    assert_eq!(call(&tool, json!({})).await.error, None);
}

#[tokio::test]
async fn pages_of_very_many_values_end_early() {
    let page = format!("[{}0]", "{\"a\":\"b\"},".repeat(120_000));
    let server =
        Server::answering(move |_, _| answer(200, &["content-type: application/json"], &page))
            .await;
    let tool = server.tool("{ name: t, api_url: SERVER, pagination: { style: page } }");
    let outcome = call(&tool, json!({})).await;
    assert_eq!(outcome.error, None);
    assert_eq!(outcome.metadata["complete"], false);
    assert_eq!(server.seen().len(), 1);
}
