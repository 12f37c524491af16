//! The tools as clients list them.

use serde_json::{Value, json};
use toolsmith_core::binding::Binding;
use toolsmith_core::{Detail, Effect, Exposure, Outcome, Schema, ToolDef};
use toolsmith_mcp::server::Server;
use toolsmith_runtime::{Mode, Policy, Selection, Toolbox};
use toolsmith_testing::tools::{definition, echo, echoing, taking, with_schema};

use super::support::{Client, code, defined, serving, text, toolbox};

async fn listed(server: &Server) -> Value {
    let mut client = Client::handshake(server, json!({})).await;
    client.ask("tools/list", json!({})).await["result"].clone()
}

async fn listed_stateless(server: &Server) -> Value {
    let mut client = Client::connect(server);
    let answer = client
        .ask_stateless(json!({}), "tools/list", json!({}))
        .await;
    answer["result"].clone()
}

fn promising(name: &str, output: Value) -> ToolDef {
    definition(name).with_output(Schema::as_received(output).unwrap())
}

#[tokio::test]
async fn a_tool_says_all_it_is() {
    let tool = taking("write_note", json!({ "text": { "type": "string" } }))
        .with_title("Write a note")
        .with_effect(Effect::Write)
        .with_description("Writes a note.\n\nIt is kept for ever.")
        .with_output(Schema::as_received(json!({ "type": "object" })).unwrap());
    let server = serving([echoing(tool)]);
    let listed = listed(&server).await;
    let tool = &listed["tools"][0];
    assert_eq!(tool["name"], "write_note");
    assert_eq!(tool["title"], "Write a note");
    assert_eq!(tool["description"], "Writes a note.");
    assert_eq!(tool["inputSchema"]["type"], "object");
    assert_eq!(tool["inputSchema"]["required"], json!(["text"]));
    assert_eq!(tool["outputSchema"], json!({ "type": "object" }));
    let annotations = &tool["annotations"];
    assert_eq!(annotations["title"], "Write a note");
    assert_eq!(annotations["readOnlyHint"], false);
    assert_eq!(annotations["destructiveHint"], true);
    assert_eq!(annotations["openWorldHint"], false);
}

#[tokio::test]
async fn descriptions_are_as_long_as_was_chosen() {
    let tool = || {
        echoing(definition("long").with_description("Short.\n\nAnd here is all the rest of it."))
    };
    for (detail, is_full) in [(Detail::Brief, false), (Detail::Full, true)] {
        let server = Server::builder(toolbox([tool()]))
            .selection(Selection::everything().with_detail(detail))
            .build();
        let listed = listed(&server).await;
        let description = listed["tools"][0]["description"].as_str().unwrap();
        assert!(description.starts_with("Short."));
        assert_eq!(
            description.contains("all the rest"),
            is_full,
            "{description}"
        );
    }
}

#[tokio::test]
async fn input_schemas_always_speak_of_objects() {
    let schemas = [
        json!(true),
        json!({}),
        json!({ "properties": { "a": { "type": "string" } } }),
        json!({ "anyOf": [{ "required": ["a"] }, { "required": ["b"] }] }),
        json!({ "type": "object" }),
    ];
    let tools = schemas.into_iter().enumerate();
    let server = serving(tools.map(|(n, schema)| echoing(with_schema(&format!("t{n}"), schema))));
    for listed in [listed(&server).await, listed_stateless(&server).await] {
        let tools = listed["tools"].as_array().unwrap();
        assert_eq!(tools.len(), 5);
        for tool in tools {
            assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
        }
        assert_eq!(
            tools[3]["inputSchema"]["anyOf"][1]["required"],
            json!(["b"])
        );
    }
}

