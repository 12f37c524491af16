//! `api_call`: requests, credentials and answers of APIs.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use toolsmith_builtin::{Web, WebSecret, WebSettings};

use crate::ground::{reason, text};
use crate::web_support::{Server, answer, call, of, reaching, redirect, toolbox, value};

const SECRET: &str = "hunter2-and-some-more";

fn with_secret(servers: &[&Server], allowed: &Server) -> WebSettings {
    let mut settings = reaching(servers);
    let origin = format!("http://{}", allowed.address);
    settings.secrets = vec![WebSecret::new("KEY", SECRET, [origin])];
    settings
}

#[tokio::test]
async fn a_request_is_put_together() {
    let server = Server::new(|_| {
        answer(
            "201 Created",
            &["content-type: application/json", "set-cookie: a=b"],
            "{\"id\":7}",
        )
    })
    .await;
    let toolbox = toolbox(reaching(&[&server]));
    let arguments = json!({
        "url": server.url("/v1/notes?a=1"),
        "method": "POST",
        "query_params": {"q": "ä b&c", "n": 3, "flag": true, "many": ["x", "y"], "none": null},
        "headers": {"X-Trace": "t"},
        "body": {"text": "hello"},
        "auth": {"type": "basic", "username": "me", "password": "pässword"},
    });
    let value = value(&toolbox, "api_call", arguments).await;
    assert_eq!(value["status"], 201);
    assert_eq!(value["ok"], true);
    assert_eq!(value["body"], json!({"id": 7}));
    assert_eq!(value["headers"].get("set-cookie"), None);
    assert!(value["elapsed"].is_u64());
    let seen = &server.seen()[0];
    assert!(
        seen.head
            .starts_with("POST /v1/notes?a=1&flag=true&many=x&many=y&n=3&q=%C3%A4+b%26c HTTP/1.1"),
        "{seen:?}"
    );
    assert_eq!(seen.header("authorization"), Some("Basic bWU6cMOkc3N3b3Jk"));
    assert_eq!(seen.header("content-type"), Some("application/json"));
    assert_eq!(seen.body, "{\"text\":\"hello\"}");
}

#[tokio::test]
async fn bodies_and_keys_in_other_forms() {
    let server = Server::new(|_| answer("200 OK", &["content-type: text/plain"], "fine")).await;
    let toolbox = toolbox(reaching(&[&server]));
    let form = json!({
        "url": server.url("/"), "method": "PUT", "body": "a=1&b=2",
        "headers": {"Content-Type": "application/x-www-form-urlencoded"},
        "auth": {"type": "api_key", "api_key": "k-1", "api_key_header": "X-Own"},
    });
    assert_eq!(value(&toolbox, "api_call", form).await["body"], "fine");
    let text = json!({"url": server.url("/"), "method": "PATCH", "body": "just text", "auth": {"type": "api_key", "api_key": "k-2"}});
    value(&toolbox, "api_call", text).await;
    let bearer = json!({"url": server.url("/"), "method": "OPTIONS", "auth": {"type": "bearer", "token": "t"}});
    value(&toolbox, "api_call", bearer).await;
    let seen = server.seen();
    assert_eq!(
        (seen[0].body.as_str(), seen[0].header("x-own")),
        ("a=1&b=2", Some("k-1"))
    );
    assert_eq!(
        (seen[1].body.as_str(), seen[1].header("x-api-key")),
        ("\"just text\"", Some("k-2"))
    );
    assert_eq!(seen[2].header("authorization"), Some("Bearer t"));
    for wrong in [
        json!({"auth": {"type": "bearer"}}),
        json!({"auth": {"type": "basic", "username": "me"}}),
        json!({"auth": {"type": "bearer", "token": "a\r\nb"}}),
        json!({"auth": {"type": "api_key", "api_key": "k", "api_key_header": "Host"}}),
        json!({"auth": {"type": "bearer", "token": "t"}, "headers": {"Authorization": "x"}}),
        json!({"query_params": {"a": {"b": 1}}}),
        json!({"body": {"a": 1}}),
        json!({"method": "POST", "body": {"a": 1}, "headers": {"content-type": "text/plain"}}),
        json!({"select": "a["}),
    ] {
        let mut arguments = wrong.clone();
        arguments["url"] = server.url("/").into();
        let outcome = call(&toolbox, "api_call", arguments).await;
        assert_eq!(
            outcome.error.as_ref().map(toolsmith_core::ToolError::code),
            Some("invalid_parameters"),
            "{wrong}"
        );
    }
    assert_eq!(server.seen().len(), 3);
}

