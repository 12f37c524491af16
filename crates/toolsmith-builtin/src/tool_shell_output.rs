//! `shell_output`: reads what a job has written.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::time::{Instant, sleep_until};
use toolsmith_core::{Binding, Block, Kind, Outcome, Plan, ToolContext, ToolDef};

use crate::budget;
use crate::built_in::{described, example, noted};
use crate::refusal::{Reason, Refusal};
use crate::shell::Shells;
use crate::shell::common::GRACE;
use crate::shell::define::ShellTool;
use crate::shell::jobs::Job;
use crate::shell::output::{Capture, Excerpt, View};
use crate::shell::process::Phase;
use crate::shell::report::shortened;

/// The longest time to wait for output, in milliseconds.
const LONGEST: u64 = 30_000;

/// How long a filter may be.
const LONGEST_FILTER: usize = 1000;

/// How large a filter may become.
const FILTER_BYTES: usize = 1 << 20;

/// Reads what a job has written.
pub(crate) struct ShellOutput(pub(crate) Shells);

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Arguments {
    /// The job.
    id: String,
    /// The place in the output to read from, as an earlier answer gave it in `next_since`; without it, what was not read yet.
    #[serde(default)]
    since: Option<u64>,
    /// How many milliseconds to wait for output, or for the end of the job, where there is nothing new.
    #[serde(default)]
    #[schemars(range(min = 0, max = 30_000))]
    wait_ms: u64,
    /// A regular expression: only lines that match are shown. The others count as read.
    #[serde(default)]
    filter: Option<String>,
    /// How many characters the answer shows; of more, the middle is left out.
    #[serde(default = "usual")]
    #[schemars(range(min = 100, max = 500_000))]
    max_output: usize,
}

fn usual() -> usize {
    View::default().characters
}

/// What a job has written, and how far it is.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Read {
    /// The job.
    id: String,
    /// What it runs.
    command: String,
    /// How far it is: running, finished (with status 0), failed or killed.
    state: String,
    /// Its exit status, once it has ended; 128 and the signal where a signal ended it.
    exit_code: Option<i32>,
    /// The signal that ended it.
    signal: Option<String>,
    /// What it wrote since.
    output: String,
    /// The line it is writing, where that is not complete.
    #[serde(skip_serializing_if = "String::is_empty")]
    unfinished_line: String,
    /// Where to read on from.
    next_since: u64,
    /// How many bytes are left out.
    omitted_bytes: u64,
    /// The file that has all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    full_output_path: Option<String>,
    /// How long it has run, in milliseconds.
    execution_time: u64,
    /// The number of its process.
    pid: u32,
}

impl ShellOutput {
    fn filter(text: &str) -> Result<regex_automata::meta::Regex, Refusal> {
        let bad = |why: String| {
            Refusal::new(
                Reason::BadPattern,
                format!("filter is no regular expression: {why}"),
            )
            .next("Correct it; a backslash before a special character makes it a plain one")
        };
        if text.len() > LONGEST_FILTER {
            return Err(bad(format!("it has more than {LONGEST_FILTER} bytes")));
        }
        let config = regex_automata::meta::Config::new().nfa_size_limit(Some(FILTER_BYTES));
        let built = regex_automata::meta::Regex::builder()
            .configure(config)
            .build(text);
        built.map_err(|error| match error.syntax_error() {
            Some(syntax) => bad(syntax.to_string()),
            None => bad(error.to_string()),
        })
    }

    /// Waits until there is something to read.
    async fn wait(job: &Job, since: u64, wait: Duration, context: &ToolContext) {
        let deadline = Instant::now() + wait;
        let mut changes = job.process.changes();
        loop {
            changes.borrow_and_update();
            let (_, _, unfinished) = job.process.since(u64::MAX);
            let is_new = job.process.written() > since
                || (!unfinished.is_empty() && unfinished != job.unfinished());
            if is_new || matches!(job.process.phase(), Phase::Ended(_)) {
                return;
            }
            tokio::select! {
                biased;
                () = context.cancelled() => return,
                () = sleep_until(deadline) => return,
                _ = changes.changed() => {}
            }
        }
    }
}

impl ShellTool for ShellOutput {
    type Arguments = Arguments;
    type Value = Read;

