//! Whoever wants to know is told of the start of a child, and of the end of all it started.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use toolsmith_process::{Kept, Launch, Mode, Sandbox, Witness};

use super::{machines, workspace};

/// Counts who runs.
#[derive(Debug, Default)]
struct Count(Arc<AtomicUsize>);

impl Witness for Count {
    fn starts(&self, sandbox: &Sandbox) -> Kept {
        assert_eq!(sandbox.mode(), Mode::WorkspaceWrite);
        self.0.fetch_add(1, Ordering::SeqCst);
        Box::new(Leave(Arc::clone(&self.0)))
    }
}

struct Leave(Arc<AtomicUsize>);

impl Drop for Leave {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[tokio::test]
async fn a_witness_is_told_of_the_start_and_of_the_end_of_everything() {
    for (machine, support) in machines() {
        let folder = tempfile::tempdir().unwrap();
        let count = Arc::new(AtomicUsize::new(0));
        let sandbox = workspace(folder.path())
            .support(support)
            .witness(Arc::new(Count(Arc::clone(&count))));
        assert_eq!(
            count.load(Ordering::SeqCst),
            0,
            "{machine}: nothing runs yet"
        );

        // What it leaves behind runs, too.
        let launch = Launch::new("/bin/sh")
            .arguments(["-c", "setsid sleep 600 & echo begun"])
            .environment([("PATH", "/usr/bin:/bin")])
            .sandbox(sandbox.clone())
            .keep_descendants();
        let mut running = launch.start().unwrap();
        running.wait().await.unwrap();
        assert_eq!(count.load(Ordering::SeqCst), 1, "{machine}");
        running.end(Duration::ZERO).await;
        assert_eq!(count.load(Ordering::SeqCst), 0, "{machine}: all is gone");

        // Dropped while it runs.
        let running = Launch::new("/bin/sleep")
            .arguments(["600"])
            .sandbox(sandbox.clone());
        let running = running.start().unwrap();
        assert_eq!(count.load(Ordering::SeqCst), 1, "{machine}");
        drop(running);
        assert_eq!(count.load(Ordering::SeqCst), 0, "{machine}: it was killed");

        // One that does not start has no end either.
        Launch::new("/nonexistent/program")
            .sandbox(sandbox)
            .start()
            .unwrap_err();
        assert_eq!(count.load(Ordering::SeqCst), 0, "{machine}: it never ran");
    }
}
