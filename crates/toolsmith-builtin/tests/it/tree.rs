//! A folder with files in it, and the tools that search it.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use toolsmith_builtin::{Workspace, WorkspaceOptions, search_tools};
use toolsmith_core::{Block, CancellationToken, Outcome, RawCall, ToolError};
use toolsmith_runtime::{Caller, Toolbox};

/// What time it is in all tests: 2026-03-01, noon.
pub(crate) const NOW: u64 = 1_772_366_400;

/// A folder with files in it, and the tools that search it.
pub(crate) struct Tree {
    folder: TempDir,
    toolbox: Toolbox,
    runtime: Runtime,
}

impl Tree {
    /// A folder of such files. A name that ends in a slash is a folder; all files hold
    /// their own names and are one minute apart, the first the oldest, a day ago.
    pub(crate) fn of(names: &[&str]) -> Self {
        let tree = Self::empty();
        for (index, name) in names.iter().enumerate() {
            tree.write(name, name);
            tree.age(name, 3600 * 24 - 60 * index as u64);
        }
        tree
    }

    pub(crate) fn empty() -> Self {
        Self::with(|_| WorkspaceOptions::default())
    }

    /// A folder with one file, `f.txt`.
    pub(crate) fn holding(content: impl AsRef<[u8]>) -> Self {
        let tree = Self::empty();
        tree.write("f.txt", content);
        tree
    }

    /// A folder, and what its host says of it.
    pub(crate) fn with(options: impl FnOnce(&Path) -> WorkspaceOptions) -> Self {
        let folder = TempDir::new().unwrap();
        let options = options(folder.path());
        let workspace = Workspace::open([folder.path()], options).unwrap();
        let tools = search_tools(&workspace, || UNIX_EPOCH + Duration::from_secs(NOW));
        Self {
            folder,
            toolbox: Toolbox::new(tools).unwrap(),
            runtime: Runtime::new().unwrap(),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.path().join(name.trim_start_matches('/'))
    }

    /// Writes a file, or makes a folder if the name ends in a slash.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.join(name);
        if name.ends_with('/') {
            fs::create_dir_all(path).unwrap();
            return;
        }
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// Says that something was changed so many seconds ago.
    pub(crate) fn age(&self, name: &str, seconds: u64) {
        let time: SystemTime = UNIX_EPOCH + Duration::from_secs(NOW - seconds);
        let file = fs::File::open(self.join(name)).unwrap();
        file.set_times(fs::FileTimes::new().set_modified(time))
            .unwrap();
    }

    /// Makes a link that leads to `target`.
    pub(crate) fn link(&self, name: &str, target: impl AsRef<Path>) {
        std::os::unix::fs::symlink(target, self.join(name)).unwrap();
    }

    /// Makes a pipe nobody writes into.
    pub(crate) fn pipe(&self, name: &str) {
        let made = std::process::Command::new("mkfifo")
            .arg(self.join(name))
            .status();
        assert!(made.unwrap().success());
    }

    pub(crate) fn outcome(&self, tool: &str, arguments: Value) -> Outcome {
        self.outcome_for(tool, arguments, &Caller::new("test"))
    }

    pub(crate) fn outcome_for(&self, tool: &str, arguments: Value, caller: &Caller) -> Outcome {
        let call = RawCall::new(tool, arguments);
        self.runtime
            .block_on(self.toolbox.run(call, caller))
            .into_outcome()
    }

    /// The outcome of a call that is given up after a while.
    pub(crate) fn given_up(
        &self,
        tool: &str,
        arguments: Value,
        after: Duration,
    ) -> (Outcome, Duration) {
        let token = CancellationToken::new();
        let caller = Caller::new("test").with_cancellation(token.clone());
        let began = std::time::Instant::now();
        self.runtime.spawn(async move {
            tokio::time::sleep(after).await;
            token.cancel();
        });
        let outcome = self.outcome_for(tool, arguments, &caller);
        (outcome, began.elapsed())
    }

    /// The value of a call that must succeed.
    #[track_caller]
    pub(crate) fn value(&self, tool: &str, arguments: Value) -> Value {
        let outcome = self.outcome(tool, arguments);
        assert!(outcome.is_success(), "the call failed: {:?}", outcome.error);
        outcome.value.unwrap()
    }

    /// What the model reads of a call that must succeed.
    #[track_caller]
    pub(crate) fn text(&self, tool: &str, arguments: Value) -> String {
        let outcome = self.outcome(tool, arguments);
        assert!(outcome.is_success(), "the call failed: {:?}", outcome.error);
        match &outcome.content[..] {
            [Block::Text { text }] => text.clone(),
            other => panic!("not one text: {other:?}"),
        }
    }

    /// The reason and the whole error of a call that must fail.
    #[track_caller]
    pub(crate) fn refusal(&self, tool: &str, arguments: Value) -> (String, ToolError) {
        let outcome = self.outcome(tool, arguments);
        let error = outcome
            .error
            .unwrap_or_else(|| panic!("the call succeeded: {:?}", outcome.value));
        let reason = error
            .details
            .as_ref()
            .and_then(|details| details["reason"].as_str());
        (reason.unwrap_or_default().to_owned(), error)
    }

    /// The paths a call of `glob` or `find` tells, in their order.
    #[track_caller]
    pub(crate) fn paths(&self, tool: &str, arguments: Value) -> Vec<String> {
        strings(&self.value(tool, arguments)["matches"], "path")
    }

    /// The same, by path.
    #[track_caller]
    pub(crate) fn sorted(&self, tool: &str, arguments: Value) -> Vec<String> {
        let mut paths = self.paths(tool, arguments);
        paths.sort();
        paths
    }
}

/// One field of each object in a list.
pub(crate) fn strings(list: &Value, field: &str) -> Vec<String> {
    let list = list.as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter()
        .map(|item| item[field].as_str().unwrap().to_owned())
        .collect()
}

/// Makes a chain of folders that is too long for one path, and a file in the last.
pub(crate) fn deep(root: &Path, levels: usize, name: &str, beside: Option<&str>) {
    use rustix::fs::{Mode, OFlags};
    let folder = OFlags::DIRECTORY | OFlags::RDONLY;
    let mut here = rustix::fs::open(root, folder, Mode::empty()).unwrap();
    for _ in 0..levels {
        if let Some(beside) = beside {
            rustix::fs::mkdirat(&here, beside, Mode::from(0o755)).unwrap();
        }
        rustix::fs::mkdirat(&here, name, Mode::from(0o755)).unwrap();
        here = rustix::fs::openat(&here, name, folder, Mode::empty()).unwrap();
    }
    let flags = OFlags::CREATE | OFlags::WRONLY;
    let file = rustix::fs::openat(&here, "bottom.txt", flags, Mode::from(0o644)).unwrap();
    rustix::io::write(&file, b"the needle\n").unwrap();
    assert!(!root.as_os_str().as_bytes().is_empty());
}
