//! `cargo xtask bench`: the costs the design promises, measured.
//!
//! Each benchmark is a program, mostly of `toolsmith-testing`, that compares two things
//! in one run and prints their ratio; this file only knows their names, `programs.rs`
//! what of ours they start, and `peers.rs` what of others is measured beside it.

pub(crate) mod peers;
mod programs;

use std::path::Path;

use peers::Variable;

use crate::interop::{Home, searchers};
use crate::step::{Step, locked};

/// A benchmark and the program that runs it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Benchmark {
    name: &'static str,
    /// Which program, in cargo's words.
    program: &'static [&'static str],
    beside: Beside,
}

/// What a benchmark starts beside itself; it is handed how in environment variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Beside {
    Nothing,
    /// Our programs, and servers and proxies others have built.
    Servers,
    /// `rg` and `fd`.
    Searchers,
    /// Other people's formatters.
    Formatters,
}

const BENCHMARKS: &[Benchmark] = &[
    Benchmark {
        name: "call",
        program: &["--package", "toolsmith-testing", "--bin", "bench_call"],
        beside: Beside::Nothing,
    },
    Benchmark {
        name: "guide",
        // It needs files read by the manager, which joins the crates.
        program: &["--package", "toolsmith-manager", "--example", "bench_guide"],
        beside: Beside::Nothing,
    },
    Benchmark {
        name: "formats",
        program: &[
            "--package",
            "toolsmith-provider",
            "--example",
            "bench_formats",
        ],
        beside: Beside::Formatters,
    },
    Benchmark {
        name: "guards",
        program: &[
            "--package",
            "toolsmith-manager",
            "--example",
            "bench_guards",
        ],
        beside: Beside::Nothing,
    },
    Benchmark {
        name: "load",
        program: &["--package", "toolsmith-manager", "--example", "bench_load"],
        beside: Beside::Nothing,
    },
    Benchmark {
        name: "mcp",
        program: &["--package", "toolsmith-testing", "--bin", "bench_mcp"],
        beside: Beside::Servers,
    },
    Benchmark {
        name: "search",
        program: &[
            "--package",
            "toolsmith-testing",
            "--bin",
            "bench_search",
            "--features",
            "builtin",
        ],
        beside: Beside::Searchers,
    },
    Benchmark {
        name: "shell",
        program: &[
            "--package",
            "toolsmith-testing",
            "--bin",
            "bench_shell",
            "--features",
            "builtin",
        ],
        beside: Beside::Nothing,
    },
];

/// Returns the benchmarks of the given names, all of them for no name, or what is wrong with a name.
pub(crate) fn select(names: &[&str]) -> Result<Vec<&'static Benchmark>, String> {
    if names.is_empty() {
        return Ok(BENCHMARKS.iter().collect());
    }
    let find = |name: &&str| {
        let found = BENCHMARKS.iter().find(|benchmark| benchmark.name == *name);
        found.ok_or_else(|| {
            let known: Vec<&str> = BENCHMARKS.iter().map(|benchmark| benchmark.name).collect();
            format!("unknown benchmark '{name}'; known: {}", known.join(", "))
        })
    };
    names.iter().map(find).collect()
}

/// Runs the chosen benchmarks one after another.
pub(crate) fn run(root: &Path, chosen: &[&Benchmark]) -> anyhow::Result<()> {
    for benchmark in chosen {
        let words = ["run", "--release"].into_iter();
        let words = words.chain(benchmark.program.iter().copied());
        let mut step = Step::cargo(benchmark.name, words.chain(locked(root)));
        for (name, line) in variables(root, benchmark.beside)? {
            step = step.with_environment(name, line);
        }
        step.run(root)?;
    }
    Ok(())
}

/// Installs and builds what a benchmark starts beside itself, and returns how it is told.
fn variables(root: &Path, beside: Beside) -> anyhow::Result<Vec<Variable>> {
    match beside {
        Beside::Nothing => Ok(Vec::new()),
        Beside::Servers => {
            let theirs = peers::install(root).unwrap_or_else(|error| {
                println!("what others have built is left out: {error:#}");
                Vec::new()
            });
            Ok(programs::build(root)?.into_iter().chain(theirs).collect())
        }
        Beside::Formatters => Ok(peers::formatters(root).unwrap_or_else(|error| {
            println!("what others have built is left out: {error:#}");
            Vec::new()
        })),
        Beside::Searchers => {
            let home = Home::of(root)?;
            let searchers = searchers::install(&home)?;
            let files = home.target().join("bench-search");
            std::fs::create_dir_all(&files)?;
            Ok(vec![
                ("BENCH_SEARCH_HOME", files.display().to_string()),
                ("BENCH_RG", searchers.rg.display().to_string()),
                ("BENCH_FD", searchers.fd.display().to_string()),
            ])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_selects_all_and_a_wrong_name_lists_the_known_ones() {
        assert_eq!(select(&[]).unwrap().len(), BENCHMARKS.len());
        assert_eq!(select(&["call"]).unwrap(), [&BENCHMARKS[0]]);
        assert_eq!(
            select(&["cal"]).unwrap_err(),
            "unknown benchmark 'cal'; known: call, guide, formats, guards, load, mcp, search, shell"
        );
    }
}
