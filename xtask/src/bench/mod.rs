//! `cargo xtask bench`: the costs the design promises, measured.
//!
//! Each benchmark is a program, mostly of `toolsmith-testing`, that compares two things
//! in one run and prints their ratio; this file only knows their names, `programs.rs`
//! what of ours they start, `peers.rs` what of others is measured beside it, and `table.rs`
//! how all figures become one table.

pub(crate) mod peers;
mod programs;
mod table;

use std::path::Path;

use anyhow::bail;

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

/// Runs the chosen benchmarks one after another, each to its end, and prints one table of
/// all their figures. Where all were chosen, the table is kept in the book.
pub(crate) fn run(root: &Path, chosen: &[&Benchmark]) -> anyhow::Result<()> {
    let folder = Home::of(root)?.target().join("bench");
    std::fs::create_dir_all(&folder)?;
    let mut all = Vec::new();
    let mut failures = Vec::new();
    for benchmark in chosen {
        let rows = folder.join(format!("{}.jsonl", benchmark.name));
        // What an earlier run told is not this run's.
        let _ = std::fs::remove_file(&rows);
        let failure = measure(root, benchmark, &rows).err();
        let failure = failure.map(|error| format!("{error:#}"));
        failures.extend(failure.clone());
        all.push(table::Told::read(benchmark.name, &rows, failure)?);
    }
    let page = table::page(&all, &table::machine());
    println!("{page}");
    if chosen.len() == BENCHMARKS.len() {
        std::fs::write(root.join(table::PAGE), &page)?;
        println!("kept in {}", table::PAGE);
    }
    if !failures.is_empty() {
        bail!("{}", failures.join("\n\n"));
    }
    Ok(())
}

fn measure(root: &Path, benchmark: &Benchmark, rows: &Path) -> anyhow::Result<()> {
    let words = ["run", "--release"].into_iter();
    let words = words.chain(benchmark.program.iter().copied());
    let mut step = Step::cargo(benchmark.name, words.chain(locked(root)));
    step = step.with_environment("BENCH_ROWS", rows.display().to_string());
    for (name, line) in variables(root, benchmark.beside)? {
        step = step.with_environment(name, line);
    }
    step.run(root)
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
