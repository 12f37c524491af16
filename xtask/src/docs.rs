//! `cargo xtask docs`: the documentation of the library crates, with warnings refused.
//!
//! Binaries are left out: the binary `toolsmith` and the library of the same
//! name would overwrite each other's pages.

use std::path::Path;

use crate::step::{Step, locked};

/// What happens to the pages once they are built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Show {
    /// They are left in the target folder.
    Build,
    /// They are opened in a browser.
    Open,
}

/// Builds the documentation.
pub(crate) fn run(root: &Path, show: Show) -> anyhow::Result<()> {
    step(root, show).run(root)
}

/// Returns the step that builds the documentation.
pub(crate) fn step(root: &Path, show: Show) -> Step {
    let open = (show == Show::Open).then_some("--open");
    let words = ["doc", "--workspace", "--no-deps", "--lib"];
    Step::cargo("docs", words.into_iter().chain(locked(root)).chain(open))
        .with_environment("RUSTDOCFLAGS", "-D warnings")
}
