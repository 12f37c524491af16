//! One call: what its tool does to it, and what its client reads.

use std::time::Duration;

use serde_json::{Value, json};
use toolsmith_core::context::Level;
use toolsmith_core::{AnyTool, Block, Outcome, Progress, Schema, ToolContext};
use toolsmith_mcp::server::Server;
use toolsmith_runtime::{Limits, Mode, Policy, Toolbox};
use toolsmith_testing::tools::{self, definition, taking};

use super::support::{Client, calling, code, defined, request, serving, text, tool, toolbox};

fn failing() -> Server {
    let mut limits = Limits::default();
    limits.timeout = Duration::from_millis(50);
    limits.grace = Duration::from_millis(10);
    limits.output_bytes = 10_000;
    let promised = definition("promised").with_output(
        Schema::as_received(json!({ "type": "object", "required": ["text"] })).unwrap(),
    );
    let toolbox = Toolbox::builder()
        .tools([
            tools::echo(),
            tools::add(),
            tools::explode(),
            tools::blocking_explode(),
            tools::fail(),
            tool("hang", async |_, _| std::future::pending().await),
            tool("flood", async |_, _| {
                Outcome::text("flood ".repeat(1 << 20))
            }),
            tool("value", async |_, _| Outcome::ok("v".repeat(8 << 20))),
            tool("strange", async |_, _| {
                Outcome::text("a\u{1b}[2Jb\u{202e}c\u{200b}d\0e")
            }),
            tool("links", async |_, _| {
                Outcome::nothing().with_block(Block::Link {
                    uri: "file:///a".to_owned(),
                    name: "a".to_owned(),
                    description: None,
                    mime_type: None,
                })
            }),
            defined(promised, async |_, _| {
                Outcome::ok(json!({ "text": "p".repeat(1 << 20) }))
            }),
        ])
        .limits(limits)
        .policy(Policy::new(Mode::Auto))
        .without_log()
        .build()
        .unwrap();
    Server::builder(toolbox).build()
}

#[tokio::test]
async fn failures_are_results_a_model_can_read() {
    let server = failing();
    let cases = [
        ("explode", json!({}), "panicked"),
        ("blocking_explode", json!({}), "panicked"),
        ("fail", json!({ "message": "no such day" }), "no such day"),
        ("hang", json!({}), "timeout"),
        ("ecko", json!({}), "the nearest are echo"),
        ("", json!({}), "there is no tool"),
        ("../../etc/passwd", json!({}), "there is no tool"),
        ("echo", json!({}), "text"),
        ("echo", json!({ "text": 5, "txt": 1 }), "txt"),
        ("add", json!({ "a": "one", "b": 2 }), "a"),
        ("add", json!({ "a": 1, "b": { "deep": [] } }), "b"),
        ("promised", json!({}), "p"),
    ];
    for era in ["handshake", "stateless"] {
        let mut client = Client::handshake(&server, json!({})).await;
        for (name, arguments, says) in &cases {
            let params = calling(name, arguments.clone());
            let answer = match era {
                "handshake" => client.ask("tools/call", params).await,
                _ => client.ask_stateless(json!({}), "tools/call", params).await,
            };
            let result = &answer["result"];
            assert_eq!(result["isError"], true, "{name}: {answer}");
            assert!(text(result).contains(says), "{name}: {answer}");
            assert_eq!(result.get("structuredContent"), None);
        }
        assert_eq!(
            text(&client.call("echo", json!({ "text": "a" })).await),
            "a"
        );
    }
}

#[tokio::test]
async fn floods_are_cut_and_strange_characters_taken_out() {
    let server = failing();
    let mut client = Client::handshake(&server, json!({})).await;
    for name in ["flood", "value"] {
        let result = client.call(name, json!({})).await;
        assert_eq!(result["isError"], false, "{name}");
        let size = result.to_string().len();
        assert!(size < 40_000, "{name} sent {size} bytes");
    }
    let result = client.call("strange", json!({})).await;
    let read = text(&result);
    for forbidden in ['\u{1b}', '\u{202e}', '\u{200b}', '\0'] {
        assert!(!read.contains(forbidden), "{read:?}");
    }
    let result = client.call("links", json!({})).await;
    assert_eq!(result["content"][0]["type"], "resource_link");
}

