//! `cargo xtask bench`: the costs the design promises, measured.
//!
//! Each benchmark is a binary of `toolsmith-testing` that compares two things in
//! one run and prints their ratio; this file only knows their names, `programs.rs`
//! what of ours they start, and `peers.rs` what of others is measured beside it.

pub(crate) mod peers;
mod programs;

use std::path::Path;

use crate::step::{Step, locked};

/// A benchmark and the binary that runs it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Benchmark {
    name: &'static str,
    binary: &'static str,
    /// Whether it starts programs: ours, whose paths it is handed, and what others
    /// have built, whose command lines it is handed.
    has_peers: bool,
}

const BENCHMARKS: &[Benchmark] = &[
    Benchmark {
        name: "call",
        binary: "bench_call",
        has_peers: false,
    },
    Benchmark {
        name: "mcp",
        binary: "bench_mcp",
        has_peers: true,
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
        let words = [
            "run",
            "--release",
            "--package",
            "toolsmith-testing",
            "--bin",
        ];
        let words = words
            .into_iter()
            .chain([benchmark.binary])
            .chain(locked(root));
        let mut step = Step::cargo(benchmark.name, words);
        if benchmark.has_peers {
            let theirs = peers::install(root).unwrap_or_else(|error| {
                println!("what others have built is left out: {error:#}");
                Vec::new()
            });
            for (name, line) in programs::build(root)?.into_iter().chain(theirs) {
                step = step.with_environment(name, line);
            }
        }
        step.run(root)?;
    }
    Ok(())
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
            "unknown benchmark 'cal'; known: call, mcp"
        );
    }
}
