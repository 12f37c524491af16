//! A child that runs: its streams, its exit, and its end.
//!
//! Whatever way a `Running` goes, nothing it started stays: [`Running::end`] and
//! [`Running::stop`] ask first and report, dropping kills at once. How the tree is found
//! is told in `tree/`.

use std::io;
use std::process::ExitStatus;
use std::thread;
use std::time::{Duration, Instant};

use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::tail::Tail;
use crate::tree::{Leader, Swept, Tree};

/// How long a child may take to act on the request to end.
const AFTER_REQUEST: Duration = Duration::from_millis(500);
/// How long killed processes may take to disappear when somebody waits for it.
const TO_DISAPPEAR: Duration = Duration::from_secs(3);
/// The same where waiting holds up a thread of the runtime.
const TO_DISAPPEAR_AT_DROP: Duration = Duration::from_millis(500);
/// How long the child's own exit may take, where waiting holds up a thread of the runtime.
const TO_BE_REAPED_AT_DROP: Duration = Duration::from_millis(200);
/// How long the rest of the standard error may take to arrive.
const TO_DRAIN: Duration = Duration::from_millis(200);

/// A child that was started, and everything it starts.
///
/// Dropping it kills them all, which may hold up the thread for some milliseconds.
#[derive(Debug)]
pub struct Running {
    id: u32,
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
    stderr: Tail,
    reader: Option<JoinHandle<()>>,
    tree: Tree,
    is_ended: bool,
}

/// How a child and what it started came to their end.
#[derive(Debug)]
#[non_exhaustive]
pub struct Ending {
    /// How the child itself ended; nothing when even killing did not end it.
    pub status: Option<ExitStatus>,
    /// Processes that were ended by `SIGKILL`, the child among them if it was.
    pub killed: Vec<u32>,
    /// Processes that were found and could not be ended.
    pub survived: Vec<u32>,
}

impl Running {
    pub(crate) fn new(mut child: Child, tree: Tree) -> Self {
        let stderr = Tail::default();
        let reader = child
            .stderr
            .take()
            .map(|stream| tokio::spawn(stderr.clone().follow(stream)));
        Self {
            id: tree.id(),
            stdin: child.stdin.take(),
            stdout: child.stdout.take(),
            child,
            stderr,
            reader,
            tree,
            is_ended: false,
        }
    }

    /// Returns the child's process id, which is also that of its session and group.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Takes the way to the child's standard input; dropping it closes the stream.
    pub fn take_stdin(&mut self) -> Option<ChildStdin> {
        self.stdin.take()
    }

    /// Takes the child's standard output.
    ///
    /// A child whose output nobody takes stops writing when the pipe is full.
    pub fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.stdout.take()
    }

    /// Returns a handle on the end of the child's standard error.
    pub fn stderr(&self) -> Tail {
        self.stderr.clone()
    }

    /// Waits until the child itself exits; what it started may live on until [`end`](Self::end).
    ///
    /// # Errors
    /// When the system cannot tell, which a healthy system can.
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.child.wait().await
    }

    /// Returns how the child exited, or nothing while it runs.
    ///
    /// # Errors
    /// When the system cannot tell, which a healthy system can.
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        self.child.try_wait()
    }

    /// Ends the child and everything it started, and says how that went.
    ///
    /// Closes the child's standard input unless it was taken, and gives the child `grace`
    /// to exit. Then its group receives `SIGTERM`, and half a second later `SIGKILL`
    /// goes to whatever is left, in whichever session or group it is.
    /// When the returned future is dropped, everything is killed at once.
    pub async fn end(mut self, grace: Duration) -> Ending {
        drop(self.stdin.take());
        match timeout(grace, self.child.wait()).await {
            Ok(_) => self.sweep().await,
            Err(_) => self.stop(AFTER_REQUEST).await,
        }
    }

    /// Ends the child and everything it started now, and says how that went.
    ///
    /// As [`end`](Self::end) without any grace: the group receives `SIGTERM` at once, and
    /// after `patience` `SIGKILL` goes to whatever is left.
    pub async fn stop(mut self, patience: Duration) -> Ending {
        drop(self.stdin.take());
        // The number of a child whose exit was taken may be another's by now.
        if self.leader() == Leader::Unreaped {
            self.tree.request_end();
            // Late or not, what comes next is the same.
            let _ = timeout(patience, self.child.wait()).await;
        }
        self.sweep().await
    }

    /// Kills whatever is left, and takes what it leaves behind.
    async fn sweep(mut self) -> Ending {
        let (tree, leader) = (self.tree.clone(), self.leader());
        let sweeping = tokio::task::spawn_blocking(move || tree.kill(leader, TO_DISAPPEAR));
        // A runtime that shuts down runs no more of these; dropping will do it then.
        let swept = sweeping.await.ok();
        let status = timeout(TO_DRAIN, self.child.wait()).await;
        if let Some(reader) = &mut self.reader {
            let _ = timeout(TO_DRAIN, reader).await;
        }
        self.is_ended = swept.is_some();
        let Swept { killed, survived } = swept.unwrap_or_default();
        Ending {
            status: status.ok().and_then(Result::ok),
            killed,
            survived,
        }
    }

    fn leader(&self) -> Leader {
        match self.child.id() {
            Some(_) => Leader::Unreaped,
            None => Leader::Reaped,
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(reader) = &self.reader {
            reader.abort();
        }
        if !self.is_ended {
            self.tree.kill(self.leader(), TO_DISAPPEAR_AT_DROP);
            // It was killed, and is dead at once unless the machine is under load; the
            // runtime takes the exit of a child that is later still.
            let deadline = Instant::now() + TO_BE_REAPED_AT_DROP;
            while let Ok(None) = self.child.try_wait()
                && Instant::now() < deadline
            {
                thread::sleep(Duration::from_millis(1));
            }
        }
        self.tree.forget();
    }
}
