//! What it costs to run a program safely: each file measures one promise.
//!
//! Every figure compares two ways in one run, in turns, so that a busy machine slows both.

mod flood;
mod sandbox;

use std::process::ExitCode;

use toolsmith_testing::bench::Run;

fn main() -> ExitCode {
    // Sandboxed children are this program once more.
    toolsmith_process::helper();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let run = Run::begin();
    let benches = async { sandbox::overhead().await.and(flood::flood().await) };
    run.end(runtime.block_on(benches))
}
