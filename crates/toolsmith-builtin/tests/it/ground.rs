//! A workspace beside things that are none of its business.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde_json::Value;
use tempfile::TempDir;
use toolsmith_builtin::{Workspace, WorkspaceOptions};
use toolsmith_core::{Outcome, RawCall};
use toolsmith_runtime::permit::Policy;
use toolsmith_runtime::{Caller, Mode, Toolbox};

/// What stands in every file outside, and must never come out.
pub(crate) const SECRET: &str = "the-secret-of-the-neighbours";

/// A workspace `desk` in a folder with neighbours.
pub(crate) struct Ground {
    pub(crate) folder: TempDir,
    pub(crate) toolbox: Toolbox,
}

impl Ground {
    /// A workspace whose callers may write what they have not read.
    pub(crate) fn new() -> Self {
        Self::with(WorkspaceOptions::default().with_unread_writes())
    }

    pub(crate) fn with(options: WorkspaceOptions) -> Self {
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join("desk")).unwrap();
        fs::create_dir(folder.path().join("desk-2")).unwrap();
        fs::create_dir(folder.path().join("outside")).unwrap();
        fs::write(folder.path().join("outside/secret.txt"), SECRET).unwrap();
        fs::write(folder.path().join("desk-2/secret.txt"), SECRET).unwrap();
        fs::write(folder.path().join("secret.txt"), SECRET).unwrap();
        let toolbox = toolbox(&[&folder.path().join("desk")], options);
        Self { folder, toolbox }
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("desk")
    }

    pub(crate) fn outside(&self) -> PathBuf {
        self.folder.path().join("outside")
    }

    /// Makes a file in the workspace, and its folders.
    pub(crate) fn file(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn link(&self, to: impl AsRef<Path>, path: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(to, path).unwrap();
    }

    pub(crate) fn bytes(&self, path: &str) -> Vec<u8> {
        fs::read(self.root().join(path)).unwrap()
    }

    pub(crate) async fn call(&self, name: &str, arguments: Value) -> Outcome {
        self.call_as("test", name, arguments).await
    }

    pub(crate) async fn call_as(&self, caller: &str, name: &str, arguments: Value) -> Outcome {
        let call = RawCall::new(name, arguments);
        self.toolbox
            .run(call, &Caller::new(caller))
            .await
            .into_outcome()
    }

    /// Everything outside is as it was.
    pub(crate) fn is_untouched(&self) -> bool {
        let names = |folder: &Path| {
            let entries = fs::read_dir(folder).unwrap();
            let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
            names.sort();
            names
        };
        let is_secret = |path: PathBuf| fs::read(path).unwrap() == SECRET.as_bytes();
        let folder = self.folder.path();
        names(folder) == ["desk", "desk-2", "outside", "secret.txt"]
            && names(&self.outside()) == ["secret.txt"]
            && names(&folder.join("desk-2")) == ["secret.txt"]
            && is_secret(folder.join("secret.txt"))
            && is_secret(folder.join("outside/secret.txt"))
            && is_secret(folder.join("desk-2/secret.txt"))
    }

    /// What was left beside files.
    pub(crate) fn leftovers(&self) -> Vec<PathBuf> {
        let mut left = Vec::new();
        let mut folders = vec![self.root()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path
                    .file_name()
                    .unwrap()
                    .to_string_lossy()
                    .starts_with(".toolsmith-")
                {
                    left.push(path.clone());
                }
                if path.is_dir() && !path.is_symlink() {
                    folders.push(path);
                }
            }
        }
        left
    }
}

/// A toolbox of all built-in tools, in which everything may run.
pub(crate) fn toolbox(roots: &[&Path], options: WorkspaceOptions) -> Toolbox {
    let workspace = Workspace::open(roots, options).unwrap();
    Toolbox::builder()
        .tools(toolsmith_builtin::tools(&workspace, SystemTime::now))
        .policy(Policy::new(Mode::Auto))
        .without_log()
        .build()
        .unwrap()
}

/// The text a model reads.
pub(crate) fn text(outcome: &Outcome) -> String {
    match &outcome.error {
        Some(error) => error.to_string(),
        None => outcome.model_text(),
    }
}

/// The stable word of a failure; empty where there is none.
pub(crate) fn reason(outcome: &Outcome) -> String {
    let details = outcome
        .error
        .as_ref()
        .and_then(|error| error.details.clone());
    let reason = details.and_then(|details| Some(details["reason"].as_str()?.to_owned()));
    reason.unwrap_or_default()
}
