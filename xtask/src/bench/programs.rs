//! Programs of ours that benchmarks start: the product, and bare peers to measure it against.
//!
//! Each is built by a command of its own: built together they would share the
//! features of all, and the product would not be the one that is shipped.

use std::path::Path;

use super::peers::Variable;
use crate::interop::Home;
use crate::step::{Step, locked};

/// A program: the variable its path goes into, and what cargo builds it from.
#[derive(Debug)]
struct Program {
    variable: &'static str,
    package: &'static str,
    kind: Kind,
    name: &'static str,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Binary,
    Example,
}

const PROGRAMS: &[Program] = &[
    Program {
        variable: "BENCH_TOOLSMITH",
        package: "toolsmith-cli",
        kind: Kind::Binary,
        name: "toolsmith",
    },
    Program {
        variable: "BENCH_BARE_ECHO",
        package: "toolsmith-mcp",
        kind: Kind::Example,
        name: "bare_echo",
    },
    Program {
        variable: "BENCH_BARE_GATEWAY",
        package: "toolsmith-mcp",
        kind: Kind::Example,
        name: "bare_gateway",
    },
];

/// Builds all of them with optimisations and returns where they lie.
pub(super) fn build(root: &Path) -> anyhow::Result<Vec<Variable>> {
    let folder = Home::of(root)?.target().join("release");
    let mut variables = Vec::new();
    for program in PROGRAMS {
        let (option, place) = match program.kind {
            Kind::Binary => ("--bin", folder.clone()),
            Kind::Example => ("--example", folder.join("examples")),
        };
        let words = ["build", "--release", "--package", program.package];
        let words = words.into_iter().chain([option, program.name]);
        Step::cargo("build", words.chain(locked(root))).run(root)?;
        let path = place.join(program.name).display().to_string();
        variables.push((program.variable, path));
    }
    Ok(variables)
}
