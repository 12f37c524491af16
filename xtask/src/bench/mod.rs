//! `cargo xtask bench`: the costs the design promises, measured.
//!
//! Each benchmark is a binary of `toolsmith-testing` that compares two things in
//! one run and prints their ratio; this file only knows their names, and `peers.rs`
//! what of others is measured beside ours.

pub(crate) mod peers;

use std::path::Path;

use crate::step::{Step, locked};

/// A benchmark and the binary that runs it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Benchmark {
    name: &'static str,
    binary: &'static str,
    /// Whether it is handed the command lines of what others have built.
    has_peers: bool,
}

const BENCHMARKS: &[Benchmark] = &[Benchmark {
    name: "call",
    binary: "bench_call",
    has_peers: false,
}];

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
            for (name, line) in peers::install(root)? {
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
            "unknown benchmark 'cal'; known: call"
        );
    }
}
