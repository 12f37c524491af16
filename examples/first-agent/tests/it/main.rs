//! The README's first agent is this example, and it does what the README says.

use std::process::Command;

use serde_json::json;
use toolsmith_core::RawCall;
use toolsmith_provider::Provider;
use toolsmith_testing::model_server::{ModelServer, Step};

const README: &str = include_str!("../../../../README.md");
const SOURCE: &str = include_str!("../../src/main.rs");

#[test]
fn lets_a_model_call_the_tool() {
    let calls = vec![RawCall::new("add", json!({"a": 2, "b": 3}))];
    let server = ModelServer::start([Step::call("", calls), Step::say("It is 5.")]);
    let output = Command::new(env!("CARGO_BIN_EXE_first-agent"))
        .env("OLLAMA_HOST", server.url(Provider::Ollama))
        .output()
        .expect("the example starts");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "It is 5.\n");
    let seen = server.requests();
    let told = seen[1].body.to_string();
    assert!(told.contains("5.0"), "the result was not told: {told}");
}

#[test]
fn is_the_code_the_readme_shows() {
    let code = SOURCE
        .split_once("\n\n")
        .map(|(_, code)| code)
        .expect("the code follows the header");
    assert!(
        README.contains(&format!("```rust\n{code}```")),
        "the README must show exactly:\n{code}"
    );
}
