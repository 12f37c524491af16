//! Clients of either era, through us, to upstreams of either era.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::mpsc;
use toolsmith_core::reply::{Question, Response};
use toolsmith_core::{AnyTool, CancellationToken, Outcome, Progress, Schema, ToolContext};
use toolsmith_mcp::BoxFuture;
use toolsmith_mcp::client::{
    HttpUpstream, Protocol, Reach, State, UpstreamOptions, UpstreamPrompts, UpstreamResources,
    Upstreams,
};
use toolsmith_mcp::server::http::HttpOptions;
use toolsmith_mcp::server::{
    Asking, Contents, Prompt, PromptMessage, PromptText, Prompts, Resource, Resources, Server,
};

use crate::support::{
    Client, SOON, by, calling, code, forms, note, request, soon, text, tool, toolbox, until,
};

/// How a client talks to us, and how we talk to the upstream.
const CROSSINGS: [(Era, Protocol); 4] = [
    (Era::Handshake, Protocol::Handshake),
    (Era::Handshake, Protocol::Stateless),
    (Era::Stateless, Protocol::Handshake),
    (Era::Stateless, Protocol::Stateless),
];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Era {
    Handshake,
    Stateless,
}

/// An upstream over HTTP, and a gateway in front of it.
struct Gateway {
    server: Server,
    upstreams: Upstreams,
    /// What the upstream's tools noticed.
    noticed: mpsc::Receiver<String>,
    upstream: Server,
    stop: CancellationToken,
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

async fn gateway(protocol: Protocol) -> Gateway {
    let (notice, noticed) = mpsc::channel(64);
    let upstream = Server::builder(toolbox(upstream_tools(&notice)))
        .resources(Notes)
        .prompts(Notes)
        .build();
    let stop = CancellationToken::new();
    let address = listen(&upstream, &stop).await;
    let toolbox = toolbox([]);
    let reach = Reach::Http(HttpUpstream::new(format!("http://{address}/mcp")));
    let options = UpstreamOptions::new("up", reach).protocol(protocol);
    let upstreams = Upstreams::start([options], &toolbox);
    soon(upstreams.settled()).await;
    let status = upstreams.all()[0].status();
    assert_eq!(status.state, State::Ready, "{status:?}");
    let server = Server::builder(toolbox)
        .resources(UpstreamResources::of(&upstreams))
        .prompts(UpstreamPrompts::of(&upstreams))
        .build();
    upstreams.tell(&server.notifier());
    Gateway {
        server,
        upstreams,
        noticed,
        upstream,
        stop,
    }
}

async fn listen(server: &Server, stop: &CancellationToken) -> SocketAddr {
    let address = "127.0.0.1:0".parse().unwrap();
    let http = server
        .listen_http(address, HttpOptions::without_token())
        .await
        .unwrap();
    let address = http.address().unwrap();
    tokio::spawn(http.run(stop.clone()));
    address
}

fn upstream_tools(notice: &mpsc::Sender<String>) -> Vec<AnyTool> {
    let (cancelled, who) = (notice.clone(), notice.clone());
    vec![
        tool("echo", async |arguments: Value, _| Outcome::ok(arguments)),
        tool("number", async |_, _| Outcome::ok(42)),
        tool("steps", async |_, context: ToolContext| {
            for step in 1..=3 {
                context.progress(Progress::done(f64::from(step)).of(3.0).saying("on it"));
            }
            Outcome::text("stepped")
        }),
        tool("hang", move |_, context: ToolContext| {
            let cancelled = cancelled.clone();
            async move {
                let _ = cancelled.try_send("hanging".to_owned());
                context.cancelled().await;
                let _ = cancelled.try_send("given up".to_owned());
                Outcome::nothing()
            }
        }),
        tool("ask", async |_, context: ToolContext| {
            let schema = json!({
                "type": "object",
                "properties": { "name": { "type": "string" } },
                "required": ["name"],
            });
            let question = Question::new("Who are you?", Schema::as_received(schema).unwrap());
            match context.ask(question).await {
                Response::Given(answer) => Outcome::text(format!("Hello, {}!", answer["name"])),
                other => Outcome::text(format!("{other:?}")),
            }
        }),
        tool("key", async |_, context: ToolContext| {
            let key = context.callers_key().map(|key| key.into_owned());
            Outcome::ok(json!({ "key": key }))
        }),
        tool("who", move |_, context: ToolContext| {
            let _ = who.try_send(context.caller().to_owned());
            async { Outcome::text("noticed") }
        }),
    ]
}

/// A resource and a prompt.
struct Notes;

impl Resources for Notes {
    fn list(&self) -> BoxFuture<'_, Result<Vec<Resource>, toolsmith_core::ToolError>> {
        let note = Resource::new("note://one", "one").with_description("A\u{202e} note.");
        Box::pin(std::future::ready(Ok(vec![note])))
    }

