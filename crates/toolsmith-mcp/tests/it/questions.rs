//! Tools that ask while they run, in both eras.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use toolsmith_core::reply::{Inquiry, Question, Response};
use toolsmith_core::{AnyTool, Outcome, Schema, ToolContext, ToolError};
use toolsmith_mcp::server::Server;
use toolsmith_testing::tools;

use super::support::{Client, by, calling, code, forms, request, serving, soon, text, tool, until};

fn form(message: &str) -> Question {
    let schema = json!({
        "type": "object",
        "properties": { "name": { "type": "string", "minLength": 2 } },
        "required": ["name"],
    });
    Question::new(message, Schema::as_received(schema).unwrap())
}

/// `greet`: asks who, and greets them.
fn greet() -> AnyTool {
    tool("greet", async |_, context: ToolContext| {
        let inquiry = Inquiry::new("who", form("Who are you?"));
        match context.ask_all(vec![inquiry]).await.remove(0) {
            Response::Given(given) => Outcome::text(format!("Hello, {}!", given["name"])),
            other => Outcome::failure(ToolError::failed(format!("{other:?}"))),
        }
    })
}

/// A tool that tells when it is dropped, asking.
fn counted(inside: &Arc<AtomicUsize>) -> AnyTool {
    struct Inside(Arc<AtomicUsize>);
    impl Drop for Inside {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::SeqCst);
        }
    }
    let inside = Arc::clone(inside);
    tool("counted", move |_: Value, context: ToolContext| {
        let inside = Arc::clone(&inside);
        async move {
            inside.fetch_add(1, Ordering::SeqCst);
            let _inside = Inside(inside);
            context.ask(form("Are you there?")).await;
            Outcome::text("asked")
        }
    })
}

fn given(name: &str) -> Value {
    json!({ "action": "accept", "content": { "name": name } })
}

async fn ask(client: &mut Client, name: &str, arguments: Value) -> Value {
    let params = calling(name, arguments);
    let answer = client.ask_stateless(forms(), "tools/call", params).await;
    answer["result"].clone()
}

async fn come_back(client: &mut Client, state: &Value, responses: Value) -> Value {
    let mut params = calling("greet", json!({ "n": 1 }));
    params["requestState"] = state.clone();
    params["inputResponses"] = responses;
    client.ask_stateless(forms(), "tools/call", params).await
}

#[tokio::test]
async fn with_a_handshake_the_client_is_asked_meanwhile() {
    let server = serving([greet(), tools::echo()]);
    let cases = [
        (json!({ "result": given("Ada") }), "Hello, \"Ada\"!"),
        (json!({ "result": { "action": "decline" } }), "Declined"),
        (json!({ "result": { "action": "cancel" } }), "Dismissed"),
        (json!({ "result": given("A") }), "Unavailable"),
        (json!({ "result": {} }), "Unavailable"),
        (
            json!({ "error": { "code": -1, "message": "no" } }),
            "Unavailable",
        ),
    ];
    for (said, heard) in cases {
        let mut client = Client::handshake(&server, forms()).await;
        client
            .send(&request(1, "tools/call", calling("greet", json!({}))))
            .await;
        let asked = client.asked("elicitation/create").await;
        assert_eq!(asked["params"]["message"], "Who are you?");
        // Other calls go on meanwhile.
        assert_eq!(
            text(&client.call("echo", json!({ "text": "a" })).await),
            "a"
        );
        let mut answer = said.clone();
        answer["jsonrpc"] = "2.0".into();
        answer["id"] = asked["id"].clone();
        client.send(&answer).await;
        let answer = client.answer(1).await;
        assert!(text(&answer["result"]).contains(heard), "{said}: {answer}");
    }
}

/// Whatever a request says about its client, the handshake holds for the session.
#[tokio::test]
async fn a_request_takes_nothing_from_its_session() {
    let server = serving([greet(), tools::echo()]);
    let mut client = Client::handshake(&server, forms()).await;
    let mut first = calling("echo", json!({ "text": "a" }));
    first["_meta"] = json!({ "io.modelcontextprotocol/clientCapabilities": {} });
    client.send(&request(1, "tools/call", first)).await;
    assert_eq!(text(&client.answer(1).await["result"]), "a");
    let greets = request(2, "tools/call", calling("greet", json!({})));
    client.send(&greets).await;
    client.asked("elicitation/create").await;
}

#[tokio::test]
async fn without_the_capability_nobody_is_asked() {
    let server = serving([greet()]);
    let mut client = Client::handshake(&server, json!({})).await;
    let result = client.call("greet", json!({})).await;
    assert!(text(&result).contains("Unavailable"), "{result}");
    let params = calling("greet", json!({}));
    let answer = client.ask_stateless(json!({}), "tools/call", params).await;
    assert_eq!(code(&answer), -32021, "{answer}");
    let needed = &answer["error"]["data"]["requiredCapabilities"];
    assert!(needed["elicitation"].is_object(), "{answer}");
    assert_eq!(server.waiting(), 0);
}

