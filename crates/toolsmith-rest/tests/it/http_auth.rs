//! How requests show who makes them, and that nobody else is shown it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use toolsmith_core::ErrorKind;

use crate::http_server::{
    SECRET, Seen, Server, answer, call, fails, failure, make_from, ok, only, value,
};

#[tokio::test]
async fn keys_tokens_and_passwords() {
    let basic = "Basic dXNlcjpzM2NyZXQvKyB2YWx1ZQ==";
    for (auth, header, expected, query) in [
        ("auth_method: none", "authorization", None, ""),
        ("api_key: '${env:SECRET}'", "x-api-key", Some(SECRET), ""),
        (
            "auth_method: api_key, api_key: '${file:key.txt}'",
            "x-api-key",
            Some("from-a-file"),
            "",
        ),
        (
            "auth_method: api_key, auth: { key: '${SECRET}', in: header, name: X-Mine }",
            "x-mine",
            Some(SECRET),
            "",
        ),
        (
            "auth_method: api_key, auth: { key: '${SECRET}', in: query, name: 'my key' }",
            "x-api-key",
            None,
            "my+key=s3cret%2F%2B+value",
        ),
        (
            "auth_method: bearer, auth: { token: '${env:SECRET}' }",
            "authorization",
            Some("Bearer s3cret/+ value"),
            "",
        ),
        (
            "auth_method: basic, auth: { username: user, password: '${env:SECRET}' }",
            "authorization",
            Some(basic),
            "",
        ),
    ] {
        let server = Server::saying(json!(1)).await;
        let tool = server.tool(&format!("{{ name: t, api_url: SERVER, {auth} }}"));
        value(&tool, json!({})).await;
        let seen = server.only();
        assert_eq!(seen.header(header), expected, "{auth}");
        assert_eq!(seen.query, query, "{auth}");
    }
}

#[test]
fn what_may_be_shown_to_nobody_is_handed_out() {
    let made = make_from(
        "{ name: t, api_url: 'http://127.0.0.1:9/${SECRET}', auth_method: basic, \
          auth: { username: u, password: written-out } }",
    );
    assert_eq!(
        made.secrets,
        [SECRET, "written-out", "dTp3cml0dGVuLW91dA=="]
    );
    assert!(!format!("{made:?}").contains(SECRET));
}

/// A header that sounds like a secret is one, also where it is written out.
#[test]
fn what_headers_say_of_who_asks_is_handed_out() {
    let headers = "Authorization: Bearer written-token, X-Api-Key: '${env:SECRET}', X-Plain: word";
    let yaml = format!("{{ name: t, api_url: 'http://a.test', headers: {{ {headers} }} }}");
    let made = make_from(&yaml);
    let mut secrets: Vec<&str> = made.secrets.iter().map(String::as_str).collect();
    secrets.sort_unstable();
    assert!(secrets.contains(&"written-token"), "{secrets:?}");
    assert!(secrets.contains(&SECRET), "{secrets:?}");
    assert!(!secrets.contains(&"word"), "{secrets:?}");
}

#[tokio::test]
async fn no_error_and_no_plan_tells_a_secret() {
    let server = Server::answering(|seen, _| {
        let echo = format!("{} {} {:?}", seen.path, seen.query, seen.headers);
        answer(500, &["content-type: text/plain"], echo)
    })
    .await;
    let yaml = "{ name: t, api_url: 'SERVER/bot${TOKEN}', path: '/{x}', auth_method: api_key, \
                 auth: { key: 'writ-ten/out', in: query, name: k }, \
                 headers: { X-Also: '${SECRET}' }, parameters: { properties: { x: {} } } }";
    let tool = server.tool(yaml);
    let error = failure(&tool, json!({ "x": "here" })).await;
    assert_eq!(error.kind, ErrorKind::Network);
    let plan = tool
        .plan(&crate::http_server::arguments(json!({ "x": "here" })))
        .unwrap();
    for told in [format!("{error:?}"), plan.summary] {
        assert!(told.contains("here"), "{told}");
        for secret in [SECRET, "s3cret", "writ-ten", "?", "tok:en", "rt+2"] {
            assert!(!told.contains(secret), "{secret} in {told}");
        }
    }
    // Nobody listens there.
    let tool = only(&make_from(&yaml.replace("SERVER", "http://127.0.0.1:9")));
    let error = failure(&tool, json!({ "x": "here" })).await;
    assert_eq!(error.kind, ErrorKind::Network);
    let told = format!("{error:?}");
    assert!(
        !told.contains("tok:en") && !told.contains("writ-ten"),
        "{told}"
    );
}

