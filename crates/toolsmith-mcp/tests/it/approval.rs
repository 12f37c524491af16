//! Calls that need a person's word, in both eras.

use serde_json::{Value, json};
use toolsmith_core::{AnyTool, Effect};
use toolsmith_mcp::server::Server;
use toolsmith_runtime::Toolbox;
use toolsmith_runtime::permit::YesToAll;
use toolsmith_testing::Recording;
use toolsmith_testing::tools::{definition, echo, echoing};

use super::support::{Client, by, calling, code, forms, request, text};

fn write() -> AnyTool {
    echoing(definition("write").with_effect(Effect::Write))
}

/// A server that asks before anything is written.
fn asking() -> Server {
    let toolbox = Toolbox::builder()
        .tools([write(), echo()])
        .recorder(Recording::new())
        .build()
        .unwrap();
    Server::builder(toolbox).build()
}

fn ran(server: &Server) -> u64 {
    let metrics = server.toolbox().metrics().unwrap().snapshot();
    let tool = metrics.tools.iter().find(|(name, _)| *name == "write");
    tool.map_or(0, |(_, tool)| tool.started)
}

#[tokio::test]
async fn a_client_with_forms_is_asked_and_its_word_counts() {
    let server = asking();
    let accept = |content: Value| json!({ "result": { "action": "accept", "content": content } });
    let cases = [
        (accept(json!({ "approve": true })), true),
        (accept(json!({ "approve": false })), false),
        (accept(json!({ "approve": "true" })), false),
        (accept(json!({ "approve": 1 })), false),
        (accept(json!({ "approve": null })), false),
        (accept(json!({})), false),
        (accept(json!({ "APPROVE": true })), false),
        (accept(json!({ "approve": [true] })), false),
        (json!({ "result": { "action": "accept" } }), false),
        (json!({ "result": { "action": "decline" } }), false),
        (
            json!({ "result": { "action": "decline", "content": { "approve": true } } }),
            false,
        ),
        (
            json!({ "result": { "action": "cancel", "content": { "approve": true } } }),
            false,
        ),
        (json!({ "result": { "action": "yes" } }), false),
        (json!({ "result": {} }), false),
        (json!({ "result": { "approve": true } }), false),
        (
            json!({ "error": { "code": -32601, "message": "what?" } }),
            false,
        ),
    ];
    for (said, runs) in cases {
        let before = ran(&server);
        let mut client = Client::handshake(&server, forms()).await;
        client
            .send(&request(
                1,
                "tools/call",
                calling("write", json!({ "n": 1 })),
            ))
            .await;
        let asked = client.asked("elicitation/create").await;
        let message = asked["params"]["message"].as_str().unwrap();
        assert!(message.contains("write(n=1)"), "{message}");
        assert_eq!(
            asked["params"]["requestedSchema"]["required"],
            json!(["approve"])
        );
        let mut answer = said.clone();
        answer["jsonrpc"] = "2.0".into();
        answer["id"] = asked["id"].clone();
        client.send(&answer).await;
        let result = client.answer(1).await["result"].clone();
        assert_eq!(result["isError"], !runs, "{said}: {result}");
        assert_eq!(ran(&server) - before, u64::from(runs), "{said}");
    }
}

/// What the form says beyond yes counts for calls to come.
#[tokio::test]
async fn a_client_with_forms_can_have_its_word_remembered() {
    let server = asking();
    let mut client = Client::handshake(&server, forms()).await;
    let write = |id: u64, n: u64| request(id, "tools/call", calling("write", json!({ "n": n })));
    client.send(&write(1, 1)).await;
    let asked = client.asked("elicitation/create").await;
    let form = &asked["params"]["requestedSchema"]["properties"];
    assert_eq!(form["remember"]["default"], "once");
    assert_eq!(form["rule"]["default"], "write");
    let said = json!({ "approve": true, "remember": "run", "rule": "write(n = 1)" });
    let said = json!({ "action": "accept", "content": said });
    client
        .send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": said }))
        .await;
    assert_eq!(client.answer(1).await["result"]["isError"], false);
    // The same again is not asked for, and another one is.
    client.send(&write(2, 1)).await;
    assert_eq!(client.answer(2).await["result"]["isError"], false);
    client.send(&write(3, 2)).await;
    let asked = client.asked("elicitation/create").await;
    let said = json!({ "action": "decline" });
    client
        .send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": said }))
        .await;
    assert_eq!(client.answer(3).await["result"]["isError"], true);
    assert_eq!(ran(&server), 2);
}

