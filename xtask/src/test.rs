//! `cargo xtask test`: everything CI runs, in the order in which it fails soonest.
//!
//! Needs the pinned Rust toolchain and nothing else: where nextest is not
//! installed, `cargo test` runs the same tests. What needs other programs is in
//! `interop.rs`.

use std::path::Path;
use std::process::Stdio;
use std::time::Instant;

use crate::step::{Step, cargo, locked, timed};
use crate::{docs, tidy};

/// The program that runs the tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Runner {
    /// `cargo nextest run`, one process per test.
    Nextest,
    /// `cargo test`, which every toolchain has.
    CargoTest,
}

impl Runner {
    /// Returns nextest when it is installed.
    pub(crate) fn detect() -> Self {
        let answer = cargo(Path::new("."))
            .args(["nextest", "--version"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        match answer {
            Ok(status) if status.success() => Self::Nextest,
            _ => Self::CargoTest,
        }
    }
}

/// Runs all steps and stops at the first that fails.
pub(crate) fn run(root: &Path, runner: Runner) -> anyhow::Result<()> {
    let start = Instant::now();
    for step in before_tidy(root) {
        step.run(root)?;
    }
    timed("tidy", "cargo xtask tidy", || tidy::run(root))?;
    for step in after_tidy(root, runner) {
        step.run(root)?;
    }
    println!("all steps passed in {:.1} s", start.elapsed().as_secs_f64());
    Ok(())
}

fn before_tidy(root: &Path) -> [Step; 2] {
    let clippy = ["clippy", "--workspace", "--all-targets", "--all-features"];
    let strict = ["--", "-D", "warnings"];
    [
        Step::cargo("fmt", ["fmt", "--all", "--check"]),
        Step::cargo(
            "clippy",
            clippy.into_iter().chain(locked(root)).chain(strict),
        ),
    ]
}

fn after_tidy(root: &Path, runner: Runner) -> [Step; 3] {
    let tests: &[&str] = match runner {
        Runner::Nextest => &["nextest", "run", "--workspace"],
        Runner::CargoTest => &[
            "test",
            "--workspace",
            "--lib",
            "--bins",
            "--tests",
            "--examples",
        ],
    };
    let doctests = ["test", "--workspace", "--doc"];
    [
        Step::cargo("tests", tests.iter().copied().chain(locked(root))).on_stdout(),
        Step::cargo("doctests", doctests.into_iter().chain(locked(root))).on_stdout(),
        docs::step(root, docs::Show::Build),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tests_run_without_nextest() {
        let root = Path::new("a folder without a lock file");
        let lines = after_tidy(root, Runner::CargoTest).map(|step| step.command_line());
        assert_eq!(
            lines[0],
            "cargo test --workspace --lib --bins --tests --examples"
        );
        assert!(lines.iter().all(|line| !line.contains("nextest")));
    }

    #[test]
    fn a_committed_lock_file_is_never_changed() {
        let root = crate::workspace_root().unwrap();
        let [_, clippy] = before_tidy(&root);
        assert_eq!(
            clippy.command_line(),
            "cargo clippy --workspace --all-targets --all-features --locked -- -D warnings"
        );
    }
}
