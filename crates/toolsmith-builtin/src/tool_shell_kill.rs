//! `shell_kill`: ends a job.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolsmith_core::{Binding, Block, Kind, Outcome, Plan, ToolContext, ToolDef};

use crate::built_in::{described, example, noted};
use crate::refusal::Refusal;
use crate::shell::Shells;
use crate::shell::define::ShellTool;
use crate::shell::process::Phase;

/// How long a job may take to end when asked to.
const PATIENCE: Duration = Duration::from_secs(2);

/// Ends a job.
pub(crate) struct ShellKill(pub(crate) Shells);

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Arguments {
    /// The job.
    id: String,
}

/// How a job was ended.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Killed {
    /// The job.
    id: String,
    /// How far it is now: killed, or finished or failed where it had ended before.
    state: String,
    /// Its exit status; 128 and the signal where a signal ended it.
    exit_code: Option<i32>,
    /// The signal that ended it.
    signal: Option<String>,
    /// Processes that did not end when asked to, and were killed.
    killed: Vec<u32>,
    /// Processes that could not be ended.
    survived: Vec<u32>,
}

impl ShellTool for ShellKill {
    type Arguments = Arguments;
    type Value = Killed;

    fn define() -> ToolDef {
        let definition = described("shell_kill", "End a job", "shell", &["job", "stop", "background"])
            .with_kind(Kind::Execute)
            .with_aliases("id", &["job", "job_id", "bash_id", "shell_id"])
            .with_description(
                "Ends a job in the background and everything it started.\n\n\
                 It is asked to end (SIGTERM), and killed where it has not ended two seconds later, in whatever \
                 session or group its processes are.",
            )
            .with_returns("How the job ended, which processes had to be killed, and which could not be.")
            .with_example(example("A server that is not needed any more.", json!({"id": "1"})));
        noted(
            definition,
            &["What the job wrote can still be read with shell_output."],
        )
    }

    fn binding() -> Binding {
        Binding::default()
    }

    fn shells(&self) -> &Shells {
        &self.0
    }

    fn plan(&self, arguments: &Arguments) -> Result<Plan, Refusal> {
        Ok(Plan::new(format!("end job {}", arguments.id)))
    }

    async fn call(&self, arguments: Arguments, context: &ToolContext) -> Result<Outcome, Refusal> {
        let job = self.0.inner().jobs.get(context.caller(), &arguments.id)?;
        job.process.kill(PATIENCE);
        job.process
            .until(|phase| matches!(phase, Phase::Ended(_)))
            .await;
        job.told();
        let (state, told) = job.state();
        let ended = job.process.ended();
        let ended = ended.as_deref();
        let exit = ended.and_then(|ended| ended.exit);
        let killed = Killed {
            id: job.id.to_string(),
            state: state.to_owned(),
            exit_code: exit.map(|exit| exit.code),
            signal: exit.and_then(|exit| exit.signal_name()),
            killed: ended.map(|ended| ended.killed.clone()).unwrap_or_default(),
            survived: ended
                .map(|ended| ended.survived.clone())
                .unwrap_or_default(),
        };
        let survived = match killed.survived.as_slice() {
            [] => String::new(),
            survived => format!(" Could not be ended: {survived:?}."),
        };
        let text = format!("Job {} ({}) {told}.{survived}", job.id, job.short_label());
        let value = serde_json::to_value(&killed).unwrap_or_default();
        let mut outcome = Outcome::nothing()
            .with_display(text.clone())
            .with_block(Block::text(text));
        if let Some(facts) = value.as_object() {
            outcome.metadata = facts.clone();
        }
        Ok(outcome.with_value(value))
    }
}
