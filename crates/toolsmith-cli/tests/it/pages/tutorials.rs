//! The tutorials, as a new user does them: from the README alone, in an empty folder.

use std::fs;

use serde_json::json;
use toolsmith_provider::Provider;
use toolsmith_testing::model_server::{ModelServer, Step};

use super::{CHECKOUT, free_port, page};
use crate::ask::call;

#[test]
fn first_server() {
    page("docs/tutorials/first-server.md")
        .port(8765, free_port())
        .check();
}

#[test]
fn import_an_api() {
    page("docs/tutorials/import-an-api.md")
        .port(8080, free_port())
        .check();
}

/// What its reader has cargo build is built with the tests, of a source that must be the page's.
#[test]
fn first_tool() {
    let source = format!("{CHECKOUT}/examples/my-tools/src/main.rs");
    let source = fs::read_to_string(source).unwrap();
    let (_, code) = source.split_once("\n\n").unwrap();
    let page = page("docs/tutorials/first-tool.md");
    assert!(
        page.text().contains(&format!("```rust\n{code}```")),
        "the page must show exactly:\n{code}"
    );
    page.having_program("target/debug/my-tools", "my-tools")
        .check();
}

#[test]
fn gateway() {
    page("docs/tutorials/gateway.md").check();
}

#[test]
fn first_agent() {
    let edit = json!({
        "file_path": "notes.md",
        "old_string": "- [ ] Call Ada.",
        "new_string": "- [x] Call Ada.",
    });
    let summary = json!({ "file_path": "summary.md", "content": "One thing is left.\n" });
    let read = || call("read", json!({ "file_path": "notes.md" }));
    let server = ModelServer::start([
        Step::call("I look at the notes.", [read()]),
        Step::say("Two things: water the plants, and call Ada."),
        Step::call("", [call("edit", edit)]),
        Step::say("Done. What is left is to water the plants."),
        Step::call("", [call("write", summary)]),
        Step::say("I am not allowed to write files here."),
    ]);
    let url = server.url(Provider::OpenAiCompatible);
    let port = url.trim_end_matches("/v1").rsplit(':').next().unwrap();
    page("docs/tutorials/first-agent.md")
        .port(11434, port.parse().unwrap())
        .check();
    assert_eq!(server.left(), 0);
}
