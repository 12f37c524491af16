//! What the official MCP conformance suite asks a client to do, by our own client.
//!
//! A scenario is an upstream that is reached, listed and called; the suite judges by
//! what its mock server sees. The names, numbers and orders are the suite's; the code
//! that talks is the product's.

mod answers;
mod arguments;
mod authorize;

use std::time::Duration;

use serde_json::{Map, Value, json};
use toolsmith_core::{RawCall, Source, ToolDef};
use toolsmith_mcp::client::{
    HttpUpstream, Protocol, Reach, State, UpstreamOptions, UpstreamPrompts, UpstreamResources,
    Upstreams,
};
use toolsmith_mcp::server::{Asking, Prompts, Resources};
use toolsmith_runtime::{Caller, Mode, Policy, Toolbox};

/// The name the mock server goes by.
const SERVER: &str = "suite";

/// The longest a scenario may take to begin.
const START: Duration = Duration::from_secs(25);

/// One run of the client, as the suite describes it in the environment.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The suite's name of it.
    pub name: String,
    /// What it needs to know beside the address.
    pub context: Value,
    /// The revision it is run for.
    pub version: String,
    /// Where the mock server is.
    pub url: String,
}

/// Plays a scenario to its end.
///
/// # Errors
/// When the server cannot be reached or a call fails; some scenarios want just that.
pub async fn play(scenario: &Scenario) -> Result<(), String> {
    let policy = Policy::new(Mode::Auto);
    let toolbox = Toolbox::builder().policy(policy).build();
    let toolbox = toolbox.map_err(|error| error.to_string())?;
    let upstreams = Upstreams::start([options(scenario)], &toolbox);
    upstreams.settled().await;
    let status = upstreams.all()[0].status();
    let played = match status.state {
        State::Ready => act(scenario, &toolbox, &upstreams).await,
        _ => Err(status.error.unwrap_or_default()),
    };
    upstreams.stop().await;
    played
}

fn options(scenario: &Scenario) -> UpstreamOptions {
    let mut http = HttpUpstream::new(&scenario.url);
    if let Some(authorization) = authorize::authorization(scenario) {
        http = http.with_authorization(authorization);
    }
    let protocol = match scenario.version.as_str() {
        version if version >= "2026-07-28" => Protocol::Stateless,
        _ => Protocol::Handshake,
    };
    UpstreamOptions::new(SERVER, Reach::Http(http))
        .protocol(protocol)
        .start_time(START)
}

async fn act(scenario: &Scenario, toolbox: &Toolbox, upstreams: &Upstreams) -> Result<(), String> {
    match scenario.name.as_str() {
        "http-custom-headers" => call_given(toolbox, &scenario.context).await,
        "json-schema-2020-12-preservation" => echo_schema(toolbox).await,
        "http-standard-headers" => {
            call_all(toolbox).await?;
            read_all(upstreams).await
        }
        _ => call_all(toolbox).await,
    }
}

/// Calls every tool once, and says which failed.
async fn call_all(toolbox: &Toolbox) -> Result<(), String> {
    let mut failures = Vec::new();
    for tool in toolbox.registry().all() {
        let arguments = arguments::sample(tool.input.as_value());
        if let Err(error) = call(toolbox, &tool, arguments).await {
            failures.push(error);
        }
    }
    match failures.is_empty() {
        true => Ok(()),
        false => Err(failures.join("\n")),
    }
}

/// Makes the calls the suite spells out.
async fn call_given(toolbox: &Toolbox, context: &Value) -> Result<(), String> {
    let calls = context["toolCalls"].as_array();
    for given in calls.into_iter().flatten() {
        let name = given["name"].as_str().unwrap_or_default();
        let tool = find(toolbox, name)?;
        call(toolbox, &tool, given["arguments"].clone()).await?;
    }
    Ok(())
}

/// Sends one tool's schema back, to show that nothing of it was lost.
async fn echo_schema(toolbox: &Toolbox) -> Result<(), String> {
    let focal = find(toolbox, "json_schema_2020_12_tool")?;
    let echo = find(toolbox, "json_schema_echo")?;
    let arguments = json!({ "schema": focal.input.as_value() });
    call(toolbox, &echo, arguments).await
}

/// Reads every resource and makes every prompt.
async fn read_all(upstreams: &Upstreams) -> Result<(), String> {
    let told = |error: toolsmith_core::ToolError| error.message;
    let resources = UpstreamResources::of(upstreams);
    for resource in resources.list().await.map_err(told)? {
        resources.read(&resource.uri).await.map_err(told)?;
    }
    let prompts = UpstreamPrompts::of(upstreams);
    for prompt in prompts.list().await.map_err(told)? {
        let made = prompts.get(&prompt.name, Map::new(), Asking::nobody());
        made.await.map_err(told)?;
    }
    Ok(())
}

async fn call(toolbox: &Toolbox, tool: &ToolDef, arguments: Value) -> Result<(), String> {
    let caller = Caller::new("conformance").with_inquirer(answers::Agreeable);
    let call = RawCall::new(tool.name.as_str(), arguments);
    let outcome = toolbox.run(call, &caller).await.into_outcome();
    match outcome.error {
        None => Ok(()),
        Some(error) => Err(format!("{}: {}", tool.name, error.message)),
    }
}

/// The tool the server gave this name.
fn find(toolbox: &Toolbox, name: &str) -> Result<std::sync::Arc<ToolDef>, String> {
    let given = |tool: &ToolDef| match &tool.source {
        Source::Mcp { .. } => tool
            .meta
            .extra
            .get("mcp")?
            .get("name")?
            .as_str()
            .map(str::to_owned),
        _ => None,
    };
    let mut tools = toolbox.registry().all().into_iter();
    let found = tools.find(|tool| given(tool).as_deref() == Some(name));
    found.ok_or_else(|| format!("the server does not list {name}"))
}