#[tokio::test]
async fn secrets_are_sent_where_they_may_go_and_shown_to_nobody() {
    let server = Server::new(|seen| {
        let echo =
            json!({"auth": seen.header("authorization"), "path": seen.path(), "body": seen.body});
        answer(
            "200 OK",
            &["content-type: application/json"],
            echo.to_string(),
        )
    })
    .await;
    let other = Server::new(|_| answer("200 OK", &[], "")).await;
    let web = Web::new(with_secret(&[&server, &other], &server));
    let toolbox = of(&web, &[SECRET]);
    let arguments = json!({
        "url": server.url("/x"),
        "method": "POST",
        "auth": {"type": "bearer", "token": "${secret:KEY}"},
        "query_params": {"key": "${secret:KEY}"},
        "body": {"list": ["a ${secret:KEY} b"]},
    });
    let outcome = call(&toolbox, "api_call", arguments).await;
    let shown = format!("{outcome:?} {} {web:?}", outcome.model_text());
    assert!(
        outcome.is_success() && !shown.contains("hunter2"),
        "{shown}"
    );
    assert!(shown.contains("[redacted]"));
    let seen = &server.seen()[0];
    assert_eq!(
        seen.header("authorization"),
        Some(format!("Bearer {SECRET}").as_str())
    );
    assert_eq!(seen.path(), format!("/x?key={SECRET}"));
    assert!(seen.body.contains(SECRET));
    let elsewhere = json!({"url": other.url("/"), "headers": {"X-Key": "${secret:KEY}"}});
    let refused = call(&toolbox, "api_call", elsewhere).await;
    assert_eq!(reason(&refused), "DENIED");
    assert!(!format!("{refused:?}").contains("hunter2"));
    let unknown = json!({"url": server.url("/"), "headers": {"X-Key": "${secret:OTHER}"}});
    let refused = call(&toolbox, "api_call", unknown).await;
    assert_eq!(reason(&refused), "BAD_ARGUMENT");
    assert!(
        text(&refused).contains("There is KEY"),
        "{}",
        text(&refused)
    );
    for url in ["http://${secret:KEY}/", "http://127.0.0.1/?k=${secret:KEY}"] {
        assert_eq!(
            reason(&call(&toolbox, "api_call", json!({ "url": url })).await),
            "BAD_ARGUMENT"
        );
    }
    assert_eq!((server.seen().len(), other.seen().len()), (1, 0));
}

#[tokio::test]
async fn secrets_do_not_follow_redirects_to_other_servers() {
    let other = Server::new(|_| answer("200 OK", &[], "there")).await;
    let away = other.url("/end");
    let server = Server::new(move |_| redirect(302, &away)).await;
    let web = Web::new(with_secret(&[&server, &other], &server));
    let toolbox = of(&web, &[SECRET]);
    let key = |header: &str| json!({"type": "api_key", "api_key": "${secret:KEY}", "api_key_header": header});
    for more in [
        json!({"auth": key("X-Odd")}),
        json!({"auth": key("Accept")}),
        json!({"headers": {"User-Agent": "${secret:KEY}"}}),
        json!({"query_params": {"key": "${secret:KEY}"}}),
        json!({"method": "POST", "body": "${secret:KEY}"}),
    ] {
        let mut arguments = more.clone();
        arguments["url"] = server.url("/").into();
        let refused = call(&toolbox, "api_call", arguments).await;
        assert_eq!(reason(&refused), "DENIED", "{more}");
        let told = text(&refused);
        assert!(told.contains("the call holds a secret"), "{told}");
        assert!(told.contains(&other.url("/end")), "{told}");
    }
    assert_eq!((server.seen().len(), other.seen().len()), (5, 0));
}

#[tokio::test]
async fn secrets_follow_redirects_within_their_server() {
    let server = Server::new(|seen| match seen.path() {
        "/" => redirect(302, "/end"),
        _ => answer("200 OK", &[], "here"),
    })
    .await;
    let web = Web::new(with_secret(&[&server], &server));
    let arguments = json!({"url": server.url("/"), "headers": {"X-Key": "${secret:KEY}"}});
    let value = value(&of(&web, &[SECRET]), "api_call", arguments).await;
    assert_eq!(value["body"], "here");
    assert_eq!(server.seen()[1].header("x-key"), Some(SECRET));
}