/// `count`: tells progress that falls, stands still and is no number.
fn counting() -> AnyTool {
    tool("count", async |_, context: ToolContext| {
        for done in [1.0, f64::NAN, 2.0, 2.0, 1.5, f64::INFINITY, 3.0] {
            context.progress(Progress::done(done).of(f64::NAN).saying("on it"));
        }
        context.progress(Progress::done(4.0).of(4.0));
        Outcome::text("counted")
    })
}

fn progress_of(messages: &[Value]) -> Vec<&Value> {
    let is_progress = |each: &&Value| each["method"] == "notifications/progress";
    messages.iter().filter(is_progress).collect()
}

#[tokio::test]
async fn progress_grows_and_comes_before_the_result() {
    let server = serving([counting()]);
    for token in [json!("a token"), json!(0), json!(-7)] {
        for stateless in [false, true] {
            let mut client = Client::handshake(&server, json!({})).await;
            let mut params = calling("count", json!({}));
            params["_meta"] = json!({ "progressToken": token });
            let answer = if stateless {
                client.ask_stateless(json!({}), "tools/call", params).await
            } else {
                client.ask("tools/call", params).await
            };
            assert_eq!(text(&answer["result"]), "counted");
            // What was kept came before the answer.
            let told = progress_of(&client.kept);
            let done: Vec<f64> = told
                .iter()
                .map(|each| each["params"]["progress"].as_f64().unwrap())
                .collect();
            assert_eq!(done, [1.0, 2.0, 3.0, 4.0]);
            assert!(
                told.iter()
                    .all(|each| each["params"]["progressToken"] == token)
            );
            assert_eq!(told[0]["params"].get("total"), None);
            assert_eq!(told[3]["params"]["total"], 4.0);
        }
    }
}

#[tokio::test]
async fn without_a_token_there_is_no_progress() {
    let server = serving([counting()]);
    let mut client = Client::handshake(&server, json!({})).await;
    client.call("count", json!({})).await;
    client.hang_up().await;
    let rest = client.rest().await;
    assert!(rest.is_empty(), "{rest:?}");
}

#[tokio::test]
async fn output_streams_as_progress() {
    let server = serving([tool("talk", async |_, context: ToolContext| {
        for word in ["one\n", "two\n", "three\n"] {
            context.output(word);
        }
        Outcome::text("done")
    })]);
    let mut client = Client::handshake(&server, json!({})).await;
    let mut params = calling("talk", json!({}));
    params["_meta"] = json!({ "progressToken": 1 });
    client.ask("tools/call", params).await;
    let told: Vec<(Value, Value)> = progress_of(&client.kept)
        .into_iter()
        .map(|each| {
            (
                each["params"]["message"].clone(),
                each["params"]["progress"].clone(),
            )
        })
        .collect();
    let wanted = [("one\n", 4.0), ("two\n", 8.0), ("three\n", 14.0)];
    assert_eq!(
        told,
        wanted.map(|(word, bytes)| (json!(word), json!(bytes)))
    );
}

/// `log`: an entry of each level.
fn logging() -> AnyTool {
    tool("log", async |_, context: ToolContext| {
        for (level, name) in [
            (Level::Debug, "debug"),
            (Level::Info, "info"),
            (Level::Warning, "warning"),
            (Level::Emergency, "emergency"),
        ] {
            context.log(level, name);
        }
        Outcome::nothing()
    })
}

fn logged(messages: &[Value]) -> Vec<String> {
    let entries = messages.iter();
    let entries = entries.filter(|each| each["method"] == "notifications/message");
    entries
        .map(|each| {
            assert_eq!(each["params"]["level"], each["params"]["data"]);
            each["params"]["data"].as_str().unwrap().to_owned()
        })
        .collect()
}

