//! What upstreams have beside their tools, where they flood or tell too much.

use std::net::SocketAddr;

use serde_json::{Map, Value, json};
use toolsmith_core::reply::Question;
use toolsmith_core::{Block, CancellationToken, ErrorKind, Schema, ToolError};
use toolsmith_mcp::BoxFuture;
use toolsmith_mcp::client::{
    HttpUpstream, Reach, UpstreamOptions, UpstreamPrompts, UpstreamResources, Upstreams,
};
use toolsmith_mcp::server::http::HttpOptions;
use toolsmith_mcp::server::{
    Asking, Contents, Prompt, PromptArgument, PromptMessage, PromptText, Prompts, Resource,
    Resources, Server,
};
use toolsmith_runtime::Toolbox;

use crate::support::{Client, forms, request, soon, toolbox};

const SECRET: &str = "correct-horse-battery-staple";

/// Many resources with much to say, and words that hold a secret.
struct Talker;

impl Resources for Talker {
    fn list(&self) -> BoxFuture<'_, Result<Vec<Resource>, ToolError>> {
        let long = "x".repeat(1 << 20);
        let long = [format!("of {SECRET} {long}"), long];
        let entries = (0..40).map(|number| {
            let said = &long[usize::from(number > 0)];
            Resource::new(format!("note://{number}"), "note").with_description(said)
        });
        Box::pin(std::future::ready(Ok(entries.collect())))
    }

    fn read<'a>(&'a self, uri: &'a str) -> BoxFuture<'a, Result<Option<Vec<Contents>>, ToolError>> {
        Box::pin(async move {
            match uri {
                "note://told" => {
                    let told =
                        Contents::text("note://\u{202e}told", format!("the key is {SECRET}"));
                    Ok(Some(vec![told.with_mime_type("text/\u{200b}plain")]))
                }
                _ => Err(ToolError::new(
                    ErrorKind::Failed,
                    format!("{SECRET} does not open it{}", " at all".repeat(1000)),
                )),
            }
        })
    }
}

impl Prompts for Talker {
    fn list(&self) -> BoxFuture<'_, Result<Vec<Prompt>, ToolError>> {
        let greet = Prompt::new("greet", format!("Greets {SECRET}."));
        let who = PromptArgument::optional("who", format!("{SECRET}, perhaps"));
        let greet = greet.with_argument(who.with_choices([SECRET]));
        Box::pin(std::future::ready(Ok(vec![greet])))
    }

    fn get<'a>(
        &'a self,
        name: &'a str,
        _arguments: Map<String, Value>,
        asking: Asking,
    ) -> BoxFuture<'a, Result<Option<PromptText>, ToolError>> {
        Box::pin(async move {
            if name == "ask" {
                let schema = json!({ "type": "object", "properties": {
                    "a": { "type": "string", "description": format!("not {SECRET}") },
                } });
                let question = Question::Form {
                    message: format!("who\u{202e} is {SECRET}"),
                    schema: Schema::as_received(schema).unwrap(),
                };
                asking.ask("who", question).await;
            }
            let words = Block::text(format!("log in with {SECRET}"));
            let link = Block::Link {
                uri: format!("https://example.com/{SECRET}"),
                name: SECRET.to_owned(),
                description: Some(SECRET.to_owned()),
                mime_type: None,
            };
            let messages = [words, link].map(PromptMessage::user);
            let mut text = PromptText::new(messages.into());
            text.description = Some(format!("of {SECRET}"));
            Ok(Some(text))
        })
    }
}

async fn listen(server: &Server, stop: &CancellationToken) -> SocketAddr {
    let address = "127.0.0.1:0".parse().unwrap();
    let options = HttpOptions::without_token();
    let http = server.listen_http(address, options).await.unwrap();
    let address = http.address().unwrap();
    tokio::spawn(http.run(stop.clone()));
    address
}

/// A client of a gateway that knows the secret, in front of the one who tells it.
async fn client() -> (Client, Upstreams, CancellationToken) {
    let upstream = Server::builder(toolbox([]))
        .resources(Talker)
        .prompts(Talker)
        .page(8)
        .build();
    let stop = CancellationToken::new();
    let address = listen(&upstream, &stop).await;
    let builder = Toolbox::builder().secrets([SECRET]).without_log();
    let toolbox = builder.build().unwrap();
    let reach = Reach::Http(HttpUpstream::new(format!("http://{address}/mcp")));
    let upstreams = Upstreams::start([UpstreamOptions::new("up", reach)], &toolbox);
    soon(upstreams.settled()).await;
    let server = Server::builder(toolbox)
        .resources(UpstreamResources::of(&upstreams))
        .prompts(UpstreamPrompts::of(&upstreams))
        .build();
    let client = Client::handshake(&server, json!({})).await;
    (client, upstreams, stop)
}

#[tokio::test]
async fn a_list_is_bounded_by_its_bytes_too() {
    let (mut client, _upstreams, _stop) = client().await;
    let answer = client.ask("resources/list", json!({})).await;
    let listed = answer["result"]["resources"].as_array().unwrap();
    assert_eq!(listed.len(), 8);
}

#[tokio::test]
async fn what_an_upstream_repeats_of_a_secret_reaches_nobody() {
    let (mut client, _upstreams, stop) = client().await;
    let read = json!({ "uri": "mcp://up/note://told" });
    let read = client.ask("resources/read", read).await;
    let contents = &read["result"]["contents"][0];
    assert_eq!(contents["uri"], "mcp://up/note://told");
    assert_eq!(contents["mimeType"], "text/plain");
    let failed = json!({ "uri": "mcp://up/note://other" });
    let failed = client.ask("resources/read", failed).await;
    let message = failed["error"]["message"].as_str().unwrap();
    assert!(message.contains("does not open it"), "{message}");
    assert!(message.len() < 3000, "{message}");
    let made = client
        .ask("prompts/get", json!({ "name": "up__greet" }))
        .await;
    let words = made["result"]["messages"][0]["content"]["text"].as_str();
    assert!(words.unwrap().starts_with("log in with"), "{made}");
    let resources = client.ask("resources/list", json!({})).await;
    let prompts = client.ask("prompts/list", json!({})).await;
    let completed = json!({
        "ref": { "type": "ref/prompt", "name": "up__greet" },
        "argument": { "name": "who", "value": "" },
    });
    let completed = client.ask("completion/complete", completed).await;
    let values = &completed["result"]["completion"]["values"];
    assert_eq!(values.as_array().map(Vec::len), Some(1), "{completed}");
    for told in [read, failed, made, resources, prompts, completed] {
        assert!(told["result"].is_object() || told["error"].is_object());
        assert!(!told.to_string().contains(SECRET), "{told}");
    }
    stop.cancel();
}

#[tokio::test]
async fn what_a_prompt_asks_hides_nothing_and_tells_no_secret() {
    let builder = Toolbox::builder().secrets([SECRET]).without_log();
    let server = Server::builder(builder.build().unwrap()).prompts(Talker);
    let mut client = Client::handshake(&server.build(), forms()).await;
    let ask = request("p", "prompts/get", json!({ "name": "ask" }));
    client.send(&ask).await;
    let asked = client.asked("elicitation/create").await;
    let message = asked["params"]["message"].as_str().unwrap();
    assert!(message.starts_with("who is "), "{message}");
    assert!(!asked.to_string().contains(SECRET), "{asked}");
}
