//! Our search tools beside `rg` and `fd`: the same questions must have the same answers.
//!
//! What is asked, and how the answers are compared, is the business of the program
//! `compare_search` of `toolsmith-testing`; it is run for several seeds.

use std::process::Command;
use std::time::Duration;

use anyhow::anyhow;

use super::process::finish;
use super::tally::Tally;
use super::{Context, product, searchers};

/// Each seed is another tree, and other questions.
const SEEDS: &[&str] = &["1", "2", "3"];

/// How long one seed may take.
const SEED_LIMIT: Duration = Duration::from_secs(300);

/// Compares the answers.
pub(super) fn run(context: &Context) -> anyhow::Result<()> {
    let searchers = searchers::install(&context.home)?;
    let program = product::built_in_fixture(context, "compare_search")?;
    let home = context.home.fresh_folder("search-files")?;
    let mut tally = Tally::default();
    for seed in SEEDS {
        let mut command = Command::new(&program);
        command
            .arg(seed)
            .env("COMPARE_HOME", &home)
            .env("COMPARE_RG", &searchers.rg)
            .env("COMPARE_FD", &searchers.fd);
        let finished = finish(&mut command, SEED_LIMIT)?;
        let told = finished.stdout.trim_end().replace('\n', "\n    ");
        println!("    {told}");
        let outcome = match finished.status.success() {
            true => Ok(()),
            false => Err(anyhow!("answers differ from those of rg or fd")),
        };
        tally.note(&format!("seed {seed}"), outcome);
    }
    tally.finish()
}
