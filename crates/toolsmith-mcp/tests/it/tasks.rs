//! Calls that take long, as tasks.

use std::time::SystemTime;

use serde_json::{Value, json};
use toolsmith_core::{AnyTool, Outcome, ToolContext};
use toolsmith_mcp::server::Server;

use crate::support::{Client, by, calling, tool, toolbox};

/// A client that takes tasks.
fn capable() -> Value {
    json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } })
}

fn serving(tools: impl IntoIterator<Item = AnyTool>) -> Server {
    Server::builder(toolbox(tools))
        .tasks(|| SystemTime::UNIX_EPOCH)
        .build()
}

/// Beyond a bound calls are waited for, and then nothing more is read.
#[tokio::test(start_paused = true)]
async fn large_calls_that_go_on_are_bounded_together() {
    let server = serving([tool("hang", async |_, context: ToolContext| {
        context.cancelled().await;
        Outcome::nothing()
    })]);
    let mut client = Client::connect(&server);
    let large = "x".repeat(1 << 20);
    for id in 0..40 {
        let params = calling("hang", json!({ "text": large }));
        client.send(&by(capable(), id, "tools/call", params)).await;
    }
    client.hang_up().await;
    let answers = client.rest().await;
    assert_eq!(answers.len(), 40);
    let is_task = |answer: &&Value| answer["result"]["taskId"].is_string();
    let tasks = answers.iter().filter(is_task).count();
    assert!((30..=34).contains(&tasks), "{tasks}");
}
