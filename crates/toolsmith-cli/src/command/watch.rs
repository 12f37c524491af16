//! Watches the files while `toolsmith serve` runs.
//!
//! The system tells of changes, and the files are looked at every few seconds besides:
//! some file systems tell nothing. What changed is in force at the next call.

use std::collections::HashSet;
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::mpsc::{self, Receiver};
use toolsmith_core::ToolName;
use toolsmith_runtime::registry::pin::Withheld;

use super::offers::Offers;
use crate::login;
use crate::print;
use crate::session::{Reached, Session};
use crate::withheld;

/// How long files are left alone where nobody told of a change.
const POLL: Duration = Duration::from_secs(2);

/// How long changes are gathered: one is often the beginning of several.
const GATHER: Duration = Duration::from_millis(120);

/// The folders that hold what is read.
const FOLDERS: [&str; 8] = [
    "",
    "tools",
    "tools/native",
    "tools/builtin",
    "tools/mcp",
    "configs",
    "configs/tool_sets",
    "agents",
];

/// Puts changed files into force, for ever.
pub(crate) async fn watch(session: &Session, offers: &Offers<'_>, reached: &Reached) -> Infallible {
    let mut watched = Watched::begin(session.manager.root());
    let mut later = false;
    let mut withheld = HashSet::new();
    loop {
        let pause = if later { GATHER } else { POLL };
        watched.changed(pause).await;
        let manager = Arc::clone(&session.manager);
        // Beside the protocol: it may take a while, and clients need not wait.
        let looked = tokio::task::spawn_blocking(move || manager.refresh()).await;
        let Ok(reloaded) = looked else {
            continue;
        };
        later = reloaded.later;
        tell_withheld(session, &mut withheld);
        watched.follow();
        for told in &reloaded.told {
            print::warning(told);
        }
        if !reloaded.changed {
            continue;
        }
        offers.renew();
        reached.remotes.set(session.manager.remotes());
        if !(reloaded.gone.is_empty() && reloaded.fresh.is_empty()) {
            let fresh = reloaded.fresh.into_iter().map(login::with_kept).collect();
            let _ = toolsmith_process::become_subreaper();
            reached.upstreams.replace(&reloaded.gone, fresh).await;
        }
        reached.upstreams.set_unready(session.unready());
    }
}

/// Tells of tools that are withheld and were not when it was last told.
fn tell_withheld(session: &Session, known: &mut HashSet<(ToolName, &'static str)>) {
    let all = session.toolbox.registry().withheld();
    let key = |each: &Withheld| (each.name.clone(), each.why.word());
    let is_new = |each: &&Arc<Withheld>| !known.contains(&key(each));
    let new: Vec<_> = all.iter().filter(is_new).cloned().collect();
    withheld::tell(&new);
    *known = all.iter().map(|each| key(each)).collect();
}

/// Folders the system tells of.
struct Watched {
    root: PathBuf,
    watcher: Option<RecommendedWatcher>,
    followed: Vec<&'static str>,
    changes: Receiver<()>,
}

impl Watched {
    fn begin(root: &Path) -> Self {
        let (tell, changes) = mpsc::channel(1);
        let watcher = notify::recommended_watcher(move |_| {
            // One that waits stands for all.
            let _ = tell.try_send(());
        });
        let mut watched = Self {
            root: root.to_owned(),
            watcher: watcher.ok(),
            followed: Vec::new(),
            changes,
        };
        watched.follow();
        watched
    }

    /// Follows folders that are new; those that are gone tell nothing.
    fn follow(&mut self) {
        let Some(watcher) = &mut self.watcher else {
            return;
        };
        for folder in FOLDERS {
            let path = self.root.join(folder);
            if !path.is_dir() {
                self.followed.retain(|each| *each != folder);
            } else if !self.followed.contains(&folder)
                && watcher.watch(&path, RecursiveMode::NonRecursive).is_ok()
            {
                self.followed.push(folder);
            }
        }
    }

    /// Waits until something changed, or for a while.
    async fn changed(&mut self, pause: Duration) {
        let told = tokio::time::timeout(pause, self.changes.recv()).await;
        if let Ok(Some(())) = told {
            tokio::time::sleep(GATHER).await;
            let _ = self.changes.try_recv();
        }
    }
}