#[tokio::test]
async fn without_a_handshake_the_call_waits_for_its_client() {
    let server = serving([greet()]);
    let mut client = Client::connect(&server);
    let asked = ask(&mut client, "greet", json!({ "n": 1 })).await;
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let question = &asked["inputRequests"]["who"]["params"];
    assert_eq!(question["message"], "Who are you?");
    assert_eq!(server.waiting(), 1);
    let state = &asked["requestState"];

    let mut params = calling("greet", json!({ "n": 2 }));
    params["requestState"] = state.clone();
    params["inputResponses"] = json!({ "who": given("Eve") });
    let answer = client.ask_stateless(forms(), "tools/call", params).await;
    assert_eq!(code(&answer), -32602, "other arguments: {answer}");
    for wrong in ["parked.", "parked.00", "parked.zz"] {
        let answer = come_back(&mut client, &json!(wrong), json!({})).await;
        assert_eq!(code(&answer), -32602, "{answer}");
    }
    assert_eq!(
        server.waiting(),
        1,
        "what is wrong harms nothing that waits"
    );

    // What is missing or does not fit is asked again, under a new name.
    let mut state = state.clone();
    for poor in [
        json!({}),
        json!({ "other": given("Eve") }),
        json!({ "who": given("E") }),
        json!({ "who": { "action": "accept", "content": { "name": 5 } } }),
        json!({ "who": { "action": "accept" } }),
        json!({ "who": "Eve" }),
        json!({ "who": null }),
    ] {
        let answer = come_back(&mut client, &state, poor.clone()).await;
        let again = &answer["result"];
        assert_eq!(again["resultType"], "input_required", "{poor}: {answer}");
        assert_ne!(again["requestState"], state);
        let old = come_back(&mut client, &state, json!({ "who": given("Eve") })).await;
        assert_eq!(code(&old), -32602, "a state counts once");
        state = again["requestState"].clone();
    }
    let answer = come_back(&mut client, &state, json!({ "who": given("Ada"), "x": 1 })).await;
    assert_eq!(text(&answer["result"]), "Hello, \"Ada\"!", "{answer}");
    assert_eq!(server.waiting(), 0);
    let answer = come_back(&mut client, &state, json!({ "who": given("Ada") })).await;
    assert_eq!(code(&answer), -32602, "a state counts once");
    let metrics = server.toolbox().metrics().unwrap().snapshot();
    let greet = metrics.tools.values().next().unwrap();
    assert_eq!((greet.started, greet.succeeded), (1, 1));
}

#[tokio::test]
async fn a_refusal_is_an_answer() {
    let server = serving([greet()]);
    let mut client = Client::connect(&server);
    for (action, heard) in [("decline", "Declined"), ("cancel", "Dismissed")] {
        let asked = ask(&mut client, "greet", json!({ "n": 1 })).await;
        let no = json!({ "who": { "action": action } });
        let answer = come_back(&mut client, &asked["requestState"], no).await;
        assert!(text(&answer["result"]).contains(heard), "{answer}");
    }
}

#[tokio::test]
async fn answers_can_come_with_the_call() {
    let server = serving([greet()]);
    let mut client = Client::connect(&server);
    let mut params = calling("greet", json!({}));
    params["inputResponses"] = json!({ "who": given("Ada"), "more": {} });
    let answer = client.ask_stateless(forms(), "tools/call", params).await;
    assert_eq!(text(&answer["result"]), "Hello, \"Ada\"!");
    assert_eq!(server.waiting(), 0);
}

#[tokio::test]
async fn only_one_of_many_at_once_comes_back() {
    let server = serving([greet()]);
    let mut client = Client::connect(&server);
    let asked = ask(&mut client, "greet", json!({ "n": 1 })).await;
    let mut params = calling("greet", json!({ "n": 1 }));
    params["requestState"] = asked["requestState"].clone();
    params["inputResponses"] = json!({ "who": given("Ada") });
    for id in 0..30 {
        let back = by(forms(), id, "tools/call", params.clone());
        client.send(&back).await;
    }
    let mut codes = Vec::new();
    for id in 0..30 {
        codes.push(code(&client.answer(id).await));
    }
    codes.sort_unstable();
    assert_eq!(codes[28..], [-32602, 0]);
}

#[tokio::test(start_paused = true)]
async fn who_does_not_come_back_is_forgotten() {
    let inside = Arc::default();
    let server = serving([counted(&inside)]);
    let mut client = Client::connect(&server);
    let asked = ask(&mut client, "counted", json!({})).await;
    assert_eq!(server.waiting(), 1);
    tokio::time::sleep(Duration::from_secs(14 * 60)).await;
    assert_eq!(server.waiting(), 1);
    tokio::time::sleep(Duration::from_secs(2 * 60)).await;
    assert_eq!(server.waiting(), 0);
    assert_eq!(inside.load(Ordering::SeqCst), 0, "its call is dropped");
    let mut params = calling("counted", json!({}));
    params["requestState"] = asked["requestState"].clone();
    let answer = client.ask_stateless(forms(), "tools/call", params).await;
    assert_eq!(code(&answer), -32602);
}

