//! What is told of a call: what the program wrote, how it ended, what was ended with it,
//! and what still runs. Nothing is told that is not known.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};
use toolsmith_core::{Block, ErrorKind, Outcome, ToolError, duration};

use super::exit::{Exit, TIMED_OUT};
use super::launch::Streams;
use super::output::{Excerpt, View};
use super::process::{Ended, Named, Phase, Process, Shown};
use crate::budget;

/// How many processes are named.
const NAMED: usize = 10;

/// How a wait came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The program ended.
    Ended,
    /// It ended, and what it started goes on as a job.
    Left,
    /// It was started in the background.
    Started,
    /// Its time ran out, and it goes on as a job.
    Late,
    /// Its time ran out, and it was ended.
    TimedOut,
    /// The caller gave up, and it was ended.
    GivenUp,
}

/// What is known of a call beside its program.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) label: String,
    /// The folder the next call runs in.
    pub(crate) folder: String,
    pub(crate) session: Option<String>,
    pub(crate) notes: Vec<String>,
    pub(crate) limit: Duration,
    pub(crate) end: End,
    pub(crate) job: Option<u64>,
}

/// What came of a program.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Ran {
    /// The command, as it was run.
    pub(crate) command: String,
    /// What it wrote, in one text; the middle of a long one is left out.
    pub(crate) output: String,
    /// What it wrote to its standard output, where both come separately.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stdout: Option<String>,
    /// What it wrote to its standard error, where both come separately.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stderr: Option<String>,
    /// Whether both came through one pipe, in the order they were written (`merged`), or through one each (`separate`).
    pub(crate) streams: String,
    /// How long it ran, in milliseconds.
    pub(crate) execution_time: u64,
    /// Its exit status; 128 and the signal where a signal ended it, 124 where time ran out, none while it runs.
    pub(crate) exit_code: Option<i32>,
    /// The signal that ended it.
    pub(crate) signal: Option<String>,
    /// Whether time ran out.
    pub(crate) timed_out: bool,
    /// How many bytes it wrote to its standard output; to both, where they are merged.
    pub(crate) stdout_length: u64,
    /// How many bytes it wrote to its standard error; none where that is not known.
    pub(crate) stderr_length: Option<u64>,
    /// How many bytes of the text are left out.
    pub(crate) omitted_bytes: u64,
    /// Whether anything is.
    pub(crate) truncated: bool,
    /// The file that has all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) full_output_path: Option<String>,
    /// What it was kept in: the layers in force, or `none`.
    pub(crate) sandbox: String,
    /// What the layers in force do not cover.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) sandbox_notes: Vec<String>,
    /// The folder it ran in, or where its session is now.
    pub(crate) cwd: String,
    /// The session whose folder is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) session_id: Option<String>,
    /// The job it goes on as.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<String>,
    /// The number of its process, where it goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pid: Option<u32>,
    /// Processes that were ended with it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) killed: Vec<u32>,
    /// Processes that could not be ended.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) survived: Vec<u32>,
}

impl Report {
    /// The outcome of a call.
    pub(crate) async fn outcome(mut self, process: &Process, view: View) -> Outcome {
        let shown = process.shown(view).await;
        let ended = process.ended();
        let ended = ended.as_deref();
        self.explain(process, ended, &shown);
        let ran = self.ran(process, ended, &shown);
        let text = self.text(&ran);
        let failure = self.failure(ended, &ran);
        let display = self.display(&ran);
        let room = budget::room(2 * view.characters.max(View::default().characters));
        let mut outcome = Outcome::nothing().with_display(display).with_room(room);
        outcome.error = failure;
        let value = match serde_json::to_value(&ran) {
            Ok(value) => value,
            Err(error) => {
                let message = format!("the answer could not be told: {error}");
                return Outcome::failure(ToolError::internal(message));
            }
        };
        outcome.metadata = metadata(&value);
        outcome.with_block(Block::text(text)).with_value(value)
    }

