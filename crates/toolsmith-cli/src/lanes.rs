//! More threads that speak with clients.
//!
//! What a request needs stays on the thread it arrived on: waking another one costs
//! more than most requests do. So over HTTP each thread has connections of its own
//! instead of all threads sharing them.

use std::io;
use std::thread;

use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

/// How many threads speak with clients at most; tools have theirs beside them.
const MOST: usize = 4;

/// Threads with a runtime each, for as long as this is kept.
pub(crate) struct Lanes {
    handles: Vec<Handle>,
    /// A lane ends when its sender is dropped.
    _open: Vec<oneshot::Sender<()>>,
}

impl Lanes {
    /// The runtime this is called on, and a thread for each further core.
    pub(crate) fn open() -> io::Result<Self> {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let (mut handles, mut open) = (vec![Handle::current()], Vec::new());
        for _ in 1..cores.min(MOST) {
            let runtime = Builder::new_current_thread().enable_all().build()?;
            let (sender, ended) = oneshot::channel::<()>();
            handles.push(runtime.handle().clone());
            open.push(sender);
            thread::Builder::new()
                .name("toolsmith-lane".to_owned())
                .spawn(move || drop(runtime.block_on(ended)))?;
        }
        Ok(Self {
            handles,
            _open: open,
        })
    }

    pub(crate) fn handles(&self) -> &[Handle] {
        &self.handles
    }
}
