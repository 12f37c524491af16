//! What it costs to run a program safely: each file measures one promise.
//!
//! Every figure compares two ways in one run, in turns, so that a busy machine slows both.
#![expect(clippy::print_stdout, reason = "a bench prints its table")]

mod flood;
mod sandbox;

use std::process::ExitCode;

fn main() -> ExitCode {
    // Sandboxed children are this program once more.
    toolsmith_process::helper();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let benches = async { [sandbox::overhead().await, flood::flood().await] };
    match runtime.block_on(benches).iter().all(|good| *good) {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

/// Prints a figure beside its goal, and tells whether it keeps it.
fn verdict(what: &str, figure: f64, unit: &str, goal: Option<f64>) -> bool {
    let good = goal.is_none_or(|goal| figure <= goal);
    let told = match goal {
        Some(goal) if good => format!("goal {goal} {unit}, kept"),
        Some(goal) => format!("goal {goal} {unit}, MISSED"),
        None => "no goal".to_owned(),
    };
    println!("{what:60} {figure:8.2} {unit}   {told}");
    good
}
