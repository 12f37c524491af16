//! Runs a program to its end: feeds it, reads it, and leaves nothing of it behind.
//!
//! The program ends, or the call is given up; either way everything it started is ended
//! before this returns. What it wrote is judged in `report.rs`.

use std::process::ExitStatus;
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::process::ChildStdin;
use tokio::time::timeout;
use toolsmith_core::{ErrorKind, ToolContext, ToolError};
use toolsmith_process::{Ending, Launch, LaunchError, Layers, Tail};

use super::output::Output;

/// How long what a program left running may still write after it.
const AFTER_EXIT: Duration = Duration::from_millis(250);
/// How long a program may take to act on the request to end. The whole of it, with
/// what is killed then, fits into what a runtime gives a call that it stops.
const AFTER_REQUEST: Duration = Duration::from_millis(150);
/// How long the rest of the output may take to arrive when everything is killed.
const TO_DRAIN: Duration = Duration::from_millis(100);

/// How a program ended, and what it wrote.
#[derive(Debug)]
pub(super) struct Finished {
    pub(super) status: Option<ExitStatus>,
    pub(super) output: Output,
    pub(super) errors: Tail,
    /// How many processes had to be killed.
    pub(super) killed: usize,
    /// How many could not be.
    pub(super) survived: usize,
    /// Whether the call was given up before the program ended.
    pub(super) is_given_up: bool,
    /// What it ran within.
    pub(super) layers: Option<Layers>,
}

/// Starts a program and stays with it until it is over.
pub(super) async fn run(
    launch: &Launch,
    input: Vec<u8>,
    mut output: Output,
    context: &ToolContext,
) -> Result<Finished, ToolError> {
    let mut running = launch.begin().await.map_err(refused)?;
    let layers = running.layers().cloned();
    let errors = running.stderr();
    let mut feed = Feed::new(running.take_stdin(), input);
    output.read_from(running.take_stdout());
    let exited = tokio::select! {
        biased;
        () = context.cancelled() => None,
        status = running.wait() => Some(status),
        () = carry(&mut feed, &mut output, context) => None,
    };
    drop(feed);
    let is_given_up = exited.is_none();
    let ending = match exited {
        // Whatever the answer is, it has one.
        Some(_) => {
            let _ = timeout(AFTER_EXIT, output.drain(context)).await;
            running.end(Duration::ZERO).await
        }
        None => running.stop(AFTER_REQUEST).await,
    };
    let _ = timeout(TO_DRAIN, output.drain(context)).await;
    let Ending {
        status,
        killed,
        survived,
        ..
    } = ending;
    Ok(Finished {
        status,
        output,
        errors,
        killed: killed.len(),
        survived: survived.len(),
        is_given_up,
        layers,
    })
}

/// Feeds and reads for as long as the program runs, which is for somebody else to see:
/// a program may close its output long before it ends.
async fn carry(feed: &mut Feed, output: &mut Output, context: &ToolContext) {
    tokio::join!(feed.drain(), output.drain(context));
    std::future::pending().await
}

/// What a program reads from its standard input.
struct Feed {
    stdin: Option<ChildStdin>,
    input: Vec<u8>,
    written: usize,
}

impl Feed {
    fn new(stdin: Option<ChildStdin>, input: Vec<u8>) -> Self {
        let written = 0;
        Self {
            stdin,
            input,
            written,
        }
    }

    /// Writes everything and closes the stream; without any input that is at once. A program that wants no more is no
    /// failure: `head` never does.
    async fn drain(&mut self) {
        while let Some(stdin) = &mut self.stdin {
            let rest = &self.input[self.written..];
            if rest.is_empty() {
                self.stdin = None;
                return;
            }
            match stdin.write(rest).await {
                Ok(0) | Err(_) => self.stdin = None,
                Ok(length) => self.written += length,
            }
        }
    }
}

/// What it means for a call that a program could not be started.
fn refused(error: LaunchError) -> ToolError {
    let kind = match error {
        LaunchError::NotFound { .. }
        | LaunchError::NotExecutable { .. }
        | LaunchError::NoInterpreter { .. }
        | LaunchError::NoFolder { .. }
        | LaunchError::NoHelper { .. }
        | LaunchError::Unsupported { .. } => ErrorKind::Unavailable,
        _ => ErrorKind::Failed,
    };
    ToolError::caused(kind, error)
}
