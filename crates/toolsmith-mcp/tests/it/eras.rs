//! Methods, versions and lifecycles of both eras.

use serde_json::{Value, json};

use super::protocol::{
    Handshake, INVALID, METHOD, OK, PARAMS, Silent, Stateless, VERSION, case, check_all, server,
};
use super::support::{Client, calling, code, initialize, note, request, stateless};

fn line(message: &Value) -> String {
    format!("{message}\n")
}

/// A stateless request without one of the keys it must have.
fn without(key: &str) -> String {
    let mut request = stateless(1, "tools/list", json!({}));
    let meta = request["params"]["_meta"].as_object_mut().unwrap();
    meta.remove(&format!("io.modelcontextprotocol/{key}"))
        .unwrap();
    line(&request)
}

/// A stateless request of another version.
fn of_version(version: impl Into<Value>) -> String {
    let mut request = stateless(1, "tools/list", json!({}));
    request["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = version.into();
    line(&request)
}

#[tokio::test]
async fn methods_are_found_or_not() {
    let old = |method: &str| line(&request(1, method, json!({})));
    let new = |method: &str| line(&stateless(1, method, json!({})));
    let long = "m".repeat(100_000);
    let cases = vec![
        case("unknown", Handshake, old("tools/destroy"), &[("1", METHOD)]),
        case(
            "unknown, without a handshake",
            Stateless,
            new("tools/destroy"),
            &[("1", METHOD)],
        ),
        case("an empty method", Handshake, old(""), &[("1", METHOD)]),
        case("a long method", Handshake, old(&long), &[("1", METHOD)]),
        case(
            "a strange method",
            Handshake,
            old("\u{202e}\0tools/list"),
            &[("1", METHOD)],
        ),
        case(
            "another case",
            Handshake,
            old("Tools/List"),
            &[("1", METHOD)],
        ),
        case(
            "no resources",
            Handshake,
            old("resources/list"),
            &[("1", METHOD)],
        ),
        case(
            "no resources, without a handshake",
            Stateless,
            new("resources/list"),
            &[("1", METHOD)],
        ),
        case(
            "no templates",
            Handshake,
            old("resources/templates/list"),
            &[("1", METHOD)],
        ),
        case(
            "no prompts",
            Handshake,
            old("prompts/list"),
            &[("1", METHOD)],
        ),
        case(
            "no prompts, without a handshake",
            Stateless,
            new("prompts/list"),
            &[("1", METHOD)],
        ),
        case(
            "nothing to read",
            Handshake,
            line(&request(1, "resources/read", json!({"uri": "a:b"}))),
            &[("1", METHOD)],
        ),
        case(
            "nothing to follow",
            Handshake,
            line(&request(1, "resources/subscribe", json!({"uri": "a:b"}))),
            &[("1", METHOD)],
        ),
        case(
            "nothing to get",
            Handshake,
            line(&request(1, "prompts/get", json!({"name": "a"}))),
            &[("1", METHOD)],
        ),
        case(
            "nothing to complete",
            Handshake,
            line(&request(
                1,
                "completion/complete",
                json!({"ref": {"type": "ref/prompt", "name": "a"}, "argument": {"name": "a", "value": ""}}),
            )),
            &[("1", METHOD)],
        ),
        case(
            "nothing to complete, whatever the parameters",
            Handshake,
            old("completion/complete"),
            &[("1", METHOD)],
        ),
        case(
            "nothing to get, whatever the parameters",
            Handshake,
            old("prompts/get"),
            &[("1", METHOD)],
        ),
        case(
            "nothing to read, whatever the parameters",
            Stateless,
            new("resources/read"),
            &[("1", METHOD)],
        ),
        case(
            "tasks",
            Handshake,
            line(&request(1, "tasks/get", json!({"taskId": "1"}))),
            &[("1", METHOD)],
        ),
        case(
            "a method of the client's",
            Handshake,
            old("sampling/createMessage"),
            &[("1", METHOD)],
        ),
        case(
            "a method of the client's, roots",
            Handshake,
            old("roots/list"),
            &[("1", METHOD)],
        ),
        case("ping", Handshake, old("ping"), &[("1", OK)]),
        case("ping before anything", Silent, old("ping"), &[("1", OK)]),
        case("ping, removed", Stateless, new("ping"), &[("1", METHOD)]),
        case(
            "levels, removed",
            Stateless,
            line(&stateless(1, "logging/setLevel", json!({"level": "info"}))),
            &[("1", METHOD)],
        ),
        case(
            "following, removed",
            Stateless,
            line(&stateless(1, "resources/subscribe", json!({"uri": "a:b"}))),
            &[("1", METHOD)],
        ),
        case(
            "unfollowing, removed",
            Stateless,
            line(&stateless(
                1,
                "resources/unsubscribe",
                json!({"uri": "a:b"}),
            )),
            &[("1", METHOD)],
        ),
        case(
            "listening, not there yet",
            Handshake,
            line(&request(
                1,
                "subscriptions/listen",
                json!({"notifications": {}}),
            )),
            &[("1", METHOD)],
        ),
        case("discovery", Stateless, new("server/discover"), &[("1", OK)]),
        case(
            "discovery before anything",
            Silent,
            new("server/discover"),
            &[("1", OK)],
        ),
    ];
    check_all(cases, 28).await;
}

#[tokio::test]
async fn parameters_fit_or_not() {
    let old = |method: &str, params: Value| line(&request(1, method, params));
    let new = |method: &str, params: Value| line(&stateless(1, method, params));
    let cases = vec![
        case(
            "no parameters",
            Handshake,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#,
            &[("1", PARAMS)],
        ),
        case(
            "no name",
            Handshake,
            old("tools/call", json!({})),
            &[("1", PARAMS)],
        ),
        case(
            "no name, without a handshake",
            Stateless,
            new("tools/call", json!({})),
            &[("1", PARAMS)],
        ),
        case(
            "a number as name",
            Handshake,
            old("tools/call", json!({"name": 5})),
            &[("1", PARAMS)],
        ),
        case(
            "null as name",
            Handshake,
            old("tools/call", json!({"name": null})),
            &[("1", PARAMS)],
        ),
        case(
            "a list as name",
            Stateless,
            new("tools/call", json!({"name": ["echo"]})),
            &[("1", PARAMS)],
        ),
        case(
            "a list as arguments",
            Handshake,
            old("tools/call", json!({"name": "echo", "arguments": []})),
            &[("1", PARAMS)],
        ),
        case(
            "a text as arguments",
            Handshake,
            old("tools/call", json!({"name": "echo", "arguments": "{}"})),
            &[("1", PARAMS)],
        ),
        case(
            "a number as cursor",
            Handshake,
            old("tools/list", json!({"cursor": 5})),
            &[("1", PARAMS)],
        ),
        case(
            "a foreign cursor",
            Handshake,
            old("tools/list", json!({"cursor": "abc"})),
            &[("1", PARAMS)],
        ),
        case(
            "an empty cursor",
            Handshake,
            old("tools/list", json!({"cursor": ""})),
            &[("1", PARAMS)],
        ),
        case(
            "a negative cursor",
            Stateless,
            new("tools/list", json!({"cursor": "after--1"})),
            &[("1", PARAMS)],
        ),
        case(
            "a cursor that overflows",
            Stateless,
            new(
                "tools/list",
                json!({"cursor": "after-99999999999999999999999"}),
            ),
            &[("1", PARAMS)],
        ),
        case(
            "a cursor behind the end",
            Handshake,
            old("tools/list", json!({"cursor": "after-1000000"})),
            &[("1", OK)],
        ),
        case(
            "a level nobody knows",
            Handshake,
            old("logging/setLevel", json!({"level": "loud"})),
            &[("1", PARAMS)],
        ),
        case(
            "no level",
            Handshake,
            old("logging/setLevel", json!({})),
            &[("1", PARAMS)],
        ),
        case(
            "a number as filter",
            Stateless,
            new("subscriptions/listen", json!({"notifications": 5})),
            &[("1", PARAMS)],
        ),
        case(
            "a state nobody gave",
            Stateless,
            new(
                "tools/call",
                json!({"name": "echo", "arguments": {"text": "a"}, "requestState": "parked.00"}),
            ),
            &[("1", PARAMS)],
        ),
        case(
            "metadata that is none",
            Handshake,
            old("tools/list", json!({"_meta": 5})),
            &[("1", PARAMS)],
        ),
        case(
            "metadata that is a list",
            Handshake,
            old("tools/call", json!({"name": "echo", "_meta": []})),
            &[("1", PARAMS)],
        ),
        case(
            "a progress token that is none",
            Handshake,
            old(
                "tools/call",
                json!({"name": "echo", "arguments": {"text": "a"}, "_meta": {"progressToken": {"a": 1}}}),
            ),
            &[("1", OK)],
        ),
        case(
            "null as arguments",
            Handshake,
            old("tools/call", json!({"name": "echo", "arguments": null})),
            &[("1", OK)],
        ),
    ];
    check_all(cases, 20).await;
}

#[tokio::test]
async fn versions_are_known_or_not() {
    let cases = vec![
        case(
            "an old date",
            Silent,
            of_version("1999-01-01"),
            &[("1", VERSION)],
        ),
        case(
            "a future date",
            Silent,
            of_version("2099-01-01"),
            &[("1", VERSION)],
        ),
        case(
            "no date",
            Stateless,
            of_version("latest"),
            &[("1", VERSION)],
        ),
        case(
            "an empty version",
            Stateless,
            of_version(""),
            &[("1", VERSION)],
        ),
        case(
            "a number",
            Stateless,
            of_version(20_260_728),
            &[("1", PARAMS)],
        ),
        case("null", Stateless, of_version(Value::Null), &[("1", PARAMS)]),
        case(
            "an old date after a handshake",
            Handshake,
            of_version("1999-01-01"),
            &[("1", VERSION)],
        ),
        case(
            "a text before the date",
            Stateless,
            of_version(" 2026-07-28"),
            &[("1", VERSION)],
        ),
        case(
            "discovery of another version",
            Silent,
            line(&{
                let mut request = stateless(1, "server/discover", json!({}));
                request["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] =
                    "2099-01-01".into();
                request
            }),
            &[("1", VERSION)],
        ),
        case(
            "no version",
            Stateless,
            without("protocolVersion"),
            &[("1", PARAMS)],
        ),
        case(
            "no capabilities",
            Stateless,
            without("clientCapabilities"),
            &[("1", PARAMS)],
        ),
        case(
            "no version, first",
            Silent,
            without("protocolVersion"),
            &[("1", PARAMS)],
        ),
        case(
            "no capabilities, first",
            Silent,
            without("clientCapabilities"),
            &[("1", PARAMS)],
        ),
        case(
            "no name of the client",
            Stateless,
            without("clientInfo"),
            &[("1", OK)],
        ),
        case(
            "no metadata",
            Stateless,
            line(&request(1, "tools/list", json!({}))),
            &[("1", PARAMS)],
        ),
        case(
            "both eras",
            Handshake,
            line(&stateless(1, "tools/list", json!({}))),
            &[("1", OK)],
        ),
    ];
    check_all(cases, 16).await;
}

#[tokio::test]
async fn a_connection_begins_once() {
    let list = |id: i32| line(&request(id, "tools/list", json!({})));
    let initialized = line(&note("notifications/initialized", json!({})));
    let again = line(&{
        let mut again = initialize("2025-06-18", json!({}));
        again["id"] = 9.into();
        again
    });
    let cancel = line(&note("notifications/cancelled", json!({"requestId": 1})));
    let answer = line(&json!({"jsonrpc": "2.0", "id": 1, "result": {}}));
    let broken = line(&request(1, "initialize", json!({"protocolVersion": 5})));
    let cases = vec![
        case("a request first", Silent, list(1), &[("1", PARAMS)]),
        case(
            "a call first",
            Silent,
            line(&request(
                1,
                "tools/call",
                calling("echo", json!({"text": "a"})),
            )),
            &[("1", PARAMS)],
        ),
        case("a note first", Silent, initialized.clone(), &[]),
        case(
            "a request, then a note",
            Silent,
            list(1) + &initialized,
            &[("1", PARAMS)],
        ),
        case(
            "a request, then an answer",
            Silent,
            list(1) + &answer,
            &[("1", PARAMS)],
        ),
        case(
            "a ping, then a note",
            Silent,
            line(&request(1, "ping", json!({}))) + &cancel,
            &[("1", OK)],
        ),
        case(
            "discovery, then a note",
            Silent,
            line(&stateless(1, "server/discover", json!({}))) + &cancel,
            &[("1", OK)],
        ),
        case(
            "a wrong version, then a note",
            Silent,
            of_version("1999-01-01") + &cancel,
            &[("1", VERSION)],
        ),
        case(
            "parameters that do not fit, then a note",
            Silent,
            broken.clone() + &initialized,
            &[("1", PARAMS)],
        ),
        case(
            "parameters that do not fit, then again",
            Silent,
            broken + &again + &initialized,
            &[("1", PARAMS), ("9", OK)],
        ),
        case("twice", Handshake, again.clone(), &[("9", INVALID)]),
        case("after the other era", Stateless, again, &[("9", INVALID)]),
        case("told twice", Handshake, initialized.repeat(3), &[]),
        case("cancels nothing", Handshake, cancel.clone(), &[]),
        case(
            "cancels what nobody asked",
            Stateless,
            line(&note(
                "notifications/cancelled",
                json!({"requestId": "never"}),
            )),
            &[],
        ),
        case(
            "cancels without saying what",
            Handshake,
            line(&note("notifications/cancelled", json!({}))),
            &[],
        ),
        case(
            "cancels a list",
            Handshake,
            line(&note("notifications/cancelled", json!({"requestId": [1]}))),
            &[],
        ),
        case(
            "cancels a hundred times",
            Handshake,
            cancel.repeat(100),
            &[],
        ),
    ];
    check_all(cases, 18).await;
}

#[tokio::test]
async fn every_version_with_a_handshake_is_spoken() {
    let server = server();
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut client = Client::connect(&server);
        client.send(&initialize(version, json!({}))).await;
        let answer = client.answer("initialize").await;
        assert_eq!(answer["result"]["protocolVersion"], version);
        assert_eq!(code(&client.ask("tools/list", json!({})).await), 0);
    }
    for version in ["1999-01-01", "2099-01-01", "2026-07-28", ""] {
        let mut client = Client::connect(&server);
        client.send(&initialize(version, json!({}))).await;
        let answer = client.answer("initialize").await;
        assert_eq!(
            answer["result"]["protocolVersion"], "2025-11-25",
            "{version}"
        );
        assert_eq!(answer["result"].get("resultType"), None);
        assert_eq!(code(&client.ask("tools/list", json!({})).await), 0);
    }
}

#[tokio::test]
async fn a_second_handshake_changes_nothing() {
    let server = server();
    let mut client = Client::handshake(&server, json!({})).await;
    let mut again = initialize("2026-07-28", json!({ "elicitation": {} }));
    again["id"] = "again".into();
    client.send(&again).await;
    assert_eq!(code(&client.answer("again").await), INVALID);
    let answer = client.ask("tools/list", json!({})).await;
    assert_eq!(answer["result"].get("resultType"), None, "{answer}");
}

#[tokio::test]
async fn both_eras_share_a_connection() {
    let server = server();
    let mut client = Client::handshake(&server, json!({})).await;
    for _ in 0..3 {
        let old = client.ask("tools/list", json!({})).await;
        assert_eq!(old["result"].get("resultType"), None);
        let new = client
            .ask_stateless(json!({}), "tools/list", json!({}))
            .await;
        assert_eq!(new["result"]["resultType"], "complete");
        assert_eq!(new["result"]["cacheScope"], "private");
    }
}
