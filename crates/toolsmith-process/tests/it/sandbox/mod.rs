//! What a sandboxed child can and cannot do.

mod life;

use std::path::Path;

use tokio::io::AsyncReadExt as _;
use toolsmith_process::{Launch, Mode, Sandbox, use_helper};

pub(crate) fn workspace(folder: &Path) -> Sandbox {
    use_helper(env!("CARGO_BIN_EXE_sandbox-helper"));
    Sandbox::new(Mode::WorkspaceWrite).writable(folder)
}

/// Runs a script to its end; returns its exit code and what it wrote.
pub(crate) async fn run(launch: Launch) -> (Option<i32>, String) {
    let mut running = launch.stdin_null().merge_output().start().unwrap();
    let mut text = String::new();
    let mut output = running.take_stdout().unwrap();
    output.read_to_string(&mut text).await.unwrap();
    let status = running.wait().await.unwrap();
    (status.code(), text)
}
