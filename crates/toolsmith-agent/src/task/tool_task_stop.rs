//! `task_stop`: ends a task in the background.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use toolsmith_core::tool::FunctionTool;
use toolsmith_core::{AnyTool, Kind, Outcome, Plan, Schema, ToolContext, ToolDef};

use super::job::Told;
use super::{Tasks, example};

#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {
    /// The number of the task.
    id: String,
}

pub(super) fn tool(tasks: &Tasks) -> AnyTool {
    let tasks = tasks.clone();
    FunctionTool::new(define())
        .with_plan(|arguments: &Arguments| Ok(Plan::new(format!("end {}", arguments.id))))
        .into_async(move |arguments, context| stop(tasks.clone(), arguments, context))
}

async fn stop(tasks: Tasks, arguments: Arguments, context: ToolContext) -> Outcome {
    let job = match tasks.find(context.caller(), &arguments.id) {
        Ok(job) => job,
        Err(error) => return Outcome::failure(error),
    };
    job.stop();
    tokio::select! {
        () = job.ended() => {}
        () = context.cancelled() => {}
    }
    job.stopped()
}

fn define() -> ToolDef {
    let mut definition = ToolDef::new("task_stop")
        .expect("the names of our tools are names")
        .with_title("End a task")
        // It ends what its caller began, and nothing else.
        .with_kind(Kind::Think)
        .with_description("Ends a task in the background, and everything it has begun.")
        .with_aliases("id", &["task_id", "task"])
        .with_input(Schema::arguments_of::<Arguments>())
        .with_output(Schema::value_of::<Told>())
        .with_returns("How far the task was, and what it said last.")
        .with_example(example(
            "A task whose answer is not needed any more.",
            &json!({"id": "task-1"}),
        ));
    definition.meta.category = Some("agents".to_owned());
    definition
}
