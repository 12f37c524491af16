//! Who is let in over HTTP, and who is not.

use serde_json::json;
use toolsmith_mcp::server::http::{HttpOptions, Token};
use toolsmith_testing::tools;

use super::http_wire::{check_all, web};
use super::support::{serving, stateless};
use super::web::{TOKEN, Web};

#[tokio::test]
async fn only_its_own_hosts_are_served() {
    let web = web().await;
    let port = web.address.port();
    let get = |host: &str| format!("GET /healthz HTTP/1.1\r\n{host}connection: close\r\n\r\n");
    let host = |host: &str| get(&format!("host: {host}\r\n"));
    let target = |target: &str| {
        format!("GET {target} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nconnection: close\r\n\r\n")
    };
    let cases: Vec<(&str, String, &[u16])> = vec![
        ("the address", host(&format!("127.0.0.1:{port}")), &[200]),
        ("without the port", host("127.0.0.1"), &[200]),
        ("localhost", host(&format!("localhost:{port}")), &[200]),
        ("another case", host(&format!("LocalHost:{port}")), &[200]),
        ("the other loopback", host(&format!("[::1]:{port}")), &[200]),
        ("none", get(""), &[400]),
        ("an empty one", host(""), &[400]),
        (
            "two",
            get(&format!(
                "host: 127.0.0.1:{port}\r\nhost: 127.0.0.1:{port}\r\n"
            )),
            &[400],
        ),
        (
            "two, one foreign",
            get(&format!("host: 127.0.0.1:{port}\r\nhost: evil.com\r\n")),
            &[400],
        ),
        ("foreign", host("evil.com"), &[403]),
        (
            "foreign, right port",
            host(&format!("evil.com:{port}")),
            &[403],
        ),
        (
            "foreign that begins like ours",
            host(&format!("127.0.0.1.evil.com:{port}")),
            &[403],
        ),
        (
            "foreign that ends like ours",
            host(&format!("evil-localhost:{port}")),
            &[403],
        ),
        (
            "a subdomain of localhost",
            host(&format!("evil.localhost:{port}")),
            &[403],
        ),
        ("a dot behind", host(&format!("localhost.:{port}")), &[403]),
        ("another port", host("127.0.0.1:1"), &[403]),
        ("no port at all", host("127.0.0.1:"), &[200, 400, 403]),
        ("a port of letters", host("127.0.0.1:evil"), &[400, 403]),
        (
            "a port with a name behind",
            host(&format!("127.0.0.1:{port}.evil.com")),
            &[400, 403],
        ),
        ("a port too large", host("127.0.0.1:99999"), &[400, 403]),
        (
            "with a user",
            host(&format!("evil@127.0.0.1:{port}")),
            &[400],
        ),
        (
            "as a user",
            host(&format!("127.0.0.1:{port}@evil.com")),
            &[400],
        ),
        (
            "another loopback",
            host(&format!("127.0.0.2:{port}")),
            &[403],
        ),
        ("a number", host(&format!("2130706433:{port}")), &[403]),
        ("the unspecified", host(&format!("0.0.0.0:{port}")), &[403]),
        (
            "a mapped one",
            host(&format!("[::ffff:127.0.0.1]:{port}")),
            &[403],
        ),
        ("spaces", host("127.0.0.1 evil.com"), &[400]),
        ("a path", host("127.0.0.1/evil"), &[400]),
        ("not ASCII", host("löcalhost"), &[400]),
        (
            "an absolute target",
            target(&format!("http://127.0.0.1:{port}/healthz")),
            &[200],
        ),
        (
            "a foreign target",
            target("http://evil.com/healthz"),
            &[403],
        ),
        (
            "a target of another port",
            target("http://127.0.0.1:1/healthz"),
            &[403],
        ),
        (
            "a foreign target with a user like ours",
            target(&format!("http://127.0.0.1:{port}@evil.com/healthz")),
            &[400, 403],
        ),
    ];
    check_all(&web, cases).await;
}

#[tokio::test]
async fn only_its_own_pages_are_let_in() {
    let web = web().await;
    let port = web.address.port();
    let from = |origin: &str| {
        let list = stateless(1, "tools/list", json!({}));
        let request = web.stateless(&list);
        request.replacen(
            "\r\n",
            &format!("\r\norigin: {origin}\r\nconnection: close\r\n"),
            1,
        )
    };
    let cases: Vec<(&str, String, &[u16])> = vec![
        ("its own", from(&format!("http://127.0.0.1:{port}")), &[200]),
        (
            "its own by name",
            from(&format!("http://localhost:{port}")),
            &[200],
        ),
        ("null", from("null"), &[403]),
        ("empty", from(""), &[403]),
        ("foreign", from("https://evil.com"), &[403]),
        (
            "foreign, right port",
            from(&format!("http://evil.com:{port}")),
            &[403],
        ),
        (
            "begins like ours",
            from(&format!("http://127.0.0.1.evil.com:{port}")),
            &[403],
        ),
        (
            "port begins like ours",
            from(&format!("http://127.0.0.1:{port}.evil.com")),
            &[403],
        ),
        (
            "ours as a fragment",
            from(&format!("http://evil.com#127.0.0.1:{port}")),
            &[403],
        ),
        (
            "ours as a path",
            from(&format!("http://evil.com/127.0.0.1:{port}")),
            &[403],
        ),
        (
            "ours as a user",
            from(&format!("http://127.0.0.1:{port}@evil.com")),
            &[403],
        ),
        (
            "another user at ours",
            from(&format!("http://evil.com@127.0.0.1:{port}")),
            &[403],
        ),
        (
            "a path behind",
            from(&format!("http://127.0.0.1:{port}/evil")),
            &[403],
        ),
        ("another port", from("http://127.0.0.1:1"), &[403]),
        ("no port", from("http://127.0.0.1"), &[403]),
        (
            "another scheme",
            from(&format!("file://127.0.0.1:{port}")),
            &[403],
        ),
        ("no scheme", from(&format!("127.0.0.1:{port}")), &[403]),
        (
            "two",
            from(&format!(
                "http://127.0.0.1:{port}\r\norigin: http://127.0.0.1:{port}"
            )),
            &[400],
        ),
        (
            "two in one",
            from(&format!("http://127.0.0.1:{port}, https://evil.com")),
            &[403],
        ),
        ("not ASCII", from("http://löcalhost"), &[403]),
    ];
    check_all(&web, cases).await;
    let mut options = HttpOptions::without_token();
    options.hosts.push("tools.example".to_owned());
    options.origins.push("https://app.example".to_owned());
    let web = Web::with(&serving([tools::echo()]), options).await;
    let port = web.address.port();
    for (host, origin, status) in [
        ("tools.example", "https://app.example", 200),
        (
            &*format!("tools.example:{port}"),
            "https://app.example",
            200,
        ),
        ("tools.example", "https://app.example.evil", 403),
        ("tools.example", "http://app.example", 403),
        ("app.example", "https://app.example", 403),
    ] {
        let request = format!("GET /healthz HTTP/1.1\r\nhost: {host}\r\norigin: {origin}\r\n\r\n");
        assert_eq!(web.raw(request).await.status, status, "{host} {origin}");
    }
}

