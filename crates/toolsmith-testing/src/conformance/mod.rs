//! What the official MCP conformance suite expects to find, on our own server.
//!
//! The texts, names and numbers are the suite's; the code that serves them is the
//! product's.

mod asking;
pub mod client;
mod plain;
mod prompts;
mod resources;
mod tasks;

use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use serde_json::Value;
use toolsmith_core::{AnyTool, Outcome, Schema, ToolContext, ToolDef};
use toolsmith_mcp::server::{Notifier, Server};
use toolsmith_runtime::{BuildError, Mode, Policy, Toolbox};

/// A pixel, as PNG in base64.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

/// Silence, as WAV in base64.
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQAAAAA=";

/// What some fixtures change while they run.
#[derive(Clone, Default)]
struct Changing {
    toolbox: Arc<OnceLock<Toolbox>>,
    notifier: Arc<OnceLock<Notifier>>,
}

/// The server the suite is run against.
pub fn server() -> Result<Server, BuildError> {
    let changing = Changing::default();
    let mut tools = plain::tools();
    tools.extend(plain::changing(&changing));
    tools.extend(asking::tools());
    tools.extend(tasks::tools());
    let policy = Policy::new(Mode::Auto);
    let toolbox = Toolbox::builder().tools(tools).policy(policy).build()?;
    let _ = changing.toolbox.set(toolbox.clone());
    let server = Server::builder(toolbox)
        .name("conformance")
        .resources(resources::Fixtures)
        .prompts(prompts::Fixtures)
        .tasks(SystemTime::now)
        .build();
    let _ = changing.notifier.set(server.notifier());
    Ok(server)
}

/// A fixture that takes whatever it is given.
fn fixture<F, R>(name: &str, description: &str, input: Value, work: F) -> AnyTool
where
    F: Fn(Value, ToolContext) -> R + Send + Sync + 'static,
    R: Future<Output = Outcome> + Send + 'static,
{
    AnyTool::from_fn(definition(name, description, input), work)
}

fn definition(name: &str, description: &str, input: Value) -> ToolDef {
    let schema = Schema::as_received(input).expect("the suite's schemas are objects");
    ToolDef::new(name)
        .expect("the suite's names are names")
        .with_description(description)
        .with_input(schema)
}

/// The schema of a fixture without arguments.
fn nothing() -> Value {
    serde_json::json!({ "type": "object", "properties": {} })
}