#[tokio::test]
async fn what_is_missing_is_told_by_name_and_only_stops_the_call() {
    for (yaml, missing) in [
        (
            "api_url: 'https://${env:NOWHERE}/'",
            "`api_url`: the environment variable `NOWHERE` is not set",
        ),
        (
            "api_url: http://127.0.0.1:9, auth_method: bearer, auth: { token: '${env:NOWHERE}' }",
            "`auth.token`: the environment variable `NOWHERE` is not set",
        ),
        (
            "api_url: http://127.0.0.1:9, headers: { X-A: '${file:none.txt}' }",
            "`headers.X-A`: the file \"none.txt\" cannot be read: there is no such file",
        ),
    ] {
        let made = make_from(&format!("{{ name: t, {yaml}, api_key: '${{SECRET}}' }}"));
        let told: Vec<&str> = made
            .missing
            .iter()
            .map(|problem| &*problem.message)
            .collect();
        assert_eq!(told, [missing]);
        assert!(made.missing[0].place.line > 0);
        fails(&only(&made), json!({}), ErrorKind::Unavailable, missing).await;
    }
}

#[test]
fn what_tools_of_a_file_share_is_told_once() {
    let made = make_from(
        "{ api_url: 'http://127.0.0.1:9', api_key: '${NOWHERE}', \
          tools: [{ name: a }, { name: b }, { name: c }] }",
    );
    assert_eq!((made.tools.len(), made.missing.len()), (3, 1));
}

#[test]
fn what_a_method_needs_must_be_there() {
    for (auth, told) in [
        (
            "auth_method: api_key",
            "`auth_method: api_key` needs `auth.key`",
        ),
        ("auth_method: bearer", "needs `auth.token`"),
        (
            "auth_method: basic, auth: { username: u }",
            "needs `auth.password`",
        ),
        (
            "auth_method: basic, auth: { username: 'a:b', password: ppp }",
            "holds a colon",
        ),
        (
            "auth_method: oauth, auth: { token_url: 'https://a/' }",
            "needs `auth.client_id`",
        ),
        (
            "auth_method: oauth, auth: { token_url: 'ftp://a/', client_id: a, client_secret: b }",
            "`auth.token_url`: it is no URL of http or https",
        ),
        ("auth: { token: abc }", "`auth` without `auth_method`"),
        ("api_key: ''", "it is empty"),
        ("api_key: '${env:BROKEN}'", "line break"),
        ("headers: { X-A: '${env:BROKEN}' }", "line break"),
        ("headers: { 'X A': b }", "no header's name"),
        ("headers: { Host: b }", "which only the client writes"),
        (
            "headers: { Content-Length: b }",
            "which only the client writes",
        ),
        ("api_key: abc, auth: { name: 'a b' }", "no header's name"),
        (
            "api_key: abc, headers: { x-api-key: def }",
            "`auth` sets this header already",
        ),
    ] {
        let made = make_from(&format!(
            "{{ name: t, api_url: 'http://127.0.0.1:9', {auth} }}"
        ));
        assert_eq!(made.tools.len(), 0, "{auth}");
        let found = made
            .problems
            .iter()
            .find(|problem| problem.message.contains(told));
        assert!(found.is_some(), "{auth}: {:?}", made.problems);
        assert!(!format!("{made:?}").contains("X-Other"), "{made:?}");
    }
}

/// An API and its token server in one; the tokens are numbered.
async fn with_tokens(
    token: impl Fn(usize) -> Value + Send + Sync + 'static,
) -> (Server, Arc<AtomicUsize>) {
    let good = Arc::new(AtomicUsize::new(0));
    let (count, issued) = (Arc::clone(&good), AtomicUsize::new(0));
    let server = Server::answering(move |seen, _| {
        if seen.path == "/token" {
            let number = issued.fetch_add(1, Ordering::SeqCst);
            return ok(&token(number));
        }
        let wanted = format!("Bearer token-number-{}", count.load(Ordering::SeqCst));
        if seen.header("authorization") == Some(&wanted) {
            ok(&json!("in"))
        } else {
            answer(401, &[], format!("not {:?}", seen.header("authorization")))
        }
    })
    .await;
    (server, good)
}

