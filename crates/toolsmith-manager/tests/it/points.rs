//! The points a tool system is tested at, one named test each: loading with duplicates,
//! servers found on load, results of parallel calls, and calls that go wrong.

use std::path::Path;

use serde_json::{Value, json};
use toolsmith_core::{Outcome, RawCall};
use toolsmith_manager::{Manager, Setup};
use toolsmith_runtime::{Caller, Order};

use crate::sets::{project, setup};

fn command(name: &str, words: &str) -> String {
    format!(
        "name: {name}\ndescription: Runs a small program for a test.\ncommand: {words}\n\
         sandbox: none\nparameters: {{ properties: {{ word: {{ type: string }} }}, required: [word] }}\n"
    )
}

async fn call(manager: &Manager, name: &str, arguments: Value) -> Outcome {
    let call = RawCall::new(name, arguments);
    let reply = manager.toolbox().run(call, &Caller::new("test")).await;
    reply.into_outcome()
}

fn code(outcome: &Outcome) -> &str {
    outcome.error.as_ref().map_or("", |error| error.code())
}

/// A manager that asks nobody, and the folder its commands run in.
fn auto(files: &[(&str, &str)]) -> (tempfile::TempDir, Manager) {
    let folder = project(files);
    let setup = setup(folder.path()).with_mode(Some(toolsmith_runtime::Mode::Auto));
    let manager = setup.load().unwrap();
    (folder, manager)
}

/// The first file of a name wins; the other is recorded, with both files named.
#[tokio::test]
async fn duplicates_are_handled_on_load() {
    let (first, second) = (
        command("twin", "[echo, first]"),
        command("twin", "[echo, second]"),
    );
    let built_in = command("a", "[echo, mine]");
    let (_folder, manager) = auto(&[
        ("tools/native/1.yaml", &first),
        ("tools/native/2.yaml", &second),
        ("tools/native/3.yaml", &built_in),
    ]);
    let said = call(&manager, "twin", json!({ "word": "" })).await;
    assert!(said.model_text().contains("first"), "{said:?}");
    let said = call(&manager, "a", json!({ "word": "" })).await;
    assert!(said.model_text().contains("mine"), "{said:?}");
    let shadowed = manager.toolbox().registry().shadowed();
    let shadowed: Vec<(String, String, String)> = shadowed
        .iter()
        .map(|each| {
            let file = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
            (each.name.to_string(), file(&each.origin), file(&each.by))
        })
        .collect();
    let row = |name: &str, origin: &str, by: &str| (name.into(), origin.into(), by.into());
    assert_eq!(
        shadowed,
        [
            row("twin", "2.yaml", "1.yaml"),
            row("a", "shipped", "3.yaml")
        ]
    );
    let findings = manager.lint().join("\n");
    assert!(
        findings.contains("2.yaml") && findings.contains("1.yaml"),
        "{findings}"
    );
}

/// A server that is described by a file tells its tools, and they can be called.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn mcp_tools_are_discovered_on_load() {
    use toolsmith_mcp::client::Upstreams;

    let hello = json!({ "jsonrpc": "2.0", "id": 0, "result": { "protocolVersion": "2025-11-25",
        "capabilities": { "tools": {} }, "serverInfo": { "name": "s", "version": "1" } } });
    let list = json!({ "jsonrpc": "2.0", "id": 1, "result": { "tools": [
        { "name": "greet", "description": "Greets.", "inputSchema": { "type": "object" } } ] } });
    let answer = json!({ "jsonrpc": "2.0", "id": 2, "result": {
        "content": [{ "type": "text", "text": "good day" }] } });
    let script = format!(
        "read a; echo '{hello}'; read a; read a; echo '{list}'; read a; echo '{answer}'; sleep 1000"
    );
    let server = json!({ "command": "/bin/sh", "args": ["-c", script], "protocol": "legacy" });
    let folder = project(&[("tools/mcp/polite.yaml", &server.to_string())]);
    let environment = [("PATH".into(), "/usr/bin:/bin".into())];
    let manager = Setup::open(folder.path())
        .unwrap()
        .with_environment(&environment)
        .with_mode(Some(toolsmith_runtime::Mode::Auto))
        .load()
        .unwrap();
    assert_eq!(manager.errors(), [] as [&str; 0]);
    let upstreams = Upstreams::start(manager.upstreams().upstreams, manager.toolbox());
    upstreams.settled().await;
    assert!(
        manager.get_tool("mcp__polite__greet").is_some(),
        "{upstreams:?}"
    );
    let outcome = call(&manager, "mcp__polite__greet", json!({})).await;
    assert_eq!(outcome.model_text(), "good day");
    upstreams.stop().await;
}

#[tokio::test]
async fn results_of_parallel_calls_are_merged_in_call_order() {
    let echo = command("say", "[echo, '{word}']");
    let (_folder, manager) = auto(&[("tools/native/say.yaml", &echo)]);
    let words = ["one", "two", "three"];
    let mut calls: Vec<RawCall> = words
        .map(|word| RawCall::new("say", json!({ "word": word })))
        .into();
    calls.insert(1, RawCall::new("nothing_such", json!({})));
    let caller = Caller::new("test");
    let replies = manager
        .toolbox()
        .run_all(calls, &caller, Order::Parallel)
        .await;
    let texts: Vec<String> = replies
        .into_iter()
        .map(|reply| reply.into_outcome().model_text().trim().to_owned())
        .collect();
    assert_eq!(
        (texts[0].as_str(), texts[2].as_str(), texts[3].as_str()),
        ("one", "two", "three")
    );
    assert!(texts[1].starts_with("unknown_tool"), "{texts:?}");
}

#[tokio::test]
async fn wrong_parameters_are_refused() {
    let (_folder, manager) =
        auto(&[("tools/native/say.yaml", &command("say", "[echo, '{word}']"))]);
    for arguments in [
        json!({}),
        json!({ "word": {} }),
        json!({ "word": "a", "more": 1 }),
    ] {
        let outcome = call(&manager, "say", arguments).await;
        assert_eq!(code(&outcome), "invalid_parameters");
    }
}

#[tokio::test]
async fn a_time_out_ends_a_call() {
    let slow = command("slow", "[sleep, '1000']") + "timeout: 50ms\n";
    let (_folder, manager) = auto(&[("tools/native/slow.yaml", &slow)]);
    let outcome = call(&manager, "slow", json!({ "word": "" })).await;
    assert_eq!(code(&outcome), "timeout");
    // After its own time, and not after what is usual.
    assert!(outcome.model_text().contains("after 50ms"), "{outcome:?}");
}

#[tokio::test]
async fn missing_permission_is_told() {
    let say = command("say", "[echo, '{word}']");
    let folder = project(&[
        ("toolsmith.yaml", "policy: { deny: [say] }"),
        ("tools/native/say.yaml", &say),
    ]);
    let manager = setup(Path::new(folder.path())).load().unwrap();
    let outcome = call(&manager, "say", json!({ "word": "a" })).await;
    assert_eq!(code(&outcome), "permission_denied");
}
