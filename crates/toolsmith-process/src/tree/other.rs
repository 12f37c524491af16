//! The tree where there is no `/proc`: the child's group, and no more than that.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::process::{Signal, kill_process_group};

use super::{Leader, Swept, pid};

/// The group that a child leads.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    id: u32,
    is_killed: Arc<AtomicBool>,
}

impl Tree {
    pub(crate) fn grow<C>(
        _mark: String,
        spawn: impl FnOnce() -> io::Result<(C, u32)>,
    ) -> io::Result<(C, Self)> {
        let (child, id) = spawn()?;
        let is_killed = Arc::default();
        Ok((child, Self { id, is_killed }))
    }

    pub(crate) fn adopt_orphans() -> io::Result<()> {
        Ok(())
    }

    pub(crate) fn id(&self) -> u32 {
        self.id
    }

    pub(crate) fn request_end(&self) {
        if let Some(group) = pid(self.id) {
            let _ = kill_process_group(group, Signal::TERM);
        }
    }

    /// Kills the group; once the leader is reaped, its number may name a stranger's.
    pub(crate) fn kill(&self, leader: Leader, _limit: Duration) -> Swept {
        let was_killed = self.is_killed.swap(true, Ordering::Relaxed);
        let Some(group) = pid(self.id).filter(|_| leader == Leader::Unreaped && !was_killed) else {
            return Swept::default();
        };
        match kill_process_group(group, Signal::KILL) {
            Ok(()) => Swept {
                killed: vec![self.id],
                survived: Vec::new(),
            },
            Err(_) => Swept::default(),
        }
    }

    pub(crate) fn living(&self, _leader: Leader) -> Vec<(u32, String)> {
        Vec::new()
    }

    pub(crate) fn forget(&self) {
        self.is_killed.store(true, Ordering::Relaxed);
    }
}
