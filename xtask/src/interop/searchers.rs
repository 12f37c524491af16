//! `rg` and `fd`, in exact versions: what our search is compared and measured with.

use std::path::PathBuf;

use super::install::{Home, Set};

const SEARCHERS: Set = Set {
    name: "search",
    packages: &["ripgrep@15.2.0", "fd-find@10.4.2"],
};

/// Where the programs lie.
#[derive(Debug)]
pub(crate) struct Searchers {
    pub(crate) rg: PathBuf,
    pub(crate) fd: PathBuf,
}

/// Installs both, unless they are.
pub(crate) fn install(home: &Home) -> anyhow::Result<Searchers> {
    let programs = home.cargo(&SEARCHERS)?.join("bin");
    Ok(Searchers {
        rg: programs.join("rg"),
        fd: programs.join("fd"),
    })
}
