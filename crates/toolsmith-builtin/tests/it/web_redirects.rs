//! Redirects and rules: what goes along, how far, and what a rule can say.

use serde_json::json;
use toolsmith_builtin::Web;
use toolsmith_net::Redirects;

use crate::ground::{reason, text};
use crate::web_support::{Server, answer, call, reaching, redirect, toolbox, value};

#[tokio::test]
async fn credentials_stay_at_their_origin_and_redirects_are_told() {
    let other = Server::new(|_| answer("200 OK", &[], "there")).await;
    let target = other.url("/end");
    let server = Server::new(move |seen| match seen.path() {
        "/here" => redirect(302, "/there"),
        _ => redirect(301, &target),
    })
    .await;
    let toolbox = toolbox(reaching(&[&server, &other]));
    let headers = json!({
        "Authorization": "Bearer t", "Cookie": "a=b", "X-API-Key": "k", "X-Session": "s", "Accept-Language": "de",
    });
    let arguments = json!({"url": server.url("/here"), "headers": headers, "return_headers": true});
    let outcome = call(&toolbox, "web_fetch", arguments).await;
    let value = outcome.value.clone().unwrap();
    assert_eq!(value["content"], "there");
    assert_eq!(value["redirected"], true);
    assert_eq!(value["final_url"], other.url("/end"));
    let chain = json!([
        {"status": 302, "to": server.url("/there")},
        {"status": 301, "to": other.url("/end")},
    ]);
    assert_eq!(value["redirect_chain"], chain);
    assert!(value["headers"]["content-length"].is_string());
    let same = &server.seen()[1];
    assert_eq!(same.header("authorization"), Some("Bearer t"));
    let crossed = &other.seen()[0];
    for name in [
        "authorization",
        "cookie",
        "x-api-key",
        "x-session",
        "referer",
    ] {
        assert_eq!(crossed.header(name), None, "{name}");
    }
    assert_eq!(crossed.header("accept-language"), Some("de"));
}

#[tokio::test]
async fn bodies_go_along_within_an_origin_only() {
    let other = Server::new(|_| answer("200 OK", &[], "there")).await;
    let away = other.url("/");
    let server = Server::new(move |seen| match seen.path() {
        "/307" => redirect(307, "/end"),
        "/302" => redirect(302, "/end"),
        "/away-308" => redirect(308, &away),
        "/away-303" => redirect(303, &away),
        _ => answer("200 OK", &[], "end"),
    })
    .await;
    let toolbox = toolbox(reaching(&[&server, &other]));
    let post = |path: &str| json!({"url": server.url(path), "method": "POST", "body": "hello", "headers": {"Content-Type": "text/plain"}});
    value(&toolbox, "web_fetch", post("/307")).await;
    let seen = server.seen();
    let kept = seen.last().unwrap();
    assert!(kept.head.starts_with("POST /end"), "{kept:?}");
    assert_eq!(kept.body, "hello");
    value(&toolbox, "web_fetch", post("/302")).await;
    let seen = server.seen();
    let dropped = seen.last().unwrap();
    assert!(dropped.head.starts_with("GET /end"), "{dropped:?}");
    assert_eq!(
        (dropped.body.as_str(), dropped.header("content-type")),
        ("", None)
    );
    let refused = call(&toolbox, "web_fetch", post("/away-308")).await;
    assert_eq!(reason(&refused), "DENIED");
    assert!(
        text(&refused).contains("would repeat a POST at another server"),
        "{refused:?}"
    );
    assert_eq!(other.seen().len(), 0);
    value(&toolbox, "web_fetch", post("/away-303")).await;
    assert!(other.seen()[0].head.starts_with("GET / "));
}

