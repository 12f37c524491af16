//! Requests that are none of ours, or none at all: refused, and nobody suffers.

use serde_json::json;
use toolsmith_mcp::server::http::HttpLimits;
use toolsmith_testing::tools;

use super::support::{calling, initialize, note, request, serving, stateless};
use super::web::{TOKEN, Web};

pub(super) async fn web() -> Web {
    let mut limits = HttpLimits::default();
    limits.body_bytes = 100_000;
    limits.head_bytes = 16 << 10;
    Web::start(&serving([tools::echo()]), limits).await
}

/// Sends each request; its answer must have one of these statuses.
pub(super) async fn check_all(web: &Web, cases: Vec<(&str, String, &[u16])>) {
    let mut wrong = Vec::new();
    for (name, request, statuses) in cases {
        let reply = web.raw(&request).await;
        if !statuses.contains(&reply.status) {
            wrong.push(format!(
                "{name}: {} instead of {statuses:?}: {}",
                reply.status, reply.body
            ));
        }
        let head = reply.head.to_ascii_lowercase();
        assert!(!head.contains("access-control"), "{name}: {head}");
        assert!(
            !reply.head.contains(TOKEN) && !reply.body.contains(TOKEN),
            "{name}"
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(web.is_alive().await);
}

const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;

#[tokio::test]
async fn methods_paths_and_types_are_known_or_not() {
    let web = web().await;
    let good = web.good();
    let of = |method: &str, path: &str| {
        format!("{method} {path} HTTP/1.1\r\n{good}connection: close\r\ncontent-length: 0\r\n\r\n")
    };
    let list = stateless(1, "tools/list", json!({}));
    let typed = |kind: &str| {
        web.stateless(&list)
            .replace("content-type: application/json", kind)
    };
    let accepting = |kinds: &str| {
        web.stateless(&list)
            .replace("accept: application/json, text/event-stream", kinds)
    };
    let cases: Vec<(&str, String, &[u16])> = vec![
        ("PUT", of("PUT", "/mcp"), &[405]),
        ("PATCH", of("PATCH", "/mcp"), &[405]),
        ("TRACE", of("TRACE", "/mcp"), &[405]),
        ("HEAD", of("HEAD", "/mcp"), &[405]),
        ("OPTIONS", of("OPTIONS", "/mcp"), &[405]),
        (
            "preflight",
            format!(
                "OPTIONS /mcp HTTP/1.1\r\n{good}origin: https://evil.com\r\naccess-control-request-method: POST\r\n\r\n"
            ),
            &[403],
        ),
        ("OPTIONS of everything", of("OPTIONS", "*"), &[404, 405]),
        (
            "CONNECT",
            format!("CONNECT evil.com:443 HTTP/1.1\r\n{good}\r\n"),
            &[403, 404],
        ),
        ("a method nobody knows", of("BREW", "/mcp"), &[405]),
        ("POST of health", of("POST", "/healthz"), &[405]),
        ("POST of metrics", of("POST", "/metrics"), &[405]),
        ("no path", of("GET", "/"), &[404]),
        ("another path", of("GET", "/admin"), &[404]),
        ("a path behind", of("POST", "/mcp/"), &[404]),
        ("another case", of("POST", "/MCP"), &[404]),
        ("dots", of("POST", "/x/../mcp"), &[404]),
        ("escaped", of("POST", "/%6dcp"), &[404]),
        ("two slashes", of("POST", "//mcp"), &[404]),
        ("no type", typed("x-nothing: 1"), &[415]),
        ("text", typed("content-type: text/plain"), &[415]),
        (
            "a form",
            typed("content-type: application/x-www-form-urlencoded"),
            &[415],
        ),
        (
            "almost JSON",
            typed("content-type: application/jsonp"),
            &[415],
        ),
        (
            "JSON as a parameter",
            typed("content-type: text/plain; application/json"),
            &[415],
        ),
        (
            "JSON with a charset",
            typed("content-type: application/json; charset=utf-8"),
            &[200],
        ),
        (
            "compressed",
            typed("content-type: application/json\r\ncontent-encoding: gzip"),
            &[415],
        ),
        ("accepting nothing", accepting("x-nothing: 1"), &[406]),
        ("accepting pages", accepting("accept: text/html"), &[406]),
        (
            "GET without a session",
            format!(
                "GET /mcp HTTP/1.1\r\n{good}accept: text/event-stream\r\nconnection: close\r\n\r\n"
            ),
            &[400, 401, 405, 422],
        ),
        ("GET of pages", of("GET", "/mcp"), &[406]),
        (
            "DELETE without a session",
            of("DELETE", "/mcp"),
            &[400, 401, 405, 422],
        ),
    ];
    check_all(&web, cases).await;
}

#[tokio::test]
async fn what_is_no_http_is_cut_off() {
    let web = web().await;
    let good = web.good();
    let json = "content-type: application/json\r\naccept: application/json, text/event-stream\r\n";
    let post = |headers: &str, body: &str| {
        format!("POST /mcp HTTP/1.1\r\n{good}{json}{headers}\r\n{body}")
    };
    let length = LIST.len();
    let chunk = format!("{length:x}\r\n{LIST}\r\n0\r\n\r\n");
    let closed: &[u16] = &[0, 400];
    let cases: Vec<(&str, String, &[u16])> = vec![
        (
            "garbage",
            "\u{1}\u{2}\u{3} hello\r\n\r\n".to_owned(),
            closed,
        ),
        (
            "empty lines",
            "\r\n\r\n\r\n\r\nx\r\n\r\n".to_owned(),
            closed,
        ),
        (
            "a TLS hello",
            "\u{16}\u{3}\u{1}\u{0}\u{5}hello\r\n\r\n".to_owned(),
            closed,
        ),
        (
            "HTTP/2",
            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\u{4}\0\0\0\0\0".to_owned(),
            &[0, 400, 505],
        ),
        (
            "HTTP/3.0",
            format!("GET /healthz HTTP/3.0\r\n{good}\r\n"),
            &[0, 400, 505],
        ),
        ("HTTP/0.9", "GET /healthz\r\n\r\n".to_owned(), closed),
        (
            "HTTP/1.0",
            format!("GET /healthz HTTP/1.0\r\n{good}\r\n"),
            &[200],
        ),
        (
            "HTTP/1.0 without a host",
            "GET /healthz HTTP/1.0\r\n\r\n".to_owned(),
            &[400],
        ),
        (
            "a space before the colon",
            format!("GET /healthz HTTP/1.1\r\n{good}x-a : b\r\n\r\n"),
            closed,
        ),
        (
            "a folded header",
            format!("GET /healthz HTTP/1.1\r\n{good}x-a: b\r\n c\r\n\r\n"),
            closed,
        ),
        (
            "a carriage return inside",
            format!("GET /healthz HTTP/1.1\r\n{good}x-a: b\rc\r\n\r\n"),
            closed,
        ),
        (
            "a header without a name",
            format!("GET /healthz HTTP/1.1\r\n{good}: b\r\n\r\n"),
            closed,
        ),
        (
            "two lengths",
            post(
                &format!(
                    "content-length: {length}\r\ncontent-length: {}\r\n",
                    length + 1
                ),
                LIST,
            ),
            closed,
        ),
        (
            "two lengths in one",
            post(
                &format!("content-length: {length}, {}\r\n", length + 1),
                LIST,
            ),
            closed,
        ),
        (
            "a negative length",
            post("content-length: -1\r\n", LIST),
            closed,
        ),
        (
            "a signed length",
            post(&format!("content-length: +{length}\r\n"), LIST),
            closed,
        ),
        (
            "a length in hex",
            post("content-length: 0x10\r\n", LIST),
            closed,
        ),
        (
            "a length without end",
            post("content-length: 99999999999999999999999\r\n", LIST),
            closed,
        ),
        (
            "chunked twice",
            post(
                "transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n",
                &chunk,
            ),
            &[0, 400, 422],
        ),
        (
            "chunked, then not",
            post("transfer-encoding: chunked, identity\r\n", &chunk),
            closed,
        ),
        (
            "a chunk that overflows",
            post(
                "transfer-encoding: chunked\r\n",
                "fffffffffffffffff\r\nx\r\n0\r\n\r\n",
            ),
            closed,
        ),
        (
            "a chunk of minus one",
            post("transfer-encoding: chunked\r\n", "-1\r\nx\r\n0\r\n\r\n"),
            closed,
        ),
        (
            "a chunk of no number",
            post("transfer-encoding: chunked\r\n", "zz\r\nx\r\n0\r\n\r\n"),
            closed,
        ),
        (
            "a chunk that is longer than it says",
            post("transfer-encoding: chunked\r\n", "1\r\nxyz\r\n0\r\n\r\n"),
            closed,
        ),
        (
            "a head too large",
            format!(
                "GET /healthz HTTP/1.1\r\n{good}x-a: {}\r\n\r\n",
                "a".repeat(40_000)
            ),
            &[431],
        ),
        (
            "too many headers",
            format!(
                "GET /healthz HTTP/1.1\r\n{good}{}\r\n",
                "x-a: b\r\n".repeat(300)
            ),
            &[431],
        ),
        (
            "a target too long",
            format!("GET /{} HTTP/1.1\r\n{good}\r\n", "a".repeat(70_000)),
            &[0, 414, 431],
        ),
        (
            "a body too large",
            web.post("", &"x".repeat(200_000)),
            &[413],
        ),
        (
            "a body said to be too large",
            post("content-length: 200000\r\n", "{"),
            &[413],
        ),
        (
            "chunks too large together",
            post(
                "transfer-encoding: chunked\r\n",
                &format!("30d40\r\n{}\r\n0\r\n\r\n", "x".repeat(200_000)),
            ),
            &[413],
        ),
    ];
    check_all(&web, cases).await;
}

#[tokio::test]
async fn a_request_within_a_request_is_never_seen() {
    let web = web().await;
    let good = web.good();
    let inner = format!("GET /metrics HTTP/1.1\r\n{good}\r\n");
    let json = "content-type: application/json\r\naccept: application/json, text/event-stream\r\n";
    let both = format!(
        "POST /mcp HTTP/1.1\r\n{good}{json}content-length: {}\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n{inner}",
        5 + inner.len(),
    );
    let reply = web.raw(both).await;
    // The body is read by its chunks, and the connection is not used again.
    assert!([0, 400].contains(&reply.status), "{reply:?}");
    assert!(!reply.body.contains("toolsmith_calls_running"));
    let short = format!(
        "POST /mcp HTTP/1.1\r\n{good}{json}content-length: 0\r\nconnection: close\r\n\r\n{inner}"
    );
    let reply = web.raw(short).await;
    assert_eq!(reply.status, 400);
    assert!(!reply.body.contains("toolsmith_calls_running"));
    assert!(web.is_alive().await);
}

#[tokio::test]
async fn messages_that_are_none_are_told_so() {
    let web = web().await;
    let list = stateless(1, "tools/list", json!({}));
    let cases = [
        ("", 400, -32700),
        ("{", 400, -32700),
        ("\u{feff}{}", 400, -32700),
        (
            r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"x"}"#,
            400,
            -32700,
        ),
        (&"[".repeat(10_000), 400, -32700),
        ("[]", 400, -32600),
        (&format!("[{list}]"), 400, -32600),
        ("{}", 400, -32600),
        ("5", 400, -32600),
        (
            r#"{"jsonrpc":"1.0","id":1,"method":"tools/list"}"#,
            400,
            -32600,
        ),
        (
            r#"{"jsonrpc":"2.0","id":{},"method":"tools/list"}"#,
            400,
            -32600,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}"#,
            400,
            -32600,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","result":{}}"#,
            400,
            -32600,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":5}}"#,
            400,
            -32602,
        ),
    ];
    for (body, status, code) in cases {
        let reply = web.raw(web.post("", body)).await;
        assert_eq!(reply.status, status, "{body}: {reply:?}");
        assert_eq!(reply.json()["error"]["code"], code, "{body}: {reply:?}");
    }
    assert!(web.is_alive().await);
}