    fn define() -> ToolDef {
        let definition = described("shell_output", "Read a job's output", "shell", &["job", "output", "background"])
            .with_kind(Kind::Read)
            .with_aliases("id", &["job", "job_id", "bash_id", "shell_id"])
            .with_aliases("wait_ms", &["wait", "timeout"])
            .with_description(
                "Reads what a job in the background has written since it was last read, and tells how far it is.\n\n\
                 With since it reads again from a place of an earlier answer. Where there is nothing new, wait_ms \
                 waits for it.",
            )
            .with_returns("The new output, whether the job still runs, and its exit status once it has ended.")
            .with_example(example("What is new, or comes within ten seconds.", json!({"id": "1", "wait_ms": 10_000})))
            .with_example(example("Only lines with errors, from the beginning.", json!({"id": "1", "since": 0, "filter": "(?i)error|panicked"})));
        noted(
            definition,
            &["Wait with wait_ms instead of calling again and again."],
        )
    }

    fn binding() -> Binding {
        Binding::default().with_timeout(Duration::from_millis(LONGEST) + GRACE)
    }

    fn shells(&self) -> &Shells {
        &self.0
    }

    fn plan(&self, arguments: &Arguments) -> Result<Plan, Refusal> {
        let wait = Duration::from_millis(arguments.wait_ms.min(LONGEST));
        Ok(Plan::new(format!("read the output of job {}", arguments.id)).within(wait + GRACE))
    }

    async fn call(&self, arguments: Arguments, context: &ToolContext) -> Result<Outcome, Refusal> {
        let filter = arguments.filter.as_deref().map(Self::filter).transpose()?;
        let job = self.0.inner().jobs.get(context.caller(), &arguments.id)?;
        let since = arguments.since.unwrap_or_else(|| job.read_to());
        let wait = Duration::from_millis(arguments.wait_ms.min(LONGEST));
        Self::wait(&job, since, wait, context).await;
        // How far it is, before what it wrote: what has ended writes no more.
        let (state, told) = job.state();
        let (text, gone, unfinished) = job.process.since(since);
        let next = since.min(job.process.written()) + gone + text.len() as u64;
        let is_seen = job.note_read(next, &unfinished);
        let unfinished_line = match is_seen && arguments.since.is_none() {
            true => String::new(),
            false => unfinished,
        };
        if job.is_over() {
            job.told();
        }
        let mut capture = Capture::default();
        match &filter {
            Some(filter) => {
                let lines = text.split_inclusive('\n');
                let matching = lines.filter(|line| filter.is_match(line.trim_end_matches('\n')));
                capture.push(&matching.collect::<String>());
            }
            None => capture.push(&text),
        }
        let view = View {
            characters: arguments.max_output,
            ..View::default()
        };
        let excerpt = Excerpt::of(&capture, view);
        let kept = job.process.kept();
        let ended = job.process.ended();
        let exit = ended.as_ref().and_then(|ended| ended.exit);
        let time = ended
            .as_ref()
            .map_or_else(|| job.process.elapsed(), |ended| ended.after);
        let read = Read {
            id: job.id.to_string(),
            command: shortened(&job.label),
            state: state.to_owned(),
            exit_code: exit.map(|exit| exit.code),
            signal: exit.and_then(|exit| exit.signal_name()),
            output: excerpt.text(&kept.told()),
            unfinished_line,
            next_since: next,
            omitted_bytes: excerpt.omitted + gone,
            full_output_path: kept.path().map(|path| path.display().to_string()),
            execution_time: u64::try_from(time.as_millis()).unwrap_or(u64::MAX),
            pid: job.process.id(),
        };
        let mut shown = read.output.trim_end_matches('\n').to_owned();
        let mut add = |line: &str| {
            if !shown.is_empty() {
                shown.push('\n');
            }
            shown += line;
        };
        if !read.unfinished_line.is_empty() {
            add(&read.unfinished_line);
        }
        if gone > 0 {
            add(&format!("[{gone} bytes of it are gone; {}]", kept.told()));
        }
        if read.output.is_empty() && read.unfinished_line.is_empty() {
            add(match filter {
                Some(_) if !text.is_empty() => "[nothing new matches the filter]",
                _ => "[nothing new]",
            });
        }
        add(&format!(
            "[job {} {told}; read on with since={next}]",
            job.id
        ));
        let display = format!("Job {}: {state}, {} new bytes", job.id, text.len());
        let value = serde_json::to_value(&read).unwrap_or_default();
        let mut outcome = Outcome::nothing()
            .with_display(display)
            .with_room(budget::room(arguments.max_output))
            .with_block(Block::text(shown));
        for name in [
            "id",
            "state",
            "exit_code",
            "signal",
            "next_since",
            "omitted_bytes",
            "full_output_path",
            "execution_time",
            "pid",
        ] {
            if let Some(fact) = value.get(name) {
                outcome = outcome.with_metadata(name, fact.clone());
            }
        }
        Ok(outcome.with_value(value))
    }
}