#[tokio::test]
async fn credentials_without_a_secret_stay_at_their_server_too() {
    let other = Server::new(|_| answer("200 OK", &[], "there")).await;
    let away = other.url("/end");
    let server = Server::new(move |_| redirect(302, &away)).await;
    let toolbox = toolbox(reaching(&[&server, &other]));
    let key =
        |header: &str| json!({"type": "api_key", "api_key": "literal", "api_key_header": header});
    for auth in [
        json!({"type": "bearer", "token": "literal"}),
        json!({"type": "basic", "username": "literal", "password": "literal"}),
        key("X-Odd"),
        key("Accept"),
        key("Accept-Language"),
        key("User-Agent"),
    ] {
        let arguments = json!({"url": server.url("/"), "auth": auth});
        assert_eq!(
            value(&toolbox, "api_call", arguments).await["body"],
            "there"
        );
    }
    let seen = format!("{:?}", other.seen());
    assert!(
        !seen.contains("literal") && !seen.contains("bGl0ZXJhbD"),
        "{seen}"
    );
    assert!(other.seen()[0].header("accept").is_some());
}

#[tokio::test]
async fn answers_are_cut_to_what_is_selected() {
    let body = "{\"items\":[{\"id\":1,\"n\":\"a\"},{\"id\":2,\"n\":\"b\"}]}";
    let server = Server::new(move |seen| match seen.path() {
        "/text" => answer("200 OK", &["content-type: text/plain"], "plain"),
        "/problem" => answer(
            "422 No",
            &["content-type: application/problem+json"],
            "{\"title\":\"wrong\"}",
        ),
        _ => answer("200 OK", &["content-type: application/json"], body),
    })
    .await;
    let toolbox = toolbox(reaching(&[&server]));
    let ask = async |path: &str, more: Value| {
        let mut arguments = more;
        arguments["url"] = server.url(path).into();
        value(&toolbox, "api_call", arguments).await
    };
    assert_eq!(
        ask("/", json!({"select": "items[].id"})).await["body"],
        json!([1, 2])
    );
    assert_eq!(ask("/", json!({"select": "/items/1/n"})).await["body"], "b");
    assert_eq!(
        ask("/", json!({"parse_response": false})).await["body"],
        body
    );
    assert_eq!(ask("/text", json!({"select": "a"})).await["body"], "plain");
    let problem = ask("/problem", json!({})).await;
    assert_eq!(
        (
            &problem["status"],
            &problem["ok"],
            &problem["body"]["title"]
        ),
        (&json!(422), &json!(false), &json!("wrong"))
    );
    // The call was made: what came of it is told although nothing was found in it.
    let missing = ask("/", json!({"select": "items[5]"})).await;
    assert_eq!(missing["status"], 200);
    assert_eq!(missing["body"]["items"][1]["n"], "b");
    let note = missing["notes"][0].as_str().unwrap();
    assert!(note.contains("there is no `5` in a list of 2"), "{note}");
    let problem = ask("/problem", json!({"select": "items[0]"})).await;
    assert_eq!(problem["status"], 422);
    let note = problem["notes"][0].as_str().unwrap();
    assert!(note.contains("an object with `title`"), "{note}");
    let count = server.seen().len();
    let arguments = json!({"url": server.url("/"), "select": "items["});
    let unreadable = call(&toolbox, "api_call", arguments).await;
    assert_eq!(reason(&unreadable), "BAD_ARGUMENT");
    assert_eq!(server.seen().len(), count);
}

#[tokio::test]
async fn json_that_is_no_value_comes_as_text() {
    let server = Server::new(|seen| {
        let body = match seen.path() {
            "/deep" => format!("{}0{}", "[".repeat(500), "]".repeat(500)),
            "/heavy" => format!("[{}[0]]", "[0],".repeat(400_000)),
            "/long" => format!("[\"{}\", 1]", "a".repeat(300_000)),
            _ => "{\"id\": 12345678901234567890123, \"ok\": 1}".to_owned(),
        };
        answer("200 OK", &["content-type: application/json"], body)
    })
    .await;
    let toolbox = toolbox(reaching(&[&server]));
    for (path, told) in [
        ("/deep", "nested deeper than 64 levels"),
        ("/heavy", "too many parts"),
    ] {
        let outcome = call(&toolbox, "api_call", json!({"url": server.url(path)})).await;
        let shown = outcome.model_text();
        assert!(
            outcome.is_success() && shown.contains(told),
            "{path}: {:?}",
            outcome.error
        );
        assert!(shown.contains("\n\n[["), "{path}");
    }
    let rounded = value(&toolbox, "api_call", json!({"url": server.url("/")})).await;
    assert!(rounded["notes"][0].as_str().unwrap().contains("rounded"));
    let arguments = json!({"url": server.url("/"), "parse_response": false});
    let exact = value(&toolbox, "api_call", arguments).await;
    assert!(
        exact["body"]
            .as_str()
            .unwrap()
            .contains("12345678901234567890123")
    );
    let long = call(&toolbox, "api_call", json!({"url": server.url("/long")})).await;
    assert!(long.is_success() && !long.metadata.contains_key("body"));
    assert_eq!(long.metadata["status"], 200);
}

