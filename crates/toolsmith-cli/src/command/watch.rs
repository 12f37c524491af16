//! Watches the files while `toolsmith serve` runs.
//!
//! The system tells of changes, and the files are looked at every few seconds besides:
//! some file systems tell nothing. What changed is in force at the next call: one that comes
//! while a change is being read waits for it ([`Changes`]).

use std::collections::HashSet;
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use notify::event::{AccessKind, AccessMode};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::mpsc::{self, Receiver};
use tokio::sync::watch::Sender;
use toolsmith_core::ToolName;
use toolsmith_manager::pins::LOCK_FILE;
use toolsmith_manager::sandbox;
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

/// How long a call waits for a change at the most: files may change without end.
const MOST_WAITED: Duration = Duration::from_secs(1);

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

/// How many changes of files the system told of, and how many of them are in force.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    told: AtomicU64,
    in_force: Sender<u64>,
}

impl Changes {
    /// What to wait for until all that was told of is in force, if it is not.
    pub(crate) fn pending(self: &Arc<Self>) -> Option<Pin<Box<dyn Future<Output = ()> + Send>>> {
        let told = self.told.load(Ordering::Acquire);
        if *self.in_force.borrow() >= told {
            return None;
        }
        let mut in_force = self.in_force.subscribe();
        Some(Box::pin(async move {
            let all = in_force.wait_for(|in_force| *in_force >= told);
            let _ = tokio::time::timeout(MOST_WAITED, all).await;
        }))
    }
}

/// Puts changed files into force, for ever.
pub(crate) async fn watch(
    session: &Session,
    offers: &Offers<'_>,
    reached: &Reached,
    changes: &Arc<Changes>,
) -> Infallible {
    let mut watched = Watched::begin(session.manager.root(), changes);
    let mut later = false;
    let mut withheld = HashSet::new();
    loop {
        let pause = if later { GATHER } else { POLL };
        watched.changed(pause).await;
        let told = changes.told.load(Ordering::Acquire);
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
        if reloaded.changed {
            offers.renew();
        }
        if !later {
            changes.in_force.send_replace(told);
        }
        if !reloaded.changed {
            continue;
        }
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
    fn begin(root: &Path, all: &Arc<Changes>) -> Self {
        let (tell, changes) = mpsc::channel(1);
        // Paths are told as whole ones, however the folder is named.
        let whole = std::path::absolute(root).unwrap_or_else(|_| root.to_owned());
        let (all, home) = (Arc::clone(all), whole.clone());
        let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            if event.is_ok_and(|event| decides(&event, &home)) {
                all.told.fetch_add(1, Ordering::AcqRel);
            }
            // One that waits stands for all.
            let _ = tell.try_send(());
        });
        let mut watched = Self {
            root: whole,
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

/// Tells whether something was done to a file that decides about tools. Whatever tools write beside
/// them holds up no call, nor do pins, which are written here too.
fn decides(event: &Event, root: &Path) -> bool {
    let is_change = match event.kind {
        EventKind::Access(kind) => kind == AccessKind::Close(AccessMode::Write),
        _ => true,
    };
    let decides = |path: &PathBuf| {
        let path = path.strip_prefix(root).unwrap_or(path);
        let mut deciding = sandbox::deciding().filter(|it| !it.starts_with(".git"));
        !path.ends_with(LOCK_FILE) && deciding.any(|it| path.starts_with(it))
    };
    is_change && event.paths.iter().any(decides)
}

#[cfg(test)]
mod tests {
    use notify::event::{CreateKind, ModifyKind};

    use super::*;

    fn event(kind: EventKind, path: &str) -> Event {
        Event::new(kind).add_path(PathBuf::from(path))
    }

    #[test]
    fn only_changes_of_what_decides_hold_up_calls() {
        let (write, open) = (AccessMode::Write, AccessKind::Open(AccessMode::Any));
        let written = EventKind::Access(AccessKind::Close(write));
        let modified = EventKind::Modify(ModifyKind::Any);
        let made = EventKind::Create(CreateKind::File);
        for (kind, path, expected) in [
            (modified, "/r/toolsmith.yaml", true),
            (modified, "/r/./toolsmith.yaml", true),
            (written, "/r/.mcp.json", true),
            (made, "/r/tools/native/a.yaml", true),
            (EventKind::Access(open), "/r/toolsmith.yaml", false),
            (modified, "/r/toolsmith.lock", false),
            (modified, "/r/notes.md", false),
            (made, "/r/tools/readme.md", false),
        ] {
            let decides = decides(&event(kind, path), Path::new("/r"));
            assert_eq!(decides, expected, "{kind:?} {path}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_waits_until_what_was_told_is_in_force() {
        let changes = Arc::new(Changes::default());
        assert!(changes.pending().is_none());
        changes.told.fetch_add(2, Ordering::AcqRel);
        let call = tokio::spawn(changes.pending().unwrap());
        changes.in_force.send_replace(1);
        tokio::task::yield_now().await;
        assert!(!call.is_finished());
        changes.in_force.send_replace(2);
        call.await.unwrap();
        assert!(changes.pending().is_none());
        // Nobody waits for ever.
        changes.told.fetch_add(1, Ordering::AcqRel);
        changes.pending().unwrap().await;
    }
}
