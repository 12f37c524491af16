//! The first agent of the README: a model that may call a function.
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::sync::Arc;

use toolsmith::agent::Agent;
use toolsmith::agent::client::HttpModel;
use toolsmith::prelude::*;

/// Adds two numbers and returns the sum.
#[tool(effect = "read")]
async fn add(a: f64, b: f64) -> f64 {
    a + b
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let model = HttpModel::usual("ollama/qwen3", |name| std::env::var(name).ok())?;
    let agent = Agent::new(Toolbox::new([add::tool()])?, Arc::new(model));
    let report = agent.ask("What is 2 + 3?", &Caller::new("me")).await;
    println!("{}", report.text);
    Ok(())
}
