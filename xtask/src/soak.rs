//! `cargo xtask soak`: the product under a mixed load for minutes, with misbehaving upstreams behind it.
//!
//! The load, and what must hold when all is quiet again, is a program of
//! `toolsmith-testing`; this file builds it and the product, and starts it.

use std::path::Path;

use crate::interop::Home;
use crate::step::{Step, locked};

/// How long it takes where nobody says otherwise.
pub(crate) const MINUTES: &str = "2";

/// Builds the product as it is shipped, and soaks it.
pub(crate) fn run(root: &Path, minutes: &str) -> anyhow::Result<()> {
    let words = ["build", "--release", "--package", "toolsmith-cli", "--bin"];
    let words = words.into_iter().chain(["toolsmith"]).chain(locked(root));
    Step::cargo("build", words).run(root)?;
    let product = Home::of(root)?.target().join("release").join("toolsmith");
    let words = [
        "run",
        "--release",
        "--package",
        "toolsmith-testing",
        "--bin",
    ];
    let words = words.into_iter().chain(["soak"]).chain(locked(root));
    Step::cargo("soak", words.chain(["--", minutes]))
        .with_environment("SOAK_TOOLSMITH", product.display().to_string())
        .run(root)
}

/// Reads how long it shall take.
pub(crate) fn minutes<'a>(words: &[&'a str]) -> Result<&'a str, String> {
    match words {
        [] => Ok(MINUTES),
        [word] if word.parse::<f64>().is_ok_and(|minutes| minutes > 0.0) => Ok(word),
        _ => Err(format!("'soak' takes minutes, not '{}'", words.join(" "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minutes_are_a_number_above_nought() {
        assert_eq!(minutes(&[]), Ok(MINUTES));
        assert_eq!(minutes(&["0.5"]), Ok("0.5"));
        for words in [&["0"][..], &["-1"], &["long"], &["1", "2"]] {
            assert!(minutes(words).is_err(), "{words:?}");
        }
    }
}
