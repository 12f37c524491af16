//! `mdbook`, in an exact version: what makes the book of the pages below `docs/`.

use std::path::PathBuf;

use super::install::{Home, Set};

const MDBOOK: Set = Set {
    name: "mdbook",
    // Without its own server and watcher, which are most of what it would build.
    packages: &["mdbook@0.5.4", "--no-default-features", "--features=search"],
};

/// Installs it, unless it is, and returns the program.
pub(crate) fn install(home: &Home) -> anyhow::Result<PathBuf> {
    Ok(home.cargo(&MDBOOK)?.join("bin/mdbook"))
}
