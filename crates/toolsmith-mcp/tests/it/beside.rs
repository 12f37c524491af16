//! Resources, prompts and completions.

use serde_json::{Map, Value, json};
use toolsmith_core::reply::{Question, Response};
use toolsmith_core::{Block, ErrorKind, Schema, ToolError};
use toolsmith_mcp::BoxFuture;
use toolsmith_mcp::server::{
    Asking, Completion, Contents, Prompt, PromptArgument, PromptMessage, PromptText, Prompts,
    Resource, ResourceTemplate, Resources, Server, ToolDocumentation,
};
use toolsmith_runtime::Selection;
use toolsmith_testing::tools::{echo, taking};

use super::support::{Client, code, forms, serving, soon, toolbox};

/// Resources and prompts that behave by their names.
pub(super) struct Library;

impl Resources for Library {
    fn list(&self) -> BoxFuture<'_, Result<Vec<Resource>, ToolError>> {
        Box::pin(async {
            Ok(vec![
                Resource::new("lib://book", "book"),
                Resource::new("lib://changing", "changing"),
            ])
        })
    }

    fn templates(&self) -> BoxFuture<'_, Result<Vec<ResourceTemplate>, ToolError>> {
        Box::pin(async { Ok(vec![ResourceTemplate::new("lib://{name}", "any")]) })
    }

    fn read<'a>(&'a self, uri: &'a str) -> BoxFuture<'a, Result<Option<Vec<Contents>>, ToolError>> {
        Box::pin(async move {
            match uri {
                "lib://book" => Ok(Some(vec![Contents::text(uri, "Once.")])),
                "lib://panic" => panic!("a shelf fell over"),
                "lib://broken" => Err(ToolError::failed("the\u{1b}[31m page is torn")),
                "lib://wrong" => Err(ToolError::new(ErrorKind::InvalidParameters, "no such page")),
                _ => Ok(None),
            }
        })
    }

    fn can_follow<'a>(&'a self, uri: &'a str) -> BoxFuture<'a, bool> {
        Box::pin(async move {
            assert_ne!(uri, "lib://panic", "a shelf fell over");
            uri.starts_with("lib://changing")
        })
    }

    fn complete<'a>(
        &'a self,
        template: &'a str,
        variable: &'a str,
        value: &'a str,
    ) -> BoxFuture<'a, Option<Completion>> {
        Box::pin(async move {
            assert_ne!(variable, "panic", "a shelf fell over");
            let names: Vec<String> = (0..250).map(|number| format!("book-{number}")).collect();
            let names = names.iter().map(String::as_str);
            (template == "lib://{name}").then(|| Completion::among(names, value))
        })
    }
}

impl Prompts for Library {
    fn list(&self) -> BoxFuture<'_, Result<Vec<Prompt>, ToolError>> {
        let argument = PromptArgument::required("tone", "How.").with_choices(["calm", "curt"]);
        let prompts = vec![
            Prompt::new("greet", "Greets.").with_argument(argument),
            Prompt::new("ask", "Asks first."),
        ];
        Box::pin(std::future::ready(Ok(prompts)))
    }

    fn get<'a>(
        &'a self,
        name: &'a str,
        arguments: Map<String, Value>,
        asking: Asking,
    ) -> BoxFuture<'a, Result<Option<PromptText>, ToolError>> {
        Box::pin(async move {
            let said = match name {
                "greet" => match arguments.get("tone") {
                    Some(tone) => format!("Hello, {tone}."),
                    None => return Err(ToolError::invalid("tone is missing")),
                },
                "ask" => {
                    let schema = json!({
                        "type": "object",
                        "properties": { "name": { "type": "string" } },
                        "required": ["name"],
                    });
                    let schema = Schema::as_received(schema).unwrap();
                    match asking.ask("who", Question::new("Who?", schema)).await {
                        Response::Given(given) => format!("Hello, {}.", given["name"]),
                        other => return Err(ToolError::failed(format!("{other:?}"))),
                    }
                }
                "panic" => panic!("the pen broke"),
                "hang" => std::future::pending().await,
                _ => return Ok(None),
            };
            let message = PromptMessage::user(Block::text(said));
            Ok(Some(PromptText::new(vec![message])))
        })
    }
}

fn library() -> Server {
    Server::builder(toolbox([echo()]))
        .resources(Library)
        .prompts(Library)
        .build()
}

