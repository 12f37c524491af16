//! A child that runs: its streams, its exit, and its end.
//!
//! Whatever way a `Running` goes, nothing it started stays: [`Running::end`] and
//! [`Running::stop`] ask first and report, dropping kills at once. How the tree is found
//! is told in `tree/`.

use std::io;
use std::process::ExitStatus;
use std::thread;
use std::time::{Duration, Instant};

use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::helper::Watch;
use crate::launch::Output;
use crate::sandbox::{Kept, Layers};
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
/// How long the helper may take to end after the child.
const TO_FOLLOW: Duration = Duration::from_secs(1);

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
    separate_stderr: Option<ChildStderr>,
    reader: Option<JoinHandle<()>>,
    tree: Tree,
    confinement: Option<Confinement>,
    /// What a witness has kept until nothing of it is left.
    kept: Option<Kept>,
    is_ended: bool,
}

/// What is around a sandboxed child.
///
/// The process that was started is then the helper, which stays outside of the sandbox and
/// lives a little longer than the child.
#[derive(Debug)]
struct Confinement {
    layers: Layers,
    watch: Watch,
    keeps_descendants: bool,
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
    pub(crate) fn new(
        mut child: Child,
        tree: Tree,
        output: Output,
        merged: Option<ChildStdout>,
    ) -> Self {
        let stderr = Tail::default();
        let (reader, separate_stderr) = match (output, child.stderr.take()) {
            (Output::Apart, stream) => (None, stream),
            (_, stream) => {
                let follow = |stream| tokio::spawn(stderr.clone().follow(stream));
                (stream.map(follow), None)
            }
        };
        Self {
            id: tree.id(),
            stdin: child.stdin.take(),
            stdout: merged.or_else(|| child.stdout.take()),
            child,
            stderr,
            separate_stderr,
            reader,
            tree,
            confinement: None,
            kept: None,
            is_ended: false,
        }
    }

    /// Notes what is around the child.
    pub(crate) fn confine(&mut self, layers: Layers, watch: Watch, keeps_descendants: bool) {
        self.confinement = Some(Confinement {
            layers,
            watch,
            keeps_descendants,
        });
    }

    /// Keeps something until nothing of the child is left.
    pub(crate) fn keep(&mut self, kept: Option<Kept>) {
        self.kept = kept;
    }

    /// Returns what confines the child, if it was started in a sandbox.
    pub fn layers(&self) -> Option<&Layers> {
        self.confinement
            .as_ref()
            .map(|confinement| &confinement.layers)
    }

    /// Returns the child's process id, which is also that of its session and group.
    ///
    /// Within a sandbox it is the helper's, which lives at least as long as the child.
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

    /// Takes the child's standard error, if it was asked to be apart.
    pub fn take_stderr(&mut self) -> Option<ChildStderr> {
        self.separate_stderr.take()
    }

    /// Returns what the child started and is still alive, by number and name, without the
    /// child itself and without what is around a sandboxed one. On systems without `/proc`
    /// nothing is known.
    ///
    /// Blocks for as long as a look at all processes takes.
    pub fn descendants(&self) -> Vec<(u32, String)> {
        let living = self.tree.living(self.leader());
        let ids = living.iter().map(|(id, _)| *id).collect();
        let own = self.without_keepers(ids);
        let mut named = living;
        named.retain(|(id, _)| own.contains(id));
        named
    }

    /// Returns a handle on the end of the child's standard error.
    ///
    /// It is empty where the standard error was merged or is apart.
    pub fn stderr(&self) -> Tail {
        self.stderr.clone()
    }

    /// Waits until the child itself exits; what it started may live on until [`end`](Self::end).
    ///
    /// # Errors
    /// When the system cannot tell, which a healthy system can.
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        let Some(confinement) = &mut self.confinement else {
            return self.child.wait().await;
        };
        let Some(status) = confinement.watch.exit().await else {
            return self.child.wait().await;
        };
        if !confinement.keeps_descendants {
            // What the child left behind ends with it; late is no reason not to tell.
            let _ = timeout(TO_FOLLOW, self.child.wait()).await;
        }
        Ok(status)
    }

    /// Waits until the child and all that it started within its sandbox have ended.
    ///
    /// Outside of a sandbox nobody can tell; then it is the child alone.
    ///
    /// # Errors
    /// When the system cannot tell, which a healthy system can.
    pub async fn wait_for_all(&mut self) -> io::Result<()> {
        self.child.wait().await.map(drop)
    }

    /// Returns how the child exited, or nothing while it runs.
    ///
    /// # Errors
    /// When the system cannot tell, which a healthy system can.
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        let told = self.confinement.as_mut().map(|around| around.watch.look());
        match told.flatten() {
            Some(status) => Ok(Some(status)),
            None => self.child.try_wait(),
        }
    }

    /// Ends the child and everything it started, and says how that went.
    ///
    /// Closes the child's standard input unless it was taken, and gives the child `grace`
    /// to exit. Then its group receives `SIGTERM`, and half a second later `SIGKILL`
    /// goes to whatever is left, in whichever session or group it is.
    /// When the returned future is dropped, everything is killed at once.
    pub async fn end(mut self, grace: Duration) -> Ending {
        drop(self.stdin.take());
        match timeout(grace, self.wait()).await {
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
            let _ = timeout(patience, self.wait()).await;
        }
        self.sweep().await
    }

    /// Kills whatever is left, and takes what it leaves behind.
    async fn sweep(mut self) -> Ending {
        let (tree, leader) = (self.tree.clone(), self.leader());
        let sweeping = tokio::task::spawn_blocking(move || tree.kill(leader, TO_DISAPPEAR));
        // A runtime that shuts down runs no more of these; dropping will do it then.
        let swept = sweeping.await.ok();
        let status = timeout(TO_DRAIN, self.wait()).await;
        if let Some(reader) = &mut self.reader {
            let _ = timeout(TO_DRAIN, reader).await;
        }
        self.is_ended = swept.is_some();
        let swept = swept.unwrap_or_default();
        self.outlived_by(&swept);
        let Swept { killed, survived } = swept;
        let killed = self.without_keepers(killed);
        Ending {
            status: status.ok().and_then(Result::ok),
            killed,
            survived,
        }
    }

    /// Has a witness wait for good where something could not be ended.
    fn outlived_by(&mut self, swept: &Swept) {
        if !swept.survived.is_empty()
            && let Some(kept) = self.kept.take()
        {
            Box::leak(kept);
        }
    }

    /// Leaves out the processes that are around a sandboxed child and none of its own.
    fn without_keepers(&self, mut killed: Vec<u32>) -> Vec<u32> {
        if let Some(confinement) = &self.confinement {
            let keeper = confinement.watch.keeper();
            killed.retain(|id| *id != self.id && Some(*id) != keeper);
        }
        killed
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
            let swept = self.tree.kill(self.leader(), TO_DISAPPEAR_AT_DROP);
            self.outlived_by(&swept);
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
