//! `shell_list`: tells which jobs there are.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolsmith_core::{Binding, Block, Kind, Outcome, Plan, ToolContext, ToolDef};

use crate::built_in::{described, example, noted};
use crate::refusal::Refusal;
use crate::shell::Shells;
use crate::shell::define::ShellTool;
use crate::shell::report::one_line;

/// Tells which jobs there are.
pub(crate) struct ShellList(pub(crate) Shells);

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Arguments {}

/// The caller's jobs.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct List {
    /// Each of them, the oldest first.
    jobs: Vec<Listed>,
    /// How many run.
    running: usize,
}

/// A job.
#[derive(Debug, Serialize, JsonSchema)]
struct Listed {
    /// What the other tools take.
    id: String,
    /// What it runs.
    command: String,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    /// How far it is: running, finished (with status 0), failed or killed.
    state: String,
    /// Its exit status, once it has ended.
    exit_code: Option<i32>,
    /// The number of its process.
    pid: u32,
    /// Where it was started.
    cwd: String,
    /// How long it has run, in milliseconds.
    execution_time: u64,
    /// How many bytes of text it wrote that were not read yet.
    unread_bytes: u64,
}

impl ShellTool for ShellList {
    type Arguments = Arguments;
    type Value = List;

    fn define() -> ToolDef {
        let definition = described("shell_list", "List jobs", "shell", &["job", "list", "background"])
            .with_kind(Kind::Read)
            .with_description(
                "Lists the jobs this caller has in the background, those that have ended lately included.\n\n\
                 Jobs of other callers are not listed, and cannot be read, typed into or ended.",
            )
            .with_returns("Of each job its id, command, state, exit status, process, folder and age.")
            .with_example(example("All of them.", json!({})));
        noted(
            definition,
            &["At most 64 jobs run at once; end those that are not needed with shell_kill."],
        )
    }

    fn binding() -> Binding {
        Binding::default()
    }

    fn shells(&self) -> &Shells {
        &self.0
    }

    fn plan(&self, _: &Arguments) -> Result<Plan, Refusal> {
        Ok(Plan::new("list jobs"))
    }

    async fn call(&self, _: Arguments, context: &ToolContext) -> Result<Outcome, Refusal> {
        let jobs = self.0.inner().jobs.of(context.caller());
        let mut lines = Vec::new();
        let mut listed = Vec::new();
        for job in &jobs {
            let (state, told) = job.state();
            let ended = job.process.ended();
            let time = ended
                .as_ref()
                .map_or_else(|| job.process.elapsed(), |ended| ended.after);
            let exit = ended.as_ref().and_then(|ended| ended.exit);
            lines.push(format!(
                "{}\t{}\t{told}\t{} ms",
                job.id,
                job.short_label(),
                time.as_millis()
            ));
            listed.push(Listed {
                id: job.id.to_string(),
                command: one_line(&job.label, 500),
                description: job.description.clone(),
                state: state.to_owned(),
                exit_code: exit.map(|exit| exit.code),
                pid: job.process.id(),
                cwd: job.folder.clone(),
                execution_time: u64::try_from(time.as_millis()).unwrap_or(u64::MAX),
                unread_bytes: job.process.written().saturating_sub(job.read_to()),
            });
            if job.is_over() {
                job.told();
            }
        }
        let running = listed.iter().filter(|job| job.state == "running").count();
        if lines.is_empty() {
            lines.push("There are no jobs.".to_owned());
        }
        let display = format!("{} jobs, {running} running", listed.len());
        let value = serde_json::to_value(List {
            jobs: listed,
            running,
        })
        .unwrap_or_default();
        Ok(Outcome::nothing()
            .with_display(display)
            .with_metadata("running", running)
            .with_block(Block::text(lines.join("\n")))
            .with_value(value))
    }
}
