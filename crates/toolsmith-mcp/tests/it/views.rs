//! Servers that offer less than all there is: beneath the whole one, and exchanged while
//! they are in use.

use serde_json::{Value, json};
use tokio::net::TcpListener;
use toolsmith_core::CancellationToken;
use toolsmith_mcp::server::Server;
use toolsmith_mcp::server::http::{HttpOptions, Mounts, Token};
use toolsmith_runtime::{Selection, Toolbox};
use toolsmith_testing::tools::{definition, echoing};

use super::support::{Client, calling, code, stateless, toolbox};
use super::web::{Reply, TOKEN, Web};

const CHANGED: &str = "notifications/tools/list_changed";

fn box_of_three() -> Toolbox {
    toolbox(["one", "two", "three"].map(|name| echoing(definition(name))))
}

fn offering(toolbox: &Toolbox, tools: &[&str]) -> Server {
    Server::builder(toolbox.clone())
        .selection(selecting(tools))
        .build()
}

fn selecting(tools: &[&str]) -> Selection {
    Selection::everything().with_tools(tools.iter().copied())
}

/// A server that listens, and what stands beneath it.
async fn listening(server: &Server) -> (Web, Mounts) {
    let options = HttpOptions::with_token(Token::new(TOKEN).unwrap());
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = free.local_addr().unwrap();
    drop(free);
    let http = server.listen_http(address, options).await.unwrap();
    let mounts = http.mounts();
    let stop = CancellationToken::new();
    let until = stop.clone();
    let running = tokio::spawn(http.run(until));
    let web = Web {
        address,
        stop,
        running,
    };
    (web, mounts)
}

async fn ask(web: &Web, path: &str, message: &Value) -> Reply {
    let request = web.stateless(message);
    let request = request.replacen("POST /mcp ", &format!("POST {path} "), 1);
    web.raw(request).await
}

async fn names(web: &Web, path: &str) -> Vec<String> {
    let reply = ask(web, path, &stateless(1, "tools/list", json!({}))).await;
    assert_eq!(reply.status, 200, "{path}: {reply:?}");
    let tools = reply.json()["result"]["tools"].clone();
    let tools = tools.as_array().unwrap().iter();
    tools
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn each_path_offers_its_own_tools() {
    let toolbox = box_of_three();
    let whole = Server::builder(toolbox.clone()).build();
    let (web, mounts) = listening(&whole).await;
    mounts.set([
        ("sets/first".to_owned(), offering(&toolbox, &["two", "one"])),
        ("agents/other".to_owned(), offering(&toolbox, &["three"])),
        ("agents/nobody".to_owned(), offering(&toolbox, &[])),
    ]);
    assert_eq!(names(&web, "/mcp").await, ["one", "two", "three"]);
    assert_eq!(names(&web, "/mcp/sets/first").await, ["two", "one"]);
    assert_eq!(names(&web, "/mcp/agents/other").await, ["three"]);
    assert_eq!(names(&web, "/mcp/agents/nobody").await, [] as [&str; 0]);

    // What is not offered cannot be called either.
    let call = stateless(2, "tools/call", calling("one", json!({})));
    let reply = ask(&web, "/mcp/agents/other", &call).await.json();
    let told = format!("{reply}");
    assert!(told.contains("no tool") || code(&reply) == -32602, "{told}");
    let reply = ask(&web, "/mcp/sets/first", &call).await.json();
    assert_ne!(reply["result"]["isError"], true, "{reply}");

    for path in [
        "/mcp/",
        "/mcp/sets",
        "/mcp/sets/none",
        "/mcp/sets/first/",
        "/mcpx",
    ] {
        let list = stateless(3, "tools/list", json!({}));
        assert_eq!(ask(&web, path, &list).await.status, 404, "{path}");
    }
    // Who has no token does not learn which paths there are.
    for path in ["/mcp/sets/first", "/mcp/sets/none"] {
        let list = stateless(4, "tools/list", json!({}));
        let request = web
            .stateless(&list)
            .replacen("POST /mcp ", &format!("POST {path} "), 1);
        let reply = web.raw(request.replace(TOKEN, "not-this-one")).await;
        assert_eq!(reply.status, 401, "{path}");
    }
    web.stop.cancel();
}

#[tokio::test]
async fn paths_come_and_go() {
    let toolbox = box_of_three();
    let whole = Server::builder(toolbox.clone()).build();
    let (web, mounts) = listening(&whole).await;
    let kept = offering(&toolbox, &["one"]);
    mounts.set([("sets/a".to_owned(), kept.clone())]);
    assert_eq!(names(&web, "/mcp/sets/a").await, ["one"]);
    mounts.set([
        ("sets/a".to_owned(), kept.clone()),
        ("sets/b".to_owned(), offering(&toolbox, &["two"])),
    ]);
    assert_eq!(names(&web, "/mcp/sets/b").await, ["two"]);
    kept.select(selecting(&["three"]));
    assert_eq!(names(&web, "/mcp/sets/a").await, ["three"]);
    mounts.set([]);
    let list = stateless(3, "tools/list", json!({}));
    assert_eq!(ask(&web, "/mcp/sets/a", &list).await.status, 404);
    web.stop.cancel();
}

/// A session stays with the server it was opened at.
#[tokio::test]
async fn a_session_is_of_the_path_it_was_opened_at() {
    let toolbox = box_of_three();
    let whole = Server::builder(toolbox.clone()).build();
    let (web, mounts) = listening(&whole).await;
    mounts.set([("sets/a".to_owned(), offering(&toolbox, &["one"]))]);
    let hello = super::support::initialize("2025-11-25", json!({}));
    let open = web.post("connection: close\r\n", &hello.to_string());
    let reply = web
        .raw(open.replacen("POST /mcp ", "POST /mcp/sets/a ", 1))
        .await;
    assert_eq!(reply.status, 200, "{reply:?}");
    let session = reply.header("mcp-session-id").unwrap().to_owned();
    let ready = super::support::note("notifications/initialized", json!({}));
    let headers = format!("mcp-session-id: {session}\r\nmcp-protocol-version: 2025-11-25\r\n");
    let told = web.post(&headers, &ready.to_string());
    let reply = web
        .raw(told.replacen("POST /mcp ", "POST /mcp/sets/a ", 1))
        .await;
    assert_eq!(reply.status, 202, "{reply:?}");
    // At another path there is no such session.
    let list = super::support::request(5, "tools/list", json!({}));
    assert_eq!(web.in_session(&session, &list).await.status, 404);
    assert_eq!(web.close(&session).await.status, 404);
    let asked = web.post(&headers, &list.to_string());
    let reply = web
        .raw(asked.replacen("POST /mcp ", "POST /mcp/sets/a ", 1))
        .await
        .json();
    assert_eq!(
        reply["result"]["tools"].as_array().unwrap().len(),
        1,
        "{reply}"
    );
    web.stop.cancel();
}

#[tokio::test]
async fn clients_are_told_of_another_selection() {
    let server = offering(&box_of_three(), &["one"]);
    let mut client = Client::handshake(&server, json!({})).await;
    // Answered: so the server has heard that the client is ready.
    client.ask("tools/list", json!({})).await;
    server.select(selecting(&["one", "two"]));
    client.noted(CHANGED).await;
    let listed = client.ask("tools/list", json!({})).await;
    assert_eq!(
        listed["result"]["tools"].as_array().unwrap().len(),
        2,
        "{listed}"
    );
    // The same once more is no news.
    server.select(selecting(&["one", "two"]));
    server.select(selecting(&["three"]));
    client.noted(CHANGED).await;
}
