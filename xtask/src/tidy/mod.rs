//! `cargo xtask tidy`: the invariants of the tree that the compiler does not hold.
//!
//! Each check is a function from the tree to its findings, in a file of its own
//! with a test that shows it failing. This file lists the checks and prints what
//! they find. Exceptions are in `tidy.toml`; there are none in code.

mod book;
mod borders;
mod crates;
mod fuzz_targets;
mod manifests;
mod marks;
mod openings;
mod papers;
mod quiet;
mod requirements;
mod sizes;
mod source;
mod test_layout;
mod tool_files;
mod tree;
mod workplace;

use std::fmt;
use std::path::Path;

use anyhow::bail;

use tree::{File, Tree};

/// The checks that need the files alone.
const CHECKS: &[fn(&Tree) -> Vec<Finding>] = &[
    sizes::check,
    openings::check,
    borders::check,
    quiet::check,
    marks::check,
    test_layout::check,
    tool_files::check,
    fuzz_targets::check,
    workplace::check,
    manifests::check,
    papers::check,
    book::check,
    requirements::check,
];

/// Something that is wrong: where, what, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    path: String,
    line: usize,
    problem: String,
    remedy: String,
}

impl Finding {
    fn new(path: &str, line: usize, problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            line,
            problem: problem.into(),
            remedy: remedy.into(),
        }
    }

    /// Reports what stands at an offset of a file.
    fn at(
        file: &File,
        offset: usize,
        problem: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self::new(&file.path, file.line_of(offset), problem, remedy)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            path,
            line,
            problem,
            remedy,
        } = self;
        write!(formatter, "{path}:{line}: {problem}\n    {remedy}")
    }
}

/// Runs every check and prints all findings, not only the first.
pub(crate) fn run(root: &Path) -> anyhow::Result<()> {
    let tree = Tree::read(root)?;
    let mut findings: Vec<Finding> = CHECKS.iter().flat_map(|check| check(&tree)).collect();
    findings.extend(crates::check(&crates::Packages::read(root)?));
    findings.sort();
    findings.dedup();
    for finding in &findings {
        println!("{finding}");
    }
    match findings.len() {
        0 => println!(
            "tidy: {} files, nothing to find fault with",
            tree.files().count()
        ),
        1 => bail!("tidy found 1 thing to put right"),
        count => bail!("tidy found {count} things to put right"),
    }
    Ok(())
}

/// Returns `path:line` and problem of what a check finds in the given files, for tests.
#[cfg(test)]
fn found(check: fn(&Tree) -> Vec<Finding>, files: &[(&str, &str)]) -> Vec<String> {
    let findings = check(&Tree::new(files.iter().copied()));
    let line =
        |finding: &Finding| format!("{}:{}: {}", finding.path, finding.line, finding.problem);
    findings.iter().map(line).collect()
}
