//! A workspace in which programs may run, and a look at what of them is left.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};
use tempfile::TempDir;
use toolsmith_builtin::{NewFile, ShellOptions, Shells, Workspace, WorkspaceOptions};
use toolsmith_core::{Outcome, RawCall};
use toolsmith_process::{Mode as SandboxMode, Sandbox};
use toolsmith_runtime::permit::Policy;
use toolsmith_runtime::{Caller, Mode, Toolbox};

/// What the host has in its environment, and no program may see.
pub(crate) const HUSHED: &str = "hush-4711-of-the-parent";

/// The variable by which every process of a yard is found.
const MARK: &str = "YARD";

static YARDS: AtomicU64 = AtomicU64::new(0);

/// A workspace `desk` beside a folder for temporary files and one for outputs.
pub(crate) struct Yard {
    pub(crate) folder: TempDir,
    pub(crate) toolbox: Toolbox,
    pub(crate) shells: Shells,
    mark: String,
}

impl Yard {
    pub(crate) fn new() -> Self {
        Self::within(Sandbox::new(SandboxMode::WorkspaceWrite))
    }

    /// A workspace whose calls are judged by this.
    pub(crate) fn with_policy(policy: Policy) -> Self {
        Self::made(Sandbox::new(SandboxMode::WorkspaceWrite), policy)
    }

    /// A workspace whose programs may do this.
    pub(crate) fn within(sandbox: Sandbox) -> Self {
        Self::made(sandbox, Policy::new(Mode::Auto))
    }

    fn made(sandbox: Sandbox, policy: Policy) -> Self {
        toolsmith_process::use_helper(env!("CARGO_BIN_EXE_shell-helper"));
        toolsmith_process::become_subreaper().unwrap();
        let folder = TempDir::new().unwrap();
        for name in ["desk", "tmp", "outputs", "outside"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        let root = folder.path().join("desk");
        let options =
            WorkspaceOptions::default().with_readable(Some(folder.path().join("outputs")));
        let workspace = Workspace::open([&root], options.with_unread_writes()).unwrap();
        let mut environment: Vec<(OsString, OsString)> = vec![
            ("HOME".into(), folder.path().into()),
            ("API_KEY".into(), HUSHED.into()),
            (
                "DATABASE_URL".into(),
                format!("postgres://u:{HUSHED}@h/d").into(),
            ),
            ("XDG_SESSION_TOKEN".into(), HUSHED.into()),
            ("LD_PRELOAD".into(), "/nowhere.so".into()),
            ("BASH_ENV".into(), "/nowhere.sh".into()),
        ];
        environment.push(("PATH".into(), std::env::var_os("PATH").unwrap()));
        let outputs = folder.path().join("outputs");
        let options = ShellOptions::new(sandbox, environment, folder.path().join("tmp"))
            .with_files(files_in(outputs));
        let shells = Shells::new(&workspace, options);
        let toolbox = Toolbox::builder()
            .tools(toolsmith_builtin::tools(&workspace, SystemTime::now))
            .tools(shells.tools())
            .policy(policy)
            .secrets([HUSHED])
            .without_log()
            .build()
            .unwrap();
        let number = YARDS.fetch_add(1, Ordering::Relaxed);
        let mark = format!("{}-{number}", std::process::id());
        Self {
            folder,
            toolbox,
            shells,
            mark,
        }
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("desk")
    }

    pub(crate) fn file(&self, path: &str, content: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// Calls a tool; what runs a program gets the mark of this yard.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Outcome {
        self.call_as("test", tool, arguments).await
    }

    pub(crate) async fn call_as(&self, caller: &str, tool: &str, arguments: Value) -> Outcome {
        self.call_by(&Caller::new(caller), tool, arguments).await
    }

    pub(crate) async fn call_by(&self, caller: &Caller, tool: &str, arguments: Value) -> Outcome {
        let arguments = self.marked(tool, arguments);
        let call = RawCall::new(tool, arguments);
        self.toolbox.run(call, caller).await.into_outcome()
    }

    pub(crate) fn marked(&self, tool: &str, mut arguments: Value) -> Value {
        if ["bash", "shell", "script"].contains(&tool) {
            let arguments = arguments.as_object_mut().unwrap();
            let env = arguments.entry("env").or_insert(json!({}));
            if let Some(env) = env.as_object_mut() {
                env.insert(MARK.to_owned(), self.mark.clone().into());
            }
        }
        arguments
    }

    pub(crate) async fn bash(&self, command: &str) -> Outcome {
        self.call("bash", json!({"command": command})).await
    }

    /// The processes that carry the mark of this yard, with their command lines.
    pub(crate) fn living(&self) -> Vec<String> {
        living(&self.mark)
    }

    /// Waits until nothing of this yard lives; it is killed already, or never will be.
    pub(crate) async fn is_empty(&self) -> bool {
        is_empty(&self.mark).await
    }

    /// Drops the toolbox and what its programs belong to.
    pub(crate) fn dropped(self) -> Left {
        Left { mark: self.mark }
    }

    /// What is left of temporary folders.
    pub(crate) fn leftovers(&self) -> Vec<OsString> {
        names(&self.folder.path().join("tmp"))
    }

    /// The files that outputs were kept in.
    pub(crate) fn outputs(&self) -> Vec<PathBuf> {
        let folder = self.folder.path().join("outputs");
        names(&folder)
            .into_iter()
            .map(|name| folder.join(name))
            .collect()
    }
}

/// What may be left of a yard that is gone.
pub(crate) struct Left {
    mark: String,
}

impl Left {
    pub(crate) async fn is_empty(&self) -> bool {
        is_empty(&self.mark).await
    }
}

async fn is_empty(mark: &str) -> bool {
    let began = Instant::now();
    while !living(mark).is_empty() {
        if began.elapsed() > Duration::from_secs(10) {
            return false;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    true
}

fn living(mark: &str) -> Vec<String> {
    let pair = format!("{MARK}={mark}");
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_ours = |id: &u32| {
        let environment = fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
        environment
            .split(|byte| *byte == 0)
            .any(|each| each == pair.as_bytes())
    };
    let told = |id: u32| {
        let line = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        format!(
            "{id}: {}",
            String::from_utf8_lossy(&line).replace('\0', " ")
        )
    };
    ids.filter(is_ours).map(told).collect()
}

fn names(folder: &Path) -> Vec<OsString> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name()).collect()
}

/// Makes files as a host does.
fn files_in(folder: PathBuf) -> Arc<NewFile> {
    let number = AtomicU64::new(0);
    Arc::new(move |stem: &str| -> std::io::Result<(PathBuf, File)> {
        let number = number.fetch_add(1, Ordering::Relaxed);
        let path = folder.join(format!("{stem}-{number}.txt"));
        let mut options = OpenOptions::new();
        let file = options
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)?;
        Ok((path, file))
    })
}

/// A fact of an outcome's metadata.
#[track_caller]
pub(crate) fn fact(outcome: &Outcome, name: &str) -> Value {
    let fact = outcome.metadata.get(name);
    fact.cloned().unwrap_or(Value::Null)
}