#[tokio::test]
async fn logs_are_heard_from_the_level_that_was_set() {
    let server = serving([logging()]);
    let mut client = Client::handshake(&server, json!({})).await;
    let mut other = Client::handshake(&server, json!({})).await;
    client.call("log", json!({})).await;
    assert_eq!(logged(&client.kept), [""; 0], "nothing was asked for");
    let levels = [
        ("warning", vec!["warning", "emergency"]),
        ("debug", vec!["debug", "info", "warning", "emergency"]),
        ("emergency", vec!["emergency"]),
    ];
    for (level, heard) in &levels {
        let set = client
            .ask("logging/setLevel", json!({ "level": level }))
            .await;
        assert_eq!(set["result"], json!({}), "{set}");
        client.kept.clear();
        client.call("log", json!({})).await;
        assert_eq!(logged(&client.kept), *heard);
    }
    other.call("log", json!({})).await;
    assert_eq!(logged(&other.kept), [""; 0], "levels are a session's own");

    // Without a handshake every request says its own, whatever the session said.
    for (level, heard) in &levels {
        client.kept.clear();
        let mut params = calling("log", json!({}));
        params["_meta"] = json!({ "io.modelcontextprotocol/logLevel": level });
        client.ask_stateless(json!({}), "tools/call", params).await;
        assert_eq!(logged(&client.kept), *heard);
    }
    client.kept.clear();
    let params = calling("log", json!({}));
    client.ask_stateless(json!({}), "tools/call", params).await;
    assert_eq!(logged(&client.kept), [""; 0]);
}

#[tokio::test]
async fn a_tool_that_talks_without_end_does_not_hold_up_others() {
    let server = serving([
        tools::echo(),
        tool("chatter", async |_, context: ToolContext| {
            for count in 0..100_000_u32 {
                context.progress(Progress::done(f64::from(count)));
                context.output("words ");
            }
            Outcome::text("silent at last")
        }),
    ]);
    let mut client = Client::handshake(&server, json!({})).await;
    let mut params = calling("chatter", json!({}));
    params["_meta"] = json!({ "progressToken": 1 });
    client.send(&request("chatter", "tools/call", params)).await;
    assert_eq!(
        text(&client.call("echo", json!({ "text": "a" })).await),
        "a"
    );
    let answer = client.answer("chatter").await;
    assert_eq!(text(&answer["result"]), "silent at last");
}

#[tokio::test]
async fn names_of_clients_are_cleaned_before_tools_hear_them() {
    let server = serving([tool("who", async |_, context: ToolContext| {
        Outcome::text(context.caller())
    })]);
    let mut client = Client::connect(&server);
    let mut hello = super::support::initialize("2025-11-25", json!({}));
    hello["params"]["clientInfo"]["name"] = json!("evil\u{1b}[31m\u{202e}".repeat(100));
    client.send(&hello).await;
    client.answer("initialize").await;
    let result = client.call("who", json!({})).await;
    let who = text(&result);
    assert!(who.starts_with("mcp:evil") && who.len() < 100, "{who:?}");
    assert!(!who.contains('\u{202e}') && !who.contains('\u{1b}'));
}

#[tokio::test]
async fn arguments_reach_the_tool_as_they_were_sent() {
    let definition = taking("same", json!({ "value": true }));
    let server = serving([tools::echoing(definition)]);
    let mut client = Client::handshake(&server, json!({})).await;
    for value in [
        json!(null),
        json!(9_007_199_254_740_993_i64),
        json!(1e-320),
        json!("\u{0}\u{FFFF}\u{1F600}"),
        json!({ "__proto__": { "a": [] }, "": {} }),
        json!([[[[[[[[1]]]]]]]]),
    ] {
        let answer = client
            .ask("tools/call", calling("same", json!({ "value": value })))
            .await;
        assert_eq!(code(&answer), 0);
        assert_eq!(answer["result"]["isError"], false, "{answer}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_waits_for_its_own_tool_and_for_no_other_source() {
    let toolbox = toolbox([]);
    let builder = Server::builder(toolbox.clone());
    let server = builder.ready(|| Box::pin(std::future::pending())).build();
    let mut client = Client::handshake(&server, json!({})).await;
    let began = tokio::time::Instant::now();
    let starts = async {
        // Under a paused clock this passes when nothing else can happen.
        tokio::time::sleep(Duration::from_secs(1)).await;
        let ticket = toolbox.registry().begin_refresh("good");
        toolbox.registry().refresh(&ticket, [tools::echo()]);
    };
    let (result, ()) = tokio::join!(client.call("echo", json!({ "text": "a" })), starts);
    assert_eq!(text(&result), "a");
    assert!(
        began.elapsed() < Duration::from_secs(5),
        "{:?}",
        began.elapsed()
    );
}