#[tokio::test]
async fn an_answer_to_another_question_grants_nothing() {
    let server = asking();
    let mut client = Client::handshake(&server, forms()).await;
    let yes = json!({ "action": "accept", "content": { "approve": true } });
    // Before anything was asked.
    for id in 0..20 {
        client
            .send(&json!({ "jsonrpc": "2.0", "id": id, "result": yes }))
            .await;
    }
    for id in [1, 2] {
        client
            .send(&request(
                id,
                "tools/call",
                calling("write", json!({ "n": id })),
            ))
            .await;
    }
    let mut asked = [
        client.asked("elicitation/create").await,
        client.asked("elicitation/create").await,
    ];
    asked.sort_by_key(|each| each["params"]["message"].to_string());
    assert_eq!(ran(&server), 0);
    let no = json!({ "action": "decline" });
    for (question, answer) in asked.iter().zip([&no, &yes]) {
        client
            .send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer }))
            .await;
        // A second answer is one to nothing.
        client
            .send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": yes }))
            .await;
    }
    assert_eq!(client.answer(1).await["result"]["isError"], true);
    assert_eq!(client.answer(2).await["result"]["isError"], false);
    assert_eq!(ran(&server), 1);
}

#[tokio::test]
async fn who_cannot_be_asked_may_not() {
    let server = asking();
    for capabilities in [
        json!({}),
        json!({ "elicitation": { "url": {} } }),
        json!({ "sampling": {}, "roots": {} }),
    ] {
        let mut client = Client::handshake(&server, capabilities.clone()).await;
        let result = client.call("write", json!({})).await;
        assert!(text(&result).starts_with("approval_required"), "{result}");
        let answer = client
            .ask_stateless(capabilities, "tools/call", calling("write", json!({})))
            .await;
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        assert!(
            text(&answer["result"]).starts_with("approval_required"),
            "{answer}"
        );
    }
    assert_eq!(ran(&server), 0);
}

#[tokio::test]
async fn the_host_can_answer_instead() {
    let toolbox = Toolbox::new([write()]).unwrap();
    let server = Server::builder(toolbox)
        .caller(|caller| {
            let by = "--yes".to_owned();
            caller.with_approver(YesToAll { by })
        })
        .build();
    let mut client = Client::handshake(&server, forms()).await;
    assert_eq!(client.call("write", json!({})).await["isError"], false);
    let params = calling("write", json!({}));
    let answer = client.ask_stateless(forms(), "tools/call", params).await;
    assert_eq!(answer["result"]["isError"], false);
}

#[tokio::test]
async fn a_client_that_leaves_while_it_is_asked_grants_nothing() {
    let server = asking();
    let mut client = Client::handshake(&server, forms()).await;
    client
        .send(&request(1, "tools/call", calling("write", json!({}))))
        .await;
    client.asked("elicitation/create").await;
    client.hang_up().await;
    let rest = client.rest().await;
    assert_eq!(rest.len(), 1, "{rest:?}");
    assert_eq!(rest[0]["result"]["isError"], true);
    assert_eq!(ran(&server), 0);
}

/// Asks for a call without a handshake, and returns the state of the question.
async fn state_of(client: &mut Client, arguments: Value) -> Value {
    let params = calling("write", arguments);
    let asked = client.ask_stateless(forms(), "tools/call", params).await;
    let asked = &asked["result"];
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let question = &asked["inputRequests"]["approve"];
    assert_eq!(question["method"], "elicitation/create", "{asked}");
    let properties = &question["params"]["requestedSchema"]["properties"];
    assert_eq!(properties["approve"]["type"], "boolean");
    asked["requestState"].clone()
}

fn with_answer(arguments: Value, state: &Value, approve: Value) -> Value {
    let mut params = calling("write", arguments);
    params["requestState"] = state.clone();
    params["inputResponses"] = json!({ "approve": approve });
    params
}

fn yes() -> Value {
    json!({ "action": "accept", "content": { "approve": true } })
}