    fn read<'a>(
        &'a self,
        uri: &'a str,
    ) -> BoxFuture<'a, Result<Option<Vec<Contents>>, toolsmith_core::ToolError>> {
        let note = (uri == "note://one").then(|| vec![Contents::text(uri, "written\u{1b}[31m")]);
        Box::pin(std::future::ready(Ok(note)))
    }
}

impl Prompts for Notes {
    fn list(&self) -> BoxFuture<'_, Result<Vec<Prompt>, toolsmith_core::ToolError>> {
        Box::pin(std::future::ready(Ok(vec![Prompt::new(
            "greet", "Greets.",
        )])))
    }

    fn get<'a>(
        &'a self,
        name: &'a str,
        _arguments: serde_json::Map<String, Value>,
        _asking: Asking,
    ) -> BoxFuture<'a, Result<Option<PromptText>, toolsmith_core::ToolError>> {
        let made = (name == "greet").then(|| {
            let words = toolsmith_core::Block::text("Good morning.");
            PromptText::new(vec![PromptMessage::user(words)])
        });
        Box::pin(std::future::ready(Ok(made)))
    }
}

/// A client of an era, and how it asks.
struct Caller {
    client: Client,
    era: Era,
    asked: u32,
}

impl Caller {
    async fn of(gateway: &Gateway, era: Era) -> Self {
        let client = match era {
            Era::Handshake => Client::handshake(&gateway.server, forms()).await,
            Era::Stateless => Client::connect(&gateway.server),
        };
        Self {
            client,
            era,
            asked: 0,
        }
    }

    async fn send(&mut self, method: &str, params: Value) -> String {
        self.asked += 1;
        let id = format!("{}", self.asked);
        let message = match self.era {
            Era::Handshake => request(id.clone(), method, params),
            Era::Stateless => by(forms(), id.clone(), method, params),
        };
        self.client.send(&message).await;
        id
    }

    async fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params).await;
        self.client.answer(id).await
    }
}

#[tokio::test]
async fn what_a_caller_names_its_call_by_is_passed_on() {
    for (era, protocol) in CROSSINGS {
        let gateway = gateway(protocol).await;
        let mut caller = Caller::of(&gateway, era).await;
        let long = "k".repeat(256);
        for (sent, expected) in [
            (json!("order-7"), json!("order-7")),
            (json!(null), json!(null)),
            // What is no key is nobody's.
            (json!(7), json!(null)),
            (json!(""), json!(null)),
            (json!("two words"), json!(null)),
            (json!(long), json!(null)),
        ] {
            let mut params = calling("mcp__up__key", json!({}));
            params["_meta"] = json!({ "toolsmith/idempotencyKey": sent });
            let answer = caller.ask("tools/call", params).await;
            let key = &answer["result"]["structuredContent"]["key"];
            assert_eq!(*key, expected, "{era:?} {protocol:?} {answer}");
        }
    }
}