const OAUTH: &str = "{ api_url: SERVER, auth_method: oauth, auth: { token_url: SERVER/token, \
                      client_id: 'me:1', client_secret: '${SECRET}', scopes: [read, write] }, \
                      tools: [{ name: a, path: /a }, { name: b, path: /b }] }";

fn asked_for_tokens(server: &Server) -> Vec<Seen> {
    let seen = server.seen().into_iter();
    seen.filter(|seen| seen.path == "/token").collect()
}

#[tokio::test]
async fn a_token_is_asked_for_once_and_kept() {
    let (server, _) = with_tokens(
        |number| json!({ "access_token": format!("token-number-{number}"), "expires_in": 3600 }),
    )
    .await;
    let made = make_from(&OAUTH.replace("SERVER", &server.url));
    assert_eq!(made.problems, []);
    let calls = (0..8).map(|number| {
        let tool = made.tools[number % 2].clone();
        tokio::spawn(async move { value(&tool, json!({})).await })
    });
    for call in calls.collect::<Vec<_>>() {
        assert_eq!(call.await.unwrap(), json!("in"));
    }
    let asked = asked_for_tokens(&server);
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].method, "POST");
    assert_eq!(
        asked[0].text(),
        "grant_type=client_credentials&scope=read+write"
    );
    // Both halves are encoded before they are joined.
    assert_eq!(
        asked[0].header("authorization"),
        Some("Basic bWUlM0ExOnMzY3JldCUyRiUyQit2YWx1ZQ==")
    );
    let basic = asked[0].header("authorization").unwrap();
    assert_eq!(made.secrets, [SECRET, &basic["Basic ".len()..]]);
}

#[tokio::test]
async fn a_refused_token_is_asked_for_again_once() {
    let (server, good) =
        with_tokens(|number| json!({ "access_token": format!("token-number-{number}") })).await;
    let made = make_from(&OAUTH.replace("SERVER", &server.url));
    value(&made.tools[0], json!({})).await;
    good.store(1, Ordering::SeqCst);
    value(&made.tools[0], json!({})).await;
    assert_eq!(asked_for_tokens(&server).len(), 2);
    // A token that is never right is not asked for without end, and not told.
    good.store(100, Ordering::SeqCst);
    let error = failure(&made.tools[0], json!({})).await;
    assert_eq!(error.kind, ErrorKind::PermissionDenied);
    assert!(!format!("{error:?}").contains("token-number"), "{error:?}");
    assert_eq!(asked_for_tokens(&server).len(), 3);
}

#[tokio::test]
async fn a_token_that_has_ended_is_not_used() {
    let (server, good) = with_tokens(
        |number| json!({ "access_token": format!("token-number-{number}"), "expires_in": "0" }),
    )
    .await;
    let made = make_from(&OAUTH.replace("SERVER", &server.url));
    for number in 0..3 {
        good.store(number, Ordering::SeqCst);
        value(&made.tools[0], json!({})).await;
    }
    let refused = server
        .seen()
        .iter()
        .filter(|seen| seen.path != "/token")
        .count();
    assert_eq!((asked_for_tokens(&server).len(), refused), (3, 3));
}