#[tokio::test]
async fn headers_must_say_what_the_body_says() {
    let region = json!({
        "type": "object",
        "properties": { "region": { "type": "string", "x-mcp-header": "Region" } },
        "required": ["region"],
    });
    let region = tools::echoing(tools::with_schema("where", region));
    let web = Web::start(&serving([tools::echo(), region]), HttpLimits::default()).await;
    let call = stateless(1, "tools/call", calling("echo", json!({ "text": "a" })));
    let place = stateless(
        1,
        "tools/call",
        calling("where", json!({ "region": "north" })),
    );
    let version = "mcp-protocol-version: 2026-07-28\r\n";
    let cases = [
        (
            &call,
            format!("{version}mcp-method: tools/call\r\nmcp-name: echo\r\n"),
            200,
            0,
        ),
        (
            &call,
            format!("{version}mcp-method: tools/list\r\nmcp-name: echo\r\n"),
            400,
            -32020,
        ),
        (
            &call,
            format!("{version}mcp-method: tools/call\r\nmcp-name: add\r\n"),
            400,
            -32020,
        ),
        (
            &call,
            format!("{version}mcp-method: tools/call\r\n"),
            400,
            -32020,
        ),
        (&call, format!("{version}mcp-name: echo\r\n"), 400, -32020),
        (
            &call,
            "mcp-protocol-version: 2025-11-25\r\nmcp-method: tools/call\r\nmcp-name: echo\r\n"
                .to_owned(),
            400,
            -32020,
        ),
        (
            &place,
            format!(
                "{version}mcp-method: tools/call\r\nmcp-name: where\r\nmcp-param-region: north\r\n"
            ),
            200,
            0,
        ),
        (
            &place,
            format!(
                "{version}mcp-method: tools/call\r\nmcp-name: where\r\nmcp-param-region: south\r\n"
            ),
            400,
            -32020,
        ),
        (
            &place,
            format!("{version}mcp-method: tools/call\r\nmcp-name: where\r\n"),
            400,
            -32020,
        ),
    ];
    for (message, headers, status, code) in cases {
        let reply = web.raw(web.post(&headers, &message.to_string())).await;
        assert_eq!(reply.status, status, "{headers}: {reply:?}");
        let got = reply.json()["error"]["code"].as_i64().unwrap_or_default();
        assert_eq!(got, code, "{headers}: {reply:?}");
    }
    for version in ["1999-01-01", "x", ""] {
        let headers = format!("mcp-protocol-version: {version}\r\n");
        let reply = web.raw(web.post(&headers, LIST)).await;
        assert_eq!(reply.status, 400, "{version}: {reply:?}");
    }
    let unknown = stateless(1, "tools/destroy", json!({}));
    let reply = web.raw(web.stateless(&unknown)).await;
    assert_eq!(
        (reply.status, reply.json()["error"]["code"].as_i64()),
        (404, Some(-32601))
    );
    let mut old = stateless(1, "tools/list", json!({}));
    old["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = "1999-01-01".into();
    let headers = "mcp-protocol-version: 1999-01-01\r\nmcp-method: tools/list\r\n";
    let reply = web.raw(web.post(headers, &old.to_string())).await;
    assert_eq!(reply.status, 400, "{reply:?}");
    for (message, statuses) in [
        (request(1, "tools/list", json!({})), [400, 422]),
        (note("notifications/initialized", json!({})), [400, 422]),
        (
            json!({ "jsonrpc": "2.0", "id": 1, "result": {} }),
            [400, 422],
        ),
    ] {
        let reply = web.raw(web.post("", &message.to_string())).await;
        assert!(statuses.contains(&reply.status), "{message}: {reply:?}");
    }
    let hello = initialize("2026-07-28", json!({}));
    let reply = web.raw(web.post("", &hello.to_string())).await;
    assert!(reply.status < 500, "{reply:?}");
    assert!(web.is_alive().await);
}