#[tokio::test]
async fn a_body_too_large_for_a_value_is_told_by_its_beginning() {
    let server = Server::new(|seen| {
        let (kind, body) = match seen.path() {
            "/json" => (
                "application/json",
                format!("[{}0]", "{\"a\":1},".repeat(20_000)),
            ),
            "/small" => (
                "application/json",
                format!("[{}0]", "{\"a\":1},".repeat(2_000)),
            ),
            "/signs" => ("text/plain", "\u{1}\"\\\n\u{e9}".repeat(40_000)),
            _ => ("text/plain", "x".repeat(900_000)),
        };
        answer("200 OK", &[&format!("content-type: {kind}")], body)
    })
    .await;
    let toolbox = toolbox(reaching(&[&server]));
    for (path, max_bytes, is_whole) in [
        ("/json", 51_200, false),
        ("/json", 1_000, false),
        ("/json", 1 << 20, true),
        ("/small", 51_200, true),
        ("/small", 10_000, false),
        ("/signs", 51_200, false),
        ("/text", 51_200, false),
        ("/text", 1 << 20, true),
    ] {
        let about = format!("{path} within {max_bytes}");
        let arguments = json!({"url": server.url(path), "max_bytes": max_bytes});
        let outcome = call(&toolbox, "api_call", arguments).await;
        assert!(outcome.is_success(), "{about}: {:?}", outcome.error);
        let value = outcome.value.as_ref().expect(&about);
        let length = value.to_string().len();
        assert!(length <= max_bytes + 300, "{about}: {length}");
        assert_eq!(value["truncated"], !is_whole, "{about}");
        let text = outcome.model_text();
        assert!(
            text.len() <= max_bytes.max(51_200) + (9 << 10),
            "{about}: {}",
            text.len()
        );
        let is_value = value["body"].is_array();
        assert_eq!(is_value, is_whole && path != "/text", "{about}");
        if !is_whole {
            let note = value["notes"][0].as_str().expect(&about);
            assert!(
                note.contains("`select`") && note.contains("`max_bytes`"),
                "{note}"
            );
            // As much as there is room for, less what is cleaned away afterwards.
            assert!(
                length > max_bytes - 300 || path == "/signs",
                "{about}: {length}"
            );
        }
    }
}

#[tokio::test]
async fn robots_are_asked_where_the_configuration_says_so() {
    let server = Server::new(|seen| match seen.path() {
        "/robots.txt" => answer("200 OK", &[], "User-agent: *\nDisallow: /private"),
        _ => answer("200 OK", &[], "there"),
    })
    .await;
    let mut settings = reaching(&[&server]);
    settings.respects_robots = true;
    let toolbox = toolbox(settings);
    for (method, path, expected) in [
        ("GET", "/private", "DENIED"),
        ("HEAD", "/private", "DENIED"),
        ("GET", "/open", ""),
        ("POST", "/private", ""),
    ] {
        let arguments = json!({"url": server.url(path), "method": method});
        let outcome = call(&toolbox, "api_call", arguments).await;
        let found = match outcome.is_success() {
            true => String::new(),
            false => reason(&outcome),
        };
        assert_eq!(found, expected, "{method} {path}");
    }
}

#[tokio::test]
async fn busy_servers_are_asked_again_where_that_does_no_harm() {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let server = Server::new(move |seen| {
        let number = counted.fetch_add(1, Ordering::SeqCst);
        match seen.path() {
            "/soon" if number < 2 => answer("503 Busy", &["retry-after: 0"], "busy"),
            "/later" => answer("429 Many", &["retry-after: 60"], "busy"),
            "/ever" => answer("429 Many", &["retry-after: 0"], "busy"),
            "/silent" => answer("503 Busy", &[], "busy"),
            _ => answer("200 OK", &[], "done"),
        }
    })
    .await;
    let toolbox = toolbox(reaching(&[&server]));
    for (path, method, status, attempts) in [
        ("/soon", "GET", 200, 3),
        ("/later", "GET", 429, 1),
        ("/ever", "DELETE", 429, 3),
        ("/ever", "POST", 429, 1),
        ("/ever", "PATCH", 429, 1),
        ("/silent", "GET", 503, 1),
    ] {
        count.store(0, Ordering::SeqCst);
        let value = value(
            &toolbox,
            "api_call",
            json!({"url": server.url(path), "method": method}),
        )
        .await;
        assert_eq!(
            (value["status"].as_u64(), value["attempts"].as_u64()),
            (Some(status), Some(attempts)),
            "{method} {path}"
        );
        assert_eq!(
            count.load(Ordering::SeqCst) as u64,
            attempts,
            "{method} {path}"
        );
    }
}
