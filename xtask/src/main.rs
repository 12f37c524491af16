//! The chores of the workspace: `cargo xtask test`, `tidy`, `interop`, `bench`, `soak`, `docs`,
//! `book`, `picture`.
//!
//! CI runs `cargo xtask test` and nothing else, so what passes at home passes
//! there. This crate owns how the checks are run and what `tidy` holds the tree
//! to; it depends on no crate of the workspace, so that it still builds when they do not.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a task runner talks to a terminal"
)]

mod bench;
mod book;
mod docs;
mod interop;
mod picture;
mod soak;
mod step;
mod test;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;

const HELP: &str = "\
The chores of the workspace.

Usage: cargo xtask <command>

Commands:
  test [--no-nextest]  formatting, lints, tidiness, tests, doctests and documentation: all that CI runs
  tidy                 the invariants of the source tree, each finding with what to do about it
  interop [NAME...]    the checks against programs of others, which need Node and Python; `search` needs neither; all of them when none is named
  bench [NAME...]      the promised costs of calls, guards, guides, servers and searches; every benchmark when none is named
  bench peers          installs what others have built and prints how a benchmark starts it
  soak [MINUTES]       the product under a mixed load, with misbehaving servers behind it; 2 minutes when none are named
  docs [--open]        the documentation of the library crates
  book [--open]        the pages below docs/ as a book, which takes mdBook: it is installed into target/ at the first time
  picture              the picture of the README, from the run in docs/agent-run.txt
  help                 this text

Exit status: 0 when all is well, 1 when a check fails, 2 when the command is not understood.
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match dispatch(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Usage(message)) => {
            eprintln!("error: {message}\n\n{HELP}");
            ExitCode::from(2)
        }
        Err(Failure::Failed(error)) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Why a command did not succeed, which decides the exit status.
#[derive(Debug)]
enum Failure {
    /// The command line was not understood.
    Usage(String),
    /// The command was understood and something is wrong.
    Failed(anyhow::Error),
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::Failed(error)
    }
}

fn dispatch(words: &[&str]) -> Result<(), Failure> {
    let usage = |message: String| Err(Failure::Usage(message));
    match words {
        [] => usage("a command is missing".to_owned()),
        ["help" | "--help" | "-h", ..] | [_, "--help" | "-h", ..] => {
            print!("{HELP}");
            Ok(())
        }
        ["test"] => Ok(test::run(&workspace_root()?, test::Runner::detect())?),
        ["test", "--no-nextest"] => Ok(test::run(&workspace_root()?, test::Runner::CargoTest)?),
        ["tidy"] => Ok(tidy::run(&workspace_root()?)?),
        ["interop", names @ ..] => match interop::select(names) {
            Ok(chosen) => Ok(interop::run(&workspace_root()?, &chosen)?),
            Err(message) => usage(message),
        },
        ["bench", "peers"] => Ok(bench::peers::print(&workspace_root()?)?),
        ["bench", names @ ..] => match bench::select(names) {
            Ok(chosen) => Ok(bench::run(&workspace_root()?, &chosen)?),
            Err(message) => usage(message),
        },
        ["soak", words @ ..] => match soak::minutes(words) {
            Ok(minutes) => Ok(soak::run(&workspace_root()?, minutes)?),
            Err(message) => usage(message),
        },
        ["docs"] => Ok(docs::run(&workspace_root()?, docs::Show::Build)?),
        ["docs", "--open"] => Ok(docs::run(&workspace_root()?, docs::Show::Open)?),
        ["book"] => Ok(book::run(&workspace_root()?, docs::Show::Build)?),
        ["book", "--open"] => Ok(book::run(&workspace_root()?, docs::Show::Open)?),
        ["picture"] => Ok(picture::run(&workspace_root()?)?),
        ["test" | "tidy" | "docs" | "book" | "picture", rest @ ..] => {
            usage(format!("'{}' takes no '{}'", words[0], rest.join(" ")))
        }
        [unknown, ..] => usage(format!("unknown command '{unknown}'")),
    }
}

/// Returns the folder that holds the workspace, wherever the command was started.
fn workspace_root() -> anyhow::Result<PathBuf> {
    // Compiled in, because `cargo run` keeps the caller's working folder.
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = here
        .parent()
        .context("xtask lies at the file system's root")?;
    Ok(root.to_path_buf())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_that_is_not_understood_is_a_usage_error() {
        for words in [
            &[][..],
            &["fly"],
            &["tidy", "--fast"],
            &["book", "--closed"],
            &["test", "--no-nextest", "core"],
            &["bench", "no_such_benchmark"],
            &["soak", "for", "ever"],
            &["interop", "no-such-check"],
        ] {
            let answer = dispatch(words);
            assert!(
                matches!(answer, Err(Failure::Usage(_))),
                "{words:?}: {answer:?}"
            );
        }
    }

    #[test]
    fn help_is_understood_alone_and_after_a_command() {
        for words in [&["--help"][..], &["help"], &["test", "--help"]] {
            assert!(dispatch(words).is_ok(), "{words:?}");
        }
    }
}