#[tokio::test]
async fn only_who_has_the_token_is_let_in() {
    let web = web().await;
    let port = web.address.port();
    let post = |path: &str, more: &str| {
        format!(
            "POST {path} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\n\
             mcp-method: tools/list\r\ncontent-length: {}\r\nconnection: close\r\n{more}\r\n{}",
            stateless(1, "tools/list", json!({})).to_string().len(),
            stateless(1, "tools/list", json!({})),
        )
    };
    let bearing = |value: &str| post("/mcp", &format!("authorization: {value}\r\n"));
    let good = format!("Bearer {TOKEN}");
    let cases: Vec<(&str, String, &[u16])> = vec![
        ("right", bearing(&good), &[200]),
        (
            "lowercase scheme",
            bearing(&format!("bearer {TOKEN}")),
            &[200],
        ),
        ("none", post("/mcp", ""), &[401]),
        ("empty", bearing(""), &[401]),
        ("no token", bearing("Bearer"), &[401]),
        ("an empty token", bearing("Bearer "), &[401]),
        ("no scheme", bearing(TOKEN), &[401]),
        ("another scheme", bearing(&format!("Basic {TOKEN}")), &[401]),
        ("wrong", bearing("Bearer wrong"), &[401]),
        ("one too few", bearing(&good[..good.len() - 1]), &[401]),
        ("one too many", bearing(&format!("{good}x")), &[401]),
        ("another case", bearing(&good.to_uppercase()), &[401]),
        (
            "a comma behind",
            bearing(&format!("{good}, {good}")),
            &[401],
        ),
        ("a zero byte behind", bearing(&format!("{good}\0")), &[400]),
        (
            "very long",
            bearing(&format!("Bearer {}", "x".repeat(10_000))),
            &[401],
        ),
        (
            "twice",
            post(
                "/mcp",
                &format!("authorization: {good}\r\nauthorization: {good}\r\n"),
            ),
            &[400],
        ),
        (
            "right and wrong",
            post(
                "/mcp",
                &format!("authorization: Bearer no\r\nauthorization: {good}\r\n"),
            ),
            &[400],
        ),
        (
            "in the query",
            post(&format!("/mcp?token={TOKEN}"), ""),
            &[401],
        ),
        (
            "in the query as OAuth has it",
            post(&format!("/mcp?access_token={TOKEN}"), ""),
            &[401],
        ),
        (
            "as a cookie",
            post("/mcp", &format!("cookie: token={TOKEN}\r\n")),
            &[401],
        ),
        (
            "for a proxy",
            post("/mcp", &format!("proxy-authorization: {good}\r\n")),
            &[401],
        ),
        (
            "metrics without",
            format!("GET /metrics HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\n\r\n"),
            &[401],
        ),
        (
            "health without",
            format!("GET /healthz HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\n\r\n"),
            &[200],
        ),
        (
            "session without",
            format!("DELETE /mcp HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nmcp-session-id: a\r\n\r\n"),
            &[401],
        ),
        (
            "stream without",
            format!(
                "GET /mcp HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\naccept: text/event-stream\r\n\r\n"
            ),
            &[401],
        ),
    ];
    check_all(&web, cases).await;
    let reply = web.raw(post("/mcp", "")).await;
    assert!(
        reply
            .header("www-authenticate")
            .unwrap()
            .starts_with("Bearer")
    );
}

#[tokio::test]
async fn without_a_token_everybody_is_let_in_but_no_page() {
    let options = HttpOptions::without_token();
    let web = Web::with(&serving([tools::echo()]), options).await;
    let list = stateless(1, "tools/list", json!({}));
    let request = web.stateless(&list);
    let line = format!("authorization: Bearer {TOKEN}\r\n");
    let anonymous = request.replace(&line, "");
    assert_eq!(web.raw(&anonymous).await.status, 200);
    let page = anonymous.replacen("\r\n", "\r\norigin: https://evil.com\r\n", 1);
    assert_eq!(web.raw(page).await.status, 403);
    assert!(Token::new("short").is_none());
    assert!(Token::new("with a space inside it").is_none());
    assert!(!format!("{:?}", Token::new(TOKEN)).contains(TOKEN));
}