    fn ran(&self, process: &Process, ended: Option<&Ended>, shown: &Shown) -> Ran {
        let told = shown.kept.told();
        let is_separate = process.streams() != Streams::Merged;
        let goes_on = self.job.is_some();
        let exit = match process.phase() {
            Phase::Left { exit, .. } => exit,
            _ => ended.and_then(|ended| ended.exit),
        };
        let time = ended.map_or_else(|| process.elapsed(), |ended| ended.after);
        let is_late = matches!(self.end, End::TimedOut | End::Late);
        Ran {
            command: shortened(&self.label),
            output: shown.all.text(&told),
            stdout: is_separate.then(|| shown.out.text(&told)),
            stderr: is_separate.then(|| shown.err.text(&told)),
            streams: process.streams().word().to_owned(),
            execution_time: u64::try_from(time.as_millis()).unwrap_or(u64::MAX),
            exit_code: match self.end {
                End::TimedOut => Some(TIMED_OUT),
                _ => exit.map(|exit| exit.code),
            },
            signal: exit.and_then(Exit::signal_name),
            timed_out: is_late,
            stdout_length: shown.out_bytes,
            stderr_length: is_separate.then_some(shown.err_bytes),
            omitted_bytes: shown.all.omitted,
            truncated: shown.all.omitted > 0,
            full_output_path: shown.kept.path().map(|path| path.display().to_string()),
            sandbox: process.sandbox(),
            sandbox_notes: process
                .layers()
                .map(|layers| layers.notes().to_vec())
                .unwrap_or_default(),
            cwd: self.folder.clone(),
            session_id: self.session.clone(),
            id: self.job.map(|job| job.to_string()),
            pid: goes_on.then(|| process.id()),
            killed: ended.map(|ended| ended.killed.clone()).unwrap_or_default(),
            survived: ended
                .map(|ended| ended.survived.clone())
                .unwrap_or_default(),
        }
    }

    /// Notes what happened beside the output.
    fn explain(&mut self, process: &Process, ended: Option<&Ended>, shown: &Shown) {
        let mut notes = Vec::new();
        match (self.end, ended) {
            (End::Ended, Some(ended)) if !ended.left.is_empty() => {
                let many = match ended.left.len() {
                    1 => "1 process was".to_owned(),
                    many => format!("{many} processes were"),
                };
                notes.push(format!(
                    "{many} still running when it ended, and ended with it: {}; use \
                     run_in_background to keep a command running, or leave_running to keep what \
                     it leaves",
                    named(&ended.left)
                ));
            }
            (End::TimedOut | End::GivenUp, Some(ended)) => {
                let last = match shown.since_output {
                    Some(since) => format!("it wrote last {} before", rounded(since)),
                    None => "it wrote nothing".to_owned(),
                };
                let killed = match ended.killed.len() {
                    0 => "it ended when asked to".to_owned(),
                    1 => "1 process was killed".to_owned(),
                    many => format!("{many} processes were killed"),
                };
                notes.push(format!(
                    "ended after {}; {last}; {killed}",
                    rounded(ended.after)
                ));
            }
            (End::TimedOut | End::GivenUp, None) => {
                notes.push("its processes are being ended".to_owned());
            }
            _ => {}
        }
        if let Some(ended) = ended.filter(|ended| !ended.survived.is_empty()) {
            let numbers: Vec<String> = ended.survived.iter().map(u32::to_string).collect();
            notes.push(format!("could not be ended: {}", numbers.join(", ")));
        }
        notes.extend(refused(process, ended, &shown.all));
        let Some(job) = self.job else {
            self.notes.splice(0..0, notes);
            return;
        };
        let ways = format!("shell_output(id=\"{job}\") reads it, shell_kill(id=\"{job}\") ends it");
        notes.push(match (self.end, process.phase()) {
            (End::Late, _) => format!(
                "time ran out after {}; it is still running as job {job} (process {}); {ways}",
                rounded(self.limit),
                process.id()
            ),
            (_, Phase::Left { left, .. }) => {
                format!("still running as job {job}: {}; {ways}", named(&left))
            }
            _ => format!("started as job {job} (process {}); {ways}", process.id()),
        });
        self.notes.splice(0..0, notes);
    }

    /// What the model reads.
    fn text(&self, ran: &Ran) -> String {
        let mut text = ran.output.trim_end_matches('\n').to_owned();
        if text.is_empty() && matches!(self.end, End::Ended | End::Left) {
            text = "[it wrote nothing]".to_owned();
        }
        for note in &self.notes {
            if !text.is_empty() {
                text.push('\n');
            }
            text += &format!("[{note}]");
        }
        text
    }

