//! Every source file opens with `//!`: what it owns, what it does not, where the call goes next.

use super::Finding;
use super::tree::Tree;

/// Finds source files that do not introduce themselves within their first three lines.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let files = tree
        .production()
        .filter(|file| !file.lies_in(&["examples"]));
    let silent = files.filter(|file| {
        let mut first = file.text.lines().take(3);
        !first.any(|line| line.starts_with("//!") && line.len() > 4)
    });
    let report = |path: &str| {
        Finding::new(
            path,
            1,
            "the file does not open with '//!'",
            "say in two to ten lines what the file owns and what it deliberately does not",
        )
    };
    silent.map(|file| report(&file.path)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::found;

    #[test]
    fn a_file_without_an_opening_is_found() {
        assert_eq!(
            found(
                check,
                &[
                    ("crates/a/src/lib.rs", "//! What a is.\n"),
                    ("crates/a/src/late.rs", "\n\n\n//! Too late.\n"),
                    ("crates/a/src/none.rs", "mod b;\n"),
                    ("crates/a/src/void.rs", "//!\n"),
                    ("crates/a/tests/it/main.rs", "mod b;\n"),
                    ("crates/a/examples/b.rs", "fn main() {}\n"),
                    ("crates/a/src/fixtures/b.rs", "fn main() {}\n"),
                ],
            ),
            [
                "crates/a/src/late.rs:1: the file does not open with '//!'",
                "crates/a/src/none.rs:1: the file does not open with '//!'",
                "crates/a/src/void.rs:1: the file does not open with '//!'",
            ]
        );
    }
}
