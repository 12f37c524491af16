//! One cargo command among several: its name, its words, how long it took, how to run it again.
//!
//! Owns starting cargo and reporting on it. Which commands make up a chore is
//! said in the chore's own file.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, anyhow, bail};

/// A cargo command that is one step of a chore.
#[derive(Debug)]
pub(crate) struct Step {
    name: &'static str,
    words: Vec<String>,
    environment: Vec<(&'static str, String)>,
    stream: Stream,
}

/// Where a step's messages go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stream {
    /// Where cargo sends them.
    AsCargo,
    /// All of them to standard output: nextest writes its summary to standard error.
    Stdout,
}

impl Step {
    /// Names a step that runs `cargo` with the given words.
    pub(crate) fn cargo<'a>(name: &'static str, words: impl IntoIterator<Item = &'a str>) -> Self {
        Self {
            name,
            words: words.into_iter().map(str::to_owned).collect(),
            environment: Vec::new(),
            stream: Stream::AsCargo,
        }
    }

    /// Sets an environment variable for the step alone.
    pub(crate) fn with_environment(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.environment.push((name, value.into()));
        self
    }

    /// Sends everything the step says to standard output.
    pub(crate) fn on_stdout(mut self) -> Self {
        self.stream = Stream::Stdout;
        self
    }

    /// Returns the line a person types to see this step again.
    pub(crate) fn command_line(&self) -> String {
        let quote = |word: &str| match word.contains(' ') {
            true => format!("'{word}'"),
            false => word.to_owned(),
        };
        let variables = self
            .environment
            .iter()
            .map(|(name, value)| format!("{name}={}", quote(value)));
        let words = self.words.iter().map(|word| quote(word));
        let line: Vec<String> = variables.chain(["cargo".to_owned()]).chain(words).collect();
        line.join(" ")
    }

    /// Runs the step in the workspace and fails with the line that shows the failure again.
    pub(crate) fn run(&self, root: &Path) -> anyhow::Result<()> {
        timed(self.name, &self.command_line(), || {
            let mut command = cargo(root);
            command
                .args(&self.words)
                .envs(self.environment.iter().map(|(name, value)| (name, value)));
            if self.stream == Stream::Stdout {
                command.stderr(std::io::stdout());
            }
            let status = command.status().context("failed to start cargo")?;
            if !status.success() {
                bail!("cargo ended with {status}");
            }
            Ok(())
        })
    }
}

/// Runs one named piece of work, prints its time, and says on failure how to see it again.
pub(crate) fn timed(
    name: &str,
    again: &str,
    work: impl FnOnce() -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    println!("==> {name}: {again}");
    let start = Instant::now();
    let result = work();
    let seconds = start.elapsed().as_secs_f64();
    match &result {
        Ok(()) => println!("<== {name}: ok in {seconds:.1} s"),
        Err(_) => println!("<== {name}: FAILED after {seconds:.1} s"),
    }
    result.map_err(|error| anyhow!("'{name}' failed: {error:#}\nto see it again, run: {again}"))
}

/// Returns the cargo that runs this task, in the workspace's folder.
pub(crate) fn cargo(root: &Path) -> Command {
    // Set by `cargo run`; it keeps the whole chore on one toolchain.
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.current_dir(root);
    // What cargo told of this program is not meant for others: build scripts that look there
    // would have half of the dependencies built anew whenever a person runs cargo between.
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(is_of_this_program) {
            command.env_remove(name);
        }
    }
    command
}

fn is_of_this_program(name: &str) -> bool {
    name.starts_with("CARGO_PKG_")
        || name.starts_with("CARGO_MANIFEST_")
        || matches!(name, "CARGO_BIN_NAME" | "CARGO_CRATE_NAME")
}

/// Returns `--locked` where the lock file is part of the tree, so that a chore never changes it.
pub(crate) fn locked(root: &Path) -> Option<&'static str> {
    root.join("Cargo.lock").exists().then_some("--locked")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_can_be_pasted_into_a_shell() {
        let step = Step::cargo("doc", ["doc", "--no-deps"])
            .with_environment("RUSTDOCFLAGS", "-D warnings");
        assert_eq!(
            step.command_line(),
            "RUSTDOCFLAGS='-D warnings' cargo doc --no-deps"
        );
    }

    #[test]
    fn a_failing_step_names_itself_and_the_line_to_run_again() {
        let error = Step::cargo("flight", ["no-such-subcommand-of-cargo"])
            .run(Path::new(env!("CARGO_MANIFEST_DIR")))
            .unwrap_err();
        let text = error.to_string();
        assert!(
            text.starts_with("'flight' failed: cargo ended with"),
            "{text}"
        );
        let again = "\nto see it again, run: cargo no-such-subcommand-of-cargo";
        assert!(text.ends_with(again), "{text}");
    }
}