    /// Why the call is no success, if it is none.
    fn failure(&self, ended: Option<&Ended>, ran: &Ran) -> Option<ToolError> {
        let (kind, message, reason) = match self.end {
            End::Started | End::Left | End::Late => return None,
            End::TimedOut => {
                let message = format!(
                    "the command ran out of time after {} and was ended",
                    rounded(self.limit)
                );
                (ErrorKind::Timeout, message, "TIMED_OUT")
            }
            End::GivenUp => {
                let message = "the call was given up, and the command was ended".to_owned();
                (ErrorKind::Cancelled, message, "CANCELLED")
            }
            End::Ended => match ended.and_then(|ended| ended.exit) {
                Some(exit) if exit.is_success() => return None,
                Some(exit) => (
                    ErrorKind::Failed,
                    format!("the command {}", exit.told()),
                    "EXIT_STATUS",
                ),
                None => {
                    let message = "the command could not be ended, and how it ends is not known";
                    (ErrorKind::Failed, message.to_owned(), "FAILED")
                }
            },
        };
        let mut details = Map::new();
        details.insert("reason".to_owned(), reason.into());
        details.insert("exit_code".to_owned(), json!(ran.exit_code));
        Some(ToolError::new(kind, message).with_details(Value::Object(details)))
    }

    /// The line a person reads.
    fn display(&self, ran: &Ran) -> String {
        let command = one_line(&self.label, 80);
        let how = match (self.end, ran.exit_code, self.job) {
            (End::Started, _, Some(job)) => format!("started as job {job}"),
            (End::Late | End::Left, _, Some(job)) => format!("goes on as job {job}"),
            (End::TimedOut, ..) => "ran out of time".to_owned(),
            (End::GivenUp, ..) => "was given up".to_owned(),
            (_, Some(code), _) => format!("exit status {code}"),
            _ => "ended".to_owned(),
        };
        format!(
            "{command}: {how}, {} ms, {} bytes",
            ran.execution_time,
            ran.stdout_length + ran.stderr_length.unwrap_or(0)
        )
    }
}

/// What the sandbox may have to do with it: a command that failed as one does that is
/// refused something, or one that made what is to be protected.
fn refused(process: &Process, ended: Option<&Ended>, shown: &Excerpt) -> Vec<String> {
    let Some(layers) = process.layers() else {
        return Vec::new();
    };
    let exit = ended.and_then(|ended| ended.exit);
    // What may not be executed is most often a file that nobody made executable.
    let has_failed = exit.is_some_and(|exit| !exit.is_success() && exit.code != NOT_EXECUTABLE);
    let hint = || {
        layers
            .hint(&shown.tail)
            .or_else(|| layers.hint(&shown.head))
    };
    let mut notes: Vec<String> = has_failed.then(hint).flatten().into_iter().collect();
    for path in layers.appeared() {
        notes.push(format!(
            "{} was made, and is kept from being changed from now on; remove it unless it is wanted",
            path.display()
        ));
    }
    notes
}

/// The value without its texts, which metadata has no room for.
fn metadata(value: &Value) -> Map<String, Value> {
    let Value::Object(facts) = value else {
        return Map::new();
    };
    let is_text = |name: &str| matches!(name, "output" | "stdout" | "stderr");
    let facts = facts.iter().filter(|(name, _)| !is_text(name));
    facts
        .map(|(name, fact)| match (name.as_str(), fact.as_str()) {
            ("command", Some(command)) => (name.clone(), one_line(command, 4000).into()),
            _ => (name.clone(), fact.clone()),
        })
        .collect()
}

/// A text in one line, and not more of it than this many characters.
pub(crate) fn one_line(text: &str, characters: usize) -> String {
    let mut line = String::new();
    let mut is_blank = true;
    for (index, c) in text.trim().chars().enumerate() {
        if index >= characters {
            line.push('…');
            break;
        }
        let is_space = c.is_whitespace() || c.is_control();
        if !is_space {
            line.push(c);
        } else if !is_blank {
            line.push(' ');
        }
        is_blank = is_space;
    }
    line
}

/// Processes by name and number.
pub(crate) fn named(processes: &[Named]) -> String {
    let shown = processes.iter().take(NAMED);
    let shown: Vec<String> = shown
        .map(|(id, name)| format!("{} ({id})", one_line(name, 32)))
        .collect();
    let mut text = shown.join(", ");
    if processes.len() > NAMED {
        text += &format!(" and {} more", processes.len() - NAMED);
    }
    text
}

/// A time for people.
fn rounded(time: Duration) -> String {
    let millis = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    duration::format(Duration::from_millis(millis))
}

/// What a shell exits with where a file may not be executed.
const NOT_EXECUTABLE: i32 = 126;

/// How much of a command an answer repeats: who sent it has it.
const LONGEST_COMMAND: usize = 2_000;

/// A command as an answer repeats it.
pub(crate) fn shortened(command: &str) -> String {
    match command.char_indices().nth(LONGEST_COMMAND) {
        Some((end, _)) => format!("{}… ({} bytes)", &command[..end], command.len()),
        None => command.to_owned(),
    }
}
