//! Example tools: one for each thing a call can do. They are there only when the
//! host asks for them.

use std::time::Duration;

use toolsmith_core::{AnyTool, Progress, ToolContext, ToolError, tool};

/// Every example tool, in a fixed order.
pub fn tools() -> Vec<AnyTool> {
    vec![
        example_add::tool(),
        example_echo::tool(),
        example_sleep::tool(),
        example_fail::tool(),
        example_progress::tool(),
        example_delete::tool(),
        example_flood::tool(),
        example_panic::tool(),
    ]
}

/// Adds two numbers and returns the sum.
#[tool(kind = "read", title = "Add", category = "example", idempotent)]
async fn example_add(
    /// The first number.
    a: f64,
    /// The second number.
    b: f64,
) -> serde_json::Value {
    let sum = a + b;
    // A sum of whole numbers is shown as one: 5, not 5.0.
    if sum.fract() == 0.0 && sum.abs() < 9e15 {
        #[expect(clippy::cast_possible_truncation, reason = "whole and within 53 bits")]
        return (sum as i64).into();
    }
    sum.into()
}

/// Returns the text it is given, unchanged.
#[tool(kind = "read", title = "Echo", category = "example", idempotent)]
async fn example_echo(
    /// The text to return.
    text: String,
) -> String {
    text
}

/// Sleeps for some time and tells for how long.
#[tool(kind = "read", title = "Sleep", category = "example", idempotent)]
async fn example_sleep(
    /// How long, in milliseconds.
    #[schemars(range(max = 86_400_000))]
    ms: u64,
) -> String {
    tokio::time::sleep(Duration::from_millis(ms)).await;
    format!("slept {ms} ms")
}

/// Fails with the message it is given.
#[tool(kind = "read", title = "Fail", category = "example")]
async fn example_fail(
    /// What the failure says.
    message: String,
) -> Result<String, ToolError> {
    Err(ToolError::failed(message))
}

/// Reports its progress step by step, then tells how many there were.
#[tool(kind = "read", title = "Progress", category = "example")]
async fn example_progress(
    /// How many steps to take.
    #[schemars(range(min = 1, max = 10_000))]
    steps: u32,
    context: ToolContext,
) -> String {
    for step in 1..=steps {
        context.progress(
            Progress::done(f64::from(step))
                .of(f64::from(steps))
                .saying(format!("step {step}")),
        );
        tokio::task::yield_now().await;
    }
    format!("took {steps} steps")
}

/// Pretends to delete something, to show how consent is asked for.
#[tool(
    effect = "write",
    title = "Delete",
    category = "example",
    destructive,
    consent = "DELETE_EXAMPLE",
    consent_reason = "What is deleted cannot be brought back."
)]
async fn example_delete(
    /// What to delete.
    name: String,
) -> String {
    format!("deleted {name}")
}

/// Returns as many bytes as asked for, to show how large outputs are cut.
#[tool(kind = "read", title = "Flood", category = "example")]
async fn example_flood(
    /// How many bytes to return.
    #[schemars(range(max = 100_000_000))]
    bytes: usize,
) -> String {
    const LINE: &str = "0123456789abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXY\n";
    LINE.chars().cycle().take(bytes).collect()
}

/// Panics, to show that nothing else is harmed.
#[tool(kind = "read", title = "Panic", category = "example")]
async fn example_panic() -> String {
    panic!("this example always panics")
}