#[tokio::test]
async fn a_secret_in_the_body_for_servers_that_want_it_there() {
    let server = Server::answering(|seen, _| match seen.path.as_str() {
        "/token" if seen.header("authorization").is_some() => {
            answer(401, &[], r#"{"error":"invalid_client"}"#)
        }
        "/token" => {
            ok(&json!({ "access_token": "abcdefgh", "token_type": "Bearer", "expires_in": 0 }))
        }
        _ => ok(&json!("in")),
    })
    .await;
    let made = make_from(&OAUTH.replace("SERVER", &server.url));
    value(&made.tools[0], json!({})).await;
    value(&made.tools[0], json!({})).await;
    let asked = asked_for_tokens(&server);
    assert_eq!(asked.len(), 3, "what was learnt is remembered");
    assert!(
        asked[2]
            .text()
            .ends_with("&client_id=me%3A1&client_secret=s3cret%2F%2B+value")
    );
}

#[tokio::test]
async fn token_servers_that_give_none() {
    for (given, kind, told) in [
        (
            answer(
                401,
                &[],
                r#"{"error":"invalid_client","error_description":"no s3cret/+ value"}"#,
            ),
            ErrorKind::PermissionDenied,
            "invalid_client: no [redacted]",
        ),
        (
            answer(503, &[], "x"),
            ErrorKind::Unavailable,
            "it answered 503",
        ),
        (answer(200, &[], "<html>"), ErrorKind::Failed, "is no JSON"),
        (
            answer(200, &[], "{}"),
            ErrorKind::Failed,
            "no `access_token`",
        ),
        (
            answer(200, &[], r#"{"access_token":"a\r\nX-B: c"}"#),
            ErrorKind::Failed,
            "no `access_token`",
        ),
        (
            answer(200, &[], r#"{"access_token":"a","token_type":"mac"}"#),
            ErrorKind::Failed,
            "no bearer",
        ),
        (
            answer(302, &["location: http://127.0.0.1:1/"], ""),
            ErrorKind::PermissionDenied,
            "leads to another server",
        ),
    ] {
        let server = Server::answering(move |_, _| given.clone()).await;
        let made = make_from(&OAUTH.replace("SERVER", &server.url));
        fails(&made.tools[0], json!({}), kind, told).await;
        assert!(server.seen().iter().all(|seen| seen.path == "/token"));
    }
}

#[tokio::test]
async fn a_token_that_comes_back_in_an_answer_is_taken_out() {
    let server = Server::answering(|seen, _| match seen.path.as_str() {
        "/token" => ok(&json!({ "access_token": "abcdefgh12345" })),
        _ => ok(&json!({ "echo": seen.header("authorization") })),
    })
    .await;
    let made = make_from(&OAUTH.replace("SERVER", &server.url));
    let echo = value(&made.tools[0], json!({})).await;
    assert_eq!(echo, json!({ "echo": "Bearer [redacted]" }));
}

/// A server that tells back what it was asked, in every way servers write it.
async fn echoing(status: u16) -> Server {
    Server::answering(move |seen, _| {
        let percent = seen.query.replace('+', "%20");
        let decoded: Vec<String> = seen.pairs().into_iter().map(|(_, value)| value).collect();
        let body = json!({
            "next": format!("http://h/items?{}&page=2", seen.query),
            "self": format!("http://h/items?{percent}"),
            "headers": seen.headers.iter().map(|(_, value)| value).collect::<Vec<_>>(),
            "decoded": decoded,
        });
        answer(
            status,
            &["content-type: application/json"],
            body.to_string(),
        )
    })
    .await
}

#[tokio::test]
async fn a_key_that_comes_back_in_an_answer_is_taken_out_however_it_is_written() {
    for auth in [
        "auth_method: api_key, auth: { key: KEY, in: query, name: k }",
        "auth_method: api_key, auth: { key: KEY, in: header, name: X-K }",
        "auth_method: bearer, auth: { token: KEY }",
        "auth_method: basic, auth: { username: u, password: KEY }",
    ] {
        let key = "my/key+with spaces&x=1";
        let auth = auth.replace("KEY", &format!("'{key}'"));
        let yaml = format!("{{ name: t, api_url: SERVER, {auth} }}");
        for status in [200, 400] {
            let server = echoing(status).await;
            let made = make_from(&yaml.replace("SERVER", &server.url));
            // For the runtime, which knows more places than answers.
            assert!(made.secrets.iter().any(|secret| secret == key), "{auth}");
            let outcome = format!("{:?}", call(&only(&made), json!({})).await);
            assert!(outcome.contains("[redacted]"), "{outcome}");
            for spelling in [
                key,
                "my%2Fkey%2Bwith%20spaces%26x%3D1",
                "my%2Fkey%2Bwith+spaces%26x%3D1",
                "dTpteS9rZXkrd2l0aCBzcGFjZXMmeD0x",
                "spaces",
            ] {
                assert!(!outcome.contains(spelling), "{auth}: {outcome}");
            }
        }
    }
}

#[tokio::test]
async fn a_link_to_the_next_page_is_followed_with_the_secret_in_it() {
    let server = Server::answering(|seen, _| {
        let page = usize::from(seen.query.contains("page=2"));
        let items = json!([{ "page": page, "from": seen.path }]);
        let next = (page == 0).then(|| format!("{}?page=2", seen.path));
        ok(&json!({ "items": items, "next": next }))
    })
    .await;
    let tool = server.tool(
        "{ name: t, api_url: 'SERVER/bot${TOKEN}', path: /items, \
          pagination: { style: link, next: /next, items: /items } }",
    );
    let items = value(&tool, json!({})).await;
    let from = "/bot[redacted]/items";
    assert_eq!(
        items,
        json!([{ "page": 0, "from": from }, { "page": 1, "from": from }])
    );
    assert_eq!(server.seen().len(), 2);
}
