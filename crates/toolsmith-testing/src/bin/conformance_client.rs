//! The client the official conformance suite runs against its mock servers.
//!
//! The suite names the scenario in the environment and appends the address of its
//! mock server; it judges by what that server sees. The exit status says whether the
//! scenario went through, which some of them must not.

use std::io::Write;
use std::process::ExitCode;

use toolsmith_testing::conformance::client::{Scenario, play};

#[tokio::main]
async fn main() -> ExitCode {
    let Some(scenario) = scenario() else {
        let _ = writeln!(
            std::io::stderr(),
            "usage: MCP_CONFORMANCE_SCENARIO=NAME conformance_client URL"
        );
        return ExitCode::from(2);
    };
    match play(&scenario).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "{}: {error}", scenario.name);
            ExitCode::FAILURE
        }
    }
}

fn scenario() -> Option<Scenario> {
    let variable = |name: &str| std::env::var(name).ok();
    let context = variable("MCP_CONFORMANCE_CONTEXT").unwrap_or_default();
    Some(Scenario {
        name: variable("MCP_CONFORMANCE_SCENARIO")?,
        context: serde_json::from_str(&context).unwrap_or_default(),
        version: variable("MCP_CONFORMANCE_PROTOCOL_VERSION").unwrap_or_default(),
        url: std::env::args().next_back()?,
    })
}
