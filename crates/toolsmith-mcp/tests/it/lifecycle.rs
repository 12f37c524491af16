//! How connections begin, once, and go on in both eras.

use serde_json::json;

use super::eras::{line, of_version};
use super::protocol::{
    Handshake, INVALID, OK, PARAMS, Silent, Stateless, VERSION, case, check_all, server,
};
use super::support::{Client, calling, code, initialize, note, request, stateless};

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