#[tokio::test]
async fn hidden_tools_are_not_there_and_deferred_ones_are_not_listed() {
    let toolbox = Toolbox::builder()
        .tools(["shown", "later", "secret"].map(|name| echoing(definition(name))))
        .binding(
            "later",
            Binding::default().with_exposure(Exposure::Deferred),
        )
        .binding("secret", Binding::default().with_exposure(Exposure::Hidden))
        .policy(Policy::new(Mode::Auto))
        .build()
        .unwrap();
    let server = Server::builder(toolbox).build();
    let names: Vec<Value> = listed(&server).await["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].clone())
        .collect();
    assert_eq!(names, ["shown"]);
    let mut client = Client::handshake(&server, json!({})).await;
    assert_eq!(client.call("later", json!({})).await["isError"], false);
    let refused = client.call("secret", json!({})).await;
    assert_eq!(refused["isError"], true);
    assert!(text(&refused).starts_with("unknown_tool"), "{refused}");
    assert!(!text(&refused).contains("nearest are secret"), "{refused}");
}

#[tokio::test]
async fn the_order_is_always_the_same_and_pages_hold_all_of_it() {
    let names: Vec<String> = (0..103)
        .map(|n| format!("tool_{:03}", n * 7 % 103))
        .collect();
    let tools = || names.iter().map(|name| echoing(definition(name)));
    let whole: Vec<Value> = {
        let listed = listed(&serving(tools())).await;
        assert_eq!(listed.get("nextCursor"), None);
        let tools = listed["tools"].as_array().unwrap();
        tools.iter().map(|tool| tool["name"].clone()).collect()
    };
    assert_eq!(whole.len(), 103);
    for size in [1, 10, 102, 103, 104] {
        let server = Server::builder(toolbox(tools())).page(size).build();
        let mut client = Client::handshake(&server, json!({})).await;
        let (mut params, mut seen, mut pages) = (json!({}), Vec::new(), 0);
        loop {
            let page = client.ask("tools/list", params).await["result"].clone();
            let tools = page["tools"].as_array().unwrap();
            assert!(!tools.is_empty() && tools.len() <= size);
            seen.extend(tools.iter().map(|tool| tool["name"].clone()));
            pages += 1;
            match page.get("nextCursor") {
                Some(cursor) => params = json!({ "cursor": cursor }),
                None => break,
            }
        }
        assert_eq!(seen, whole);
        assert_eq!(pages, 103_usize.div_ceil(size));
    }
}

#[tokio::test]
async fn values_that_are_no_objects_are_wrapped_for_the_handshake() {
    let number = promising("number", json!({ "type": "integer" }));
    let list = promising(
        "list",
        json!({
            "type": "array",
            "items": { "$ref": "#/$defs/item" },
            "$defs": { "item": { "type": "string" } },
        }),
    );
    let object = promising("object", json!({ "type": "object" }));
    let root = promising(
        "root",
        json!({ "type": ["array", "null"], "items": { "$ref": "#" } }),
    );
    let server = serving([
        defined(number, async |_, _| Outcome::ok(7)),
        defined(list, async |_, _| Outcome::ok(json!(["a"]))),
        defined(object, async |_, _| Outcome::ok(json!({ "a": 1 }))),
        defined(root, async |_, _| Outcome::ok(json!([null]))),
        defined(definition("free"), async |_, _| Outcome::ok(json!([1]))),
    ]);
    let values = [
        json!(7),
        json!(["a"]),
        json!({ "a": 1 }),
        json!([null]),
        json!([1]),
    ];
    let names = ["number", "list", "object", "root", "free"];

    let old = listed(&server).await;
    let schema = |place: usize| old["tools"][place]["outputSchema"].clone();
    assert_eq!(
        schema(0),
        json!({ "type": "object", "properties": { "result": { "type": "integer" } }, "required": ["result"] })
    );
    assert_eq!(
        schema(1),
        json!({
            "$defs": { "item": { "type": "string" } },
            "type": "object",
            "properties": { "result": { "type": "array", "items": { "$ref": "#/$defs/item" } } },
            "required": ["result"],
        })
    );
    assert_eq!(schema(2), json!({ "type": "object" }));
    assert_eq!(
        schema(3),
        Value::Null,
        "what refers to the root cannot move"
    );
    assert_eq!(schema(4), Value::Null);
    let mut client = Client::handshake(&server, json!({})).await;
    for (name, value) in names.iter().zip(&values) {
        let result = client.call(name, json!({})).await;
        let wrapped = match value {
            Value::Object(_) => value.clone(),
            other => json!({ "result": other }),
        };
        assert_eq!(result["structuredContent"], wrapped, "{name}");
        assert_eq!(text(&result), value.to_string());
    }

    let new = listed_stateless(&server).await;
    assert_eq!(
        new["tools"][0]["outputSchema"],
        json!({ "type": "integer" })
    );
    let mut client = Client::connect(&server);
    for (name, value) in names.iter().zip(&values) {
        let params = json!({ "name": name });
        let answer = client.ask_stateless(json!({}), "tools/call", params).await;
        assert_eq!(answer["result"]["structuredContent"], *value, "{name}");
    }
}

#[tokio::test]
async fn a_prefix_is_offered_and_both_names_are_taken() {
    let toolbox = Toolbox::builder()
        .tools([echo(), echoing(definition("acme_echo_twice"))])
        .prefix("acme")
        .policy(Policy::new(Mode::Auto))
        .build()
        .unwrap();
    let server = Server::builder(toolbox).build();
    let listed = listed(&server).await;
    assert_eq!(listed["tools"][0]["name"], "acme_echo");
    assert_eq!(listed["tools"][1]["name"], "acme_acme_echo_twice");
    let mut client = Client::handshake(&server, json!({})).await;
    for name in ["acme_echo", "echo"] {
        assert_eq!(text(&client.call(name, json!({ "text": "a" })).await), "a");
    }
    for name in ["acme_acme_echo_twice", "acme_echo_twice"] {
        assert_eq!(client.call(name, json!({})).await["isError"], false);
    }
    let wrong = client.call("acme_acme_echo", json!({})).await;
    assert!(text(&wrong).contains("acme_echo"), "{wrong}");
}

#[tokio::test]
async fn what_is_declared_is_what_is_there() {
    let server = Server::builder(toolbox([echo()]))
        .name("mine")
        .title("My tools")
        .instructions("Use them well.")
        .build();
    let mut client = Client::connect(&server);
    client
        .send(&super::support::initialize("2025-06-18", json!({})))
        .await;
    let hello = client.answer("initialize").await["result"].clone();
    let mut client = Client::connect(&server);
    let discovered = client
        .ask_stateless(json!({}), "server/discover", json!({}))
        .await["result"]
        .clone();
    let capabilities = json!({ "logging": {}, "tools": { "listChanged": true } });
    for said in [&hello, &discovered] {
        assert_eq!(said["capabilities"], capabilities, "{said}");
        assert_eq!(said["instructions"], "Use them well.");
    }
    assert_eq!(hello["serverInfo"]["name"], "mine");
    assert_eq!(hello["serverInfo"]["title"], "My tools");
    let versions = discovered["supportedVersions"].as_array().unwrap();
    assert_eq!(versions.len(), 5, "{discovered}");
    let meta = &discovered["_meta"]["io.modelcontextprotocol/serverInfo"];
    assert_eq!(meta["name"], "mine", "{discovered}");
    assert_eq!(code(&discovered), 0);
}
