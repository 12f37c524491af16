//! `task`: gives work to a sub-agent.

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use toolsmith_core::tool::FunctionTool;
use toolsmith_core::{
    AnyTool, Binding, Kind, Outcome, Plan, Schema, ToolContext, ToolDef, ToolError,
};

use super::job::{Job, Told};
use super::order::Order;
use super::{Tasks, example};

/// How long a task may take, at the least and at the most.
pub(super) const SHORTEST: Duration = Duration::from_secs(5);
pub(super) const LONGEST: Duration = Duration::from_secs(1800);

/// What a task may take to end by itself, once its time is over.
const GRACE: Duration = Duration::from_secs(5);

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Arguments {
    /// What the task is about, in a few words for the user.
    #[schemars(length(min = 3, max = 100))]
    pub(super) description: String,
    /// What is to be done and what the answer should hold. The agent knows nothing else of
    /// this conversation.
    #[schemars(length(min = 10))]
    pub(super) prompt: String,
    /// The agent to give it to, by its name [default: one like you].
    #[serde(default)]
    pub(super) subagent_type: Option<String>,
    /// What is known so far and may help.
    #[serde(default)]
    pub(super) context: Option<String>,
    /// Answer at once with the number of the task, and let it go on.
    #[serde(default)]
    pub(super) run_in_background: bool,
    /// Go on with the conversation of an earlier task, by its number.
    #[serde(default)]
    pub(super) resume_from: Option<String>,
    /// The model it is done by, as PROVIDER/MODEL [default: the agent's own].
    #[serde(default)]
    pub(super) model: Option<String>,
    /// The tools it may use, by name or glob; at most yours.
    #[serde(default)]
    pub(super) tools: Option<Vec<String>>,
    /// How many turns it may have.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub(super) max_turns: Option<u32>,
    /// How long it may take, in milliseconds.
    #[serde(default = "five_minutes")]
    #[schemars(range(min = 5000, max = 1_800_000))]
    pub(super) timeout: u64,
}

fn five_minutes() -> u64 {
    300_000
}

pub(super) fn tool(tasks: &Tasks) -> AnyTool {
    let tasks = tasks.clone();
    FunctionTool::new(define())
        .with_binding(Binding::default().with_timeout(LONGEST + GRACE))
        .with_plan(|arguments: &Arguments| {
            let whom = arguments.subagent_type.as_deref().unwrap_or("a sub-agent");
            let plan = Plan::new(format!("give {whom} the task: {}", arguments.description));
            // It ends by itself when its time is over, and can then say how far it came.
            Ok(plan.within(arguments.time() + GRACE))
        })
        .into_async(move |arguments, context| give(tasks.clone(), arguments, context))
}

async fn give(tasks: Tasks, arguments: Arguments, context: ToolContext) -> Outcome {
    match begin(&tasks, &arguments, &context) {
        Err(error) => Outcome::failure(error),
        Ok((job, order)) if arguments.run_in_background => {
            let working = Arc::clone(&job);
            tokio::spawn(async move { working.work(order, &tasks, None).await });
            job.outcome()
        }
        Ok((job, order)) => {
            job.work(order, &tasks, Some(context)).await;
            job.outcome()
        }
    }
}

fn begin(
    tasks: &Tasks,
    arguments: &Arguments,
    context: &ToolContext,
) -> Result<(Arc<Job>, Order), ToolError> {
    let order = Order::of(arguments, tasks, context)?;
    let job = Arc::new(Job::new(&order, context.caller(), &arguments.description));
    tasks.add(&job)?;
    Ok((job, order))
}

fn define() -> ToolDef {
    let mut definition = ToolDef::new("task")
        .expect("the names of our tools are names")
        .with_title("Give a task")
        // It makes calls, each of which is judged by itself, and lets a model decide which.
        .with_kind(Kind::Execute)
        .with_description(
            "Gives a task to a sub-agent, which works by itself and answers with one message.\n\n\
             The sub-agent has at most your tools and permissions. It does not know this \
             conversation: say in the prompt what is to be done, what is known, and what the answer \
             should hold. Several tasks given in one turn run at the same time.",
        )
        .with_input(Schema::arguments_of::<Arguments>())
        .with_output(Schema::value_of::<Told>())
        .with_returns(
            "The final message of the sub-agent and what it took; with run_in_background the number \
             of the task, for task_output and task_stop.",
        )
        .with_example(example(
            "Something that takes many looks and has a short answer.",
            &json!({
                "description": "Find the retry logic",
                "prompt": "Find where requests are tried again in this project. Answer with the files and lines, and how long is waited.",
                "tools": ["read", "grep", "glob"]
            }),
        ));
    definition.meta.category = Some("agents".to_owned());
    definition.meta.tags = ["agent", "delegate", "parallel"]
        .map(str::to_owned)
        .to_vec();
    definition.description.usage_notes.extend(
        [
            "Tasks are given on at most two deep.",
            "A task whose work you could do with one or two calls is better done by yourself.",
        ]
        .map(str::to_owned),
    );
    definition
}
