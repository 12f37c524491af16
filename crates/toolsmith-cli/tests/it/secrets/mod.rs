//! Two secrets, one in the environment and one in a file, go wherever a secret can go, to
//! servers that send back everything they get and programs that print everything they
//! have. No command shows either, in whatever spelling.

mod planted;
mod shapes;
mod spelling;

use std::path::Path;

use serde_json::json;

use crate::client::{Client, Web};
use crate::support::User;
use planted::{SENT, planted};
use spelling::{base64, spellings};

/// They hold what is spelled otherwise in JSON, in an address and in a form.
const PLANTED: &str = "pW7x/kZ+q\"Rm\\4t=9&vB%2LsH8dJf0Yc";
const FILED: &str = "fN3u/eT+g\"Xo\\6a=1&wQ%7KzD5hGi2Mb";
/// This one can stand in an address.
const PLAIN: &str = "aK9rT2vW5yB8dF1gH4jL7nP0qS3uX6z";

/// Neither secret is in a text.
#[track_caller]
fn is_clean(what: &str, text: &str) {
    let secrets = [
        ("the variable's", PLANTED),
        ("the file's", FILED),
        ("the address's", PLAIN),
    ];
    for (which, secret) in secrets {
        for spelling in spellings(secret) {
            let at = text.find(&spelling);
            assert!(
                at.is_none(),
                "{which} secret, as {spelling}, is in {what}:\n{}",
                around(text, at.unwrap_or_default())
            );
        }
    }
}

fn around(text: &str, at: usize) -> &str {
    let (from, to) = (at.saturating_sub(600), (at + 300).min(text.len()));
    &text[text.floor_char_boundary(from)..text.floor_char_boundary(to)]
}

/// Neither secret is in any file beneath a folder but where it was put.
fn is_clean_beneath(folder: &Path) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            is_clean_beneath(&path);
        } else if !path.ends_with("secret.txt") {
            let bytes = std::fs::read(&path).unwrap();
            is_clean(
                &path.display().to_string(),
                &String::from_utf8_lossy(&bytes),
            );
        }
    }
}

fn shows_nothing(user: &User, words: &[&str]) {
    let ran = user.runs(words);
    let what = words.join(" ");
    assert_ne!(ran.status, None, "{what}");
    is_clean(&format!("stdout of {what}"), &ran.stdout);
    is_clean(&format!("stderr of {what}"), &ran.stderr);
}

/// The spellings that are looked for are those that would be shown.
#[test]
fn a_leak_would_be_seen() {
    for secret in [PLANTED, FILED] {
        let seen = |text: &str| {
            spellings(secret)
                .iter()
                .any(|spelling| text.contains(spelling.as_str()))
        };
        assert!(seen(secret) && seen(&json!([secret]).to_string()));
        assert!(seen(&base64(format!("us:{secret}").as_bytes())));
        assert!(seen(&base64(format!("u:{secret}\n").as_bytes())));
        assert!(!seen("[redacted]"));
    }
    assert_eq!(base64(b"light wor"), "bGlnaHQgd29y");
    assert_eq!(base64(b"light wo"), "bGlnaHQgd28=");
    assert_eq!(base64(b"light w"), "bGlnaHQgdw==");
}

#[test]
fn commands_that_list_and_explain() {
    let (user, _) = planted();
    for command in [
        &["tools"][..],
        &["tools", "--shadowed"],
        &["show", "bearer_200"],
        &["show", "prints"],
        &["show", "adapter_remote_echo"],
        &["show", "mcp__echo__say"],
        &["show", "no_such_tool"],
        &["guide"],
        &["guide", "--format", "html"],
        &["guide", "--coverage"],
        &["check"],
        &["check", "--strict"],
        &["servers"],
        &["sets"],
        &["schema"],
        &["schema", "native"],
        &["connect", "claude-code"],
        &["call", "bearer_200", "--dry-run"],
        &["call", "prints", "--dry-run"],
        &["tools", "--agent", "one"],
    ] {
        shows_nothing(&user, &[command, &["-vvv"]].concat());
        shows_nothing(&user, &[command, &["--json"]].concat());
    }
    is_clean_beneath(user.home());
}

#[test]
fn calls_that_succeed_and_fail() {
    let (user, tools) = planted();
    for shape in ["outcome", "result", "envelope", "message", "mcp"] {
        let lines = tools
            .iter()
            .map(|tool| format!("{}\n", json!({ "name": tool, "arguments": {} })));
        std::fs::write(user.home().join("calls"), lines.collect::<String>()).unwrap();
        let words = ["batch", "calls", "--yes", "--as", shape];
        let ran = user.runs(words);
        assert_eq!(ran.stdout.lines().count(), tools.len(), "{ran:#?}");
        is_clean(&format!("stdout as {shape}"), &ran.stdout);
        is_clean(&format!("stderr as {shape}"), &ran.stderr);
    }
    shows_nothing(&user, &["batch", "calls", "--yes", "-vvv"]);
    is_clean_beneath(user.home());

    // It was not for want of secrets: each kind of place was sent one.
    let sent = SENT.lock().unwrap().join("\n");
    for (place, text) in [
        ("a header", format!("x-api-key: {PLANTED}")),
        ("a bearer token", format!("authorization: Bearer {PLANTED}")),
        ("a custom header", format!("before {PLANTED} after")),
        (
            "a user's password",
            base64(format!("us:{FILED}").as_bytes()),
        ),
        ("a form or a query", spellings(FILED)[4].clone()),
    ] {
        let is_there = sent.to_lowercase().contains(&text.to_lowercase());
        assert!(is_there, "{place} was never sent: {text}");
    }
}

#[test]
fn single_calls() {
    let (user, tools) = planted();
    let wanted = [
        "bearer_200",
        "oauth_200",
        "query_move",
        "bearer_large",
        "prints",
        "fails",
        "much",
        "mcp__echo__say",
        "adapter_remote_echo",
        "in_address",
        "doc_echo",
    ];
    assert!(
        wanted
            .iter()
            .all(|name| tools.iter().any(|tool| tool == name))
    );
    for name in wanted {
        for more in [
            &["--yes", "-vvv"][..],
            &["--yes", "--json"],
            &["--yes", "--timeout", "1ms"],
        ] {
            shows_nothing(&user, &[&["call", name], more].concat());
        }
    }
    is_clean_beneath(user.home());
}

#[test]
fn clients_that_are_served() {
    let (user, tools) = planted();
    let mut client = Client::start(&user, &["--yes", "-vvv"]);
    client.tools();
    for tool in &tools {
        client.call(tool, &json!({}));
    }
    for (method, params) in [
        ("resources/list", json!({})),
        ("prompts/list", json!({})),
        ("resources/templates/list", json!({})),
        ("logging/setLevel", json!({ "level": "debug" })),
        ("no/such", json!({})),
    ] {
        client.request(method, &params);
    }
    is_clean("what a client was sent", &client.received.clone());
    is_clean("what the server said", &client.end());

    let web = Web::start(&user, &["--yes", "-vvv"]);
    let session = web.session("/mcp/agents/one");
    for tool in tools.iter().filter(|tool| !tool.contains("large")) {
        let result = session.call(tool, &json!({}));
        is_clean(tool, &result.to_string());
    }
    is_clean(
        "what was listed",
        &session.request("tools/list", &json!({})).to_string(),
    );
    is_clean("what the server said", &web.said());
    drop(web);
    is_clean_beneath(user.home());
}