#[tokio::test]
async fn resources_are_read_or_not_found() {
    let server = library();
    let mut client = Client::handshake(&server, json!({})).await;
    let cases = [
        ("lib://book", 0, 0),
        ("lib://nothing", -32002, -32602),
        ("", -32002, -32602),
        ("file:///etc/passwd", -32002, -32602),
        ("lib://panic", -32603, -32603),
        ("lib://broken", -32603, -32603),
        ("lib://wrong", -32602, -32602),
    ];
    for (uri, old, new) in cases {
        let params = json!({ "uri": uri });
        let answer = client.ask("resources/read", params.clone()).await;
        assert_eq!(code(&answer), old, "{answer}");
        let answer = client
            .ask_stateless(json!({}), "resources/read", params)
            .await;
        assert_eq!(code(&answer), new, "{answer}");
        if old == -32002 {
            assert_eq!(answer["error"]["data"]["uri"], uri);
        }
        let said = answer.to_string();
        assert!(
            !said.contains("u001b") && !said.contains("fell over"),
            "{said}"
        );
    }
    let long = format!("lib://{}", "x".repeat(100_000));
    let answer = client.ask("resources/read", json!({ "uri": long })).await;
    assert_eq!(code(&answer), -32002);
    assert!(
        answer.to_string().len() < 2000,
        "long names are not repeated"
    );
    let answer = client
        .ask("resources/subscribe", json!({ "uri": "lib://panic" }))
        .await;
    assert_eq!(code(&answer), -32603);
    let read = client
        .ask_stateless(json!({}), "resources/read", json!({ "uri": "lib://book" }))
        .await;
    assert_eq!(read["result"]["contents"][0]["text"], "Once.");
    assert!(read["result"]["ttlMs"].is_u64() && read["result"]["cacheScope"].is_string());
}

#[tokio::test]
async fn documentation_of_tools_can_be_read() {
    let tool = taking("write", json!({ "text": { "type": "string" } }))
        .with_description("Writes.\n\nEverything there is to say.");
    let toolbox = toolbox([toolsmith_testing::tools::echoing(tool), echo()]);
    let selection = Selection::everything().with_tools(["write"]);
    let server = Server::builder(toolbox.clone())
        .selection(selection.clone())
        .resources(ToolDocumentation::new(toolbox, selection))
        .build();
    let mut client = Client::handshake(&server, json!({})).await;
    let listed = client.ask("resources/list", json!({})).await;
    let listed = listed["result"]["resources"].as_array().unwrap().clone();
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert_eq!(listed[0]["uri"], "toolsmith://tools/write");
    let read = client
        .ask(
            "resources/read",
            json!({ "uri": "toolsmith://tools/write" }),
        )
        .await;
    let page = read["result"]["contents"][0]["text"].as_str().unwrap();
    assert!(page.contains("Everything there is to say"), "{page}");
    for uri in [
        "toolsmith://tools/echo",
        "toolsmith://tools/",
        "toolsmith://tools/../write",
    ] {
        let answer = client.ask("resources/read", json!({ "uri": uri })).await;
        assert_eq!(
            code(&answer),
            -32002,
            "what is not offered is not documented"
        );
    }
    let templates = client.ask("resources/templates/list", json!({})).await;
    let template = &templates["result"]["resourceTemplates"][0];
    assert_eq!(template["uriTemplate"], "toolsmith://tools/{name}");
    let params = json!({
        "ref": { "type": "ref/resource", "uri": "toolsmith://tools/{name}" },
        "argument": { "name": "name", "value": "WR" },
    });
    let answer = client.ask("completion/complete", params).await;
    assert_eq!(answer["result"]["completion"]["values"], json!(["write"]));
}

#[tokio::test]
async fn completions_are_bounded_and_never_an_error_for_strangers() {
    let server = library();
    let mut client = Client::handshake(&server, json!({})).await;
    let template = json!({ "type": "ref/resource", "uri": "lib://{name}" });
    let prompt = json!({ "type": "ref/prompt", "name": "greet" });
    let cases = [
        (&template, "name", "", 100),
        (&template, "name", "book-24", 11),
        (&template, "name", "zzz", 0),
        (&prompt, "tone", "C", 2),
        (&prompt, "tone", "cu", 1),
        (&prompt, "nothing", "", 0),
    ];
    for (reference, name, value, count) in cases {
        let params = json!({ "ref": reference, "argument": { "name": name, "value": value } });
        let answer = client.ask("completion/complete", params).await;
        let completion = &answer["result"]["completion"];
        assert_eq!(completion["values"].as_array().unwrap().len(), count);
        assert_eq!(completion["hasMore"], count == 100, "{completion}");
    }
    for (reference, wrong) in [
        (json!({ "type": "ref/prompt", "name": "nobody's" }), 0),
        (json!({ "type": "ref/resource", "uri": "nobody:s" }), 0),
        (json!({ "type": "ref/tool", "name": "echo" }), -32602),
        (json!("greet"), -32602),
    ] {
        let params = json!({ "ref": reference, "argument": { "name": "a", "value": "" } });
        let answer = client.ask("completion/complete", params).await;
        assert_eq!(code(&answer), wrong, "{answer}");
    }
    let params = json!({ "ref": template, "argument": { "name": "panic", "value": "" } });
    assert_eq!(
        code(&client.ask("completion/complete", params).await),
        -32603
    );
    assert_eq!(code(&client.ask("ping", json!({})).await), 0);
}

