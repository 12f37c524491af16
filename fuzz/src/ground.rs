//! A folder for tools to work in, with secrets beside it and links that lead to them.
//!
//! Two workspaces lie over the same folder: one that lets the kernel resolve paths, and
//! one that goes step by step. Both must behave alike.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use rustix::fs::{CWD, FileType, Mode as FileMode, mknodat};
use serde_json::Value;
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};
use toolsmith_builtin::{Workspace, WorkspaceOptions};
use toolsmith_core::{Outcome, RawCall};
use toolsmith_runtime::{Caller, Mode, Policy, Toolbox};

/// Stands in every file outside, and nowhere inside.
pub(crate) const CANARY: &str = "canary-of-the-outside";
/// Stands in every file inside.
pub(crate) const INSIDE: &str = "this lies inside";

const FILES: &[&str] = &["a.txt", "sub/b.txt", "sub/deep/c.txt", "sub/.hidden"];
/// Links, and where they lead; `$HOME` is the folder of all this.
const LINKS: &[(&str, &str)] = &[
    ("in_link", "a.txt"),
    ("sub_link", "sub"),
    ("self", "."),
    ("out_file", "../outside/secret.txt"),
    ("out_dir", "../outside"),
    ("absolute", "$HOME/outside/secret.txt"),
    ("absolute_dir", "$HOME/outside/folder"),
    ("chain", "out_dir/folder"),
    ("sub/up", "../.."),
    ("up", ".."),
    ("loop", "loop"),
    ("dangling", "../outside/new.txt"),
    ("proc", "/proc/self/root"),
    ("sub/through", "../sub_link/up/outside/secret.txt"),
];

/// One of them for all inputs; they come one after another.
pub(crate) fn ground() -> MutexGuard<'static, Ground> {
    static GROUND: LazyLock<Mutex<Ground>> = LazyLock::new(|| Mutex::new(Ground::new()));
    GROUND.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What lies in a folder, by path: the bytes of a file, or where a link leads.
pub(crate) type Picture = BTreeMap<PathBuf, Vec<u8>>;

/// The folder and the tools over it.
pub(crate) struct Ground {
    home: TempDir,
    runtime: Runtime,
    toolboxes: [Toolbox; 2],
    /// As it was made.
    made: Picture,
}

impl Ground {
    fn new() -> Self {
        let home = TempDir::new().expect("a temporary folder can be made");
        let root = home.path().join("root");
        fs::create_dir(&root).expect("a folder can be made");
        for folder in ["outside/folder", "root-beside"] {
            fs::create_dir_all(home.path().join(folder)).expect("a folder can be made");
        }
        for file in [
            "outside/secret.txt",
            "outside/folder/deep.txt",
            "root-beside/secret.txt",
            "secret.txt",
        ] {
            let text = format!("{CANARY} {file}\nline two\n");
            fs::write(home.path().join(file), text).expect("a file can be written");
        }
        fill(home.path());
        let made = picture(home.path());
        let options = WorkspaceOptions::default().with_unread_writes();
        let toolbox = |options: WorkspaceOptions| {
            let workspace = Workspace::open([&root], options).expect("the folder can be opened");
            Toolbox::builder()
                .tools(toolsmith_builtin::tools(&workspace, SystemTime::now))
                .policy(Policy::new(Mode::Auto))
                .without_log()
                .build()
                .expect("the built-in tools are good ones")
        };
        let toolboxes = [toolbox(options.clone()), toolbox(options.step_by_step())];
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build();
        Self {
            runtime: runtime.expect("a runtime can be started"),
            toolboxes,
            made,
            home,
        }
    }

    /// Puts the paths of this ground for `$ROOT` and `$HOME`.
    pub(crate) fn named(&self, text: &str) -> String {
        let home = self.home.path().display().to_string();
        text.replace("$ROOT", &format!("{home}/root"))
            .replace("$HOME", &home)
    }

    /// Calls a tool in the same way over both workspaces, each on the ground as it was
    /// made, and checks what may come of it. Tells whether it succeeded.
    pub(crate) fn call(&self, tool: &str, arguments: &Value) -> bool {
        let [by_kernel, by_steps] = [0, 1].map(|which| {
            let outcome = self.call_one(which, tool, arguments);
            let after = picture(self.home.path());
            self.judge(tool, arguments, &outcome, &after);
            if after != self.made {
                self.restore();
            }
            (outcome.is_success(), after)
        });
        assert_eq!(
            by_kernel, by_steps,
            "step by step it goes otherwise: {tool} {arguments}"
        );
        by_kernel.0
    }

    fn call_one(&self, which: usize, tool: &str, arguments: &Value) -> Outcome {
        let call = RawCall::new(tool, arguments.clone());
        let caller = Caller::new("fuzz");
        let reply = self
            .runtime
            .block_on(self.toolboxes[which].run(call, &caller));
        reply.into_outcome()
    }

    fn judge(&self, tool: &str, arguments: &Value, outcome: &Outcome, after: &Picture) {
        let said = format!("{outcome:?}");
        assert!(
            !said.contains(CANARY),
            "the outside was read: {tool} {arguments}: {said}"
        );
        if !outcome.is_success() {
            assert!(
                *after == self.made,
                "what failed changed something: {tool} {arguments}: {said}"
            );
        }
        let outside = |picture: &Picture| -> Picture {
            let beyond = |path: &Path| !path.starts_with("root");
            let entries = picture.iter().filter(|(path, _)| beyond(path));
            entries
                .map(|(path, what)| (path.clone(), what.clone()))
                .collect()
        };
        assert_eq!(
            outside(after),
            outside(&self.made),
            "the outside changed: {tool} {arguments}"
        );
    }

    /// Makes the inside as it was, below the handle the workspaces hold.
    fn restore(&self) {
        let root = self.home.path().join("root");
        for entry in fs::read_dir(&root).expect("the folder can be listed") {
            let entry = entry.expect("the folder can be listed");
            let kind = entry.file_type().expect("an entry has a type");
            let removed = match kind.is_dir() {
                true => fs::remove_dir_all(entry.path()),
                false => fs::remove_file(entry.path()),
            };
            removed.expect("what a tool made can be removed");
        }
        fill(self.home.path());
        assert_eq!(picture(self.home.path()), self.made);
    }
}

fn fill(home: &Path) {
    let root = home.join("root");
    fs::create_dir_all(root.join("sub/deep")).expect("a folder can be made");
    for file in FILES {
        let text = format!("{INSIDE}: {file}\nline two\nline three\n");
        fs::write(root.join(file), text).expect("a file can be written");
    }
    for (link, target) in LINKS {
        let target = target.replace("$HOME", &home.display().to_string());
        symlink(target, root.join(link)).expect("a link can be made");
    }
    let mode = FileMode::from_raw_mode(0o600);
    mknodat(CWD, root.join("fifo"), FileType::Fifo, mode, 0).expect("a pipe can be made");
}

fn picture(home: &Path) -> Picture {
    let mut found = Picture::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(home.join(&folder)).expect("the folder can be listed") {
            let entry = entry.expect("the folder can be listed");
            let path = folder.join(entry.file_name());
            let kind = entry.file_type().expect("an entry has a type");
            let what = if kind.is_symlink() {
                let target = fs::read_link(entry.path()).expect("a link can be read");
                format!("link {}", target.display()).into_bytes()
            } else if kind.is_file() {
                fs::read(entry.path()).expect("a file can be read")
            } else if kind.is_dir() {
                folders.push(path.clone());
                b"folder".to_vec()
            } else {
                b"special".to_vec()
            };
            found.insert(path, what);
        }
    }
    found
}
