//! `cargo xtask interop`: the checks that need Node, Python or another program beside Rust.
//!
//! A check is a row of `CHECKS`. It installs what it needs into `target/` and
//! leaves the machine as it found it; nothing here runs as part of `cargo xtask test`.

use std::path::Path;

use crate::step::timed;

/// A check against somebody else's program.
#[derive(Debug)]
struct Check {
    name: &'static str,
    run: fn(&Path) -> anyhow::Result<()>,
}

const CHECKS: &[Check] = &[];

/// Runs every check and stops at the first that fails.
pub(crate) fn run(root: &Path) -> anyhow::Result<()> {
    if CHECKS.is_empty() {
        println!("interop: there is nothing to interoperate with yet");
    }
    for check in CHECKS {
        timed(check.name, "cargo xtask interop", || (check.run)(root))?;
    }
    Ok(())
}