#[tokio::test]
async fn the_oldest_of_too_many_gives_way() {
    let inside = Arc::default();
    let server = serving([counted(&inside)]);
    let mut client = Client::connect(&server);
    let first = ask(&mut client, "counted", json!({})).await;
    for _ in 0..1100 {
        ask(&mut client, "counted", json!({})).await;
    }
    assert_eq!(server.waiting(), 1024);
    until(|| inside.load(Ordering::SeqCst) == 1024).await;
    let mut params = calling("counted", json!({}));
    params["requestState"] = first["requestState"].clone();
    let answer = client.ask_stateless(forms(), "tools/call", params).await;
    assert_eq!(code(&answer), -32602, "{answer}");
    // When the client leaves, nobody can come back.
    client.hang_up().await;
    soon(client.served).await.unwrap().unwrap();
    until(|| server.waiting() == 0 && inside.load(Ordering::SeqCst) == 0).await;
}

/// What waits holds its arguments, which no request is in flight for any more.
#[tokio::test]
async fn large_calls_that_wait_are_bounded_together() {
    let inside = Arc::default();
    let server = serving([counted(&inside)]);
    let mut client = Client::connect(&server);
    let large = "x".repeat(1 << 20);
    for _ in 0..40 {
        ask(&mut client, "counted", json!({ "text": large })).await;
    }
    assert_eq!(server.waiting(), 31);
    until(|| inside.load(Ordering::SeqCst) == 31).await;
}

#[tokio::test]
async fn other_questions_need_other_capabilities() {
    let server = serving([
        tool("roots", async |_, context: ToolContext| {
            Outcome::text(format!("{:?}", context.ask(Question::Roots).await))
        }),
        tool("write", async |_, context: ToolContext| {
            let request = json!({
                "messages": [{ "role": "user", "content": { "type": "text", "text": "Hi" } }],
                "maxTokens": 5,
            });
            Outcome::text(format!(
                "{:?}",
                context.ask(Question::Sample { request }).await
            ))
        }),
        tool("visit", async |_, context: ToolContext| {
            let question = Question::Visit {
                message: "Go there.".to_owned(),
                url: "https://example.com/".to_owned(),
            };
            Outcome::text(format!("{:?}", context.ask(question).await))
        }),
    ]);
    let cases = [
        (
            "roots",
            json!({ "roots": {} }),
            "roots/list",
            json!({ "roots": [] }),
        ),
        (
            "write",
            json!({ "sampling": {} }),
            "sampling/createMessage",
            json!({ "role": "assistant", "content": { "type": "text", "text": "Hi" }, "model": "m" }),
        ),
        (
            "visit",
            json!({ "elicitation": { "url": {} } }),
            "elicitation/create",
            json!({ "action": "accept" }),
        ),
    ];
    for (name, capabilities, method, answer) in cases {
        let mut client = Client::handshake(&server, capabilities.clone()).await;
        client
            .send(&request(1, "tools/call", calling(name, json!({}))))
            .await;
        let asked = client.asked(method).await;
        client
            .send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": answer }))
            .await;
        let result = client.answer(1).await["result"].clone();
        assert!(text(&result).starts_with("Given"), "{name}: {result}");

        let params = calling(name, json!({}));
        let asked = client
            .ask_stateless(capabilities.clone(), "tools/call", params.clone())
            .await;
        let asked = &asked["result"];
        assert_eq!(
            asked["inputRequests"]["answer"]["method"], method,
            "{asked}"
        );
        let mut back = params.clone();
        back["requestState"] = asked["requestState"].clone();
        back["inputResponses"] = json!({ "answer": answer });
        let result = client.ask_stateless(capabilities, "tools/call", back).await;
        assert!(
            text(&result["result"]).starts_with("Given"),
            "{name}: {result}"
        );

        let mut client = Client::handshake(&server, forms()).await;
        let result = client.call(name, json!({})).await;
        assert_eq!(text(&result), "Unavailable", "{name}");
    }
}

#[tokio::test]
async fn a_cancelled_call_stops_asking() {
    let inside = Arc::default();
    let server: Server = serving([counted(&inside)]);
    let mut client = Client::handshake(&server, forms()).await;
    client
        .send(&request(1, "tools/call", calling("counted", json!({}))))
        .await;
    let asked = client.asked("elicitation/create").await;
    client
        .send(&super::support::note(
            "notifications/cancelled",
            json!({ "requestId": 1 }),
        ))
        .await;
    until(|| inside.load(Ordering::SeqCst) == 0).await;
    // An answer that comes too late is one to nothing.
    client
        .send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": given("Ada") }))
        .await;
    assert_eq!(code(&client.ask("ping", json!({})).await), 0);
}
