//! Clients are told what changed: all of it, once, and only what they want to know.

use serde_json::{Value, json};
use toolsmith_mcp::server::Server;
use toolsmith_testing::tools::{definition, echo, echoing};

use super::beside::Library;
use super::support::{Client, code, note, serving, stateless, toolbox};

const TOOLS: &str = "notifications/tools/list_changed";
const PROMPTS: &str = "notifications/prompts/list_changed";
const RESOURCES: &str = "notifications/resources/list_changed";
const UPDATED: &str = "notifications/resources/updated";
const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";

fn full() -> Server {
    Server::builder(toolbox([echo()]))
        .resources(Library)
        .prompts(Library)
        .build()
}

/// Whatever came before the answer to a question asked now, by method.
async fn told(client: &mut Client) -> Vec<Value> {
    client
        .ask_stateless(json!({}), "tools/list", json!({}))
        .await;
    let kept = std::mem::take(&mut client.kept);
    kept.into_iter()
        .map(|each| each["method"].clone())
        .collect()
}

async fn listening(server: &Server, id: &str, filter: Value) -> (Client, Value) {
    let mut client = Client::connect(server);
    let params = json!({ "notifications": filter });
    client
        .send(&stateless(id, "subscriptions/listen", params))
        .await;
    let first = client.next().await.unwrap();
    assert_eq!(first["method"], ACKNOWLEDGED, "{first}");
    assert_eq!(subscription(&first), id);
    (client, first["params"]["notifications"].clone())
}

fn subscription(message: &Value) -> &str {
    let id = &message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"];
    id.as_str().unwrap_or_default()
}

#[tokio::test(start_paused = true)]
async fn many_changes_are_told_once_to_every_session() {
    let server = serving([echo()]);
    let mut clients = Vec::new();
    for _ in 0..5 {
        let mut client = Client::handshake(&server, json!({})).await;
        // Whoever says it twice is not told twice.
        client
            .send(&note("notifications/initialized", json!({})))
            .await;
        assert!(told(&mut client).await.is_empty());
        clients.push(client);
    }
    for number in 0..50 {
        let tool = echoing(definition(&format!("new_{number}")));
        server.toolbox().register([tool]).unwrap();
    }
    for client in &mut clients {
        client.noted(TOOLS).await;
        let listed = client.ask("tools/list", json!({})).await;
        assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 51);
        tokio::time::sleep(std::time::Duration::from_secs(5)).await;
        assert!(told(client).await.is_empty(), "it was told more than once");
    }
}

#[tokio::test]
async fn a_session_follows_what_it_asked_to_follow() {
    let server = full();
    let mut client = Client::handshake(&server, json!({})).await;
    let follow = |uri: &str| json!({ "uri": uri });
    let subscribed = client
        .ask("resources/subscribe", follow("lib://changing"))
        .await;
    assert_eq!(code(&subscribed), 0, "{subscribed}");
    let refused = client
        .ask("resources/subscribe", follow("lib://book"))
        .await;
    assert_eq!(code(&refused), -32002, "{refused}");
    let notifier = server.notifier();
    notifier.resource_updated("lib://book");
    notifier.resource_updated("lib://changing");
    let updated = client.noted(UPDATED).await;
    assert_eq!(updated["params"]["uri"], "lib://changing");
    notifier.prompts_changed();
    client.noted(PROMPTS).await;
    notifier.resources_changed();
    client.noted(RESOURCES).await;
    client
        .ask("resources/unsubscribe", follow("lib://changing"))
        .await;
    notifier.resource_updated("lib://changing");
    notifier.prompts_changed();
    client.noted(PROMPTS).await;
    assert!(told(&mut client).await.is_empty());
}

#[tokio::test]
async fn a_session_follows_a_thousand_resources_at_most() {
    let server = full();
    let mut client = Client::handshake(&server, json!({})).await;
    for number in 0..1000 {
        let uri = json!({ "uri": format!("lib://changing/{number}") });
        assert_eq!(code(&client.ask("resources/subscribe", uri).await), 0);
    }
    let uri = json!({ "uri": "lib://changing/more" });
    assert_eq!(code(&client.ask("resources/subscribe", uri).await), -32600);
    let uri = json!({ "uri": format!("lib://changing/{}", "x".repeat(10_000)) });
    assert_eq!(code(&client.ask("resources/subscribe", uri).await), -32602);
    // What is followed already may be asked for again.
    let uri = json!({ "uri": "lib://changing/5" });
    assert_eq!(code(&client.ask("resources/subscribe", uri).await), 0);
}

#[tokio::test]
async fn listeners_hear_what_they_asked_for() {
    let server = full();
    let all = json!({
        "toolsListChanged": true,
        "promptsListChanged": true,
        "resourcesListChanged": true,
        "resourceSubscriptions": ["lib://changing"],
    });
    let (mut all_ears, accepted) = listening(&server, "all", all.clone()).await;
    assert_eq!(accepted, all);
    let (mut tools_only, _) =
        listening(&server, "tools", json!({ "toolsListChanged": true })).await;
    let (mut nothing, _) = listening(&server, "none", json!({})).await;
    let notifier = server.notifier();
    notifier.prompts_changed();
    notifier.resources_changed();
    notifier.resource_updated("lib://changing");
    notifier.resource_updated("lib://book");
    server
        .toolbox()
        .register([echoing(definition("new"))])
        .unwrap();
    for method in [PROMPTS, RESOURCES, UPDATED, TOOLS] {
        let told = all_ears.noted(method).await;
        assert_eq!(subscription(&told), "all", "{told}");
        if method == UPDATED {
            assert_eq!(told["params"]["uri"], "lib://changing");
        }
    }
    assert_eq!(subscription(&tools_only.noted(TOOLS).await), "tools");
    for client in [&mut all_ears, &mut tools_only, &mut nothing] {
        assert!(told(client).await.is_empty());
    }
}

#[tokio::test]
async fn what_is_not_there_is_not_accepted() {
    let server = serving([echo()]);
    let filter = json!({ "toolsListChanged": true, "promptsListChanged": true, "resourceSubscriptions": ["a:b"] });
    let (_client, accepted) = listening(&server, "a", filter).await;
    assert_eq!(accepted, json!({ "toolsListChanged": true }));
}

#[tokio::test]
async fn a_listener_that_cancels_hears_no_more() {
    let server = full();
    let mut client = Client::connect(&server);
    for id in ["one", "two"] {
        let params = json!({ "notifications": { "toolsListChanged": true } });
        client
            .send(&stateless(id, "subscriptions/listen", params))
            .await;
        client.noted(ACKNOWLEDGED).await;
    }
    client
        .send(&note(
            "notifications/cancelled",
            json!({ "requestId": "one" }),
        ))
        .await;
    client
        .ask_stateless(json!({}), "tools/list", json!({}))
        .await;
    let new = echoing(definition("new"));
    server.toolbox().register([new]).unwrap();
    assert_eq!(subscription(&client.noted(TOOLS).await), "two");
    assert!(told(&mut client).await.is_empty());
}