#[tokio::test]
async fn without_a_handshake_the_question_is_the_result() {
    let server = asking();
    let mut client = Client::connect(&server);
    let arguments = json!({ "n": 1 });
    let state = state_of(&mut client, arguments.clone()).await;
    let params = with_answer(arguments, &state, yes());
    let answer = client.ask_stateless(forms(), "tools/call", params).await;
    assert_eq!(answer["result"]["structuredContent"], json!({ "n": 1 }));
    assert_eq!(answer["result"]["resultType"], "complete");
    assert_eq!(ran(&server), 1);
}

#[tokio::test]
async fn states_that_do_not_fit_open_nothing() {
    let server = asking();
    let mut client = Client::connect(&server);
    let one = json!({ "n": 1 });
    let refused = async |client: &mut Client, params: Value, why: &str| {
        let answer = client.ask_stateless(forms(), "tools/call", params).await;
        let refused = answer["result"]["isError"] == true || code(&answer) == -32602;
        assert!(refused, "{why}: {answer}");
    };
    let answers = [
        json!({ "action": "decline" }),
        json!({ "action": "cancel" }),
        json!({ "action": "decline", "content": { "approve": true } }),
        json!({ "action": "accept", "content": { "approve": false } }),
        json!({ "action": "accept", "content": {} }),
        json!({ "action": "accept" }),
        json!({ "action": "ACCEPT", "content": { "approve": true } }),
        json!({ "content": { "approve": true } }),
        json!({ "approve": true }),
        json!(true),
        json!(null),
        json!([true]),
    ];
    for answer in answers {
        let state = state_of(&mut client, one.clone()).await;
        let params = with_answer(one.clone(), &state, answer.clone());
        refused(&mut client, params, &answer.to_string()).await;
        // The state is used up, whatever the answer was.
        let params = with_answer(one.clone(), &state, yes());
        refused(&mut client, params, "used up").await;
    }
    let state = state_of(&mut client, one.clone()).await;
    let genuine = state.as_str().unwrap();
    let mut bent = genuine.to_owned();
    let last = if bent.pop() == Some('0') { '1' } else { '0' };
    bent.push(last);
    let forged = [
        String::new(),
        "0.0.".to_owned(),
        bent,
        format!(" {genuine}"),
        format!("{genuine}0"),
        format!("{}.{genuine}", u64::MAX),
        "parked.0".to_owned(),
        "x".repeat(1 << 20),
        "é".repeat(64),
    ];
    for state in forged {
        let params = with_answer(one.clone(), &json!(state), yes());
        refused(
            &mut client,
            params,
            &state.chars().take(80).collect::<String>(),
        )
        .await;
    }
    let params = with_answer(json!({ "n": 2 }), &state, yes());
    refused(&mut client, params, "other arguments").await;
    let mut params = with_answer(one.clone(), &state, yes());
    params["name"] = "echo".into();
    refused(&mut client, params, "another tool").await;
    assert_eq!(ran(&server), 0);

    // Another client's word is not this one's.
    let mut stranger = by(
        forms(),
        "stranger",
        "tools/call",
        with_answer(one, &state, yes()),
    );
    stranger["params"]["_meta"]["io.modelcontextprotocol/clientInfo"]["name"] = "other".into();
    client.send(&stranger).await;
    let answer = client.answer("stranger").await;
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    assert_eq!(ran(&server), 0);
}

#[tokio::test]
async fn a_state_counts_once_even_at_the_same_time() {
    let server = asking();
    let mut client = Client::connect(&server);
    let arguments = json!({ "n": 1 });
    let state = state_of(&mut client, arguments.clone()).await;
    let params = with_answer(arguments, &state, yes());
    for id in 0..50 {
        client
            .send(&by(forms(), id, "tools/call", params.clone()))
            .await;
    }
    let mut granted = 0;
    for id in 0..50 {
        granted += u32::from(client.answer(id).await["result"]["isError"] == false);
    }
    assert_eq!(granted, 1);
    assert_eq!(ran(&server), 1);
}

#[tokio::test(start_paused = true)]
async fn a_state_grows_old() {
    let server = asking();
    let mut client = Client::connect(&server);
    let state = state_of(&mut client, json!({})).await;
    tokio::time::advance(std::time::Duration::from_secs(16 * 60)).await;
    let params = with_answer(json!({}), &state, yes());
    let answer = client.ask_stateless(forms(), "tools/call", params).await;
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    assert_eq!(ran(&server), 0);
}