#[tokio::test]
async fn lists_and_calls_cross() {
    for (era, protocol) in CROSSINGS {
        let gateway = gateway(protocol).await;
        let mut caller = Caller::of(&gateway, era).await;
        let listed = caller.ask("tools/list", json!({})).await;
        let tools = listed["result"]["tools"].as_array().unwrap();
        let names: Vec<&str> = tools.iter().map(|t| t["name"].as_str().unwrap()).collect();
        let expected = ["echo", "number", "steps", "hang", "ask", "key", "who"];
        let expected = expected.map(|name| format!("mcp__up__{name}"));
        assert_eq!(names, expected, "{era:?} {protocol:?}");
        let arguments = json!({ "deep": [1, { "x": null }], "text": "ä" });
        let called = caller
            .ask("tools/call", calling("mcp__up__echo", arguments.clone()))
            .await;
        assert_eq!(called["result"]["structuredContent"], arguments, "{called}");
        let called = caller
            .ask("tools/call", calling("mcp__up__number", json!({})))
            .await;
        let number = &called["result"]["structuredContent"];
        let expected = match (era, protocol) {
            (Era::Stateless, Protocol::Stateless) => json!(42),
            // Either side with a handshake takes objects only.
            _ => json!({ "result": 42 }),
        };
        assert_eq!(*number, expected, "{era:?} {protocol:?}");
    }
}

#[tokio::test]
async fn progress_crosses() {
    for (era, protocol) in CROSSINGS {
        let gateway = gateway(protocol).await;
        let mut caller = Caller::of(&gateway, era).await;
        let mut params = calling("mcp__up__steps", json!({}));
        params["_meta"] = json!({ "progressToken": "here" });
        let id = caller.send("tools/call", params).await;
        let told = caller.client.noted("notifications/progress").await;
        assert_eq!(
            told["params"]["progressToken"], "here",
            "{era:?} {protocol:?}"
        );
        assert_eq!(told["params"]["total"], 3.0);
        assert_eq!(told["params"]["message"], "on it");
        let done = caller.client.answer(id).await;
        assert_eq!(text(&done["result"]), "stepped");
    }
}

#[tokio::test]
async fn giving_up_crosses() {
    for (era, protocol) in CROSSINGS {
        let mut gateway = gateway(protocol).await;
        let mut caller = Caller::of(&gateway, era).await;
        let id = caller
            .send("tools/call", calling("mcp__up__hang", json!({})))
            .await;
        assert_eq!(soon(gateway.noticed.recv()).await.unwrap(), "hanging");
        let cancel = json!({ "requestId": id, "reason": "enough" });
        caller
            .client
            .send(&note("notifications/cancelled", cancel))
            .await;
        let noticed = soon(gateway.noticed.recv()).await.unwrap();
        assert_eq!(noticed, "given up", "{era:?} {protocol:?}");
        // Nothing else is disturbed.
        let called = caller
            .ask("tools/call", calling("mcp__up__number", json!({})))
            .await;
        assert_eq!(code(&called), 0);
    }
}

#[tokio::test]
async fn questions_cross() {
    for (era, protocol) in CROSSINGS {
        let gateway = gateway(protocol).await;
        let mut caller = Caller::of(&gateway, era).await;
        let call = calling("mcp__up__ask", json!({}));
        let answer = match era {
            Era::Handshake => {
                let id = caller.send("tools/call", call).await;
                let asked = caller.client.asked("elicitation/create").await;
                assert_eq!(asked["params"]["message"], "Who are you?", "{protocol:?}");
                let answer = json!({ "action": "accept", "content": { "name": "Ada" } });
                let answer = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": answer });
                caller.client.send(&answer).await;
                caller.client.answer(id).await
            }
            Era::Stateless => {
                let asked = caller.ask("tools/call", call.clone()).await;
                let asked = &asked["result"];
                assert_eq!(
                    asked["resultType"], "input_required",
                    "{protocol:?} {asked}"
                );
                let requests = asked["inputRequests"].as_object().unwrap();
                let (key, request) = requests.iter().next().unwrap();
                assert_eq!(request["params"]["message"], "Who are you?");
                let mut again = call;
                again["requestState"] = asked["requestState"].clone();
                again["inputResponses"] =
                    json!({ key: { "action": "accept", "content": { "name": "Ada" } } });
                caller.ask("tools/call", again).await
            }
        };
        assert_eq!(
            text(&answer["result"]),
            "Hello, \"Ada\"!",
            "{era:?} {protocol:?}"
        );
    }
}