#[tokio::test]
async fn redirects_are_bounded_and_may_be_kept_within_a_host() {
    let other = Server::at("127.0.0.2:0", |_| answer("200 OK", &[], "there")).await;
    let away = other.url("/");
    let server = Server::new(move |seen| match seen.path() {
        "/away" => redirect(302, &away),
        "/once" => redirect(302, "/end"),
        "/end" => answer("200 OK", &[], "end"),
        "/nowhere" => answer("302 Found", &[], "no place"),
        _ => redirect(302, "/again"),
    })
    .await;
    let mut settings = reaching(&[&server, &other]);
    settings.redirects = Redirects::SameHost;
    let narrow = toolbox(settings);
    let wide = toolbox(reaching(&[&server, &other]));
    let get = |path: &str| json!({"url": server.url(path)});
    assert_eq!(
        value(&narrow, "web_fetch", get("/once")).await["content"],
        "end"
    );
    assert_eq!(
        value(&wide, "web_fetch", get("/away")).await["content"],
        "there"
    );
    let refused = call(&narrow, "web_fetch", get("/away")).await;
    assert_eq!(reason(&refused), "DENIED");
    assert!(text(&refused).contains("web.redirects"), "{refused:?}");
    let endless = call(&wide, "web_fetch", get("/again")).await;
    assert_eq!(reason(&endless), "TOO_MANY_REDIRECTS");
    let details = endless.error.unwrap().details.unwrap();
    assert_eq!(details["redirect_chain"].as_array().unwrap().len(), 5);
    let unfollowed = json!({"url": server.url("/once"), "follow_redirects": false});
    assert_eq!(value(&wide, "web_fetch", unfollowed).await["status"], 302);
    assert_eq!(
        value(&wide, "web_fetch", get("/nowhere")).await["status"],
        302
    );
    let none = json!({"url": server.url("/once"), "max_redirects": 0});
    assert_eq!(
        reason(&call(&wide, "web_fetch", none).await),
        "TOO_MANY_REDIRECTS"
    );
}

#[tokio::test]
async fn rules_speak_of_urls() {
    use toolsmith_runtime::permit::Policy;
    use toolsmith_runtime::{Mode, Toolbox};

    let server = Server::new(|_| answer("200 OK", &[], "text")).await;
    let web = Web::new(reaching(&[&server]));
    let rule = format!("web_fetch({}/private/**)", server.url(""));
    let policy = Policy::new(Mode::Auto).denying([rule.as_str()]).unwrap();
    let toolbox = Toolbox::builder()
        .tools(toolsmith_builtin::web_tools(&web))
        .policy(policy)
        .without_log()
        .build()
        .unwrap();
    for path in [
        "/private/x",
        "/open/../private/x",
        "/open/%2e%2e/private/x",
        "/./private/x",
    ] {
        let outcome = call(&toolbox, "web_fetch", json!({"url": server.url(path)})).await;
        assert!(!outcome.is_success(), "{path}");
    }
    // However a host is written, a rule about it holds.
    let policy = Policy::new(Mode::Auto).denying(["web_fetch(https://evil.example/**)"]);
    let strict = Toolbox::builder()
        .tools(toolsmith_builtin::web_tools(&web))
        .policy(policy.unwrap())
        .without_log()
        .build()
        .unwrap();
    for (url, told) in [
        ("https://evil.example/", "permission_denied"),
        ("https://evil.example/x", "permission_denied"),
        ("https://evil.example", "permission_denied"),
        ("https://evil.example?x", "invalid_parameters"),
        ("https://evil.example#x", "invalid_parameters"),
        ("https://evil.example:443/x", "invalid_parameters"),
        ("https://evil.example./x", "invalid_parameters"),
    ] {
        let outcome = call(&strict, "web_fetch", json!({ "url": url })).await;
        let code = outcome.error.as_ref().map(toolsmith_core::ToolError::code);
        assert_eq!(code, Some(told), "{url}");
    }
    for path in ["", "/", "/open"] {
        let outcome = call(&toolbox, "web_fetch", json!({"url": server.url(path)})).await;
        assert!(outcome.is_success(), "{path:?}: {outcome:?}");
    }
    assert!(
        server
            .seen()
            .iter()
            .all(|seen| !seen.path().starts_with("/private"))
    );
}
