//! The first tool of the README: defined as a function, called through the door.
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use serde_json::json;
use toolsmith::prelude::*;

/// Adds two numbers and returns the sum.
#[tool(effect = "read")]
async fn add(a: f64, b: f64) -> f64 {
    a + b
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let toolbox = Toolbox::new([add::tool()])?;
    let me = Caller::new("me");

    let call = RawCall::new("add", json!({"a": 2, "b": 3}));
    println!(
        "{}",
        toolbox.run(call, &me).await.into_outcome().model_text()
    );

    let call = RawCall::new("add", json!({"a": "two"}));
    println!(
        "{}",
        toolbox.run(call, &me).await.into_outcome().model_text()
    );
    Ok(())
}