#[tokio::test]
async fn prompts_are_made_or_not() {
    let server = library();
    let mut client = Client::handshake(&server, json!({})).await;
    let listed = client.ask("prompts/list", json!({})).await;
    let greet = &listed["result"]["prompts"][0];
    assert_eq!(
        greet["arguments"][0],
        json!({ "name": "tone", "description": "How.", "required": true })
    );
    let cases = [
        (
            json!({ "name": "greet", "arguments": { "tone": "calm" } }),
            0,
        ),
        (json!({ "name": "greet" }), -32602),
        (json!({ "name": "nobody" }), -32602),
        (json!({ "name": "panic" }), -32603),
        (json!({ "name": "ask" }), -32603),
        (json!({}), -32602),
    ];
    for (params, wanted) in cases {
        let answer = client.ask("prompts/get", params.clone()).await;
        assert_eq!(code(&answer), wanted, "{answer}");
        let answer = client
            .ask_stateless(json!({}), "prompts/get", params.clone())
            .await;
        let wanted = if params["name"] == "ask" {
            -32021
        } else {
            wanted
        };
        assert_eq!(code(&answer), wanted, "{answer}");
    }
    let answer = client
        .ask(
            "prompts/get",
            json!({ "name": "greet", "arguments": { "tone": "calm" } }),
        )
        .await;
    let message = &answer["result"]["messages"][0];
    assert_eq!(message["role"], "user");
    assert_eq!(message["content"]["text"], "Hello, \"calm\".");
}

#[tokio::test]
async fn prompts_ask_in_both_eras() {
    let server = library();
    let mut client = Client::handshake(&server, forms()).await;
    client
        .send(&super::support::request(
            1,
            "prompts/get",
            json!({ "name": "ask" }),
        ))
        .await;
    let asked = client.asked("elicitation/create").await;
    let answer = json!({ "action": "accept", "content": { "name": "Ada" } });
    client
        .send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": answer }))
        .await;
    let made = client.answer(1).await;
    let said = &made["result"]["messages"][0]["content"]["text"];
    assert_eq!(*said, "Hello, \"Ada\".");

    let mut client = Client::connect(&server);
    let params = json!({ "name": "ask" });
    let asked = client.ask_stateless(forms(), "prompts/get", params).await;
    let asked = &asked["result"];
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    assert!(asked["inputRequests"]["who"].is_object());
    assert_eq!(server.waiting(), 1);
    let mut params = json!({ "name": "ask", "requestState": asked["requestState"] });
    params["inputResponses"] = json!({ "who": answer });
    let made = client
        .ask_stateless(forms(), "prompts/get", params.clone())
        .await;
    let said = &made["result"]["messages"][0]["content"]["text"];
    assert_eq!(*said, "Hello, \"Ada\".", "{made}");
    assert_eq!(server.waiting(), 0);
    let again = client.ask_stateless(forms(), "prompts/get", params).await;
    assert_eq!(code(&again), -32602, "a state counts once");
}

#[tokio::test(start_paused = true)]
async fn a_prompt_that_hangs_ends_with_its_client() {
    let server = library();
    let mut client = Client::handshake(&server, json!({})).await;
    client
        .send(&super::support::request(
            1,
            "prompts/get",
            json!({ "name": "hang" }),
        ))
        .await;
    client.ask("ping", json!({})).await;
    client.hang_up().await;
    let rest = client.rest().await;
    assert_eq!(rest.len(), 1, "{rest:?}");
    assert_eq!(code(&rest[0]), -32603);
    soon(client.served).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_source_that_fails_leaves_the_others() {
    struct Broken;
    impl Resources for Broken {
        fn list(&self) -> BoxFuture<'_, Result<Vec<Resource>, ToolError>> {
            Box::pin(async { Err(ToolError::failed("no")) })
        }
        fn read<'a>(
            &'a self,
            _: &'a str,
        ) -> BoxFuture<'a, Result<Option<Vec<Contents>>, ToolError>> {
            Box::pin(async { Ok(None) })
        }
    }
    let server = Server::builder(toolbox([echo()]))
        .resources(Broken)
        .resources(Library)
        .build();
    let mut client = Client::handshake(&server, json!({})).await;
    let listed = client.ask("resources/list", json!({})).await;
    let listed = listed["result"]["resources"].as_array().unwrap();
    assert_eq!(listed.len(), 2);
    drop(serving([echo()]));
}
