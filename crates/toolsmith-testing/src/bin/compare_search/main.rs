//! Our search tools beside `rg` and `fd`: the same questions about the same files must have the same answers.
//!
//! A tree of 2,000 files and some hundred questions are drawn from a seed. What differs is
//! printed with the command that shows it again. Where `rg` and `fd` lie comes in
//! environment variables, and so does the folder for the files; `cargo xtask interop
//! search` sets them. A word on the command line is another seed.
#![expect(clippy::print_stdout, reason = "a check prints what it found")]

mod content;
mod names;
mod ours;
mod query;
mod theirs;
mod tree;

use std::path::PathBuf;
use std::process::ExitCode;

use query::{Fact, Facts, Query};
use theirs::Programs;
use toolsmith_testing::built_ins::BuiltIns;
use toolsmith_testing::random::Random;
use tree::Tree;

const QUERIES_BY_CONTENT: usize = 300;
const QUERIES_BY_NAME: usize = 200;

/// How many differences are shown, and how much of each.
const MOST_SHOWN: usize = 8;
const MOST_OF_ONE: usize = 5;

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            println!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<bool, String> {
    let seed = std::env::args().nth(1);
    let seed = seed.and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let home = PathBuf::from(std::env::var_os("COMPARE_HOME").unwrap_or_default());
    let mut tree = Tree::make(&home, seed).map_err(|error| error.to_string())?;
    let programs = Programs::find(&home, &tree)?;
    tree.shown = programs.shown()?;
    let tools = BuiltIns::open(&tree.root)?;
    let mut random = Random::new(seed + 1000);
    let mut queries = Vec::new();
    for _ in 0..QUERIES_BY_CONTENT {
        queries.push(content::draw(&mut random, &tree));
    }
    for _ in 0..QUERIES_BY_NAME {
        queries.push(names::draw(&mut random, &tree));
    }
    let (mut agreed, mut empty, mut shown) = (0, 0, 0);
    for query in &queries {
        let (mut ours, theirs) = (query.ours(&tools)?, query.theirs(&programs)?);
        for (key, fact) in &mut ours {
            // How far something that is not text is counted means nothing.
            if matches!(fact, Fact::Count(_)) && theirs.get(key) == Some(&Fact::Binary) {
                *fact = Fact::Binary;
            }
        }
        if ours == theirs {
            agreed += 1;
            empty += usize::from(ours.is_empty());
        } else if shown < MOST_SHOWN {
            shown += 1;
            tell(query, &programs, &ours, &theirs);
        }
    }
    println!(
        "seed {seed}, {} files: {agreed} of {} queries agree, {empty} of them found nothing",
        tree.files,
        queries.len()
    );
    Ok(agreed == queries.len())
}

/// Prints a difference.
fn tell(query: &Query, programs: &Programs, ours: &Facts, theirs: &Facts) {
    println!("DIFFERENT: {} {}", query.tool, query.arguments);
    println!("  beside: {}", programs.line(query));
    println!("  {} facts are ours, {} theirs", ours.len(), theirs.len());
    let beside = |facts: &Facts, other: &Facts, whose: &str| {
        let only = facts
            .iter()
            .filter(|(key, fact)| other.get(key) != Some(fact));
        for (key, fact) in only.take(MOST_OF_ONE) {
            println!("  only {whose}: {}:{}: {fact:?}", key.0, key.1);
        }
    };
    beside(ours, theirs, "ours");
    beside(theirs, ours, "theirs");
}
