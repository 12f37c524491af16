//! Fixtures that take long enough to become tasks.

use std::time::Duration;

use serde_json::{Value, json};
use toolsmith_core::reply::{Inquiry, Response};
use toolsmith_core::{AnyTool, Outcome, ToolContext, ToolDef, ToolError};

use super::asking::form;
use super::{definition, fixture, nothing};

/// Longer than a call may take that is answered at once.
const LONG: Duration = Duration::from_millis(900);

pub(super) fn tools() -> Vec<AnyTool> {
    vec![
        fixture(
            "greet",
            "Greets.",
            json!({ "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"] }),
            async |arguments: Value, _| {
                Outcome::text(format!(
                    "Hello, {}!",
                    arguments["name"].as_str().unwrap_or_default()
                ))
            },
        ),
        fixture(
            "slow_compute",
            "Takes its time.",
            json!({
                "type": "object",
                "properties": { "seconds": { "type": "number" }, "label": { "type": "string" } },
            }),
            slow_compute,
        ),
        as_task("failing_job", async |_, _| {
            tokio::time::sleep(LONG).await;
            Outcome::failure(ToolError::failed("This job always fails."))
        }),
        as_task("test_tool_with_task", async |_, context: ToolContext| {
            let question = form(
                "What is your name?",
                json!({ "name": { "type": "string" } }),
                &["name"],
            );
            let answers = context
                .ask_all(vec![Inquiry::new("user_name", question)])
                .await;
            let Some(Response::Given(answer)) = answers.into_iter().next() else {
                return Outcome::failure(ToolError::failed("nobody answered"));
            };
            tokio::time::sleep(LONG).await;
            Outcome::text(format!(
                "Hello, {}!",
                answer["name"].as_str().unwrap_or_default()
            ))
        }),
        fixture(
            "protocol_error_job",
            "Fails before it can answer.",
            nothing(),
            async |_, _| {
                tokio::time::sleep(LONG).await;
                Outcome::failure(ToolError::internal("This job broke."))
            },
        ),
        fixture(
            "confirm_delete",
            "Asks before it acts.",
            json!({ "type": "object", "properties": { "filename": { "type": "string" } } }),
            async |arguments: Value, context: ToolContext| {
                tokio::time::sleep(LONG).await;
                let file = arguments["filename"].as_str().unwrap_or_default();
                let question = form(
                    &format!("Delete {file}?"),
                    json!({ "confirm": { "type": "boolean" } }),
                    &["confirm"],
                );
                match context.ask(question).await {
                    Response::Given(answer) if answer["confirm"] == true => {
                        Outcome::text(format!("Deleted {file}."))
                    }
                    _ => Outcome::text("Nothing was deleted."),
                }
            },
        ),
        fixture(
            "multi_input",
            "Asks two things at once.",
            nothing(),
            async |_, context: ToolContext| {
                tokio::time::sleep(LONG).await;
                let ask = |key: &str| {
                    Inquiry::new(
                        key,
                        form("And this?", json!({ "value": { "type": "string" } }), &[]),
                    )
                };
                context.ask_all(vec![ask("first"), ask("second")]).await;
                Outcome::text("Both were answered.")
            },
        ),
    ]
}

async fn slow_compute(arguments: Value, context: ToolContext) -> Outcome {
    let seconds = arguments["seconds"]
        .as_f64()
        .unwrap_or_default()
        .clamp(0.0, 60.0);
    tokio::select! {
        () = tokio::time::sleep(Duration::from_secs_f64(seconds)) => {}
        () = context.cancelled() => {}
    }
    Outcome::text(format!(
        "{} took {seconds} s.",
        arguments["label"].as_str().unwrap_or("It")
    ))
}

/// A fixture that clients without tasks cannot call.
fn as_task<F, R>(name: &str, work: F) -> AnyTool
where
    F: Fn(Value, ToolContext) -> R + Send + Sync + 'static,
    R: Future<Output = Outcome> + Send + 'static,
{
    let mut definition: ToolDef = definition(name, "Only runs as a task.", nothing());
    let extra = &mut definition.meta.extra;
    extra.insert("task_support".to_owned(), "required".into());
    AnyTool::from_fn(definition, work)
}
