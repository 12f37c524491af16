//! What a sandboxed child can and cannot do, with and without namespaces.
//!
//! `other_user` runs all of it once more as somebody who is not root.

mod attacks;
mod ending;
mod errors;
mod files;
mod life;
mod missing;
mod other_user;
mod witness;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tokio::io::AsyncReadExt as _;
use toolsmith_process::{Launch, Layers, Mode, Sandbox, Support, use_helper};

/// Where the programs of these tests are, when not where they were built.
const PROGRAMS: &str = "TOOLSMITH_TEST_PROGRAMS";

/// A machine as it is, and the same machine without namespaces.
pub(crate) fn machines() -> [(&'static str, Support); 2] {
    let found = support();
    assert!(
        found.namespaces.is_ok(),
        "these tests need namespaces: {found:?}"
    );
    let less = found.clone().without_namespaces("left out by a test");
    [("namespaces", found), ("no namespaces", less)]
}

/// What this machine can do.
pub(crate) fn support() -> Support {
    use_helper(program("sandbox-helper"));
    Support::of_this_machine()
}

pub(crate) fn workspace(folder: &Path) -> Sandbox {
    use_helper(program("sandbox-helper"));
    Sandbox::new(Mode::WorkspaceWrite).writable(folder)
}

pub(crate) fn program(name: &str) -> PathBuf {
    match std::env::var_os(PROGRAMS) {
        Some(folder) => Path::new(&folder).join(name),
        None if name == "sandbox-probe" => env!("CARGO_BIN_EXE_sandbox-probe").into(),
        None if name == "sandbox-helper" => env!("CARGO_BIN_EXE_sandbox-helper").into(),
        None => Path::new("/nonexistent").join(name),
    }
}

/// Runs a program to its end; returns its exit code and what it wrote.
pub(crate) async fn run(launch: Launch) -> (Option<i32>, String) {
    let (code, text, _) = run_and_tell(launch).await;
    (code, text)
}

/// The same, with the layers that were in force.
pub(crate) async fn run_and_tell(launch: Launch) -> (Option<i32>, String, Option<Layers>) {
    let mut running = launch.stdin_null().merge_output().start().unwrap();
    let mut text = String::new();
    let mut output = running.take_stdout().unwrap();
    output.read_to_string(&mut text).await.unwrap();
    let status = running.wait().await.unwrap();
    (status.code(), text, running.layers().cloned())
}

/// Makes attempts, within a sandbox or without; returns the outcome of each.
pub(crate) async fn attempt<A: AsRef<str>>(
    sandbox: Option<Sandbox>,
    folder: &Path,
    attempts: &[A],
) -> BTreeMap<String, String> {
    let words = attempts.iter().map(|attempt| attempt.as_ref().to_owned());
    let mut launch = Launch::new(program("sandbox-probe"))
        .arguments(words)
        .current_dir(folder);
    if let Some(sandbox) = sandbox {
        launch = launch.sandbox(sandbox);
    }
    let (code, text) = run(launch).await;
    assert_eq!(code, Some(0), "{text}");
    let lines = text.lines().filter_map(|line| line.rsplit_once('='));
    let outcomes: BTreeMap<_, _> = lines
        .map(|(attempt, outcome)| (attempt.to_owned(), outcome.to_owned()))
        .collect();
    assert_eq!(outcomes.len(), attempts.len(), "{text}");
    outcomes
}

/// Checks that none of the attempts succeeds.
pub(crate) fn assert_refused(outcomes: &BTreeMap<String, String>, machine: &str) {
    let done: Vec<_> = outcomes
        .iter()
        .filter(|(_, outcome)| *outcome == "done")
        .collect();
    assert!(done.is_empty(), "{machine}: {done:?}");
}
