//! `task_output`: reads what came of a task in the background.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use toolsmith_core::tool::FunctionTool;
use toolsmith_core::{AnyTool, Binding, Kind, Outcome, Plan, Schema, ToolContext, ToolDef};

use super::job::Told;
use super::{Tasks, example};

/// How long an answer may be waited for.
const LONGEST: Duration = Duration::from_secs(600);

/// What the answer itself may take, once the waiting is over.
const GRACE: Duration = Duration::from_secs(5);

#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {
    /// The number of the task.
    id: String,
    /// Wait for its end.
    #[serde(default = "yes")]
    block: bool,
    /// How long to wait, in milliseconds.
    #[serde(default = "half_a_minute")]
    #[schemars(range(min = 0, max = 600_000))]
    timeout: u64,
}

fn yes() -> bool {
    true
}

fn half_a_minute() -> u64 {
    30_000
}

impl Arguments {
    fn time(&self) -> Duration {
        Duration::from_millis(self.timeout).min(LONGEST)
    }
}

pub(super) fn tool(tasks: &Tasks) -> AnyTool {
    let tasks = tasks.clone();
    FunctionTool::new(define())
        .with_binding(Binding::default().with_timeout(LONGEST + GRACE))
        .with_plan(|arguments: &Arguments| {
            let plan = Plan::new(format!("read the answer of {}", arguments.id));
            Ok(plan.within(arguments.time() + GRACE))
        })
        .into_async(move |arguments, context| read(tasks.clone(), arguments, context))
}

async fn read(tasks: Tasks, arguments: Arguments, context: ToolContext) -> Outcome {
    let job = match tasks.find(context.caller(), &arguments.id) {
        Ok(job) => job,
        Err(error) => return Outcome::failure(error),
    };
    if arguments.block {
        tokio::select! {
            () = job.ended() => {}
            () = tokio::time::sleep(arguments.time()) => {}
            () = context.cancelled() => {}
        }
    }
    job.outcome()
}

fn define() -> ToolDef {
    let mut definition = ToolDef::new("task_output")
        .expect("the names of our tools are names")
        .with_title("Read a task's answer")
        .with_kind(Kind::Read)
        .with_description(
            "Reads what came of a task in the background, and waits for its end where it has not \
             ended yet.",
        )
        .with_aliases("id", &["task_id", "task"])
        .with_input(Schema::arguments_of::<Arguments>())
        .with_output(Schema::value_of::<Told>())
        .with_returns(
            "The final message of the sub-agent and what it took, or that it is under way.",
        )
        .with_example(example(
            "Wait a minute for an answer.",
            &json!({"id": "task-1", "timeout": 60_000}),
        ));
    definition.meta.category = Some("agents".to_owned());
    definition
}