#[tokio::test]
async fn a_client_that_cannot_be_asked_is_told_so() {
    for protocol in [Protocol::Handshake, Protocol::Stateless] {
        let gateway = gateway(protocol).await;
        let mut client = Client::handshake(&gateway.server, json!({})).await;
        let result = client.call("mcp__up__ask", json!({})).await;
        let told = text(&result);
        assert!(
            told.contains("Dismissed") || told.contains("nobody could be asked"),
            "{protocol:?} {told}"
        );
    }
}

#[tokio::test]
async fn resources_and_prompts_pass_through_under_the_server_s_name() {
    for (era, protocol) in CROSSINGS {
        let gateway = gateway(protocol).await;
        let mut caller = Caller::of(&gateway, era).await;
        let listed = caller.ask("resources/list", json!({})).await;
        let resource = &listed["result"]["resources"][0];
        assert_eq!(resource["uri"], "mcp://up/note://one", "{listed}");
        assert_eq!(resource["description"], "A note.", "texts are cleaned");
        let read = caller
            .ask("resources/read", json!({ "uri": "mcp://up/note://one" }))
            .await;
        let contents = &read["result"]["contents"][0];
        assert_eq!(contents["text"], "written");
        assert_eq!(contents["uri"], "mcp://up/note://one");
        let missing = caller
            .ask("resources/read", json!({ "uri": "mcp://up/note://two" }))
            .await;
        assert!(code(&missing) != 0, "{missing}");
        let listed = caller.ask("prompts/list", json!({})).await;
        assert_eq!(
            listed["result"]["prompts"][0]["name"], "up__greet",
            "{listed}"
        );
        let got = caller
            .ask("prompts/get", json!({ "name": "up__greet" }))
            .await;
        assert_eq!(
            got["result"]["messages"][0]["content"]["text"],
            "Good morning."
        );
    }
}

#[tokio::test]
async fn a_changed_list_is_taken_in_one_step_and_told() {
    for (era, protocol) in CROSSINGS {
        let gateway = gateway(protocol).await;
        let mut caller = Caller::of(&gateway, era).await;
        if era == Era::Stateless {
            let filter = json!({ "notifications": { "toolsListChanged": true } });
            caller.send("subscriptions/listen", filter).await;
            let told = "notifications/subscriptions/acknowledged";
            caller.client.noted(told).await;
        }
        let registry = gateway.upstream.toolbox();
        let later = tool("later", async |_, _| Outcome::nothing());
        registry.register([later]).unwrap();
        caller
            .client
            .noted("notifications/tools/list_changed")
            .await;
        let listed = caller.ask("tools/list", json!({})).await;
        let tools = listed["result"]["tools"].as_array().unwrap();
        let found = tools.iter().any(|tool| tool["name"] == "mcp__up__later");
        assert!(found, "{era:?} {protocol:?}");
    }
}

#[tokio::test]
async fn callers_share_no_session_and_need_none() {
    for (protocol, sessions) in [(Protocol::Handshake, 2), (Protocol::Stateless, 0)] {
        let mut gateway = gateway(protocol).await;
        let mut callers = std::collections::BTreeSet::new();
        let mut clients = Vec::new();
        for _ in 0..2 {
            let mut client = Client::handshake(&gateway.server, json!({})).await;
            for _ in 0..2 {
                client.call("mcp__up__who", json!({})).await;
                callers.insert(soon(gateway.noticed.recv()).await.unwrap());
            }
            clients.push(client);
        }
        // The upstream numbers its sessions; without any it sees one and the same caller.
        assert_eq!(callers.len(), sessions.max(1), "{protocol:?} {callers:?}");
    }
}

