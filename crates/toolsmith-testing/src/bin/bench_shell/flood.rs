//! What a flood of output costs: a gigabyte through `bash`, in a sandbox, as a model would
//! call it. It may take 64 MB of memory, and it ends by its time-out.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use toolsmith_builtin::{ShellOptions, Shells, Workspace, WorkspaceOptions};
use toolsmith_core::RawCall;
use toolsmith_process::{Mode as SandboxMode, Sandbox};
use toolsmith_runtime::permit::Policy;
use toolsmith_runtime::{Caller, Mode, Toolbox};
use toolsmith_testing::bench::{Goal, Verdict, judged, peak, title};

/// How much is written.
const FLOOD: u64 = 1 << 30;

/// How long it may take.
const LIMIT: Duration = Duration::from_secs(5);

/// How long until it is answered, in milliseconds.
const ANSWERED: f64 = 6000.0;

/// How much memory it may take, in MB.
const MEMORY: f64 = 64.0;

/// Floods, and prints what that took.
pub(crate) async fn flood() -> Verdict {
    title("a flood of 1 GiB through `bash` in a sandbox, with a time-out of 5 s");
    let folder = Folder::new();
    let toolbox = toolbox(&folder);
    let caller = Caller::new("bench");
    let call = |command: &str| {
        let timeout = u64::try_from(LIMIT.as_millis()).unwrap_or(u64::MAX);
        RawCall::new("bash", json!({"command": command, "timeout": timeout}))
    };
    // What the first call needs is no part of the flood.
    toolbox.run(call("true"), &caller).await;
    let (before, began) = (peak(), Instant::now());
    let command = format!("yes 'a line of a flood that goes on and on' | head -c {FLOOD}");
    let outcome = toolbox.run(call(&command), &caller).await.into_outcome();
    let took = began.elapsed().as_secs_f64() * 1000.0;
    let memory = peak() - before;
    let read = outcome.metadata["stdout_length"].as_u64().unwrap_or(0) >> 20;
    let what = format!("answered after ({read} MiB read)");
    let answered = judged(&what, took, "ms", Goal::AtMost(ANSWERED));
    answered.and(judged("memory", memory, "MB", Goal::AtMost(MEMORY)))
}

fn toolbox(folder: &Folder) -> Toolbox {
    let (temporary, outputs) = (folder.0.join("tmp"), folder.0.join("outputs"));
    for path in [&temporary, &outputs] {
        std::fs::create_dir_all(path).expect("a folder for a bench");
    }
    let workspace = Workspace::open([&folder.0], WorkspaceOptions::default());
    let workspace = workspace.expect("a workspace for a bench");
    let files = move |stem: &str| {
        let path = outputs.join(stem);
        std::fs::File::create(&path).map(|file| (path, file))
    };
    let sandbox = Sandbox::new(SandboxMode::WorkspaceWrite);
    let path = ("PATH".into(), "/usr/bin:/bin".into());
    let options = ShellOptions::new(sandbox, [path], temporary).with_files(Arc::new(files));
    let shells = Shells::new(&workspace, options);
    Toolbox::builder()
        .tools(shells.tools())
        .policy(Policy::new(Mode::Auto))
        .without_log()
        .build()
        .expect("a toolbox for a bench")
}

/// A folder that goes with the bench.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        let name = format!("toolsmith-bench-shell-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).expect("a folder for a bench");
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
