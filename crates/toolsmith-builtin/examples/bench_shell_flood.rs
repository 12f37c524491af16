//! What a flood of output costs: a gigabyte through `bash`, in a sandbox, as a model would
//! call it. It may take 64 MB of memory, and it ends by its time-out.
#![expect(clippy::print_stdout, reason = "a bench prints its table")]

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use toolsmith_builtin::{ShellOptions, Shells, Workspace, WorkspaceOptions};
use toolsmith_core::RawCall;
use toolsmith_process::{Mode as SandboxMode, Sandbox};
use toolsmith_runtime::permit::Policy;
use toolsmith_runtime::{Caller, Mode, Toolbox};

/// How much is written.
const FLOOD: u64 = 1 << 30;

/// How long it may take.
const LIMIT: Duration = Duration::from_secs(5);

/// What it may take beyond that.
const BEYOND: Duration = Duration::from_secs(1);

/// How much memory it may take, in kB.
const MEMORY: u64 = 64 << 10;

fn main() -> ExitCode {
    toolsmith_process::helper();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    match runtime.block_on(flood()) {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

async fn flood() -> bool {
    let folder = tempfile::tempdir().expect("a folder");
    let outputs = folder.path().join("outputs");
    let temporary = folder.path().join("tmp");
    for path in [&outputs, &temporary] {
        std::fs::create_dir(path).expect("a folder");
    }
    let workspace = Workspace::open([folder.path()], WorkspaceOptions::default());
    let workspace = workspace.expect("a workspace");
    let sandbox = Sandbox::new(SandboxMode::WorkspaceWrite);
    let path = ("PATH".into(), "/usr/bin:/bin".into());
    let files = move |stem: &str| {
        let path = outputs.join(stem);
        std::fs::File::create(&path).map(|file| (path, file))
    };
    let options = ShellOptions::new(sandbox, [path], temporary).with_files(Arc::new(files));
    let shells = Shells::new(&workspace, options);
    let toolbox = Toolbox::builder()
        .tools(shells.tools())
        .policy(Policy::new(Mode::Auto))
        .without_log()
        .build()
        .expect("a toolbox");
    let caller = Caller::new("bench");
    let call = |command: &str| {
        let timeout = u64::try_from(LIMIT.as_millis()).unwrap_or(u64::MAX);
        RawCall::new("bash", json!({"command": command, "timeout": timeout}))
    };
    // What the first call needs is no part of the flood.
    toolbox.run(call("true"), &caller).await;
    let before = peak();
    let began = Instant::now();
    let command = format!("yes 'a line of a flood that goes on and on' | head -c {FLOOD}");
    let outcome = toolbox.run(call(&command), &caller).await.into_outcome();
    let took = began.elapsed();
    let memory = peak().saturating_sub(before);
    let read = outcome.metadata["stdout_length"].as_u64().unwrap_or(0);
    println!(
        "flood of 1 GiB through bash, time-out {} s: {} MiB were read",
        LIMIT.as_secs(),
        read >> 20
    );
    let told = |what: &str, found: String, goal: String, is_good: bool| {
        let verdict = if is_good { "good" } else { "MISSED" };
        println!("  {what:<24} {found:>12}   goal {goal:<12} {verdict}");
        is_good
    };
    let within = told(
        "until it was answered",
        format!("{} ms", took.as_millis()),
        format!("<= {} ms", (LIMIT + BEYOND).as_millis()),
        took <= LIMIT + BEYOND,
    );
    let small = told(
        "memory it cost",
        format!("{memory} kB"),
        format!("<= {MEMORY} kB"),
        memory <= MEMORY,
    );
    within && small
}

/// The most memory this process ever had, in kB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
    number.unwrap_or(0)
}