/// However many others come, whoever is served is served to the end.
#[tokio::test]
async fn a_session_with_a_call_in_flight_does_not_give_way() {
    let mut gateway = gateway(Protocol::Handshake).await;
    let toolbox = gateway.server.toolbox().clone();
    let number = |caller: usize| {
        let caller = toolsmith_runtime::Caller::new(format!("test#{caller}"));
        let toolbox = toolbox.clone();
        async move {
            let call = toolsmith_core::RawCall::new("mcp__up__number", json!({}));
            toolbox.run(call, &caller).await.into_outcome()
        }
    };
    soon(number(0)).await;
    let mut client = Client::handshake(&gateway.server, json!({})).await;
    let hang = request("hang", "tools/call", calling("mcp__up__hang", json!({})));
    client.send(&hang).await;
    assert_eq!(soon(gateway.noticed.recv()).await.unwrap(), "hanging");
    for caller in 1..=40 {
        let outcome = soon(number(caller)).await;
        assert!(outcome.is_success(), "{outcome:?}");
    }
    assert!(gateway.noticed.try_recv().is_err(), "it was given up");
    let cancelled = json!({ "requestId": "hang" });
    client
        .send(&note("notifications/cancelled", cancelled))
        .await;
    assert_eq!(soon(gateway.noticed.recv()).await.unwrap(), "given up");
}

#[tokio::test]
async fn an_upstream_that_goes_away_is_reached_again() {
    let (notice, _noticed) = mpsc::channel(64);
    let upstream = Server::builder(toolbox(upstream_tools(&notice))).build();
    let stop = CancellationToken::new();
    let address = listen(&upstream, &stop).await;
    let toolbox = toolbox([]);
    let reach = Reach::Http(HttpUpstream::new(format!("http://{address}/mcp")));
    let options = UpstreamOptions::new("up", reach).protocol(Protocol::Handshake);
    let upstreams = Upstreams::start([options], &toolbox);
    soon(upstreams.settled()).await;
    let server = Server::builder(toolbox).build();
    let mut client = Client::handshake(&server, json!({})).await;
    assert_eq!(
        client.call("mcp__up__number", json!({})).await["isError"],
        false
    );
    stop.cancel();
    // Its tools stay, and say why they do not work.
    let told = tokio::time::timeout(SOON, async {
        loop {
            let result = client.call("mcp__up__number", json!({})).await;
            if result["isError"] == true {
                break text(&result).to_owned();
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    });
    let told = told.await.unwrap();
    assert!(told.contains("up"), "{told}");
    let stop = CancellationToken::new();
    let http = loop {
        match upstream
            .listen_http(address, HttpOptions::without_token())
            .await
        {
            Ok(http) => break http,
            Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    };
    tokio::spawn(http.run(stop.clone()));
    let upstream = &upstreams.all()[0];
    until(|| upstream.status().state == State::Ready && upstream.status().failures == 0).await;
    let worked = tokio::time::timeout(SOON, async {
        while client.call("mcp__up__number", json!({})).await["isError"] == true {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    });
    worked.await.unwrap();
    stop.cancel();
    drop(upstreams);
}

#[tokio::test]
async fn names_of_upstreams_tools_are_theirs_alone() {
    let gateway = gateway(Protocol::Auto).await;
    let upstream = &gateway.upstreams.all()[0];
    assert_eq!(upstream.status().tools, 7);
    assert_eq!(upstream.status().era.unwrap().to_string(), "stateless");
    let definition = gateway
        .server
        .toolbox()
        .registry()
        .get("mcp__up__echo")
        .unwrap();
    assert_eq!(definition.title.as_deref(), Some("up: echo"));
    assert!(definition.description.important[0].contains("`up`"));
}
